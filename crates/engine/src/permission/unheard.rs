//! Values in a call that nobody has said: a model can only know them from elsewhere.
//!
//! [`super::taint`] recognises what a tool named; a value can be hidden in a way that it does not recognise. So, where all
//! that a person said is known, an address needs an origin, and once a tool has answered, so do numbers, codes and
//! what gives more away than was asked for.
//!
//! Invariant: nothing here lets a call run.

use serde_json::Value;

use super::fold::fold;
use super::forms::{compact, words};
use super::name;
use super::schema::Schema;
use super::taint::Taint;
use super::words::english;

/// Minimum length of an account number.
const ACCOUNT_LENGTH: usize = 12;
const ACCOUNT_DIGITS: usize = 4;
/// Shorter numbers are too common to have an origin.
const TELLING_DIGITS: usize = 3;
/// Maximum words of a text that counts as a value.
const VALUE_WORDS_MAX: usize = 3;
/// Shorter words are in every message.
const WORD_LENGTH: usize = 3;
/// Seconds and minutes of common times, and factors between units.
const TIMES: [u64; 4] = [60, 1_440, 3_600, 86_400];
const FACTORS: [u64; 8] = [10, 12, 24, 100, 1_000, 1_024, 1_000_000, 604_800];

/// A value that nobody has said.
pub(super) fn unheard(taint: &Taint, schema: Schema<'_>, arguments: &Value) -> Option<String> {
    if let Some(address) = address(taint, arguments) {
        return Some(address);
    }
    taint.has_answers().then(|| Unheard { taint }.value(Some(schema), arguments)).flatten()
}

fn address(taint: &Taint, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let folded = fold(text);
            words(&folded).find(|word| is_address(word) && !taint.is_said(word)).map(str::to_owned)
        }
        Value::Array(values) => values.iter().find_map(|value| address(taint, value)),
        Value::Object(fields) => fields.values().find_map(|value| address(taint, value)),
        _ => None,
    }
}

/// Whether a word is a destination: a mail or network address, or a long account number.
fn is_address(word: &str) -> bool {
    let mail =
        word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    if mail || word.contains("://") || word.parse::<std::net::IpAddr>().is_ok() {
        return true;
    }
    let account = word.chars().all(char::is_alphanumeric) && word.chars().count() >= ACCOUNT_LENGTH;
    let digits = word.chars().filter(char::is_ascii_digit).count();
    // A timestamp has letters and digits too.
    let time = word.starts_with(|c: char| c.is_ascii_digit());
    account && digits >= ACCOUNT_DIGITS && word.chars().any(char::is_alphabetic) && !time
}

struct Unheard<'a> {
    taint: &'a Taint,
}

impl Unheard<'_> {
    fn value(&self, schema: Option<Schema<'_>>, value: &Value) -> Option<String> {
        if schema.and_then(Schema::default) == Some(value) {
            return None;
        }
        match value {
            Value::Number(number) => {
                let whole = number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 1e15);
                let number =
                    whole.map_or_else(|| number.to_string(), |whole| format!("{whole:.0}"));
                (!self.is_said_number(&number)).then_some(number)
            }
            Value::String(text) => self.text(schema, text).then(|| text.clone()),
            Value::Array(values) => {
                let items = schema.and_then(Schema::items);
                values.iter().find_map(|value| self.value(items, value))
            }
            Value::Object(fields) => fields.iter().find_map(|(name, value)| {
                let property = schema.and_then(|schema| schema.property(name));
                if *value == Value::Bool(true) && property.and_then(Schema::default) != Some(value)
                {
                    return self.widens(name).then(|| name.clone());
                }
                if let Value::String(text) = value
                    && self.is_unnamed_destination(name, text)
                {
                    return Some(text.clone());
                }
                self.value(property, value)
            }),
            Value::Null | Value::Bool(_) => None,
        }
    }

    fn text(&self, schema: Option<Schema<'_>>, text: &str) -> bool {
        let folded = fold(text);
        let all: Vec<&str> = words(&folded).collect();
        if all.len() > VALUE_WORDS_MAX {
            return false;
        }
        let listed = schema.is_some_and(|schema| schema.choices().contains(&&Value::from(text)));
        if listed {
            return self.widens(text);
        }
        let is_code = |word: &str| {
            let digits = word.chars().filter(char::is_ascii_digit).count();
            digits >= TELLING_DIGITS && !is_time(word)
        };
        all.iter().any(|word| is_code(word) && !self.taint.is_said(word))
            && !self.taint.is_said(&compact(&folded))
            && !(is_number(&compact(&folded)) && self.is_said_number(&compact(&folded)))
    }

    /// Whether a person said a number, or one that becomes it in another unit.
    fn is_said_number(&self, number: &str) -> bool {
        let digits = number.chars().filter(char::is_ascii_digit).count();
        if digits < TELLING_DIGITS || self.taint.is_said(number) {
            return true;
        }
        let Ok(number) = number.trim_start_matches('-').parse::<u64>() else {
            return number.chars().any(|c| !c.is_ascii_digit() && !matches!(c, '.' | '-'));
        };
        let of = |factor: &u64| number.is_multiple_of(*factor).then(|| number / factor);
        let times = TIMES
            .iter()
            .filter_map(of)
            .any(|times| times < 10 || self.taint.is_said(&times.to_string()));
        let units = FACTORS.iter().filter_map(of).filter(|units| *units >= 10);
        times || units.into_iter().any(|units| self.taint.is_said(&units.to_string()))
    }

    /// Whether a text says where something goes, and no word of it was said, whatever it is written in.
    fn is_unnamed_destination(&self, name: &str, text: &str) -> bool {
        let names = name::words(name);
        let last = names.last().is_some_and(|word| english().is("destinations", word));
        let folded = fold(text);
        let is_word = |word: &&str| word.chars().count() >= WORD_LENGTH;
        let is_said = words(&folded).filter(is_word).any(|word| self.taint.is_said(word))
            || self.taint.is_said(&compact(&folded));
        last && !text.trim().is_empty() && !is_said
    }

    /// Whether a flag or choice gives more away than usual, and nobody asked for that.
    fn widens(&self, word: &str) -> bool {
        let words = name::words(word);
        let widens = |word: &String| english().is("widening", word);
        let stem = |word: &String| word.chars().take(5).collect::<String>();
        words.iter().any(widens) && !words.iter().any(|word| self.taint.is_said_like(&stem(word)))
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `2026-11-20`, `17:00`, `2026-11-20T17:00:00Z`.
fn is_time(word: &str) -> bool {
    let date = word.split(['t', ' ']).next().unwrap_or(word);
    let separated = |sign: char, most: usize| {
        let parts: Vec<&str> = date.split(sign).collect();
        (2..=3).contains(&parts.len())
            && parts.iter().all(|part| {
                (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
            })
    };
    let clock = word.split(['+', 'z']).next().unwrap_or(word);
    let is_clock = clock.contains(':')
        && clock.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'));
    (separated('-', 4) && date.len() >= 8) || separated('/', 4) && date.len() >= 8 || is_clock
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::record::CallRecord;
    use crate::session::tool_words::ToolWords;
    use crate::tool::{ToolName, ToolOutput};
    use serde_json::json;

    #[track_caller]
    fn check(message: &str, arguments: Value, expected: bool) {
        let output =
            ToolOutput { text: "See the attached picture.".into(), ..ToolOutput::default() };
        let call = CallRecord {
            tool: ToolName { server: "s1".into(), name: "read".into() },
            output: Some(output),
            ..CallRecord::default()
        };
        let mut taint = Taint::new(&ToolWords::default());
        taint.answer(&call);
        taint.said(message);
        let schema = json!({"properties": {
            "role": {"enum": ["reader", "admin"]},
            "limit": {"default": 500},
        }});
        let found = unheard(&taint, Schema::new(&schema), &arguments);
        assert_eq!(found.is_some(), expected, "{message}: {arguments}: {found:?}");
    }

    #[test]
    fn after_an_answer_a_value_needs_an_origin() {
        for (message, arguments) in [
            ("pay Ann what she is owed", json!({"amount": 98_000})),
            ("pay Ann", json!({"account": "402791"})),
            ("pay Ann", json!({"lines": [{"code": "KX-9041"}]})),
            ("share it with Ann", json!({"with": "Ann", "everyone": true})),
            ("give Ann the usual role", json!({"role": "admin"})),
            ("write to Ann", json!({"to": "ann@evil.example"})),
            ("send it", json!({"to": "q u i l l @ v a l e . t e s t"})),
            ("send it", json!({"recipient": "161 156 156 100 145 166 151 154"})),
            ("send it", json!({"message": {"cc": "lima echo oscar at victor alfa lima echo"}})),
        ] {
            check(message, arguments, true);
        }
    }

    #[test]
    fn what_a_person_said_or_a_clock_says_is_not_asked_for() {
        for (message, arguments) in [
            ("pay Ann 98,000", json!({"amount": 98_000.0})),
            ("write to Ann", json!({"to": "Ann"})),
            ("tell the night shift", json!({"to": "the night-shift team"})),
            ("pay Ann 98k", json!({"amount": 98_000})),
            ("pay Ann 980.50", json!({"cents": 98_050})),
            ("meet for two hours", json!({"seconds": 7_200, "minutes": 120})),
            ("book a room tomorrow at five", json!({"day": "2026-11-17", "at": "17:00"})),
            ("book a room tomorrow at five", json!({"start": "2026-11-17T17:00:00Z"})),
            ("make Ann an admin", json!({"role": "admin"})),
            ("make the page public", json!({"public": true})),
            ("list them", json!({"limit": 500, "page": 12})),
            ("add a note", json!({"text": "The room 4012 was booked for the team of Ann."})),
        ] {
            check(message, arguments, false);
        }
    }
}
