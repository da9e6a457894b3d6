//! A person's words as an FTS5 expression.
//!
//! The language of a query is not known, so each word is looked for with its stem in every language that has
//! one. Everything is quoted, so no text is an operator and none is an error.

use std::collections::BTreeSet;

use throughline_engine::index::{QUERY_TERMS_MAX, Words};

use super::language;
use super::words::{self, Unit};

/// Words of one phrase that are looked for; what is beyond is not.
const PHRASE_WORDS_MAX: usize = 16;

/// What is looked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedQuery {
    /// For FTS5.
    pub expression: String,
    /// Terms that are marked in a snippet.
    pub terms: BTreeSet<String>,
    /// Beginnings of terms that are marked in a snippet.
    pub beginnings: BTreeSet<String>,
}

/// What `text` looks for; `None` when there is nothing.
pub(super) fn wanted(text: &str, joined: Words) -> Option<ParsedQuery> {
    let mut wanted = ParsedQuery {
        expression: String::new(),
        terms: BTreeSet::new(),
        beginnings: BTreeSet::new(),
    };
    let mut parts: Vec<String> = Vec::new();
    // Every second stretch between double quotes is a phrase; an open quote counts for nothing.
    let closed = text.matches('"').count() / 2 * 2;
    for (number, stretch) in text.split('"').enumerate() {
        if number % 2 == 1 && number < closed {
            parts.extend(wanted.phrase(stretch));
        } else {
            let room = QUERY_TERMS_MAX - parts.len();
            let words = stretch.split_whitespace();
            parts.extend(words.filter_map(|word| wanted.phrase(word)).take(room));
        }
        if parts.len() >= QUERY_TERMS_MAX {
            break;
        }
    }
    let join = match joined {
        Words::All => " AND ",
        Words::Any => " OR ",
    };
    wanted.expression = parts.join(join);
    (!parts.is_empty()).then_some(wanted)
}

impl ParsedQuery {
    /// Words that stand beside each other: one phrase for each way to stem them.
    fn phrase(&mut self, text: &str) -> Option<String> {
        let units: Vec<Unit> = words::units(text).into_iter().take(PHRASE_WORDS_MAX).collect();
        let lower: Vec<String> =
            units.iter().map(|unit| words::lowered(&text[unit.range.clone()])).collect();
        let mut phrases = BTreeSet::new();
        let mut is_beginning = false;
        for language in language::all() {
            let mut terms = Vec::new();
            is_beginning = false;
            for (unit, lower) in units.iter().zip(&lower) {
                if !unit.is_run {
                    let language = language::by_script(lower).unwrap_or(language);
                    terms.push(words::term_of(lower, language));
                    is_beginning = false;
                    continue;
                }
                let characters: Vec<char> = lower.chars().collect();
                is_beginning = characters.len() == 1;
                match characters.len() {
                    1 => terms.push(lower.clone()),
                    _ => terms.extend(characters.windows(2).map(|pair| pair.iter().collect())),
                }
            }
            terms.retain(|term| !term.is_empty());
            if !terms.is_empty() {
                self.mark(&terms, is_beginning);
                phrases.insert(format!("\"{}\"", terms.join(" ")));
            }
        }
        let star = if is_beginning { "*" } else { "" };
        let phrases: Vec<String> = phrases.into_iter().map(|phrase| phrase + star).collect();
        match phrases.len() {
            0 => None,
            1 => phrases.into_iter().next(),
            _ => Some(format!("({})", phrases.join(" OR "))),
        }
    }

    fn mark(&mut self, terms: &[String], is_beginning: bool) {
        let (whole, beginning) = terms.split_at(terms.len() - usize::from(is_beginning));
        self.terms.extend(whole.iter().cloned());
        self.beginnings.extend(beginning.iter().cloned());
    }

    /// Whether a term of a document is one that is looked for.
    pub(super) fn has(&self, term: &str) -> bool {
        self.terms.contains(term)
            || self.beginnings.iter().any(|begin| term.starts_with(begin.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use throughline_testkit::fuzz;

    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let wanted = wanted(text, Words::All);
        assert_eq!(wanted.as_ref().map(|wanted| wanted.expression.as_str()), expected, "{text:?}");
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
                let Some(wanted) = wanted(text, words) else { continue };
                let asked = connection.query_row(
                    "SELECT count(*) FROM t WHERE t MATCH ?1",
                    [&wanted.expression],
                    |row| row.get::<_, i64>(0),
                );
                asked.unwrap_or_else(|error| panic!("{text:?}: {}: {error}", wanted.expression));
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
        let wanted = wanted("Häuser", Words::All).expect("a word");
        assert!(wanted.has("hauser") && wanted.has("βhaus"), "{wanted:?}");
        assert!(!wanted.has("haus") && !wanted.has("βmaus"));
        assert!(wanted.expression.starts_with("(\"") && wanted.expression.contains("\" OR \""));
    }

    #[test]
    fn what_is_looked_for_is_bounded() {
        let phrase = format!("\"{}\"", "a ".repeat(10_000));
        let wanted = wanted(&phrase, Words::All).expect("words");
        assert!(wanted.expression.len() < 100 * PHRASE_WORDS_MAX, "{}", wanted.expression.len());
    }
}
