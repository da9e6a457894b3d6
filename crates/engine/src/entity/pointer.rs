//! The forms that a reference takes, without asking what it refers to.

use super::expletive::is_empty_it;
use super::notice::{BareCue, Reading};
use super::token::Gap;
use super::words::{cardinal, ordinal};
use crate::pack::Grammar;
use crate::pack::Kind;

/// A reference.
pub(super) struct Pointer {
    pub number: Number,
    /// The types it can mean; all where it does not say.
    pub kinds: Option<Vec<Kind>>,
    /// Whether it is a gap in the message if nothing fits.
    pub expects_something: bool,
    /// Whether it means something of an earlier message even if this one names a fitting thing.
    pub looks_back: bool,
    /// "its": it can mean what stands beside it.
    pub is_possessive: bool,
}

/// How many it means, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    One,
    Many,
    Both,
    /// The other of two.
    Other,
    /// Of the last list, from a position counted from 1; 0 counts from the end.
    Counted {
        from: usize,
        count: usize,
    },
    /// The one of the last list that is in what the message names.
    Within,
}

impl Pointer {
    fn new(number: Number, kinds: Option<Vec<Kind>>) -> Self {
        Self { number, kinds, expects_something: true, looks_back: false, is_possessive: false }
    }

    fn of(number: Number, cue: &BareCue<'_>) -> Self {
        Self::new(number, Some(vec![cue.entity_type.kind.clone()]))
    }
}

/// The reference that begins at a word, and how many words it has.
pub(super) fn pointer_at(reading: &Reading<'_>, at: usize) -> Option<(usize, Pointer)> {
    let word = |ahead: usize| {
        let token = reading.tokens.get(at + ahead)?;
        let joined = ahead == 0 || token.gap == Gap::Space;
        joined.then_some(token.lower.as_str())
    };
    let cue = |ahead: usize| {
        word(ahead)?;
        reading.bare_cue_at(at + ahead).filter(|cue| !reading.taken[cue.at])
    };
    match word(0)? {
        "it" if !is_empty_it(&reading.tokens, at) => Some((1, Pointer::new(Number::One, None))),
        "its" => {
            let mut pointer = Pointer::new(Number::One, owners_after(reading, at));
            pointer.is_possessive = true;
            Some((1, pointer))
        }
        "they" | "them" => Some((1, Pointer::new(Number::Many, None))),
        "their" => {
            let mut pointer = Pointer::new(Number::Many, owners_after(reading, at));
            pointer.is_possessive = true;
            Some((1, pointer))
        }
        "that" | "this" => match (word(1), cue(1)) {
            (Some("one"), _) => Some((2, Pointer::new(Number::One, None))),
            (_, Some(cue)) if cue.grammar == Grammar::Singular => {
                Some((1 + cue.words, Pointer::of(Number::One, cue)))
            }
            _ => None,
        },
        "those" | "these" => match (word(1), cue(1)) {
            (Some("ones"), _) => Some((2, Pointer::new(Number::Many, None))),
            (Some("two"), _) if cue(2).is_none() => Some((2, Pointer::new(Number::Both, None))),
            (_, Some(cue)) => Some((1 + cue.words, Pointer::of(Number::Many, cue))),
            (Some(next), None) if cardinal(next).is_some() => {
                cue(2).map(|cue| (2 + cue.words, Pointer::of(Number::Many, cue)))
            }
            (None, None) => Some((1, Pointer::new(Number::Many, None))),
            _ => None,
        },
        "both" => match (word(1), cue(1)) {
            (_, Some(cue)) => Some((1 + cue.words, Pointer::of(Number::Both, cue))),
            (Some("of"), _) if matches!(word(2), Some("them" | "these" | "those")) => {
                Some((3, Pointer::new(Number::Both, None)))
            }
            _ if names_two_after(reading, at) => None,
            _ => Some((1, Pointer::new(Number::Both, None))),
        },
        "the" => definite(reading, at),
        "same" | "my" => {
            let cue = cue(1).filter(|cue| cue.grammar == Grammar::Singular)?;
            let mut pointer = Pointer::of(Number::One, cue);
            pointer.expects_something = word(0) == Some("same");
            Some((1 + cue.words, pointer))
        }
        _ => None,
    }
}

/// "the second one", "the other device", "the same site", "the device".
fn definite(reading: &Reading<'_>, at: usize) -> Option<(usize, Pointer)> {
    let word = |ahead: usize| {
        let token = reading.tokens.get(at + ahead)?;
        (token.gap == Gap::Space).then_some(token.lower.as_str())
    };
    let cue = |ahead: usize| {
        word(ahead)?;
        reading.bare_cue_at(at + ahead)
    };
    match word(1)? {
        "same" => {
            let cue = cue(2).filter(|cue| cue.grammar == Grammar::Singular)?;
            let mut pointer = Pointer::of(Number::One, cue);
            pointer.looks_back = true;
            Some((2 + cue.words, pointer))
        }
        "other" => match (word(2), cue(2)) {
            (Some("one"), _) => Some((3, Pointer::new(Number::Other, None))),
            (_, Some(cue)) if cue.grammar == Grammar::Singular => {
                Some((2 + cue.words, Pointer::of(Number::Other, cue)))
            }
            (None, _) => Some((2, Pointer::new(Number::Other, None))),
            _ => None,
        },
        "one" if matches!(word(2), Some("in" | "at" | "on" | "from" | "with")) => {
            Some((2, Pointer::new(Number::Within, None)))
        }
        first => match ordinal(first) {
            Some(from) => counted(reading, at, from),
            None => {
                let cue = cue(1).filter(|cue| cue.grammar == Grammar::Singular)?;
                // "the site of core-sw-01" asks for a site; it does not point at one.
                let asks = matches!(
                    word(1 + cue.words),
                    Some(
                        "of" | "where"
                            | "which"
                            | "that"
                            | "it"
                            | "with"
                            | "named"
                            | "called"
                            | "containing"
                    )
                );
                let mut pointer = Pointer::of(Number::One, cue);
                pointer.expects_something = false;
                (!asks).then_some((1 + cue.words, pointer))
            }
        },
    }
}

/// "the second one", "the first two", "the last three devices", "the third".
fn counted(reading: &Reading<'_>, at: usize, from: usize) -> Option<(usize, Pointer)> {
    let word = |ahead: usize| {
        let token = reading.tokens.get(at + ahead)?;
        (token.gap == Gap::Space).then_some(token.lower.as_str())
    };
    let cue = |ahead: usize| {
        word(ahead)?;
        reading.bare_cue_at(at + ahead)
    };
    let several = word(2).filter(|word| *word != "one").and_then(cardinal);
    let ahead = if several.is_some() { 3 } else { 2 };
    let number = Number::Counted { from, count: several.unwrap_or(1) };
    match (word(ahead), cue(ahead)) {
        (_, Some(cue)) => Some((ahead + cue.words, Pointer::of(number, cue))),
        (Some("one" | "ones"), _) => Some((ahead + 1, Pointer::new(number, None))),
        (None | Some("and" | "or" | "please" | "instead" | "again"), _) => {
            Some((ahead, Pointer::new(number, None)))
        }
        _ if several.is_some() => Some((ahead, Pointer::new(number, None))),
        _ => None,
    }
}

/// The types that what follows belongs to: devices, for "its interfaces".
fn owners_after(reading: &Reading<'_>, at: usize) -> Option<Vec<Kind>> {
    let joined = |cue: &&BareCue<'_>| {
        reading.tokens[at + 1..=cue.at].iter().all(|token| token.gap == Gap::Space)
    };
    let cue = (at + 1..=at + 3).find_map(|near| reading.bare_cue_at(near)).filter(joined)?;
    let kind = &cue.entity_type.kind;
    let parents = cue.entity_type.parents.iter();
    // What belongs together can be asked for from either side: "its site" of a device, "its
    // devices" of a site.
    let children = reading
        .packs
        .types()
        .iter()
        .filter(|other| other.parents.contains(kind))
        .map(|other| &other.kind);
    let kinds: Vec<Kind> = parents.chain(children).cloned().collect();
    (!kinds.is_empty()).then_some(kinds)
}

/// "both core-sw-01 and core-sw-02" points at nothing earlier.
fn names_two_after(reading: &Reading<'_>, at: usize) -> bool {
    let after = reading.tokens[at].span.end;
    reading.noticed.mentions.iter().filter(|mention| mention.span.start >= after).count() >= 2
}
