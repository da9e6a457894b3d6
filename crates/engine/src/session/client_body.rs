//! The request of a drop-in client, stored with its turn.
//!
//! A client sends its whole history with every message, so most of a request equals the previous one. Only what
//! is between the common start and end is stored.

use serde::{Deserialize, Serialize};

/// A request as a difference to the one stored with another turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientBody {
    /// The turn with the other request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// Bytes at the start that are equal.
    #[serde(default)]
    start: usize,
    /// Bytes at the end that are equal.
    #[serde(default)]
    end: usize,
    /// What is between.
    middle: String,
}

impl ClientBody {
    /// `body` as a difference to `base`; `None` if more than `bytes_max` bytes are new.
    pub fn of(body: &str, base: Option<(u64, &str)>, bytes_max: usize) -> Option<Self> {
        let (turn, start, end) = match base {
            Some((turn, other)) => {
                let start = common(body.bytes(), other.bytes());
                let start = body.floor_char_boundary(start);
                let rest = (body.len() - start).min(other.len() - start);
                let end = common(body.bytes().rev(), other.bytes().rev()).min(rest);
                let end = body.len() - body.ceil_char_boundary(body.len() - end);
                (Some(turn), start, end)
            }
            None => (None, 0, 0),
        };
        // A difference that saves little is not worth a further turn to read.
        let (turn, start, end) = match 2 * (start + end) < body.len() {
            true => (None, 0, 0),
            false => (turn, start, end),
        };
        let middle = &body[start..body.len() - end];
        (middle.len() <= bytes_max).then(|| Self {
            base: turn,
            start,
            end,
            middle: middle.to_owned(),
        })
    }

    /// The request, given the one it differs from.
    pub fn text(&self, base: Option<&str>) -> Option<String> {
        let base = base.unwrap_or_default();
        let start = base.get(..self.start)?;
        let end = base.get(base.len().checked_sub(self.end)?..)?;
        Some(format!("{start}{}{end}", self.middle))
    }
}

fn common(one: impl Iterator<Item = u8>, other: impl Iterator<Item = u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, body: &str, middle: &str) {
        let kept = ClientBody::of(body, Some((3, base)), 1_000).expect("small");
        assert_eq!((kept.middle.as_str(), kept.text(Some(base)).as_deref()), (middle, Some(body)));
    }

    #[test]
    fn only_what_is_new_is_kept() {
        check(
            r#"{"messages":["a"],"stream":true}"#,
            r#"{"messages":["a","b"],"stream":true}"#,
            r#","b""#,
        );
        check("aaa", "aaaa", "a");
        check("", "all of it", "all of it");
        check("größer", "grüner", "ün");
        check("same", "same", "");
    }

    #[test]
    fn a_difference_that_saves_little_is_kept_whole() {
        let kept =
            ClientBody::of("{\"say\":\"something else\"}", Some((3, "{\"say\":\"this\"}")), 99);
        assert_eq!(kept.as_ref().and_then(|kept| kept.base), None);
        assert_eq!(
            kept.and_then(|kept| kept.text(None)).as_deref(),
            Some("{\"say\":\"something else\"}")
        );
    }

    #[test]
    fn a_request_without_a_base_is_kept_whole_and_a_very_large_one_not_at_all() {
        let kept = ClientBody::of("body", None, 10).expect("small");
        assert_eq!(kept.text(None).as_deref(), Some("body"));
        assert_eq!(ClientBody::of("much too long", None, 5), None);
    }
}
