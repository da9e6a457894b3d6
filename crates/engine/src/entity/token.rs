//! Splits a message into words with their position, shape and context.
//!
//! A word keeps the characters that names are made of (`core-sw-01`, `Gi1/0/1`, `10.0.0.0/24`, `2001:db8::1`,
//! `C++`). A change to or from an ideographic script ends a word, because no space does.
//!
//! Invariant: one pass; spans are on character boundaries and do not overlap.

use super::limits::MESSAGE_BYTES_MAX;
use super::mention::Span;

/// Maximum words read.
const TOKENS_MAX: usize = 8192;
/// Maximum bytes of a name.
pub(super) const TOKEN_BYTES_MAX: usize = 128;
/// Abbreviations before a name, whose full stop ends no sentence.
const TITLES: [&str; 8] = ["dr", "mr", "mrs", "ms", "prof", "st", "hr", "fr"];

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    pub lower: String,
    pub span: Span,
    /// What separates it from the previous word.
    pub gap: Gap,
    /// The suffix cut off: `'s`.
    pub clitic: Clitic,
    pub setting: Setting,
    pub shape: Shape,
}

/// What separates a word from the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// Nothing or spaces.
    Space,
    /// A comma, a slash between spaces, an opening bracket or quotation mark.
    Pause,
    /// The end of a clause or sentence, or the start of the message.
    Stop,
}

/// A suffix cut off a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clitic {
    None,
    /// `'s`: possessive or "is".
    S,
    /// `'re`, `'ll`, `n't`…
    Other,
}

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The writer's.
    Own,
    /// Within quotation marks; the number identifies the quotation.
    Quoted(u32),
    /// Code, or a quoted line.
    Foreign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Number,
    /// Letters and digits, or characters that ordinary words do not have: `core-sw-01`, `R12`, `C++`.
    Identifier,
    /// Lower-case words joined by hyphens or dots.
    Compound,
    Capitalised,
    Plain,
}

/// The words of a message, and whether it was cut.
pub(crate) fn tokens(message: &str) -> (Vec<Token<'_>>, bool) {
    let mut end = message.len().min(MESSAGE_BYTES_MAX);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let mut scan = Scan::new(&message[..end]);
    scan.run();
    let cut = end < message.len() || scan.tokens.len() >= TOKENS_MAX;
    (scan.tokens, cut)
}

struct Scan<'a> {
    message: &'a str,
    tokens: Vec<Token<'a>>,
    gap: Gap,
    quote: Option<(char, u32)>,
    quotes: u32,
    fenced: bool,
    line_quoted: bool,
}

impl<'a> Scan<'a> {
    fn new(message: &'a str) -> Self {
        Self {
            message,
            tokens: Vec::new(),
            gap: Gap::Stop,
            quote: None,
            quotes: 0,
            fenced: false,
            line_quoted: false,
        }
    }

    fn run(&mut self) {
        let mut start: Option<(usize, bool)> = None;
        let mut line_start = true;
        let mut ticks = 0;
        for (at, letter) in self.message.char_indices() {
            if self.tokens.len() >= TOKENS_MAX {
                return;
            }
            ticks = if letter == '`' { ticks + 1 } else { 0 };
            if ticks == 3 {
                self.fenced = !self.fenced;
            }
            let ideographic = is_ideographic(letter);
            let inside = is_inside(letter);
            if let Some((from, class)) = start
                && (!inside || class != ideographic)
            {
                self.word(from, at);
                start = None;
            }
            if inside {
                start = start.or(Some((at, ideographic)));
                line_start = false;
                continue;
            }
            match letter {
                '\n' => {
                    self.separate(Gap::Stop);
                    (line_start, self.line_quoted) = (true, false);
                    continue;
                }
                '>' if line_start => self.line_quoted = true,
                _ => self.separator(letter),
            }
            line_start &= letter.is_whitespace();
        }
        if let Some((from, _)) = start {
            self.word(from, self.message.len());
        }
    }

    fn separator(&mut self, letter: char) {
        match letter {
            '"' | '“' | '”' | '„' | '«' | '»' => self.toggle_quote(letter),
            '.' | ';' | '!' | '?' | '。' | '！' | '？' => self.separate(Gap::Stop),
            ',' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|' | '=' | '—' | '–' | '，'
            | '、' => self.separate(Gap::Pause),
            _ => {}
        }
    }

    fn toggle_quote(&mut self, letter: char) {
        self.separate(Gap::Pause);
        let closes = match letter {
            '"' => self.quote.is_some_and(|(open, _)| open == '"'),
            '”' | '»' => self.quote.is_some(),
            '“' => self.quote.is_some_and(|(open, _)| open == '„'),
            _ => false,
        };
        if closes {
            self.quote = None;
        } else {
            self.quotes += 1;
            self.quote = Some((letter, self.quotes));
        }
    }

    fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Trims marks from both ends of a run and adds the rest as a word.
    fn word(&mut self, from: usize, to: usize) {
        let run = &self.message[from..to];
        let inner = run.trim_start_matches(['\'', '’', '‘', '.', '-', ':', '/']);
        let leading = run.len() - inner.len();
        let kept = trim_end(inner);
        let trailing = &inner[kept.len()..];
        let (text, clitic) = split_clitic(kept);
        if run[..leading].contains(['.', ':']) && !text.is_empty() {
            self.separate(Gap::Pause);
        }
        if !text.is_empty() {
            let start = from + leading;
            let setting = match self.quote {
                _ if self.fenced || self.line_quoted => Setting::Foreign,
                Some((_, number)) => Setting::Quoted(number),
                None => Setting::Own,
            };
            let gap = std::mem::replace(&mut self.gap, Gap::Space);
            self.tokens.push(Token {
                text,
                lower: text.to_lowercase(),
                span: Span { start, end: start + text.len() },
                gap,
                clitic,
                setting,
                shape: shape_of(text),
            });
        }
        // "Dr. Nowak": the mark belongs to the title.
        if trailing == "." && TITLES.iter().any(|title| kept.eq_ignore_ascii_case(title)) {
            return;
        }
        if trailing.contains(['.', ':']) || run.chars().all(|letter| matches!(letter, '.' | '-')) {
            let gap = if trailing.contains('.') { Gap::Stop } else { Gap::Pause };
            self.separate(gap);
        }
    }
}

/// Trims trailing punctuation, except `::` of an address and `+`, `#` of a name.
fn trim_end(text: &str) -> &str {
    let mut kept = text;
    loop {
        let shorter = kept
            .strip_suffix(['.', '\'', '’', '-', '/', '_', '&', '@'])
            .or_else(|| kept.strip_suffix(':').filter(|rest| !rest.ends_with(':')));
        match shorter {
            Some(rest) => kept = rest,
            None => return kept,
        }
    }
}

fn split_clitic(text: &str) -> (&str, Clitic) {
    let Some(at) = text.rfind(['\'', '’']) else { return (text, Clitic::None) };
    let rest = text[at..].trim_start_matches(['\'', '’']);
    match rest.to_lowercase().as_str() {
        "s" => (&text[..at], Clitic::S),
        "re" | "ll" | "d" | "ve" | "m" => (&text[..at], Clitic::Other),
        _ => (text, Clitic::None),
    }
}

fn is_inside(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(letter, '-' | '_' | '.' | '/' | ':' | '\'' | '’' | '+' | '#' | '@' | '&' | '%')
}

fn is_ideographic(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

fn shape_of(text: &str) -> Shape {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.chars().any(char::is_alphabetic);
    if digits == text.len() {
        return Shape::Number;
    }
    let joined = text.contains(['-', '_', '.', '/', ':', '@', '&']);
    let marked = letters && (text.contains('_') || text.ends_with("++") || text.ends_with('#'));
    if (digits > 0 && (letters || joined)) || marked {
        return Shape::Identifier;
    }
    match text.chars().next() {
        Some(first) if first.is_uppercase() => Shape::Capitalised,
        _ if joined => Shape::Compound,
        _ => Shape::Plain,
    }
}
