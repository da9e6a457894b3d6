//! The forms of references, independent of what they refer to.

use super::expletive::is_empty_it;
use super::notice::{BareCue, Reading};
use super::token::Gap;
use crate::lexicon::Class;
use crate::pack::{Grammar, Kind};

pub(super) struct Pointer {
    pub number: Number,
    /// The types it can mean; `None` if it does not say.
    pub kinds: Option<Vec<Kind>>,
    /// Whether the message is incomplete if nothing matches.
    pub expects_something: bool,
    /// Whether it refers to an earlier message even if this one names a matching entity.
    pub looks_back: bool,
    /// "its": it can refer to what is next to it.
    pub is_possessive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Number {
    One,
    Many,
    Both,
    /// The other of two.
    Other,
    /// Positions in the last list, counted from 1; 0 counts from the end.
    Counted {
        /// The first position.
        from: usize,
        count: usize,
    },
    /// The element of the last list that is located in what the message names.
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

/// The reference that starts at a word, and its number of words.
pub(super) fn pointer_at(reading: &Reading<'_>, at: usize) -> Option<(usize, Pointer)> {
    let ahead = Ahead { reading, at };
    let possessive = |number: Number| {
        let mut pointer = Pointer::new(number, owners_after(reading, at));
        pointer.is_possessive = true;
        Some((1, pointer))
    };
    if ahead.is(0, Class::It) && !is_empty_it(reading, at) {
        return Some((1, Pointer::new(Number::One, None)));
    }
    if ahead.is(0, Class::Its) {
        return possessive(Number::One);
    }
    if ahead.is(0, Class::They) {
        return Some((1, Pointer::new(Number::Many, None)));
    }
    if ahead.is(0, Class::Their) {
        return possessive(Number::Many);
    }
    if ahead.is(0, Class::This) {
        return this(&ahead);
    }
    if ahead.is(0, Class::These) {
        return these(&ahead);
    }
    if ahead.is(0, Class::Both) {
        return both(&ahead);
    }
    if ahead.is(0, Class::The) {
        return definite(&ahead);
    }
    let same = ahead.is(0, Class::Same);
    if same || ahead.is(0, Class::My) {
        let cue = ahead.one(1)?;
        let mut pointer = Pointer::of(Number::One, cue);
        pointer.expects_something = same;
        return Some((1 + cue.words, pointer));
    }
    None
}

/// The words from one on, as long as only spaces separate them.
struct Ahead<'a, 'b> {
    reading: &'a Reading<'b>,
    at: usize,
}

impl<'a, 'b> Ahead<'a, 'b> {
    fn word(&self, ahead: usize) -> Option<&'a str> {
        let token = self.reading.tokens.get(self.at + ahead)?;
        (ahead == 0 || token.gap == Gap::Space).then_some(token.lower.as_str())
    }

    fn is(&self, ahead: usize, class: Class) -> bool {
        self.word(ahead).is_some_and(|word| self.reading.is(class, word))
    }

    fn cue(&self, ahead: usize) -> Option<&'a BareCue<'b>> {
        self.word(ahead)?;
        let cue = self.reading.bare_cue_at(self.at + ahead)?;
        (!self.reading.taken[cue.at]).then_some(cue)
    }

    /// A bare cue in the singular.
    fn one(&self, ahead: usize) -> Option<&'a BareCue<'b>> {
        self.cue(ahead).filter(|cue| cue.grammar == Grammar::Singular)
    }

    fn number(&self, ahead: usize) -> Option<usize> {
        self.reading.language.cardinal(self.word(ahead)?)
    }
}

/// "that one", "that device".
fn this(ahead: &Ahead<'_, '_>) -> Option<(usize, Pointer)> {
    if ahead.is(1, Class::One) {
        return Some((2, Pointer::new(Number::One, None)));
    }
    ahead.one(1).map(|cue| (1 + cue.words, Pointer::of(Number::One, cue)))
}

/// "those ones", "those two", "those devices", "those three devices", "those".
fn these(ahead: &Ahead<'_, '_>) -> Option<(usize, Pointer)> {
    if ahead.is(1, Class::Ones) {
        return Some((2, Pointer::new(Number::Many, None)));
    }
    if let Some(cue) = ahead.cue(1) {
        return Some((1 + cue.words, Pointer::of(Number::Many, cue)));
    }
    match (ahead.number(1), ahead.cue(2)) {
        (Some(_), Some(cue)) => Some((2 + cue.words, Pointer::of(Number::Many, cue))),
        (Some(2), None) => Some((2, Pointer::new(Number::Both, None))),
        (None, _) if ahead.word(1).is_none() => Some((1, Pointer::new(Number::Many, None))),
        _ => None,
    }
}

/// "both", "both devices", "both of them".
fn both(ahead: &Ahead<'_, '_>) -> Option<(usize, Pointer)> {
    if let Some(cue) = ahead.cue(1) {
        return Some((1 + cue.words, Pointer::of(Number::Both, cue)));
    }
    if ahead.is(1, Class::Of) && (ahead.is(2, Class::They) || ahead.is(2, Class::These)) {
        return Some((3, Pointer::new(Number::Both, None)));
    }
    let named = names_two_after(ahead.reading, ahead.at);
    (!named).then(|| (1, Pointer::new(Number::Both, None)))
}

/// "the second one", "the other device", "the same site", "the device".
fn definite(ahead: &Ahead<'_, '_>) -> Option<(usize, Pointer)> {
    let first = ahead.word(1)?;
    if ahead.is(1, Class::Same) {
        let cue = ahead.one(2)?;
        let mut pointer = Pointer::of(Number::One, cue);
        pointer.looks_back = true;
        return Some((2 + cue.words, pointer));
    }
    if ahead.is(1, Class::Other) {
        return match ahead.one(2) {
            _ if ahead.is(2, Class::One) => Some((3, Pointer::new(Number::Other, None))),
            Some(cue) => Some((2 + cue.words, Pointer::of(Number::Other, cue))),
            None if ahead.word(2).is_none() => Some((2, Pointer::new(Number::Other, None))),
            None => None,
        };
    }
    let placed = [Class::Placing, Class::With].iter().any(|class| ahead.is(2, *class));
    if ahead.is(1, Class::One) && placed {
        return Some((2, Pointer::new(Number::Within, None)));
    }
    if let Some(from) = ahead.reading.language.ordinal(first) {
        return counted(ahead, from);
    }
    let cue = ahead.one(1)?;
    // "the site of core-sw-01" asks for a site and does not refer to one.
    let asks = ahead.is(1 + cue.words, Class::Asking);
    let mut pointer = Pointer::of(Number::One, cue);
    pointer.expects_something = false;
    (!asks).then_some((1 + cue.words, pointer))
}

/// "the second one", "the first two", "the last three devices", "the third".
fn counted(ahead: &Ahead<'_, '_>, from: usize) -> Option<(usize, Pointer)> {
    let several = ahead.number(2).filter(|_| !ahead.is(2, Class::One));
    let next = if several.is_some() { 3 } else { 2 };
    let number = Number::Counted { from, count: several.unwrap_or(1) };
    if let Some(cue) = ahead.cue(next) {
        return Some((next + cue.words, Pointer::of(number, cue)));
    }
    if ahead.is(next, Class::One) || ahead.is(next, Class::Ones) {
        return Some((next + 1, Pointer::new(number, None)));
    }
    let ends = ahead.word(next).is_none() || ahead.is(next, Class::Ending);
    (ends || several.is_some()).then(|| (next, Pointer::new(number, None)))
}

/// The types that own what follows: devices, for "its interfaces".
fn owners_after(reading: &Reading<'_>, at: usize) -> Option<Vec<Kind>> {
    let joined = |cue: &&BareCue<'_>| {
        reading.tokens[at + 1..=cue.at].iter().all(|token| token.gap == Gap::Space)
    };
    let cue = (at + 1..=at + 3).find_map(|near| reading.bare_cue_at(near)).filter(joined)?;
    let kind = &cue.entity_type.kind;
    let parents = cue.entity_type.parents.iter();
    // Ownership works in both directions: "its site" of a device, "its devices" of a site.
    let children = reading
        .packs
        .types()
        .iter()
        .filter(|other| other.parents.contains(kind))
        .map(|other| &other.kind);
    let kinds: Vec<Kind> = parents.chain(children).cloned().collect();
    (!kinds.is_empty()).then_some(kinds)
}

/// "both core-sw-01 and core-sw-02" refers to nothing earlier.
fn names_two_after(reading: &Reading<'_>, at: usize) -> bool {
    let after = reading.tokens[at].span.end;
    reading.noticed.mentions.iter().filter(|mention| mention.span.start >= after).count() >= 2
}
