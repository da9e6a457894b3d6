//! A person's words as an FTS5 expression.
//!
//! Everything is quoted, so no text is an operator and none is an error.

use throughline_engine::index::{QUERY_TERMS_MAX, Words};

/// The expression for `text`; `None` when there is nothing to look for.
pub(super) fn expression(text: &str, words: Words) -> Option<String> {
    let mut terms: Vec<String> = Vec::new();
    // Every second stretch between double quotes is a phrase; an open quote counts for nothing.
    let closed = text.matches('"').count() / 2 * 2;
    for (number, stretch) in text.split('"').enumerate() {
        if number % 2 == 1 && number < closed {
            terms.push(quoted(stretch));
        } else {
            terms.extend(stretch.split(is_break).map(quoted));
        }
    }
    terms.retain(|term| term.chars().any(char::is_alphanumeric));
    terms.truncate(QUERY_TERMS_MAX);
    let join = match words {
        Words::All => " AND ",
        Words::Any => " OR ",
    };
    (!terms.is_empty()).then(|| terms.join(join))
}

fn is_break(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// A string of FTS5. A NUL would end it early.
fn quoted(words: &str) -> String {
    format!("\"{}\"", words.replace(['\0', '"'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(expression(text, Words::All).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn any_text_becomes_quoted_words() {
        check("core switch", Some(r#""core" AND "switch""#));
        check(r#"the "core switch" failed"#, Some(r#""the" AND "core switch" AND "failed""#));
        check(r#"an "open quote"#, Some(r#""an" AND "open" AND "quote""#));
        check(
            "a AND NOT (b OR c*)",
            Some(r#""a" AND "AND" AND "NOT" AND "(b" AND "OR" AND "c*)""#),
        );
        check("nul\0byte", Some(r#""nul" AND "byte""#));
        check("text:x ^y -z", Some(r#""text:x" AND "^y" AND "-z""#));
        check("😀 … !", None);
        check(r#""""#, None);
        check("", None);
    }
}
