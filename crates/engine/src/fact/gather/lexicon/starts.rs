//! The words that a form can begin with, so that most forms need not be tried on a clause.
//!
//! A pattern is read only as far as it is plain text, groups and alternatives; of any other the beginning is unknown.
//!
//! Invariant: a clause whose first word is not listed does not match the pattern.

use std::collections::HashSet;

/// A pattern that can begin with more words is tried on every clause.
const WORDS_MAX: usize = 400;

/// The first words of the texts that a pattern matches, without apostrophes; `None` if they cannot be told.
pub(super) fn of(pattern: &str) -> Option<HashSet<String>> {
    let mut found = HashSet::new();
    collect(String::new(), &format!("(?:{pattern})"), &mut found).then_some(found)
}

/// The first word of a clause as `of` writes it.
pub(in crate::fact::gather) fn first_word(clause: &str) -> String {
    let word = clause.split_whitespace().next().unwrap_or_default();
    let letters = word.chars().filter(|it| !matches!(it, '\'' | '’'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Adds the words that begin with `start` and go on with `pattern`; `false` if they cannot be told.
fn collect(mut start: String, pattern: &str, found: &mut HashSet<String>) -> bool {
    let mut rest = pattern.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        match character {
            ' ' => break,
            '\'' => {}
            '(' => return group(&start, &pattern[at..], found),
            _ if character.is_alphanumeric() => start.push(character),
            _ => return false,
        }
        // What may be missing or repeated could be anything.
        if rest.peek().is_some_and(|(_, next)| matches!(next, '?' | '*' | '+' | '{')) {
            return false;
        }
    }
    found.insert(start.to_lowercase());
    found.len() <= WORDS_MAX
}

/// The same for a pattern that goes on with a group.
fn group(start: &str, pattern: &str, found: &mut HashSet<String>) -> bool {
    let Some(end) = closing(pattern) else { return false };
    let inner = &pattern[..end];
    let inner = match inner.strip_prefix("(?:") {
        Some(inner) => inner,
        None => match inner.strip_prefix("(?P<").and_then(|inner| inner.split_once('>')) {
            Some((_, inner)) => inner,
            None => return false,
        },
    };
    let after = &pattern[end + 1..];
    let (rest, may_be_missing) = match after.chars().next() {
        Some('?') => (after[1..].trim_start_matches('?'), true),
        Some('*' | '+' | '{') => return false,
        _ => (after, false),
    };
    let all = alternatives(inner)
        .into_iter()
        .all(|alternative| collect(start.to_owned(), &format!("{alternative}{rest}"), found));
    all && (!may_be_missing || collect(start.to_owned(), rest, found))
}

/// Where the group that begins the pattern ends.
fn closing(pattern: &str) -> Option<usize> {
    let mut depth = 0;
    signs(pattern).find_map(|(at, sign)| {
        depth += match sign {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth == 0).then_some(at)
    })
}

/// The alternatives of a group, without those of groups inside it.
fn alternatives(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, sign) in signs(inner) {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => {
                found.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inner[start..]);
    found
}

/// The parentheses and bars of a pattern that are neither escaped nor in a class.
fn signs(pattern: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let (mut is_escaped, mut in_class) = (false, false);
    pattern.char_indices().filter(move |(_, character)| {
        let is_plain = !is_escaped && !in_class;
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        is_plain && matches!(character, '(' | ')' | '|')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_of_a_plain_pattern_are_known() {
        let shown = |pattern: &str| {
            let mut words: Vec<String> = of(pattern)?.into_iter().collect();
            words.sort();
            Some(words.join(" "))
        };
        assert_eq!(shown("(?:my|our) (?P<what>.+)").as_deref(), Some("my our"));
        assert_eq!(shown("(?:please )?(?:i'm|we are) .+").as_deref(), Some("im please we"));
        assert_eq!(shown("i(?:'d| would) rather").as_deref(), Some("i id"));
        assert_eq!(shown("i weigh|weigh .+").as_deref(), Some("i weigh"));
        assert_eq!(shown("my (?P<what>[\\w()|-]+\\)?) is").as_deref(), Some("my"));
        assert_eq!(shown("(?P<value>[A-Z]\\w+) here"), None);
        assert_eq!(shown("colou?r"), None);
        assert_eq!(first_word("I’m here"), "im");
    }
}
