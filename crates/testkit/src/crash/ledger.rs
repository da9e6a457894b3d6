//! Compares what clients sent and were told with what a server has.
//!
//! Invariant: an acknowledged turn exists exactly once, under the acknowledged number; any other at most once; numbers
//! have no gaps; the turns of one client are in the order in which it sent them.

use std::collections::{BTreeMap, HashMap};

/// A turn that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The session it belongs to.
    pub session: String,
    /// Its unique text.
    pub message: String,
    /// The number under which the server acknowledged it, if it did.
    pub told: Option<u64>,
}

/// Returns what is wrong with a server's turns. `sent` is a list per client in the order of sending; `histories` are
/// the turns of each session as the server lists them.
pub fn compare(
    sent: &[Vec<Sent>],
    histories: &BTreeMap<String, Vec<(u64, String)>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut places: HashMap<&str, Vec<(&str, u64)>> = HashMap::new();
    for (session, turns) in histories {
        for (place, (number, message)) in (1_u64..).zip(turns) {
            if *number != place {
                wrong.push(format!("{session}: turn {number} stands at place {place}"));
            }
            places.entry(message).or_default().push((session, *number));
        }
    }
    for client in sent {
        let mut before = 0;
        for one in client {
            let found = places.remove(one.message.as_str()).unwrap_or_default();
            match (one.told, found.as_slice()) {
                (None, []) => continue,
                (Some(told), []) => wrong.push(format!("{one}: lost, acknowledged as {told}")),
                (_, [(session, number)]) => {
                    if *session != one.session {
                        wrong.push(format!("{one}: found in {session}"));
                    }
                    if one.told.is_some_and(|told| told != *number) {
                        wrong.push(format!("{one}: is {number}, acknowledged as {:?}", one.told));
                    }
                    if *number <= before {
                        wrong.push(format!("{one}: is {number}, after its successor {before}"));
                    }
                    before = *number;
                }
                (_, several) => wrong.push(format!("{one}: there {} times", several.len())),
            }
        }
    }
    for (message, at) in places {
        wrong.push(format!("{}: {message:?} was never sent", at[0].0));
    }
    wrong
}

impl std::fmt::Display for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.session, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sent`: "a=1" acknowledged as 1, "a" not acknowledged; `there`: "1a 2b".
    fn check(sent: &str, there: &str, expected: &[&str]) {
        let client = sent.split_whitespace().map(|one| {
            let (message, told) = one.split_once('=').unwrap_or((one, ""));
            Sent { session: "s".into(), message: message.into(), told: told.parse().ok() }
        });
        let turns = there.split_whitespace().map(|one| {
            let (number, message) = one.split_at(1);
            (number.parse().expect("a digit"), message.to_owned())
        });
        let histories = BTreeMap::from([("s".to_owned(), turns.collect())]);
        assert_eq!(compare(&[client.collect()], &histories), expected);
    }

    #[test]
    fn what_was_acknowledged_is_there_once_and_the_rest_at_most_once() {
        check("a=1 b=2 c", "1a 2b 3c", &[]);
        check("a=1 b=2 c", "1a 2b", &[]);
        check("a=1 b=2", "1a", &[r#"s: "b": lost, acknowledged as 2"#]);
        check("a=1 b", "1a 2b 3b", &[r#"s: "b": there 2 times"#]);
        check("a=1", "1a 2x", &[r#"s: "x" was never sent"#]);
    }

    #[test]
    fn numbers_have_no_gaps_and_are_those_that_were_told() {
        check("a=1 b=3", "1a 3b", &["s: turn 3 stands at place 2"]);
        check("a=2 b", "1a 2b", &[r#"s: "a": is 1, acknowledged as Some(2)"#]);
        check("a b", "1b 2a", &[r#"s: "b": is 1, after its successor 2"#]);
    }
}
