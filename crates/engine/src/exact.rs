//! Numbers that JSON can say and that we cannot hold.
//!
//! Integers are held in 64 bits and decimals as floating point numbers. What does not fit would be rounded in silence: an
//! id of 20 digits would name something else. So whoever reads JSON that somebody else wrote asks here first, and
//! refuses such a number by name, or keeps its digits as a text. Numbers of any precision in every value would cost
//! each reader of a value, and no schema validator or model client expects them.
//!
//! Invariant: a number that is held is the one that was written, or the floating point number that was meant by it.

use std::borrow::Cow;
use std::ops::Range;

/// A decimal of so many digits is always distinguished from others by its floating point number.
const DIGITS_ALWAYS_HELD: usize = 15;
/// Maximum characters of a number that are shown.
const SHOWN_MAX: usize = 60;

/// The first number of a JSON text that cannot be held.
pub fn find(json: &str) -> Option<&str> {
    numbers(json).map(|at| &json[at]).find(|literal| !is_held(literal))
}

/// Why a JSON text is refused because of a number, if so.
pub fn refusal(json: &str) -> Option<String> {
    let number: String = find(json)?.chars().take(SHOWN_MAX).collect();
    Some(format!("the number {number} cannot be passed on exactly; write it as a text"))
}

/// The JSON text with the numbers that cannot be held as texts.
pub fn quoted(json: &str) -> Cow<'_, str> {
    let mut changed = String::new();
    let mut from = 0;
    for at in numbers(json).filter(|at| !is_held(&json[at.clone()])) {
        changed.push_str(&json[from..at.start]);
        changed.push('"');
        changed.push_str(&json[at.clone()]);
        changed.push('"');
        from = at.end;
    }
    match from {
        0 => Cow::Borrowed(json),
        from => Cow::Owned(changed + &json[from..]),
    }
}

/// Where the numbers of a JSON text are.
fn numbers(json: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = end_of_text(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let of_number =
                        |b: &&u8| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                    let start = at;
                    at += bytes[at..].iter().take_while(of_number).count();
                    return Some(start..at);
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// The end of the text that begins at `at`.
fn end_of_text(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether a number is what was written once it has been read.
fn is_held(literal: &str) -> bool {
    if !literal.contains(['.', 'e', 'E']) {
        return literal.parse::<i64>().is_ok() || literal.parse::<u64>().is_ok();
    }
    let Ok(number) = literal.parse::<f64>() else { return true };
    let mantissa = literal.split(['e', 'E']).next().unwrap_or_default();
    let digits = significant(mantissa);
    if digits.is_empty() {
        return true;
    }
    if !number.is_normal() {
        return false;
    }
    // The number that is nearest to what was written, to as many digits.
    digits.len() <= DIGITS_ALWAYS_HELD
        || significant(
            format!("{number:.*e}", digits.len() - 1).split('e').next().unwrap_or_default(),
        ) == digits
}

/// The digits of a number without sign, point and the zeros around them.
fn significant(mantissa: &str) -> String {
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_held_or_found() {
        for held in [
            "0",
            "-0",
            "0.0",
            "-9223372036854775808",
            "18446744073709551615",
            "1e3",
            "1.50",
            "0.30000000000000004",
            "52.520006600000002",
            "1e300",
            // What a floating point number of another program is to the last digit.
            "0.1000000000000000055511151231257827021181583404541015625",
        ] {
            assert_eq!(find(&format!("{{\"a\":[{held}]}}")), None, "{held}");
        }
        for lost in [
            "18446744073709551616",
            "-9223372036854775809",
            "100000000000000000000",
            "3.14159265358979323846",
            "9007199254740993.5",
            "1e400",
            "1e-400",
            "123456789012345678901234567890.5",
        ] {
            assert_eq!(find(&format!("{{\"a\":[1,{lost}]}}")), Some(lost));
        }
    }

    #[test]
    fn only_what_would_be_lost_becomes_a_text_and_texts_are_left_alone() {
        let json =
            r#"{"id":18446744073709551616,"n":1.5,"t":"\"99999999999999999999","x":[1e400,-1]}"#;
        let kept = r#"{"id":"18446744073709551616","n":1.5,"t":"\"99999999999999999999","x":["1e400",-1]}"#;
        assert_eq!(quoted(json), kept);
        assert_eq!(quoted(kept), kept);
        assert!(refusal(json).is_some_and(|reason| reason.contains("number 18446744073709551616")));
    }
}
