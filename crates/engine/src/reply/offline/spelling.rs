//! Misspelt words at the start of a message, where the verb stands: "plese", "serch".
//!
//! Invariant: a word that is known is never another one, and one that could be two is neither.

use crate::entity::token::{Setting, Token};
use crate::lexicon::{Class, Language};

/// Letters that a misspelt word has at least.
const LETTERS_MIN: usize = 5;

/// Spells the words before the verb, and the verb, as they were meant. `is_known` says which words mean something else.
pub(super) fn mend(
    tokens: &mut [Token<'_>],
    language: &Language,
    commands: &[String],
    is_known: impl Fn(&Token<'_>) -> bool,
) {
    for token in tokens.iter_mut() {
        if token.setting != Setting::Own || !token.lower.chars().all(char::is_alphabetic) {
            return;
        }
        if language.is(Class::Filler, &token.lower) {
            continue;
        }
        if language.knows(&token.lower) || commands.contains(&token.lower) || is_known(token) {
            return;
        }
        let Some(meant) = nearest(&token.lower, language, commands) else { return };
        token.lower = meant;
        if !language.is(Class::Filler, &token.lower) {
            return;
        }
    }
}

/// Letters that a misspelt word for a kind has at least.
const KIND_LETTERS_MIN: usize = 6;

/// Spells words for kinds as they were meant, where a letter is wrong, missing or in the wrong place: "devcies".
pub(super) fn mend_kinds(
    tokens: &mut [Token<'_>],
    language: &Language,
    kinds: &[String],
    is_known: impl Fn(&Token<'_>) -> bool,
) {
    for token in tokens.iter_mut() {
        let plain = token.lower.chars().all(char::is_alphabetic) && token.text == token.lower;
        let long = token.lower.chars().count() >= KIND_LETTERS_MIN;
        let own = token.setting == Setting::Own && plain && long;
        if !own || language.knows(&token.lower) || is_known(token) {
            continue;
        }
        let near = |kind: &&String| {
            kind.len() >= KIND_LETTERS_MIN && strsim::osa_distance(kind, &token.lower) == 1
        };
        let mut found = kinds.iter().filter(near);
        if let (Some(only), None) = (found.next(), found.next()) {
            token.lower.clone_from(only);
        }
    }
}

/// The one verb or small word that differs in one letter.
fn nearest(word: &str, language: &Language, commands: &[String]) -> Option<String> {
    let long = |word: &str| word.chars().count() >= LETTERS_MIN;
    let near = |other: &&str| long(other) && strsim::osa_distance(word, other) == 1;
    let small = language.words(Class::Filler);
    let all = language.verbs().chain(small).chain(commands.iter().map(String::as_str));
    let mut found = all.filter(near).filter(|_| long(word));
    let first = found.next()?;
    found.all(|other| other == first).then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::token::tokens;
    use crate::lexicon;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        let (mut tokens, _) = tokens(message);
        mend(&mut tokens, lexicon::of(message), &["archive".to_owned()], |_| false);
        let words: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn a_misspelt_verb_is_the_verb() {
        check("plese archve it", "please archive it");
        check("serch the folder", "search the folder");
        check("delte it", "delete it");
    }

    #[test]
    fn a_misspelt_kind_is_the_kind() {
        let (mut tokens, _) = tokens("how many devcies and Sevices are ther in the devise");
        let kinds = ["device", "devices", "sites"].map(str::to_owned);
        mend_kinds(&mut tokens, lexicon::english(), &kinds, |_| false);
        let words: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
        assert_eq!(words.join(" "), "how many devices and sevices are ther in the device");
    }

    #[test]
    fn other_words_stay_what_they_are() {
        check("lost", "lost");
        check("Willow reads the papr", "willow reads the papr");
        check("shelve the bokk", "shelve the bokk");
    }
}
