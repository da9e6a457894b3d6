//! Answers that earlier tool results already hold.
//!
//! "What answers were deselected?" needs no tool when the result that named them is in the log. A result
//! answers a message only when its own keys and the tool's name account for every content word of the
//! message, so a near miss falls through to a tool.
//!
//! Invariant: what is told is read from a stored result, never made up.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::search::words::stems;
use crate::session::record::{CallRecord, TurnRecord};

use super::wording;

/// Values of one result that are looked at.
const VALUES_MAX: usize = 5_000;

/// A found answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The turn whose result holds it.
    pub turn: u64,
    /// The answer in words.
    pub text: String,
}

/// The newest earlier result that answers `message`, if one does.
pub fn find(message: &str, turns: &[Arc<TurnRecord>]) -> Option<Earlier> {
    let wanted: BTreeSet<String> = stems(message).into_iter().collect();
    if wanted.is_empty() {
        return None;
    }
    turns.iter().rev().find_map(|turn| {
        turn.calls.iter().rev().filter(|call| call.ok()).find_map(|call| {
            let text = look(call, &wanted)?;
            Some(Earlier { turn: turn.turn, text })
        })
    })
}

fn look(call: &CallRecord, wanted: &BTreeSet<String>) -> Option<String> {
    let json = call.output.as_ref()?.json.as_ref()?;
    let about: BTreeSet<String> =
        stems(&format!("{} {}", call.tool.name, call.arguments)).into_iter().collect();
    let own: BTreeSet<&String> = wanted.iter().filter(|word| !about.contains(*word)).collect();
    if own.is_empty() {
        return None;
    }
    let mut left = VALUES_MAX;
    search(json, &own, &mut left).map(|(key, found)| tell(&key, found))
}

/// The first value whose key accounts for all the words that the tool's name does not.
fn search<'a>(
    value: &'a Value,
    own: &BTreeSet<&String>,
    left: &mut usize,
) -> Option<(String, &'a Value)> {
    *left = left.checked_sub(1)?;
    let inside: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Object(object) => {
            let named = object.iter().find(|(key, found)| {
                let words: BTreeSet<String> = stems(key).into_iter().collect();
                !key.ends_with("_count")
                    && !found.is_null()
                    && own.iter().all(|word| words.contains(*word))
            });
            if let Some((key, found)) = named {
                return Some((key.clone(), found));
            }
            Box::new(object.values())
        }
        Value::Array(values) => Box::new(values.iter()),
        _ => return None,
    };
    inside.into_iter().find_map(|value| search(value, own, left))
}

fn tell(key: &str, found: &Value) -> String {
    wording::value(found, &key.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::session::record::TurnKind;
    use crate::tool::{ToolName, ToolOutput};

    fn survey_turn() -> Arc<TurnRecord> {
        let json = json!({"added_count": 2, "deselected_count": 1,
            "added": [{"id": "A1", "text": "C++"}, {"id": "A2", "text": "Python"}],
            "deselected": [{"id": "A2297", "text": "Java"}]});
        let call = CallRecord {
            id: "c1".into(),
            tool: ToolName { server: "demo".into(), name: "add_survey_answers".into() },
            arguments: json!({"project_id": 123}),
            output: Some(ToolOutput {
                text: json.to_string(),
                json: Some(json),
                is_error: false,
                truncated: false,
            }),
            error: None,
            round: 1,
            said_before: String::new(),
            shown_bytes: None,
            took_ms: 1,
        };
        let at = Timestamp::UNIX_EPOCH;
        let record = TurnRecord::erased(1, at);
        Arc::new(TurnRecord { kind: TurnKind::Query, calls: vec![call], ..record })
    }

    #[track_caller]
    fn check(message: &str, expected: Option<&str>) {
        let found = find(message, &[survey_turn()]).map(|found| found.text);
        assert_eq!(found.as_deref(), expected, "{message:?}");
    }

    #[test]
    fn a_question_about_an_earlier_result_is_answered_from_it() {
        check("What answers were deselected?", Some("1 deselected:\n- Java (id A2297)"));
        check("which answers were added?", Some("2 added:\n- C++ (id A1)\n- Python (id A2)"));
    }

    #[test]
    fn other_questions_are_left_to_tools() {
        check("list devices in Berlin", None);
        check("what answers are there?", None);
        check("which rules were deselected?", None);
    }
}
