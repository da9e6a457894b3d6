//! A message as words, each with its place, shape and surroundings.
//!
//! Words keep what names are made of (`core-sw-01`, `Gi1/0/1`, `10.0.0.0/24`, `2001:db8::1`, `C++`).
//! A change between an ideographic script and another one ends a word, since no space does.
//!
//! Invariant: one pass; spans lie on character boundaries and do not overlap.

use super::limits::MESSAGE_BYTES_MAX;
use super::mention::Span;

/// Words in a message beyond which it is not looked at.
const TOKENS_MAX: usize = 8192;
/// The longest word that can be a name, in bytes.
pub(super) const TOKEN_BYTES_MAX: usize = 128;

/// One word.
#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    pub lower: String,
    pub span: Span,
    /// What stands between the word before and this one.
    pub gap: Gap,
    /// What was cut off its end: `'s`.
    pub clitic: Clitic,
    /// Whose words they are.
    pub setting: Setting,
    pub shape: Shape,
}

/// What stands before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// Nothing or spaces.
    Space,
    /// A comma, a slash between spaces, an opening bracket or quotation mark.
    Pause,
    /// The end of a clause or sentence, or the start of the message.
    Stop,
}

/// What was cut off the end of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clitic {
    None,
    /// `'s`: of it, or is.
    S,
    /// Any other: `'re`, `'ll`, `n't`…
    Other,
}

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The writer's.
    Own,
    /// Within quotation marks; the number tells one quotation from the next.
    Quoted(u32),
    /// Code, or a quoted line.
    Foreign,
}

/// What a word looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Digits only.
    Number,
    /// Letters and digits, or signs that ordinary words do not have: `core-sw-01`, `R12`, `C++`.
    Identifier,
    /// Lower-case words joined by hyphens or dots.
    Compound,
    /// Begins with a capital letter.
    Capitalised,
    /// Anything else.
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

    /// Cuts marks off both ends of a run and keeps the rest as a word.
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
        if trailing.contains(['.', ':']) || run.chars().all(|letter| matches!(letter, '.' | '-')) {
            let gap = if trailing.contains('.') { Gap::Stop } else { Gap::Pause };
            self.separate(gap);
        }
    }
}

/// Signs at the end of a run belong to the sentence, except `::` of an address and `+`, `#` of a name.
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
