//! Filters the last result by a value in a column: "which of them are in progress?".
//!
//! For results that are not lists of a known kind: rows of a query, and texts with headings. Known lists are
//! narrowed elsewhere by asking again.
//!
//! Invariant: every content word is a value in a column of the result shown.

use serde_json::{Value, json};

use super::ask::Ask;
use super::read::Part;
use super::rows;
use super::scene::{Said, Scene};
use crate::lexicon::Say;
use crate::reply::wording;
use crate::session::dialogue::Want;

impl Scene<'_> {
    /// The rows of the last result that have the values named in the message.
    pub(super) fn among_shown(&self, ask: &Ask, parts: &[Part]) -> Option<Said> {
        let reads = ask.verb.is_none_or(|(family, _)| family.reads());
        let plain = ask.kinds.is_empty() && ask.compared.is_none() && !ask.phrases.is_empty();
        let spoken = self.dialogue.spoken.first();
        let unlisted = spoken.is_some_and(|spoken| {
            matches!(spoken.query.want, Want::Act(_)) || spoken.shown.is_empty()
        });
        let headed = ask.phrases.is_empty() && (ask.of_shown || ask.follows.is_some());
        let plain = plain || headed && ask.kinds.is_empty() && ask.fields.is_empty();
        if !((ask.of_shown || headed) && reads && plain && unlisted) {
            return None;
        }
        let shown = self.recent.iter().rev().find(|turn| !turn.calls.is_empty())?;
        let call = shown.calls.last().filter(|call| call.ok())?;
        let output = call.output.as_ref()?;
        let all: Vec<Value> = match rows::json_of(output) {
            Some(json) => rows::rows(&json)?.0.into_iter().cloned().collect(),
            None => under_headings(&output.text),
        };
        let mut fitting: Vec<&Value> = all.iter().collect();
        if ask.phrases.is_empty() && ask.counts && ask.of_shown && !self.has_heading(&all) {
            let shown = spoken.map_or(0, |spoken| spoken.shown.len()).max(all.len());
            let count = spoken.and_then(|spoken| spoken.count).unwrap_or(shown);
            // A text without lines that can be counted.
            let count = Some(count).filter(|count| *count > 0)?.to_string();
            let subject = wording::subject(&call.tool.name);
            let with = [("count", count.as_str()), ("kinds", &subject), ("filters", "")];
            let text = self.say(Say::Counted, &with);
            return Some(Said { text, dialogue: self.dialogue.clone(), ..Said::default() });
        }
        if ask.phrases.is_empty() {
            // "how many are still to do?": small words that are a heading together.
            let said = format!(" {} ", comparable(self.message).replace(['?', '.', '!'], " "));
            let headings = all.iter().filter_map(|row| row.get(HEADING)?.as_str());
            let mut named = headings.filter(|h| said.contains(&format!(" {} ", comparable(h))));
            let value = comparable(named.next()?);
            fitting.retain(|row| has(row, &value));
        }
        for phrase in &ask.phrases {
            // "in progress": the preposition may be part of the value.
            let before = phrase.at.checked_sub(1).map(|at| parts[at].lower.as_str());
            let longer = before.map(|word| format!("{word} {}", phrase.text));
            let said = longer.into_iter().chain([phrase.text.clone()]);
            let value = said
                .map(|said| comparable(&said))
                .find(|said| all.iter().any(|row| has(row, said)))?;
            fitting.retain(|row| has(row, &value) != phrase.negated);
        }
        let subject = wording::subject(&call.tool.name);
        let count = fitting.len();
        let text = match ask.counts {
            true => {
                let count = count.to_string();
                let with = [("count", count.as_str()), ("kinds", &subject), ("filters", "")];
                self.say(Say::Counted, &with)
            }
            false => {
                let told = |row: &Value| row.get(LINE).unwrap_or(row).clone();
                wording::value(&fitting.into_iter().map(told).collect(), &subject)
            }
        };
        let mut dialogue = self.dialogue.clone();
        if let Some(spoken) = dialogue.spoken.first_mut() {
            spoken.count = Some(count);
        }
        Some(Said { text, dialogue, ..Said::default() })
    }

    /// Whether the message names a heading of these lines.
    fn has_heading(&self, rows: &[Value]) -> bool {
        let said = format!(" {} ", comparable(self.message).replace(['?', '.', '!'], " "));
        let mut headings = rows.iter().filter_map(|row| row.get(HEADING)?.as_str());
        headings.any(|heading| said.contains(&format!(" {} ", comparable(heading))))
    }
}

/// The key of a line of text, next to its heading.
const LINE: &str = "line";
const HEADING: &str = "heading";

fn has(row: &Value, said: &str) -> bool {
    let is = |value: &Value| match value {
        Value::Object(_) | Value::Array(_) | Value::Null => false,
        value => comparable(&rows::scalar(value)) == said,
    };
    row.as_object().is_some_and(|row| row.values().any(is))
}

fn comparable(text: &str) -> String {
    text.to_lowercase().replace(['_', '-'], " ").trim().to_owned()
}

/// The lines of a text below headings, each with its heading: "To Do:" and what follows.
pub(super) fn under_headings(text: &str) -> Vec<Value> {
    let (mut heading, mut found) = (None, Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match (line.strip_suffix(':'), heading) {
            (Some(title), _) => heading = Some(title.trim_start_matches(['#', ' '])),
            (None, Some(heading)) => {
                let line = line.trim_start_matches(['-', '*', '•', ' ']);
                found.push(json!({HEADING: heading, LINE: line}));
            }
            (None, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_heading() {
        let text = "Tasks:\n\nTo Do:\n  [HIGH] T-5 - Book it\n\nIn Progress:\n  - T-1 - Mend it\n  - T-3 - Prune it\n";
        let rows = under_headings(text);
        let under = |heading: &str| {
            let rows = rows.iter().filter(|row| has(row, heading));
            rows.map(|row| row[LINE].as_str().unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(under("in progress"), ["T-1 - Mend it", "T-3 - Prune it"]);
        assert_eq!(under("to do"), ["[HIGH] T-5 - Book it"]);
        assert_eq!(under("done"), [""; 0]);
    }

    #[test]
    fn a_value_is_compared_whole() {
        let row = json!({"name": "Willow", "status": "in_progress", "frames": 10});
        assert!(has(&row, "in progress") && has(&row, "10") && !has(&row, "progress"));
    }
}
