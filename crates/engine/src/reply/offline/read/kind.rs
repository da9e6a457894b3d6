//! Words for kinds of things, and what was noticed of things that no tool is about.
//!
//! Invariant: a word that a tool is named after means what that tool is about, whatever a pack calls so.

use std::collections::BTreeSet;

use super::{Noticed, Part, Reader, Role};
use crate::entity::token::Token;
use crate::entity::{How, Pointed};
use crate::lexicon::{self, Class};
use crate::pack::{Grammar, Kind, PackSet};

/// Maximum words of a parameter's value.
const VALUE_WORDS_MAX: usize = 4;

impl Reader<'_> {
    /// Whether a name or a reference starts there.
    pub(super) fn begins_something(&self, start: usize) -> bool {
        let Noticed { mentions, references, .. } = self.noticed;
        mentions.iter().any(|one| one.span.start == start && one.how != How::Given)
            || references.iter().any(|one| one.span.start == start)
    }

    /// The kind word at the start of these words.
    pub(super) fn kind_at<'w>(
        &self,
        words: impl Iterator<Item = &'w str> + Clone,
    ) -> Option<(usize, Role)> {
        let role = |kind: &Kind, many: bool, narrower: Option<String>| Role::Kind {
            kind: kind.clone(),
            many,
            narrower,
        };
        let own = self.own_noun(words.clone());
        let cue = self.packs.cue_at(words.clone());
        let cue = cue.filter(|(known, count, _)| {
            !is_foreign(&known.kind, self.nouns, self.packs, self.packs_used)
                && own.as_ref().is_none_or(|(own, _)| count > own)
        });
        if let Some((known, count, grammar)) = cue {
            let text = words.take(count).collect::<Vec<_>>().join(" ");
            let singular = self.language.singular(&text);
            let narrower = known.narrows.contains_key(&singular).then_some(singular);
            return Some((count, role(&known.kind, grammar == Grammar::Plural, narrower)));
        }
        // Tools are named in English, whatever the language of the message.
        for (noun, many) in words.clone().next().map_or(&[][..], |word| self.language.nouns(word)) {
            let cue = self.packs.cue_at(std::iter::once(noun.as_str()));
            if let Some((known, 1, _)) = cue.filter(|(known, ..)| {
                !is_foreign(&known.kind, self.nouns, self.packs, self.packs_used)
            }) {
                return Some((1, role(&known.kind, *many, None)));
            }
            if let Some(kind) = self.nouns.iter().find(|kind| kind.as_str() == noun) {
                return Some((1, role(kind, *many, None)));
            }
        }
        own
    }

    /// The number of words of a parameter's value that has several.
    pub(super) fn value_at<'w>(
        &self,
        words: impl Iterator<Item = &'w str> + Clone,
    ) -> Option<usize> {
        let mut counts = (2..=VALUE_WORDS_MAX).rev();
        counts.find(|count| {
            let said: Vec<&str> = words.clone().take(*count).collect();
            let said = (said.len() == *count).then(|| said.join(" "));
            said.is_some_and(|said| {
                let measure = lexicon::measure(&said).is_some_and(|it| self.measures.contains(it));
                measure || self.values.contains(&said)
            })
        })
    }

    /// Whether a name of several capitalised words ends before a word in lower case: "Tiny Tim last watered".
    pub(super) fn ends_name(&self, last: &Part, part: &Part) -> bool {
        let capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        let names = last.text.split_whitespace().all(capital) && last.text.contains(' ');
        let plain = part.text.chars().all(char::is_lowercase);
        names && plain && part.role == Role::Content && self.language.names_capitalised
    }

    /// Whether a word means several things: "tickets", "ones".
    pub(super) fn is_plural(&self, token: &Token<'_>) -> bool {
        let kind = self.kind_at(std::iter::once(token.lower.as_str()));
        let many = matches!(kind, Some((_, Role::Kind { many: true, .. })));
        many || self.language.is(Class::Ones, &token.lower)
    }

    /// The word of a tool's name at the start of these words.
    fn own_noun<'w>(&self, words: impl Iterator<Item = &'w str> + Clone) -> Option<(usize, Role)> {
        let english = lexicon::english();
        let found = self.nouns.iter().filter_map(|kind| {
            let own: Vec<&str> = kind.as_str().split('_').collect();
            let mut given = words.clone();
            let fits = own.iter().all(|word| {
                given.next().is_some_and(|said| said == *word || english.singular(said) == *word)
            });
            let last = words.clone().nth(own.len() - 1)?;
            let (kind, many, narrower) = (kind.clone(), english.singular(last) != last, None);
            fits.then_some((own.len(), Role::Kind { kind, many, narrower }))
        });
        // "booking requests" are no bookings.
        let whole = found.max_by_key(|(count, _)| *count);
        whole.or_else(|| self.shortened_noun(words.clone()))
    }

    /// The last word of a kind's name in the plural, where no other kind ends so: "requests" for leave requests.
    fn shortened_noun<'w>(
        &self,
        mut words: impl Iterator<Item = &'w str>,
    ) -> Option<(usize, Role)> {
        let said = words.next()?;
        let one = lexicon::english().singular(said);
        let english = lexicon::english();
        let path = [Class::Folder, Class::File].iter().any(|class| english.is(*class, &one));
        let ends = |kind: &&Kind| {
            let last = kind.as_str().rsplit_once('_').map(|(_, last)| last);
            let listed = self.kind_words.iter().any(|word| word == kind.as_str());
            last == Some(one.as_str()) && listed && !path
        };
        let mut kinds: Vec<&Kind> = self.nouns.iter().filter(ends).collect();
        kinds.dedup();
        let [kind] = kinds[..] else { return None };
        let (kind, many, narrower) = (kind.clone(), true, None);
        (one != said).then_some((1, Role::Kind { kind, many, narrower }))
    }
}

/// Whether a pack's kind means nothing here: no tool is about things of that pack, or tools have its word for a kind of
/// their own. The rooms of a hotel are no locations of a data centre.
fn is_foreign(kind: &Kind, nouns: &[Kind], packs: &PackSet, used: &BTreeSet<String>) -> bool {
    let own = |word: &str| nouns.iter().any(|noun| noun.as_str() == word);
    let known = packs.entity_type(kind);
    known.is_some_and(|known| {
        !used.contains(&known.pack) || known.cues.iter().any(|cue| own(&cue.text))
    })
}

/// What was noticed of the things that tools are about.
pub(in crate::reply::offline) fn own_only(
    mut noticed: Noticed,
    message: &str,
    nouns: &[Kind],
    (packs, used): (&PackSet, &BTreeSet<String>),
) -> Noticed {
    let foreign = |kind: &Kind| is_foreign(kind, nouns, packs, used);
    noticed.mentions.retain(|mention| !foreign(&mention.kind));
    noticed.ambiguous.retain(|open| !open.candidates.iter().any(|one| foreign(&one.kind)));
    let language = lexicon::of(message);
    // "gibt es": no reference.
    let empty = |reference: &Pointed| {
        let before = message
            .get(..reference.span.start)
            .and_then(|text| text.split_whitespace().next_back());
        let own = message.get(reference.span.start..reference.span.end).unwrap_or_default();
        let said = [before.unwrap_or_default().to_lowercase(), own.to_lowercase()];
        language.starts(Class::Any, said.iter().map(String::as_str)) == Some(2)
    };
    let meant = |mut reference: Pointed| {
        if empty(&reference) {
            return None;
        }
        let kinds = reference.kinds.as_ref();
        if !kinds.is_some_and(|kinds| kinds.iter().any(foreign)) {
            return Some(reference);
        }
        let said = message.get(reference.span.start..reference.span.end)?.to_lowercase();
        let last = lexicon::english().singular(said.split_whitespace().next_back()?);
        let own = nouns.iter().find(|noun| noun.as_str() == last)?;
        reference.kinds = Some(vec![own.clone()]);
        Some(reference)
    };
    noticed.references = noticed.references.into_iter().filter_map(meant).collect();
    noticed
}
