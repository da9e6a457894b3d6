//! What is asked for by a value instead of a word for its kind: "which dogs are in ward A?", where animals are listed as
//! patients.
//!
//! Invariant: exactly one kind has things with that value.

use super::ask::{Ask, KindWord, Phrase};
use super::scene::{Flow, Scene};
use super::serve::looks_named;
use crate::lexicon;
use crate::session::dialogue::Thing;

/// Maximum lists that are read for a value, because each costs a call.
const LISTS_MAX: usize = 4;

impl Scene<'_> {
    /// The kind of which some things have the value that a message asks for.
    pub(super) fn kind_by_value(&self, ask: &Ask) -> Flow<Option<KindWord>> {
        let reads = ask.verb.is_none_or(|(family, _)| family.reads());
        let asks = ask.questions || ask.counts || ask.verb.is_some();
        let anew = ask.follows.is_none() && !ask.of_shown && ask.pointers.is_empty();
        let Some(phrase) = ask.phrases.iter().find(|phrase| self.is_noun(ask, phrase)) else {
            return Ok(None);
        };
        if !(reads && asks && anew) || self.is_shown(phrase) {
            return Ok(None);
        }
        let mut found: Vec<KindWord> = Vec::new();
        for kind in self.all_kinds().into_iter().take(LISTS_MAX) {
            let list = self.list_of(&kind).filter(|list| list.is_free);
            let Some(list) = list else { continue };
            let Ok(table) = self.table(list, &list.fixed, false)? else { continue };
            let placed = self.with_preposition(phrase).map(|whole| whole.text);
            let mut said = [Some(phrase.text.clone()), placed].into_iter().flatten();
            if said.any(|words| self.selected_by(&table, &words).is_some()) {
                let (narrower, after) = (None, None);
                found.push(KindWord { kind, many: true, narrower, negated: false, after, at: 0 });
            }
        }
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// Whether a phrase can be a word for several things, and is no name.
    fn is_noun(&self, ask: &Ask, phrase: &Phrase) -> bool {
        let lower = phrase.text.to_lowercase();
        let plain = !phrase.is_quoted && !phrase.is_literal && !phrase.picks && !phrase.negated;
        let last = lower.split_whitespace().next_back().unwrap_or_default();
        let many = lexicon::english().singular(last) != last && phrase.placed.is_none();
        let named = looks_named(phrase) && self.language.value(last).is_none();
        plain && !named && (many || ask.who || self.language.value(last).is_some())
    }

    /// Whether a thing that was shown is called so.
    fn is_shown(&self, phrase: &Phrase) -> bool {
        let called = |thing: &Thing| thing.label.eq_ignore_ascii_case(&phrase.text);
        self.shown().any(called)
    }
}
