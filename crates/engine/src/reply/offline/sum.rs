//! Arithmetic expressions in a message, for a tool that evaluates them: "17*23", "3.5 plus 4".
//!
//! They are found and converted to operators; nothing is evaluated here.
//!
//! Invariant: an expression has at least two numbers, and all its parentheses are closed.

use super::offer::{Means, Offer};
use super::read::{Literal, Part, Role};
use super::scene::{Flow, Said, Scene};
use crate::lexicon::{Class, Family, Language};
use crate::session::dialogue::{Query, Want};

/// Operators in words, and their symbols.
const WORDS: [(Class, &str); 5] = [
    (Class::Plus, "+"),
    (Class::Minus, "-"),
    (Class::Times, "*"),
    (Class::Over, "/"),
    (Class::Power, "^"),
];

/// The expression at the start of a text: its length there, and its form with operators.
pub(super) fn sum_at(text: &str, language: &Language) -> Option<(usize, String)> {
    let (mut at, mut written, mut open, mut numbers) = (0, String::new(), 0_usize, 0);
    let mut found = None;
    loop {
        while let Some(rest) = text[at..].trim_start().strip_prefix('(') {
            at = text.len() - rest.len();
            written.push('(');
            open += 1;
        }
        at = text.len() - text[at..].trim_start().len();
        let number = number_at(&text[at..])?;
        written.push_str(&text[at..at + number]);
        at += number;
        numbers += 1;
        while open > 0
            && let Some(rest) = text[at..].trim_start().strip_prefix(')')
        {
            at = text.len() - rest.len();
            written.push(')');
            open -= 1;
        }
        if open == 0 && numbers > 1 {
            found = Some((at, written.clone()));
        }
        let Some((length, sign)) = sign_at(&text[at..], language) else { return found };
        // A number must follow the operator, or the expression ends before it.
        let rest = text[at + length..].trim_start().trim_start_matches(['(', ' ']);
        if number_at(rest).is_none() {
            return found;
        }
        at += length;
        written.push_str(sign);
    }
}

/// The length of the number at the start of a text.
fn number_at(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let negative = usize::from(text.starts_with('-'));
    let whole = digits(&text[negative..]);
    let mut end = negative + whole;
    if whole > 0 && text[end..].starts_with('.') && digits(&text[end + 1..]) > 0 {
        end += 1 + digits(&text[end + 1..]);
    }
    // "17:30", "3rd" and "10.0.0.1" are not numbers.
    let mut rest = text[end..].chars();
    let ends = match rest.next() {
        Some('.' | ':') => !rest.next().is_some_and(char::is_alphanumeric),
        Some(next) => !next.is_alphanumeric() && next != '_',
        None => true,
    };
    (whole > 0 && ends).then_some(end)
}

/// The operator at the start of a text, after spaces: its length there, and its symbol.
fn sign_at(text: &str, language: &Language) -> Option<(usize, &'static str)> {
    let rest = text.trim_start();
    let spaces = text.len() - rest.len();
    let signs = [("**", "**"), ("+", "+"), ("-", "-"), ("*", "*"), ("×", "*"), ("·", "*")];
    let signs = signs.into_iter().chain([("/", "/"), ("÷", "/"), ("^", "^")]);
    if let Some((said, sign)) = signs.into_iter().find(|(said, _)| rest.starts_with(said)) {
        return Some((spaces + said.len(), sign));
    }
    let lower = rest.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().take(4).collect();
    let (count, sign) = WORDS
        .iter()
        .find_map(|(class, sign)| Some((language.starts(*class, words.iter().copied())?, *sign)))?;
    let mut end = 0;
    for word in rest.split_whitespace().take(count) {
        end += rest[end..].find(word)? + word.len();
    }
    Some((spaces + end, sign))
}

impl Scene<'_> {
    /// A message that asks only for an expression, if one tool evaluates them.
    pub(super) fn calculation(&self, parts: &[Part]) -> Flow<Option<Said>> {
        let is_sum = |part: &&Part| part.role == Role::Literal(Literal::Sum);
        let mut sums = parts.iter().filter(is_sum);
        let (Some(sum), None) = (sums.next(), sums.next()) else { return Ok(None) };
        let mut offers = self.offers.iter().filter(|offer: &&Offer| offer.takes_sum());
        let (Some(offer), None) = (offers.next(), offers.next()) else { return Ok(None) };
        let accounted = parts.iter().all(|part| match part.role {
            Role::Filler | Role::Command | Role::Literal(Literal::Sum) => true,
            Role::Word(class) => {
                matches!(class, Class::What | Class::Count | Class::Continue | Class::And)
            }
            _ => self.is_own_word(offer, &part.lower),
        });
        let slot = offer.slots.iter().find(|slot| slot.means == Means::Sum);
        let written = sum_at(&sum.text, self.language);
        let (true, Some(slot), Some((_, written))) = (accounted, slot, written) else {
            return Ok(None);
        };
        let mut arguments = offer.fixed.clone();
        super::schema::put(&mut arguments, &slot.shape.path, written.into());
        let want = Want::Act(offer.family.unwrap_or(Family::Show));
        let call = Some((offer.tool.tool.clone(), arguments));
        self.carry_out(Query { want, call, ..Query::default() }, true).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon;

    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = sum_at(text, lexicon::of(text));
        let found = found.as_ref().map(|(end, written)| (&text[..*end], written.as_str()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn a_sum_is_written_with_signs() {
        check("17*23", Some(("17*23", "17*23")));
        check("144 / 12?", Some(("144 / 12", "144/12")));
        check("3.5 plus 4 please", Some(("3.5 plus 4", "3.5+4")));
        check("(2 + 3) * 4.", Some(("(2 + 3) * 4", "(2+3)*4")));
        check("9 divided by 3 and 4", Some(("9 divided by 3", "9/3")));
        check("12 mal 12 ist wie viel?", Some(("12 mal 12", "12*12")));
        check("2^10", Some(("2^10", "2^10")));
    }

    #[test]
    fn other_numbers_are_none() {
        for text in
            ["17", "17 and 23", "10.0.0.0/24", "14:30 - 15:00", "3rd * 4", "(2 + 3", "5 + x"]
        {
            check(text, None);
        }
    }
}
