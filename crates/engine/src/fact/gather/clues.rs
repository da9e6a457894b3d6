//! The clues by which a clause is weighed: its words, their order and endings, and what stands around it.
//!
//! A clue is a short text such as `w=coach`, `b=i coach` or `t=^ i #w the`; `weights-*.tsv` gives each a weight.
//! This only describes a clause; `likely` decides.
//!
//! Invariant: the same clause in the same place has the same clues, because the weights were fitted to them.

use super::lexicon::LikelyWords;
use super::prose::Sentence;

/// More words of a clause are not read.
const TOKENS_MAX: usize = 24;
/// Only the beginning and the end of a longer word are clues of their own.
const SHORT_WORD: usize = 4;

/// The sentence of a clause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'s> {
    sentence: &'s str,
    is_question: bool,
}

impl<'s> Around<'s> {
    pub(super) fn of(sentence: &Sentence<'s>) -> Self {
        Self { sentence: sentence.text, is_question: sentence.is_question }
    }

    /// Whether the sentence is about a certain day: "tonight".
    fn is_momentary(&self, words: &LikelyWords) -> bool {
        let mut all = self.sentence.split(|it: char| !it.is_alphabetic());
        all.any(|word| words.moment.iter().any(|it| it.eq_ignore_ascii_case(word)))
    }
}

/// A word, a number, an ending after an apostrophe or a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub lower: String,
    pub is_capital: bool,
}

/// The first words of a clause.
pub(super) fn tokens(clause: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = clause;
    while let Some(first) = rest.chars().next() {
        if tokens.len() == TOKENS_MAX {
            break;
        }
        let is_apostrophe = matches!(first, '\'' | '’');
        let head = if is_apostrophe { first.len_utf8() } else { 0 };
        let run = |accepts: fn(char) -> bool| {
            let end = rest[head..].find(|it: char| !accepts(it));
            head + end.unwrap_or(rest.len() - head)
        };
        let end = match first {
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            _ if is_apostrophe || first.is_alphabetic() => run(char::is_alphabetic),
            _ if first.is_ascii_digit() => run(|it| it.is_ascii_digit()),
            _ => first.len_utf8(),
        };
        let lower = rest[..end].to_lowercase().replace('’', "'");
        tokens.push(Token { lower, is_capital: first.is_uppercase() });
        rest = &rest[end..];
    }
    tokens
}

/// Calls `each` with every clue of a clause, some of them more than once.
pub(super) fn each(
    words: &LikelyWords,
    tokens: &[Token],
    around: Around<'_>,
    mut each: impl FnMut(&str),
) {
    let mut clue = String::with_capacity(64);
    let mut tell = |parts: &[&str]| {
        clue.clear();
        parts.iter().for_each(|part| clue.push_str(part));
        each(&clue);
    };
    for token in tokens {
        let word = &*token.lower;
        tell(&["w=", word]);
        if word.chars().count() > SHORT_WORD {
            let from_end = |count: usize| word.char_indices().rev().nth(count - 1);
            let start = word.char_indices().nth(SHORT_WORD).map_or(word.len(), |(at, _)| at);
            tell(&["p=", &word[..start]]);
            for (at, _) in [2, 3].into_iter().filter_map(from_end) {
                tell(&["s=", &word[at..]]);
            }
        }
    }
    let lower = tokens.iter().map(|token| &*token.lower);
    let bounded: Vec<&str> = ["^"].into_iter().chain(lower).chain(["$"]).collect();
    for pair in bounded.windows(2) {
        tell(&["b=", pair[0], " ", pair[1]]);
    }
    let shapes = tokens.iter().enumerate().map(|(at, token)| shape(words, token, at == 0));
    let shapes: Vec<&str> = ["^"].into_iter().chain(shapes).chain(["$"]).collect();
    for two in shapes.windows(2) {
        tell(&["t=", two[0], " ", two[1]]);
    }
    for three in shapes.windows(3) {
        tell(&["t=", three[0], " ", three[1], " ", three[2]]);
    }
    for count in [4, 5] {
        tell(&["t=", &shapes[..count.min(shapes.len())].join(" ")]);
    }
    let flags = [
        (tokens.len() < 5, "f=short"),
        (around.is_question, "f=question"),
        (around.sentence.ends_with('!'), "f=exclaimed"),
        (around.is_momentary(words), "f=momentary"),
    ];
    flags.iter().filter(|(is_so, _)| *is_so).for_each(|(_, flag)| tell(&[flag]));
}

/// A common word itself, or the kind of another one by its form.
fn shape<'t>(words: &'t LikelyWords, token: &'t Token, is_first: bool) -> &'t str {
    let word = &*token.lower;
    let first = word.chars().next().unwrap_or_default();
    if words.common.contains(word) || !first.is_alphanumeric() {
        return word;
    }
    if first.is_ascii_digit() {
        return "#number";
    }
    if token.is_capital && !is_first {
        return "#name";
    }
    let fits = |ending: &&String| {
        word.ends_with(&***ending) && word.chars().count() > ending.chars().count() + 2
    };
    words.endings.iter().find(fits).map_or("#word", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_is_split_into_words_numbers_and_signs() {
        let shown = |text: &str| {
            let words: Vec<String> = tokens(text).into_iter().map(|it| it.lower).collect();
            words.join("|")
        };
        assert_eq!(shown("I don’t eat 2.5kg"), "i|don|'t|eat|2|.|5|kg");
        assert_eq!(shown("Ich heiße Özil – ja"), "ich|heiße|özil|–|ja");
        assert_eq!(shown(" '  "), "'");
        assert_eq!(shown(&"a ".repeat(1_000)).len(), 2 * TOKENS_MAX - 1);
    }
}
