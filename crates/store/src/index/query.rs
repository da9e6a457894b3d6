//! Parses a user's query into an FTS5 expression.
//!
//! The language of a query is unknown, so each word is searched by its stem in every language.
//!
//! Invariant: every term is quoted, so any text is a valid expression without operators.

use std::collections::BTreeSet;

use throughline_engine::index::{QUERY_TERMS_MAX, Words};
use throughline_engine::search::stem::by_script;

use super::language;
use super::words::{self, Unit};

/// Maximum number of words in a phrase; the rest is ignored.
const PHRASE_WORDS_MAX: usize = 16;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedQuery {
    /// The FTS5 expression.
    pub expression: String,
    /// Terms to mark in a snippet.
    pub terms: BTreeSet<String>,
    /// Prefixes of terms to mark in a snippet.
    pub prefixes: BTreeSet<String>,
}

/// Parses `text`; returns `None` if it contains no words.
pub(super) fn parse(text: &str, joined: Words) -> Option<ParsedQuery> {
    let mut parsed = ParsedQuery {
        expression: String::new(),
        terms: BTreeSet::new(),
        prefixes: BTreeSet::new(),
    };
    let mut parts: Vec<String> = Vec::new();
    // Every other section between double quotes is a phrase; an unmatched quote is ignored.
    let closed = text.matches('"').count() / 2 * 2;
    for (number, stretch) in text.split('"').enumerate() {
        if number % 2 == 1 && number < closed {
            parts.extend(parsed.phrase(stretch));
        } else {
            let room = QUERY_TERMS_MAX - parts.len();
            let words = stretch.split_whitespace();
            parts.extend(words.filter_map(|word| parsed.phrase(word)).take(room));
        }
        if parts.len() >= QUERY_TERMS_MAX {
            break;
        }
    }
    let join = match joined {
        Words::All => " AND ",
        Words::Any => " OR ",
    };
    parsed.expression = parts.join(join);
    (!parts.is_empty()).then_some(parsed)
}

impl ParsedQuery {
    /// Adjacent words: one FTS5 phrase for each way to stem them.
    fn phrase(&mut self, text: &str) -> Option<String> {
        let units: Vec<Unit> = words::units(text).into_iter().take(PHRASE_WORDS_MAX).collect();
        let lower: Vec<String> =
            units.iter().map(|unit| words::lowered(&text[unit.range.clone()])).collect();
        let mut phrases = BTreeSet::new();
        let mut is_prefix = false;
        for language in language::all() {
            let mut terms = Vec::new();
            is_prefix = false;
            for (unit, lower) in units.iter().zip(&lower) {
                if !unit.is_run {
                    let language = by_script(lower).unwrap_or(language);
                    terms.push(words::term_of(lower, language));
                    is_prefix = false;
                    continue;
                }
                let characters: Vec<char> = lower.chars().collect();
                is_prefix = characters.len() == 1;
                match characters.len() {
                    1 => terms.push(lower.clone()),
                    _ => terms.extend(characters.windows(2).map(|pair| pair.iter().collect())),
                }
            }
            terms.retain(|term| !term.is_empty());
            if !terms.is_empty() {
                self.mark(&terms, is_prefix);
                phrases.insert(format!("\"{}\"", terms.join(" ")));
            }
        }
        let star = if is_prefix { "*" } else { "" };
        let phrases: Vec<String> = phrases.into_iter().map(|phrase| phrase + star).collect();
        match phrases.len() {
            0 => None,
            1 => phrases.into_iter().next(),
            _ => Some(format!("({})", phrases.join(" OR "))),
        }
    }

    fn mark(&mut self, terms: &[String], is_prefix: bool) {
        let (whole, prefix) = terms.split_at(terms.len() - usize::from(is_prefix));
        self.terms.extend(whole.iter().cloned());
        self.prefixes.extend(prefix.iter().cloned());
    }

    /// Whether a term of a document matches.
    pub(super) fn has(&self, term: &str) -> bool {
        self.terms.contains(term)
            || self.prefixes.iter().any(|prefix| term.starts_with(prefix.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use throughline_testkit::fuzz;

    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let parsed = parse(text, Words::All);
        assert_eq!(parsed.as_ref().map(|parsed| parsed.expression.as_str()), expected, "{text:?}");
    }

    #[test]
    fn any_text_is_an_expression_that_the_index_takes() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'ascii')")
            .unwrap();
        let inputs = ["sw1 \"x9 AND b\" NEAR(a, 2)", "東京都 кошки ﬁ İstanbul", "^a:b -c * \" 'd'"];
        fuzz::target_text(env!("CARGO_MANIFEST_DIR"), "queries", &inputs, |text| {
            for words in [Words::All, Words::Any] {
                let Some(parsed) = parse(text, words) else { continue };
                let asked = connection.query_row(
                    "SELECT count(*) FROM t WHERE t MATCH ?1",
                    [&parsed.expression],
                    |row| row.get::<_, i64>(0),
                );
                asked.unwrap_or_else(|error| panic!("{text:?}: {}: {error}", parsed.expression));
            }
        });
    }

    #[test]
    fn any_text_becomes_quoted_words() {
        check("sw1 x9", Some(r#""sw1" AND "x9""#));
        check(r#"an1 "open2 sw1"#, Some(r#""an1" AND "open2" AND "sw1""#));
        check(r#""sw1 x9""#, Some(r#""sw1 x9""#));
        check("a1-b2", Some(r#""a1 b2""#));
        check("1\0b2", Some(r#""1 b2""#));
        check("кошки", Some(r#""кошк""#));
        check("東京都", Some(r#""東京 京都""#));
        check("猫", Some(r#""猫"*"#));
        check("😀 … !", None);
        check(r#""""#, None);
        check("", None);
    }

    #[test]
    fn a_word_is_looked_for_in_every_language() {
        let parsed = parse("Häuser", Words::All).expect("a word");
        assert!(parsed.has("hauser") && parsed.has("βhaus"), "{parsed:?}");
        assert!(!parsed.has("haus") && !parsed.has("βmaus"));
        assert!(parsed.expression.starts_with("(\"") && parsed.expression.contains("\" OR \""));
    }

    #[test]
    fn what_is_looked_for_is_bounded() {
        let phrase = format!("\"{}\"", "a ".repeat(10_000));
        let parsed = parse(&phrase, Words::All).expect("words");
        assert!(parsed.expression.len() < 100 * PHRASE_WORDS_MAX, "{}", parsed.expression.len());
    }
}
