//! Finds entities in a message, in a fixed order.
//!
//! Names next to cue words come first, because the writer says what they are; then known names, patterns and
//! misspelt names; the rest may be references.
//!
//! Invariant: a word is part of one mention at most, and nothing uncertain is reported as certain.

use std::cell::Cell;

use super::limits::{CANDIDATES_MAX, MENTIONS_MAX};
use super::mention::{Ambiguity, How, Mention, Noticed, Span, Unresolved};
use super::record::{Entity, EntityRef};
use super::token::{self, Gap, Setting, Token};
use super::{
    Entities, KnownEntities, correction, cue, name, pattern, reference, settle, topic, within,
};
use crate::lexicon::{self, Class, Language};
use crate::pack::{EntityType, Grammar, Kind, PackSet};

/// Longer quotations are sentences, not names.
const QUOTED_NAME_WORDS_MAX: usize = 4;

/// What a message says about entities, given what is known.
pub fn notice(
    message: &str,
    entities: &Entities,
    known: &KnownEntities,
    packs: &PackSet,
) -> Noticed {
    notice_counted(message, entities, known, packs).0
}

/// Also returns the number of steps taken.
pub(super) fn notice_counted(
    message: &str,
    entities: &Entities,
    known: &KnownEntities,
    packs: &PackSet,
) -> (Noticed, usize) {
    let mut reading = Reading::new(message, entities, known, packs);
    cue::read(&mut reading);
    name::read(&mut reading);
    pattern::read(&mut reading);
    within::read(&mut reading);
    name::read_misspelt(&mut reading);
    reading.leave_out_the_hypothetical();
    settle::settle(&mut reading);
    reference::read(&mut reading);
    correction::read(&mut reading);
    within::guess(&mut reading);
    let steps = reading.steps.get();
    (reading.finish(), steps)
}

/// The state of reading a message.
pub(super) struct Reading<'a> {
    pub message: &'a str,
    pub language: &'static Language,
    pub tokens: Vec<Token<'a>>,
    /// Words already used.
    pub taken: Vec<bool>,
    pub entities: &'a Entities,
    pub known: &'a KnownEntities,
    pub packs: &'a PackSet,
    pub noticed: Noticed,
    /// Cues without a name.
    pub bare_cues: Vec<BareCue<'a>>,
    /// Words that match several known entities, until the rest of the message is read.
    pub open: Vec<Open<'a>>,
    hypothetical: Vec<bool>,
    /// Whether the message asks for something; a mere statement is rarely about entities of a pack.
    pub asks: bool,
    steps: Cell<usize>,
}

/// A cue without a name: "the device", "interfaces".
pub(super) struct BareCue<'a> {
    pub at: usize,
    pub words: usize,
    pub entity_type: &'a EntityType,
    pub grammar: Grammar,
}

/// Words and the entities they match.
pub(super) struct Open<'a> {
    pub first: usize,
    pub words: usize,
    pub candidates: Vec<&'a Entity>,
    pub how: How,
    pub confidence: f32,
}

impl<'a> Reading<'a> {
    fn new(
        message: &'a str,
        entities: &'a Entities,
        known: &'a KnownEntities,
        packs: &'a PackSet,
    ) -> Self {
        let (tokens, cut) = token::tokens(message);
        let language = lexicon::of(message);
        let hypothetical = hypothetical(&tokens, language);
        Self {
            message,
            language,
            taken: vec![false; tokens.len()],
            tokens,
            entities,
            known,
            packs,
            noticed: Noticed { cut, ..Noticed::default() },
            bare_cues: Vec::new(),
            open: Vec::new(),
            hypothetical,
            asks: language.asks_for_something(message),
            steps: Cell::new(0),
        }
    }

    /// Words `first..first + words` as one lower-case phrase, if only spaces separate them and none is used.
    pub(super) fn phrase(&self, first: usize, words: usize) -> Option<String> {
        let tokens = self.tokens.get(first..first + words)?;
        self.work(words);
        let joined = tokens.iter().skip(1).all(|token| token.gap == Gap::Space);
        let free = !self.taken[first..first + words].contains(&true);
        let lower: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
        (joined && free).then(|| lower.join(" "))
    }

    /// The cue that starts at a word.
    pub(super) fn cue_at(&self, at: usize) -> Option<(&'a EntityType, usize, Grammar)> {
        let rest = self.tokens.get(at..)?;
        self.work(1);
        let joined = rest.iter().enumerate();
        let words = joined
            .take_while(|(index, token)| *index == 0 || token.gap == Gap::Space)
            .map(|(_, token)| token.lower.as_str());
        self.packs.cue_at(words)
    }

    pub(super) fn bare_cue_at(&self, at: usize) -> Option<&BareCue<'a>> {
        self.work(1);
        let index = self.bare_cues.binary_search_by_key(&at, |cue| cue.at).ok()?;
        self.bare_cues.get(index)
    }

    /// Counts steps, so that a test can compare them with the length of the message.
    pub(super) fn work(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
    }

    /// Whether the maximum number of mentions is reached.
    pub(super) fn is_full(&self) -> bool {
        let noticed = &self.noticed;
        let found = noticed.mentions.len() + noticed.ambiguous.len() + noticed.unresolved.len();
        found + self.open.len() >= MENTIONS_MAX
    }

    /// Defers words that match several known entities until the rest of the message is read.
    pub(super) fn leave_open(&mut self, open: Open<'a>) {
        if !self.is_full() {
            self.open.push(open);
        }
    }

    /// The longest known phrase of a type that starts at a word: its length and entities.
    pub(super) fn known_at(
        &self,
        at: usize,
        fits: impl Fn(&Kind) -> bool,
    ) -> Option<(usize, Vec<&'a Entity>, How)> {
        let longest = self.known.words_from(&self.tokens.get(at)?.lower);
        (1..=longest).rev().find_map(|words| {
            let found = self.known.under(&self.phrase(at, words)?);
            let mut found: Vec<_> =
                found.into_iter().filter(|(entity, _)| fits(&entity.entity.kind)).collect();
            let how = if found.first()?.1 { How::Alias } else { How::Name };
            if how == How::Name {
                found.retain(|(_, is_alias)| !is_alias);
            }
            Some((words, found.into_iter().map(|(entity, _)| entity).collect(), how))
        })
    }

    /// The byte range of words.
    pub(super) fn span(&self, first: usize, words: usize) -> Span {
        let last = &self.tokens[first + words - 1];
        Span { start: self.tokens[first].span.start, end: last.span.end }
    }

    pub(super) fn take(&mut self, first: usize, words: usize) {
        self.taken[first..first + words].fill(true);
    }

    /// Whether a word is the writer's own, not quoted.
    pub(super) fn is_own(&self, at: usize) -> bool {
        self.tokens[at].setting == Setting::Own
    }

    /// Whether a word is in a quotation too long for a name: somebody else's sentence.
    pub(super) fn is_in_quoted_sentence(&self, at: usize) -> bool {
        let setting = self.tokens[at].setting;
        let Setting::Quoted(_) = setting else { return false };
        let from = at.saturating_sub(QUOTED_NAME_WORDS_MAX);
        let around = &self.tokens[from..(at + QUOTED_NAME_WORDS_MAX).min(self.tokens.len())];
        around.iter().filter(|token| token.setting == setting).count() >= QUOTED_NAME_WORDS_MAX
    }

    /// Whether a noun forms a compound with a type word: "site visit".
    pub(super) fn makes_compound(&self, word: &str) -> bool {
        self.is(Class::Compound, word) || self.packs.makes_compound(word)
    }

    /// Whether a lower-case word is of a class.
    pub(super) fn is(&self, class: Class, word: &str) -> bool {
        self.language.is(class, word)
    }

    pub(super) fn is_at(&self, at: usize, class: Class) -> bool {
        self.tokens.get(at).is_some_and(|token| self.is(class, &token.lower))
    }

    /// Whether the preceding word, separated only by spaces, is of a class.
    pub(super) fn is_before(&self, at: usize, class: Class) -> bool {
        self.before(at).is_some_and(|word| self.is(class, word))
    }

    /// The preceding word in lower case, if only spaces separate it.
    pub(super) fn before(&self, at: usize) -> Option<&str> {
        let joined = self.tokens.get(at)?.gap == Gap::Space;
        at.checked_sub(1).filter(|_| joined).map(|index| self.tokens[index].lower.as_str())
    }

    pub(super) fn mention(&mut self, mention: Mention) {
        self.work(1);
        if self.noticed.mentions.len() < MENTIONS_MAX {
            self.noticed.mentions.push(mention);
        }
    }

    pub(super) fn mention_known(
        &mut self,
        entity: &EntityRef,
        span: Span,
        how: How,
        confidence: f32,
    ) {
        // An entity of an earlier turn may be known better by now.
        let entity = self.known.get(entity).map_or(entity, |known| &known.entity);
        self.mention(Mention {
            kind: entity.kind.clone(),
            name: entity.name.clone(),
            id: entity.id.clone(),
            entity: Some(entity.clone()),
            span,
            how,
            confidence,
        });
    }

    pub(super) fn ask(&mut self, span: Span, candidates: Vec<EntityRef>) {
        if self.noticed.ambiguous.len() >= MENTIONS_MAX {
            return;
        }
        let text = self.message[span.start..span.end].to_owned();
        let candidates = candidates.into_iter().take(CANDIDATES_MAX).collect();
        self.noticed.ambiguous.push(Ambiguity { text, span, candidates });
    }

    pub(super) fn leave_unresolved(&mut self, span: Span) {
        let text = self.message[span.start..span.end].to_owned();
        self.noticed.unresolved.push(Unresolved { text, span });
    }

    /// Whether a mention only locates the main entity: "in site Berlin".
    pub(super) fn is_placed(&self, mention: &Mention) -> bool {
        let first = self.tokens.partition_point(|token| token.span.start < mention.span.start);
        let mut before = first;
        while before > 0 {
            self.work(1);
            let gap = self.tokens[before].gap;
            let Some(token) = self.tokens.get(before - 1).filter(|_| gap != Gap::Stop) else {
                return false;
            };
            let is_cue = self.packs.cue_at(std::iter::once(token.lower.as_str())).is_some();
            if self.language.is(Class::Placing, &token.lower) {
                return true;
            }
            if !(self.language.is(Class::Article, &token.lower) || is_cue) || first - before > 3 {
                return false;
            }
            before -= 1;
        }
        false
    }

    /// Whether a phrase before a word makes its names examples.
    pub(super) fn is_hypothetical(&self, at: usize) -> bool {
        self.hypothetical.get(at).copied().unwrap_or(false)
    }

    /// Drops names that only serve as examples, unless they are known.
    fn leave_out_the_hypothetical(&mut self) {
        let (tokens, hypothetical) = (&self.tokens, &self.hypothetical);
        self.noticed.mentions.retain(|mention| {
            let at = tokens.partition_point(|token| token.span.start < mention.span.start);
            mention.entity.is_some() || !hypothetical.get(at).copied().unwrap_or(false)
        });
    }

    fn finish(mut self) -> Noticed {
        self.noticed.mentions.sort_by_key(|mention| mention.span.start);
        for cue in &self.bare_cues {
            let kind = &cue.entity_type.kind;
            if self.asks
                && cue.grammar == Grammar::Plural
                && !self.noticed.asked_about.contains(kind)
            {
                self.noticed.asked_about.push(kind.clone());
            }
        }
        self.noticed.topic = topic::of(&self);
        self.noticed
    }
}

/// For each word, whether a phrase before it in the same sentence makes its names examples.
fn hypothetical(tokens: &[Token<'_>], language: &Language) -> Vec<bool> {
    let mut active = false;
    let mut marks = Vec::with_capacity(tokens.len());
    for at in 0..tokens.len() {
        let abbreviated = at > 0 && language.is(Class::Abbreviation, &tokens[at - 1].lower);
        if tokens[at].gap == Gap::Stop && !abbreviated {
            active = false;
        }
        let own = tokens[at].setting == Setting::Own;
        let words = tokens[at..].iter().map(|token| token.lower.as_str());
        active |= own && language.starts(Class::Hypothetical, words).is_some();
        marks.push(active);
    }
    marks
}
