//! Normalises text for comparison: without accents, hidden characters, look-alike letters and escapes.
//!
//! What a person sees as one word is one word here, however it is encoded.
//!
//! Invariant: folding is idempotent.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum text that is decoded.
const DECODED_BYTES_MAX: usize = 16 * 1024;

/// Cyrillic and Greek letters that look like Latin ones.
const LOOK_ALIKES: [(char, char); 44] = [
    ('а', 'a'),
    ('в', 'b'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('ё', 'e'),
    ('ғ', 'f'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ї', 'i'),
    ('ј', 'j'),
    ('к', 'k'),
    ('ӏ', 'l'),
    ('м', 'm'),
    ('н', 'h'),
    ('п', 'n'),
    ('о', 'o'),
    ('р', 'p'),
    ('ԛ', 'q'),
    ('г', 'r'),
    ('ѕ', 's'),
    ('т', 't'),
    ('υ', 'u'),
    ('ѵ', 'v'),
    ('ԝ', 'w'),
    ('х', 'x'),
    ('у', 'y'),
    ('α', 'a'),
    ('β', 'b'),
    ('ε', 'e'),
    ('η', 'n'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('σ', 'o'),
    ('τ', 't'),
    ('χ', 'x'),
    ('γ', 'y'),
    ('ω', 'w'),
    ('ɡ', 'g'),
    ('ɑ', 'a'),
    ('ⅼ', 'l'),
];

/// Whether a character is invisible: of no width, a direction mark, a tag.
pub(crate) fn is_hidden(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a text hides words or reverses their direction: what a person sees is not what a program reads.
pub(crate) fn deceives(text: &str) -> bool {
    text.chars().any(|c| {
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    })
}

pub(crate) fn fold(text: &str) -> String {
    let text = entities(text);
    let mut plain = String::with_capacity(text.len());
    // Invisible tag characters spell ASCII; they are read as such.
    let shown = text.chars().filter_map(|c| match c {
        '\u{e0020}'..='\u{e007e}' => char::from_u32(c as u32 - 0xe0000),
        hidden if is_hidden(hidden) => None,
        plain => Some(plain),
    });
    for letter in shown.collect::<String>().nfkd() {
        let latin = plain.chars().next_back().is_some_and(|last| last.is_ascii_alphabetic());
        if is_combining_mark(letter) && latin {
            continue;
        }
        match letter {
            'ß' => plain.push_str("ss"),
            'æ' | 'Æ' => plain.push_str("ae"),
            'œ' | 'Œ' => plain.push_str("oe"),
            'þ' | 'Þ' => plain.push_str("th"),
            'ð' | 'Ð' | 'đ' | 'Đ' => plain.push('d'),
            'ø' | 'Ø' => plain.push('o'),
            'ł' | 'Ł' => plain.push('l'),
            'ı' => plain.push('i'),
            '’' | '‘' => plain.push('\''),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push('-'),
            space if space.is_whitespace() && space != '\n' => plain.push(' '),
            other => plain.extend(other.to_lowercase()),
        }
    }
    unmix(&plain.nfc().collect::<String>())
}

/// Replaces look-alike letters of other alphabets in words that also have Latin ones.
fn unmix(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars().chain([' ']) {
        if letter.is_alphanumeric() {
            word.push(letter);
            continue;
        }
        match is_mixed(&word) {
            true => out.extend(word.chars().map(latin)),
            false => out.push_str(&word),
        }
        word.clear();
        out.push(letter);
    }
    out.pop();
    out
}

fn latin(letter: char) -> char {
    let alike = LOOK_ALIKES.iter().find(|(other, _)| *other == letter);
    alike.map_or(letter, |(_, latin)| *latin)
}

/// Whether a word mixes Latin letters with others that look like them.
fn is_mixed(word: &str) -> bool {
    let ascii = word.chars().any(|c| c.is_ascii_alphabetic());
    ascii && word.chars().any(|c| latin(c) != c)
}

/// Whether a name imitates another one: mixed alphabets within a word, invisible characters, blanks at its ends, marks
/// and forms that another spelling writes plainly, or a word of another alphabet that looks Latin.
pub(crate) fn is_look_alike(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    name.chars().any(is_hidden)
        || name.trim() != name
        || !name.nfkc().eq(name.chars())
        || is_marked(name)
        || words.any(|word| {
            let imitates = || word.chars().count() > 2 && word.chars().all(|c| latin(c) != c);
            is_mixed(word) || imitates()
        })
}

/// Whether a Latin letter has a mark of its own that no letter is composed with, such as a stroke through it.
fn is_marked(name: &str) -> bool {
    let pairs = name.chars().zip(name.chars().skip(1));
    pairs.into_iter().any(|(letter, mark)| letter.is_ascii_alphabetic() && is_combining_mark(mark))
}

/// Decodes numeric entities such as `&#100;` and a few named ones.
fn entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let named = after.split_once(';').filter(|(name, _)| name.len() <= 8);
        let letter = named.and_then(|(name, _)| entity(name));
        match (letter, named) {
            (Some(letter), Some((_, tail))) => {
                out.push(letter);
                rest = tail;
            }
            _ => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        number => {
            let digits = number.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// Decodes base64, hexadecimal, percent signs and `\u` escapes. Only results that are text are returned.
pub(crate) fn decoded(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.len() > DECODED_BYTES_MAX {
        return Vec::new();
    }
    let readings = [percent(text), escapes(text), hex(text), base64(text)];
    let readable = |reading: &String| {
        reading != text
            && !reading.is_empty()
            && reading.chars().all(|c| !c.is_control() || c.is_whitespace())
    };
    readings.into_iter().flatten().filter(readable).collect()
}

/// Percent-decodes repeatedly.
fn percent(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..3 {
        if !text.contains('%') {
            break;
        }
        let bytes = text.as_bytes();
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        while at < bytes.len() {
            let digits = bytes.get(at + 1..at + 3).and_then(|d| std::str::from_utf8(d).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(byte) if bytes[at] == b'%' => {
                    out.push(byte);
                    at += 3;
                }
                _ => {
                    out.push(bytes[at]);
                    at += 1;
                }
            }
        }
        text = String::from_utf8(out).ok()?;
    }
    Some(text)
}

/// `\u0064` and `\x64`.
fn escapes(text: &str) -> Option<String> {
    if !text.contains("\\u") && !text.contains("\\x") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let width = match after.as_bytes().first() {
            Some(b'u') => 4,
            Some(b'x') => 2,
            _ => 0,
        };
        let code = after.get(1..=width).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code.and_then(char::from_u32) {
            Some(letter) if width > 0 => {
                out.push(letter);
                rest = &after[1 + width..];
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

fn hex(text: &str) -> Option<String> {
    let digits: String =
        text.strip_prefix("0x").unwrap_or(text).chars().filter(|c| *c != ':').collect();
    if digits.len() < 8
        || !digits.len().is_multiple_of(2)
        || !digits.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return None;
    }
    let bytes =
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok());
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

fn base64(text: &str) -> Option<String> {
    let standard: String = text
        .chars()
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    if standard.len() < 8 {
        return None;
    }
    let lenient =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&base64::alphabet::STANDARD, lenient);
    String::from_utf8(engine.decode(standard).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_the_same_is_the_same() {
        for (text, expected) in [
            ("D\u{200b}e\u{200b}letes", "deletes"),
            ("ＤＥＬＥＴＥ", "delete"),
            ("d\u{435}lete", "delete"),
            ("D\u{335}R\u{335}O\u{335}P", "drop"),
            ("Þórsdóttir-Œuvre", "thorsdottir-oeuvre"),
            ("&#100;rop &amp; x", "drop & x"),
            ("Löscht", "loscht"),
            ("が удаляет", "が удаляет"),
            ("x\u{e0064}\u{e0065}", "xde"),
        ] {
            assert_eq!(fold(text), expected);
            assert_eq!(fold(expected), expected);
        }
    }

    #[test]
    fn names_that_imitate_others_are_told() {
        for name in [
            "get_or_d\u{435}lete",
            "\u{441}\u{440}\u{443}",
            "a\u{200b}b",
            "\u{ff47}et_page",
            "get\u{ff3f}page",
            "\u{1d420}et_page",
            "get_page ",
            "get_page\u{a0}",
            "get_page\u{301}",
            "get_pag\u{335}e",
        ] {
            assert!(is_look_alike(name), "{name}");
        }
        for name in ["list_devices", "получить_список", "löschen", "取得", "no"] {
            assert!(!is_look_alike(name), "{name}");
        }
    }

    #[test]
    fn a_text_is_decoded_where_that_makes_text() {
        assert_eq!(decoded("https%253A%252F%252Fa.invalid"), ["https://a.invalid"]);
        assert_eq!(decoded("474154452d30363636"), ["GATE-0666"]);
        assert_eq!(decoded("cm0gLXJmIC8="), ["rm -rf /"]);
        assert_eq!(decoded("\\u0064el"), ["del"]);
        assert!(decoded("just some words").is_empty());
    }
}
