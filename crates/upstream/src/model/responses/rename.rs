//! Replaces the id in a provider's own response, complete or streamed, by the one that a session is found by.
//!
//! Invariant: apart from the ids, every byte stays.

use std::ops::Range;

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use serde_json::value::RawValue;

use super::Frames;

/// Replaces response ids.
#[derive(Debug)]
pub struct Rename {
    id: String,
    previous: Option<String>,
    conversation: Option<String>,
    frames: Frames,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    previous_response_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    conversation: Option<&'a RawValue>,
}

/// Distinguishes a `null` field from a missing one.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

impl Rename {
    /// Sets the id of responses, and `previous` as the id of the preceding one.
    pub fn new(id: String, previous: Option<String>) -> Self {
        Self { id, previous, conversation: None, frames: Frames::default() }
    }

    /// Sets the conversation that responses name, too.
    pub fn within(self, conversation: Option<String>) -> Self {
        Self { conversation, ..self }
    }

    /// Converts a complete response.
    pub fn whole(&self, body: &Bytes) -> Bytes {
        let renamed = std::str::from_utf8(body).ok().and_then(|text| self.renamed(text, text));
        renamed.map_or_else(|| body.clone(), Bytes::from)
    }

    /// Adds bytes and returns the events that are now complete, converted.
    pub fn stream(&mut self, bytes: &[u8]) -> Bytes {
        let frames = self.frames.take(bytes);
        frames.into_iter().flat_map(|frame| self.event(frame.0)).collect()
    }

    /// Returns the bytes after the last complete event, converted.
    pub fn end(&mut self) -> Bytes {
        self.frames.rest().map(|frame| self.event(frame.0)).unwrap_or_default()
    }

    fn event(&self, bytes: Bytes) -> Bytes {
        let frame = super::frames::Frame(bytes.clone());
        let renamed = frame.data().and_then(|data| {
            let response = serde_json::from_str::<Event<'_>>(data).ok()?.response?;
            self.renamed(std::str::from_utf8(&frame.0).ok()?, response.get())
        });
        renamed.map_or(bytes, Bytes::from)
    }

    /// Returns `text` with the ids in `response`, a slice of it, replaced.
    fn renamed(&self, text: &str, response: &str) -> Option<String> {
        let named: Named<'_> = serde_json::from_str(response).ok()?;
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let id = place(text, named.id?.get());
        let mut put = json!(self.id).to_string();
        if let Some(conversation) = &self.conversation {
            let conversation = json!({"id": conversation});
            match named.conversation {
                Some(field) => edits.push((place(text, field.get()), conversation.to_string())),
                None => put += &format!(r#","conversation":{conversation}"#),
            }
        }
        edits.push((id, put));
        if let (Some(field), Some(previous)) = (named.previous_response_id, &self.previous) {
            edits.push((place(text, field.get()), json!(previous).to_string()));
        }
        edits.sort_by_key(|(place, _)| place.start);
        let (mut renamed, mut at) = (String::with_capacity(text.len() + 64), 0);
        for (place, put) in edits {
            renamed.push_str(&text[at..place.start]);
            renamed.push_str(&put);
            at = place.end;
        }
        renamed.push_str(&text[at..]);
        Some(renamed)
    }
}

/// The range of `part`, a slice of `whole`.
fn place(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ids_of_responses_change() {
        let mut rename = Rename::new("mine".into(), Some("before".into()));
        let events = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{ \"id\" : \"theirs\",\
                      \"previous_response_id\":null,\"n\":1.50}}\n\n: ping\n\ndata: {\"id\":\"theirs\"}\n\n";
        let mut out = rename.stream(&events.as_bytes()[..70]).to_vec();
        out.extend_from_slice(&rename.stream(&events.as_bytes()[70..]));
        out.extend_from_slice(&rename.end());
        let expected = events.replacen("\"theirs\"", "\"mine\"", 1).replace("null", "\"before\"");
        assert_eq!(String::from_utf8_lossy(&out), expected);
        let whole = Bytes::from_static(br#"{"output":[{"id":"theirs"}],"id":"theirs"}"#);
        assert_eq!(rename.whole(&whole), r#"{"output":[{"id":"theirs"}],"id":"mine"}"#);
        assert_eq!(rename.whole(&Bytes::from_static(b"none")), "none");
    }

    #[test]
    fn the_conversation_is_named_where_the_provider_knows_none() {
        let rename = Rename::new("mine".into(), None).within(Some("talk".into()));
        let check = |body: &'static str, expected: &str| {
            assert_eq!(rename.whole(&Bytes::from_static(body.as_bytes())), expected);
        };
        check(
            r#"{"conversation": null,"id":"theirs","n":1.50}"#,
            r#"{"conversation": {"id":"talk"},"id":"mine","n":1.50}"#,
        );
        check(r#"{"id":"theirs"}"#, r#"{"id":"mine","conversation":{"id":"talk"}}"#);
    }
}
