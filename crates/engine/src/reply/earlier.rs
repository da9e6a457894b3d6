//! Answers found in earlier tool results.
//!
//! "What answers were deselected?" needs no tool if the result that named them is in the log. A result answers a
//! message only if its keys and the tool's name cover every content word of the message, in the same number, and
//! it is about the same entity; so a near miss falls through to a tool.
//!
//! Invariant: an answer is read from a stored result, never invented.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::entity::Mention;
use crate::lexicon::{self, Class};
use crate::search::words::stems;
use crate::session::record::{CallRecord, TurnRecord};

use super::wording;

/// Maximum values of a result that are searched.
const VALUES_MAX: usize = 5_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EarlierAnswer {
    /// The turn of the result.
    pub turn: u64,
    pub text: String,
}

/// The newest earlier result that answers `message`, which mentions these entities.
pub(super) fn find(
    message: &str,
    mentions: &[Mention],
    turns: &[Arc<TurnRecord>],
) -> Option<EarlierAnswer> {
    let language = lexicon::of(message);
    let says = |word: &&str| {
        let lower = word.to_lowercase();
        ![Class::Filler, Class::Ones, Class::What].iter().any(|class| language.is(*class, &lower))
    };
    // No result contains what belongs to the user.
    if words(message).any(|word| language.is(Class::My, &word.to_lowercase())) {
        return None;
    }
    let content: Vec<&str> = words(message).filter(says).collect();
    let wanted: BTreeSet<String> = stems(&content.join(" ")).into_iter().collect();
    if wanted.is_empty() {
        return None;
    }
    let asked = Question { message, mentions, wanted };
    turns.iter().rev().find_map(|turn| {
        turn.calls.iter().rev().filter(|call| call.ok()).find_map(|call| {
            let text = asked.look(call)?;
            Some(EarlierAnswer { turn: turn.turn, text })
        })
    })
}

struct Question<'a> {
    message: &'a str,
    mentions: &'a [Mention],
    wanted: BTreeSet<String>,
}

impl Question<'_> {
    fn look(&self, call: &CallRecord) -> Option<String> {
        let json = call.output.as_ref()?.json.as_ref()?;
        let about = format!("{} {}", call.tool.name, call.arguments);
        let words: BTreeSet<String> = stems(&about).into_iter().collect();
        let own: BTreeSet<&String> =
            self.wanted.iter().filter(|word| !words.contains(*word)).collect();
        if own.is_empty() || self.asks_for_more(&about) {
            return None;
        }
        let mut left = VALUES_MAX;
        let (holder, key, found) = search(json, &own, &mut left)?;
        let is_meant =
            |mention: &Mention| names(&call.arguments, mention) || names(holder, mention);
        let fits =
            (found.is_array() || !self.asks_for_more(key)) && self.mentions.iter().all(is_meant);
        fits.then(|| wording::value(found, &key.replace('_', " ")))
    }

    /// Whether the message has a word in the plural that the name has in the singular: a result about one device
    /// does not answer which devices there are.
    fn asks_for_more(&self, name: &str) -> bool {
        let singular: Vec<&str> = words(name).filter(|word| !word.ends_with('s')).collect();
        words(self.message)
            .filter(|word| word.ends_with('s'))
            .any(|word| singular.iter().any(|other| stems(word) == stems(other)))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether one of the values is the entity's name or id.
pub(super) fn names(values: &Value, mention: &Mention) -> bool {
    let is = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return false,
        };
        text.eq_ignore_ascii_case(&mention.name) || mention.id.as_ref() == Some(&text)
    };
    values.as_object().is_some_and(|values| values.values().any(is))
}

/// Whether two stems are verbs for the same change: "dropped" asks for what was `deselected`.
fn is_same_act(one: &str, two: &str) -> bool {
    let family = |stem: &str| {
        let english = lexicon::english();
        english
            .family(stem)
            .or_else(|| english.family(&format!("{stem}e")))
            .filter(|family| !family.reads())
    };
    family(one).is_some() && family(one) == family(two)
}

/// The first value whose key covers all the words that the tool's name does not, with its container. In a list
/// with several entries it is unknown which one is meant.
fn search<'a>(
    value: &'a Value,
    own: &BTreeSet<&String>,
    left: &mut usize,
) -> Option<(&'a Value, &'a str, &'a Value)> {
    *left = left.checked_sub(1)?;
    match value {
        Value::Object(object) => {
            let named = object.iter().find(|(key, found)| {
                let words: BTreeSet<String> = stems(key).into_iter().collect();
                !key.ends_with("_count")
                    && !found.is_null()
                    && own.iter().all(|word| {
                        words.contains(*word) || words.iter().any(|key| is_same_act(word, key))
                    })
            });
            if let Some((key, found)) = named {
                return Some((value, key, found));
            }
            object.values().find_map(|value| search(value, own, left))
        }
        Value::Array(values) if values.len() == 1 => search(&values[0], own, left),
        _ => None,
    }
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
        turn("add_survey_answers", json!({"project_id": 123}), json)
    }

    fn turn(tool: &str, arguments: Value, json: Value) -> Arc<TurnRecord> {
        let call = CallRecord {
            id: "c1".into(),
            tool: ToolName { server: "demo".into(), name: tool.into() },
            arguments,
            output: Some(ToolOutput {
                text: json.to_string(),
                json: Some(json),
                ..ToolOutput::default()
            }),
            round: 1,
            ..CallRecord::default()
        };
        let at = Timestamp::UNIX_EPOCH;
        let record = TurnRecord::erased(1, at);
        Arc::new(TurnRecord { kind: TurnKind::Query, calls: vec![call], ..record })
    }

    #[track_caller]
    fn check(message: &str, expected: Option<&str>) {
        let found = find(message, &[], &[survey_turn()]).map(|found| found.text);
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

    #[test]
    fn what_is_asked_of_several_or_of_another_thing_is_not_told_of_one() {
        let of =
            |name: &str| json!({"id": 1, "name": name, "rack": {"name": "r01"}, "site": "Ams"});
        let one = turn("get_device", json!({"device": "sw1"}), of("sw1"));
        let list = turn("list_devices", json!({}), json!({"results": [of("sw1"), of("sw2")]}));
        let told = |message: &str, meant: &str, turn: &Arc<TurnRecord>| {
            let mention = Mention {
                kind: crate::entity::Kind::new("device"),
                name: meant.into(),
                id: None,
                entity: None,
                span: crate::entity::Span { start: 0, end: 0 },
                how: crate::entity::How::Reference,
                confidence: 1.0,
            };
            find(message, &[mention], std::slice::from_ref(turn)).is_some()
        };
        assert!(told("which rack is it in?", "sw1", &one));
        assert!(!told("which rack is it in?", "sw2", &one), "that was another device");
        assert!(!told("which rack is it in?", "sw1", &list), "one of several");
        assert!(!told("which devices are in that rack?", "sw1", &one), "several devices");
        assert!(!told("which sites are there?", "sw1", &one), "several sites");
    }
}
