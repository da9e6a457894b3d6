//! Names next to cue words: "device core-sw-01", "rack R12", "the Task Management workflow".
//!
//! The word after a cue is a name only if it looks like one: "site visit" and "rack my brains" name nothing. Cues
//! without a name are left for references and questions.

use super::mention::{How, Mention};
use super::notice::{BareCue, Open, Reading};
use super::token::{Clitic, Gap, Setting, Shape, TOKEN_BYTES_MAX, Token};
use crate::lexicon::Class;
use crate::pack::{EntityType, Grammar, NamedBefore, NumberMeans};
use crate::weights;

/// Maximum words of a capitalised name.
const RUN_WORDS_MAX: usize = 6;

struct Named {
    first: usize,
    words: usize,
    means: NumberMeans,
    confidence: f32,
}

struct Expected {
    means: NumberMeans,
    grammar: Grammar,
    /// A plain word may be the name: "in site berlin".
    loose: bool,
    /// "named" or "called" announces a name.
    announced: bool,
}

pub(super) fn read(reading: &mut Reading<'_>) {
    let mut at = 0;
    while at < reading.tokens.len() {
        let free = reading.is_own(at) && !reading.taken[at];
        let free = free && !begins_name(reading, at) && !is_verb(reading, at);
        let cue = reading.cue_at(at).filter(|_| free);
        let Some((entity_type, words, grammar)) = cue else {
            at += 1;
            continue;
        };
        let named = after(reading, at, words, entity_type, grammar);
        let named =
            if named.is_empty() { before(reading, at, entity_type, grammar) } else { named };
        if named.is_empty() {
            reading.bare_cues.push(BareCue { at, words, entity_type, grammar });
        } else {
            reading.take(at, words);
        }
        let end = named.iter().map(|name| name.first + name.words).max().unwrap_or(0);
        let told = !reading.asks && reading.entities.tracked.is_empty();
        let everyday = told && entity_type.everyday.contains(&reading.tokens[at].lower);
        for mut name in named {
            if everyday {
                name.confidence = name.confidence.min(weights::NAME_TOLD);
            }
            mention(reading, entity_type, &name);
        }
        at = end.max(at + words);
    }
    doubt_what_is_told(reading);
}

/// Doubts a single new name without digits in a message that asks for nothing, if nothing is known yet: "our
/// tenant Mr Okoye paid early" may be about anybody.
fn doubt_what_is_told(reading: &mut Reading<'_>) {
    if reading.asks || !reading.entities.tracked.is_empty() {
        return;
    }
    if let [only] = reading.noticed.mentions.as_mut_slice()
        && !only.name.bytes().any(|byte| byte.is_ascii_digit())
        && only.id.is_none()
    {
        only.confidence = only.confidence.min(weights::NAME_TOLD);
    }
}

/// Whether a cue word is a verb here: "to host a party", "Jakob hosts a podcast".
fn is_verb(reading: &Reading<'_>, at: usize) -> bool {
    if !reading.packs.is_verb_too(&reading.tokens[at].lower) {
        return false;
    }
    let next = reading.tokens.get(at + 1).filter(|token| token.gap == Gap::Space);
    let marked = |token: &Token<'_>| {
        matches!(token.shape, Shape::Identifier | Shape::Number) || token.setting != Setting::Own
    };
    let after_to = reading.is_before(at, Class::To) && !next.is_some_and(marked);
    after_to || next.is_some_and(|token| reading.is(Class::A, &token.lower))
}

/// Whether a cue word starts a name before another cue: "the Customer Portal project".
fn begins_name(reading: &Reading<'_>, at: usize) -> bool {
    let raised = |at: usize| {
        let token = &reading.tokens[at];
        token.shape == Shape::Capitalised && token.gap == Gap::Space
    };
    let end = (at..reading.tokens.len()).take(RUN_WORDS_MAX).take_while(|at| raised(*at)).count();
    let several = end > 1 || (at > 0 && raised(at) && raised(at - 1));
    let next = reading.cue_at(at + end).filter(|_| several);
    let joined = reading.tokens.get(at + end).is_some_and(|token| token.gap == Gap::Space);
    next.is_some_and(|(entity_type, _, grammar)| {
        joined
            && grammar == Grammar::Singular
            && entity_type.named_before != NamedBefore::Identifier
    })
}

/// Names after a cue, including those after a comma or "and".
fn after(
    reading: &Reading<'_>,
    cue: usize,
    words: usize,
    entity_type: &EntityType,
    grammar: Grammar,
) -> Vec<Named> {
    let mut at = cue + words;
    let mut means = entity_type.number;
    while let Some(token) = reading.tokens.get(at).filter(|token| token.gap == Gap::Space) {
        if reading.is(Class::Id, &token.lower) {
            means = NumberMeans::Id;
        } else if !reading.is(Class::Named, &token.lower) {
            break;
        }
        at += 1;
    }
    let placed =
        [Class::In, Class::From, Class::Of].iter().any(|class| reading.is_before(cue, *class));
    let announced = at > cue + words;
    let one = grammar == Grammar::Singular;
    let expected = Expected { means, grammar, loose: one && (placed || announced), announced };
    let mut named: Vec<Named> = Vec::new();
    while let Some(name) = name_at(reading, at, entity_type, &expected) {
        if !named.is_empty() && !continues(reading, &named[0], &name, grammar) {
            break;
        }
        at = name.first + name.words;
        named.push(name);
        let Some(next) = reading.tokens.get(at) else { break };
        let joined = reading.is(Class::And, &next.lower);
        match next.gap {
            Gap::Space | Gap::Pause if joined => at += 1,
            Gap::Pause => {}
            _ => break,
        }
    }
    named
}

/// Whether a further name belongs to the same cue: it must look like the first.
fn continues(reading: &Reading<'_>, first: &Named, next: &Named, grammar: Grammar) -> bool {
    let shape = |named: &Named| reading.tokens[named.first].shape;
    let quoted = |named: &Named| matches!(reading.tokens[named.first].setting, Setting::Quoted(_));
    let strict = matches!(shape(next), Shape::Identifier | Shape::Number) || quoted(next);
    shape(first) == shape(next) && (strict || grammar == Grammar::Plural)
}

fn name_at(
    reading: &Reading<'_>,
    at: usize,
    entity_type: &EntityType,
    expected: &Expected,
) -> Option<Named> {
    let Expected { means, grammar, loose, announced } = *expected;
    let token = reading.tokens.get(at)?;
    if reading.taken[at] || token.gap == Gap::Stop || token.text.len() > TOKEN_BYTES_MAX {
        return None;
    }
    if !token.text.contains(char::is_alphanumeric) {
        return None;
    }
    let sure = |words: usize, confidence: f32| {
        Some(Named { first: at, words, means: NumberMeans::Name, confidence })
    };
    if let Setting::Quoted(number) = token.setting {
        return sure(quotation_words(reading, at, number)?, weights::NAME_MARKED);
    }
    let starts_cue = reading.cue_at(at).is_some();
    if let Some((words, ..)) = reading.known_at(at, |kind| *kind == entity_type.kind)
        && token.shape != Shape::Number
        && !(starts_cue && words == 1 && token.shape == Shape::Plain)
        && !reading.is(Class::Ordinary, &token.lower)
    {
        return sure(words, weights::NAME_KNOWN);
    }
    if starts_cue && !matches!(token.shape, Shape::Identifier | Shape::Number) {
        return None;
    }
    let ordinary = !may_name(reading, token) || reading.makes_compound(&token.lower);
    match token.shape {
        Shape::Number
            if token.text.len() <= 12
                && means != NumberMeans::Nothing
                && !counts_something(reading, at) =>
        {
            Some(Named { first: at, words: 1, means, confidence: weights::NAME_MARKED })
        }
        Shape::Plain if token.text.starts_with('#') && token.text.len() > 1 => Some(Named {
            first: at,
            words: 1,
            means: NumberMeans::Id,
            confidence: weights::NAME_MARKED,
        }),
        Shape::Identifier => {
            let looks = reading.packs.pattern_of(token.text, 1);
            let other = looks.is_some_and(|(theirs, pattern)| {
                theirs.kind != entity_type.kind
                    && pattern.confidence >= weights::PATTERN_WINS
                    && !announced
            });
            let id = reading.packs.pattern_of(token.text, 1).filter(|(theirs, pattern)| {
                theirs.kind == entity_type.kind && pattern.means == NumberMeans::Id
            });
            let means = if id.is_some() { NumberMeans::Id } else { NumberMeans::Name };
            (!other).then_some(Named {
                first: at,
                words: 1,
                means,
                confidence: weights::NAME_MARKED,
            })
        }
        Shape::Capitalised if !ordinary => sure(run_from(reading, at), weights::NAME_CAPITALISED),
        Shape::Capitalised if run_from(reading, at) > 1 => {
            sure(run_from(reading, at), weights::NAME_BEFORE)
        }
        Shape::Compound if grammar == Grammar::Singular && !ordinary => {
            sure(1, weights::NAME_COMPOUND)
        }
        Shape::Plain if loose && !ordinary && ends_phrase(reading, at + 1) => {
            sure(1, weights::NAME_PLAIN)
        }
        _ => None,
    }
}

/// Names before a cue; the pack says how far back.
fn before(
    reading: &Reading<'_>,
    cue: usize,
    entity_type: &EntityType,
    grammar: Grammar,
) -> Vec<Named> {
    let Some(last) = cue.checked_sub(1) else { return Vec::new() };
    let token = &reading.tokens[last];
    if let Setting::Quoted(number) = token.setting
        && reading.tokens[cue].gap == Gap::Pause
    {
        let mut first = last;
        while first > 0 && reading.tokens[first - 1].setting == Setting::Quoted(number) {
            first -= 1;
        }
        return quotation_words(reading, first, number)
            .filter(|_| reading.tokens[first].text.contains(char::is_alphanumeric))
            .map(|words| named(first, words, weights::NAME_CAPITALISED))
            .into_iter()
            .collect();
    }
    if reading.tokens[cue].gap != Gap::Space || reading.taken[last] || token.clitic != Clitic::None
    {
        return Vec::new();
    }
    if let Some((first, words)) = known_before(reading, cue, entity_type) {
        return vec![named(first, words, weights::NAME_KNOWN)];
    }
    let any = entity_type.named_before != NamedBefore::Identifier;
    let Some(run) = run_before(reading, cue, any) else { return Vec::new() };
    if grammar == Grammar::Singular {
        return vec![run];
    }
    if entity_type.named_before != NamedBefore::List {
        return Vec::new();
    }
    let mut names = vec![run];
    while let Some(end) = joined_before(reading, names[names.len() - 1].first) {
        let Some(run) = run_before(reading, end, any) else { break };
        names.push(run);
    }
    names.reverse();
    names
}

/// The end of the name joined to the one at `first` by "and" or a comma.
fn joined_before(reading: &Reading<'_>, first: usize) -> Option<usize> {
    let previous = first.checked_sub(1)?;
    match reading.tokens[first].gap {
        Gap::Pause => Some(first),
        Gap::Space if reading.is_at(previous, Class::And) => Some(previous),
        _ => None,
    }
}

fn known_before(
    reading: &Reading<'_>,
    cue: usize,
    entity_type: &EntityType,
) -> Option<(usize, usize)> {
    (1..=super::NAME_WORDS_MAX.min(cue)).rev().find_map(|words| {
        let first = cue - words;
        let phrase = reading.phrase(first, words)?;
        let tokens = &reading.tokens[first..cue];
        let numeric = tokens.iter().all(|token| token.shape == Shape::Number);
        let ordinary = tokens.iter().all(|token| reading.is(Class::Ordinary, &token.lower));
        let found = reading.known.under(&phrase);
        let fits = found.iter().any(|(entity, _)| entity.entity.kind == entity_type.kind);
        (fits && !numeric && !ordinary).then_some((first, words))
    })
}

/// A run of name-like words ending before `end`.
fn run_before(reading: &Reading<'_>, end: usize, any: bool) -> Option<Named> {
    let mut first = end;
    while first > 0 && end - first < RUN_WORDS_MAX {
        let token = &reading.tokens[first - 1];
        let cut_off = first < end && token.clitic != Clitic::None;
        let looks = match token.shape {
            Shape::Identifier => true,
            // "New" of "the New York site", but not of "New sites".
            Shape::Capitalised if first < end && token.gap != Gap::Stop => any,
            Shape::Capitalised => any && may_name(reading, token),
            _ => false,
        };
        let joined = first == end || reading.tokens[first].gap == Gap::Space;
        let free = !reading.taken[first - 1] && reading.is_own(first - 1);
        let is_cue = reading.cue_at(first - 1).is_some();
        let raised =
            |token: &Token<'_>| token.shape == Shape::Capitalised && token.gap == Gap::Space;
        let goes_on = first < end || (first > 1 && raised(&reading.tokens[first - 2]));
        let is_part = goes_on && raised(token);
        if !looks || !joined || !free || cut_off || (is_cue && !is_part) {
            break;
        }
        first -= 1;
    }
    let words = end - first;
    let token = reading.tokens.get(first).filter(|_| words > 0)?;
    // A single capitalised word at the start of a sentence may be any word.
    let unsure = words == 1 && token.gap == Gap::Stop && token.shape == Shape::Capitalised;
    (!unsure).then(|| named(first, words, weights::NAME_BEFORE))
}

fn named(first: usize, words: usize, confidence: f32) -> Named {
    Named { first, words, means: NumberMeans::Name, confidence }
}

/// The number of words of a quotation, if it is short enough for a name.
fn quotation_words(reading: &Reading<'_>, first: usize, number: u32) -> Option<usize> {
    let rest = &reading.tokens[first..];
    let words = rest.iter().take_while(|token| token.setting == Setting::Quoted(number)).count();
    (words <= RUN_WORDS_MAX).then_some(words)
}

/// The number of capitalised words starting at `at`.
fn run_from(reading: &Reading<'_>, at: usize) -> usize {
    let rest = reading.tokens[at..].iter().enumerate().take(RUN_WORDS_MAX);
    let run = rest.take_while(|(index, token)| {
        let looks = matches!(token.shape, Shape::Capitalised | Shape::Identifier | Shape::Number);
        let other = reading.packs.pattern_of(token.text, 1).is_some();
        *index == 0
            || (looks
                && token.gap == Gap::Space
                && reading.tokens[at + index - 1].clitic == Clitic::None
                && may_name(reading, token)
                && !other
                && reading.cue_at(at + index).is_none())
    });
    run.count()
}

/// Whether a word can be part of a name: an ordinary word only if it has a capital letter where the language
/// needs none, as in "the Expense Report workflow".
fn may_name(reading: &Reading<'_>, token: &Token<'_>) -> bool {
    let raised = token.shape == Shape::Capitalised && token.gap == Gap::Space;
    !reading.is(Class::Ordinary, &token.lower) || (raised && token.text.len() > 4)
}

/// Whether a number counts what follows it: "2 weeks", "3 others".
fn counts_something(reading: &Reading<'_>, at: usize) -> bool {
    let next = reading.tokens.get(at + 1).filter(|token| token.gap == Gap::Space);
    next.is_some_and(|token| {
        reading.is(Class::Unit, &token.lower) || reading.packs.is_unit(&token.lower)
    })
}

/// Whether a phrase may end before the word at `at`.
fn ends_phrase(reading: &Reading<'_>, at: usize) -> bool {
    let ends =
        |token: &Token<'_>| token.gap != Gap::Space || reading.is(Class::Ordinary, &token.lower);
    reading.tokens.get(at).is_none_or(ends)
}

fn mention<'a>(reading: &mut Reading<'a>, entity_type: &'a EntityType, found: &Named) {
    let span = reading.span(found.first, found.words);
    let text = reading.message[span.start..span.end].trim_start_matches('#').to_owned();
    let kind = entity_type.kind.clone();
    let is_id = found.means == NumberMeans::Id;
    let known: Vec<_> = if is_id {
        reading.known.with_id(&entity_type.kind, &text).collect()
    } else {
        let phrase = reading.phrase(found.first, found.words).unwrap_or_default();
        let found = reading.known.under(&phrase).into_iter();
        found.map(|(entity, _)| entity).filter(|entity| entity.entity.kind == kind).collect()
    };
    reading.take(found.first, found.words);
    let (how, confidence) = (How::Cue, found.confidence);
    if !known.is_empty() {
        let (first, words) = (found.first, found.words);
        reading.leave_open(Open { first, words, candidates: known, how, confidence });
        return;
    }
    // The text cannot be of this type, e.g. is no valid address: the word meant something else.
    if !is_id && !entity_type.can_be_called(&text) {
        return;
    }
    let (name, id) = if is_id { (String::new(), Some(text)) } else { (text, None) };
    reading.mention(Mention { kind, name, id, entity: None, span, how, confidence });
}
