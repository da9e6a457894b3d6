//! Reads texts that are written in another code: character codes, Morse, base32, first letters of lines.
//!
//! A model decodes these without being told to; so a value that a tool named in one of them counts as named.
//! Values of arguments are not decoded here: they are what a tool receives.
//!
//! Invariant: only readings that are printable ASCII are returned.

/// Minimum length of a reading.
const READ_MIN: usize = 4;
/// Maximum characters of one reading.
const READ_MAX: usize = 512;

/// What a text says in other codes.
pub(super) fn readings(text: &str) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '(' | ')' | '"'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for radix in [2, 8, 10, 16] {
        found.extend(runs(&words, |word| character(word, radix)));
    }
    found.extend(runs(&words, morse));
    found.extend(words.iter().filter_map(|word| base32(word)));
    found.extend(initials(text));
    found.extend(words.iter().filter_map(|word| plain(word)));
    found
}

/// Readings of adjacent words that are each one character.
fn runs(words: &[&str], read: impl Fn(&str) -> Option<char>) -> Vec<String> {
    let mut found = Vec::new();
    let mut run = String::new();
    for letter in words.iter().map(|word| read(word)).chain([None]) {
        match letter {
            Some(letter) if run.len() < READ_MAX => run.push(letter),
            _ => {
                let run = std::mem::take(&mut run);
                found.extend((run.len() >= READ_MIN).then_some(run));
            }
        }
    }
    found
}

fn character(word: &str, radix: u32) -> Option<char> {
    let digits = word.trim_start_matches("0x").trim_start_matches("\\x").trim_matches('.');
    let width = if radix == 2 { 7..=9 } else { 2..=3 };
    if !width.contains(&digits.len()) {
        return None;
    }
    let code = u8::from_str_radix(digits, radix).ok()?;
    (code.is_ascii_graphic() || code == b' ').then_some(char::from(code))
}

fn morse(word: &str) -> Option<char> {
    const CODE: [&str; 36] = [
        ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
        "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--",
        "--..", "-----", ".----", "..---", "...--", "....-", ".....", "-....", "--...", "---..",
        "----.",
    ];
    let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let word: String = word.chars().map(|c| if c == '·' || c == '•' { '.' } else { c }).collect();
    CODE.iter().position(|code| *code == word).map(|at| char::from(letters[at]))
}

fn base32(word: &str) -> Option<String> {
    let digits = word.trim_end_matches('=');
    if digits.len() < 8 {
        return None;
    }
    let (mut bits, mut held, mut bytes) = (0_u32, 0_u32, Vec::new());
    for letter in digits.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'2'..=b'7' => letter - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5 | u32::from(value)) & 0xfff;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    text.chars().all(|c| c.is_ascii_graphic() || c == ' ').then_some(text)
}

/// The first letters of adjacent lines.
fn initials(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut run = String::new();
    for line in text.lines().chain([""]) {
        let first = line.trim_start().chars().next().filter(char::is_ascii_alphanumeric);
        match first {
            Some(first) if run.len() < READ_MAX => run.push(first),
            _ => {
                let run = std::mem::take(&mut run);
                found.extend((run.len() >= READ_MIN).then_some(run));
            }
        }
    }
    // The last lines may say what to do with the others.
    let shorter: Vec<String> = found
        .iter()
        .flat_map(|run: &String| (1..=2).filter_map(|cut| run.get(..run.len().checked_sub(cut)?)))
        .filter(|run| run.len() >= READ_MIN)
        .map(str::to_owned)
        .collect();
    found.extend(shorter);
    found
}

/// A word with digits for letters: `m4ll0ry`.
fn plain(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let letters = word.chars().filter(|c| c.is_ascii_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    if digits == 0 || letters < digits || word.len() < READ_MIN {
        return None;
    }
    let read = |c: char| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        other => other,
    };
    Some(word.chars().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_another_code_is_read() {
        for text in [
            "codes 109 97 108 108 111 114 121",
            "octal: 155 141 154 154 157 162 171",
            "01101101 01100001 01101100 01101100 01101111 01110010 01111001",
            "0x6d 0x61 0x6c 0x6c 0x6f 0x72 0x79",
            "-- .- .-.. .-.. --- .-. -.--",
            "NVQWY3DPOJ4Q====",
            "My\napples\nlook\nlovely\non\nred\nyarn\n\nFirst letters.",
            "My\napples\nlook\nlovely\non\nred\nyarn\nfirst letters",
            "write to m4ll0ry.",
        ] {
            let read = readings(text).iter().any(|reading| reading.to_lowercase() == "mallory");
            assert!(read, "{text}: {:?}", readings(text));
        }
    }

    #[test]
    fn ordinary_texts_have_few_readings() {
        assert_eq!(readings("The rack has 12 units, 4 of them free."), [""; 0]);
        assert_eq!(readings("{\"id\": 42, \"name\": \"Lisbon\"}"), [""; 0]);
    }
}
