//! Messages with a word for a kind: a list of such things, a field of one, what belongs to others.
//!
//! Invariant: every kind that a message names is listed, narrows the list, is left out of it, or is asked about.

use super::ask::{Ask, Follow, KindWord, Phrase};
use super::rows;
use super::run::as_thing;
use super::scene::{Flow, Said, Scene};
use super::serve::Meaning;
use crate::entity::Number;
use crate::lexicon::{Class, Family, Say};
use crate::pack::Kind;
use crate::session::dialogue::{Missing, Query, Spoken, Term, Thing, Want, What};

/// Maximum things of a list that "they" can mean.
const OWNERS_MAX: usize = 12;

impl Scene<'_> {
    /// A message with a kind word.
    pub(super) fn about_kind(
        &self,
        ask: &Ask,
        subject: &KindWord,
        meaning: &Meaning<'_>,
    ) -> Flow<Option<Said>> {
        let base = self.dialogue.spoken.first().map(|spoken| &spoken.query);
        let lists = matches!(ask.verb, Some((Family::List | Family::Find, _)));
        if !ask.fields.is_empty() && ask.of_shown && meaning.phrases.is_empty() {
            let things = self.listed().to_vec();
            return self.fields_of(ask, things, None).map(Some);
        }
        let bare = meaning.phrases.is_empty() && meaning.things.is_empty();
        if ask.they && bare {
            return self.owned(ask, subject, meaning).map(Some);
        }
        // "which of those devices", "only the servers": about what was shown.
        let those = ask.pointers.iter().any(|pointer| pointer.number == Number::Many);
        let narrows = ask.follows == Some(Follow::Only) || ask.corrects && bare;
        if (those || ask.of_shown || narrows)
            && let Some(spoken) = self.last_list(Some(&subject.kind))
            && (!narrows || self.is_last(spoken))
        {
            let query = spoken.query.clone();
            if let Some(said) = self.left_over(ask, subject) {
                return Ok(Some(said));
            }
            return self.refine(query, ask, meaning, Some(subject)).map(Some);
        }
        // "what devices do they have?" where nothing was shown.
        let unshown = ask.of_shown && (ask.counts || self.dialogue.spoken.is_empty());
        if unshown && bare {
            return Ok(Some(self.who_is_meant(ask, &self.noun(&subject.kind, true))));
        }
        if !subject.many && !lists && !ask.counts && ask.order.is_none() {
            let of_name = |phrase: &&&Phrase| {
                phrase.placed == Some(Class::Of)
                    || phrase.kind.as_ref().is_some_and(|k| *k != subject.kind)
            };
            if !meaning.things.is_empty() && meaning.phrases.is_empty() {
                return self.fields_of(ask, meaning.things.clone(), Some(subject)).map(Some);
            }
            if let [phrase] = meaning.phrases.as_slice()
                && meaning.phrases.iter().find(of_name).is_some()
            {
                return self.field_of_named(ask, phrase, Some(subject)).map(Some);
            }
            if meaning.phrases.is_empty()
                && let Some(focus) =
                    self.dialogue.focus.first().filter(|focus| focus.kind != subject.kind)
            {
                return self.fields_of(ask, vec![focus.clone()], Some(subject)).map(Some);
            }
        }
        let shows = matches!(ask.verb, Some((Family::Show, _)));
        if bare
            && !ask.placed
            && shows
            && !subject.many
            && !ask.counts
            && !ask.questions
            && ask.order.is_none()
            && let Some(view) = self.view_of(&subject.kind)
        {
            let call = Some((view.tool.tool.clone(), view.fixed.clone()));
            let kind = Some(subject.kind.clone());
            return self
                .carry_out(
                    Query { want: Want::Act(Family::Show), kind, call, ..Query::default() },
                    true,
                )
                .map(Some);
        }
        if self.list_of(&subject.kind).is_none() {
            return Ok(None);
        }
        if let Some(said) = self.counted_by(ask, subject, meaning)? {
            return Ok(Some(said));
        }
        if let Some(said) = self.left_over(ask, subject) {
            return Ok(Some(said));
        }
        let mut query = Query { kind: Some(subject.kind.clone()), ..Query::default() };
        query.narrower.clone_from(&subject.narrower);
        let counted = base.is_some_and(|base| base.want == Want::Count);
        if counted && bare && (narrows || ask.follows.is_some()) {
            query.want = Want::Count;
        }
        if bare && (narrows || ask.follows == Some(Follow::Continues)) {
            query.terms = self.terms_for(&subject.kind);
        } else if bare && ask.follows == Some(Follow::Same) {
            query.terms = base.map(|base| base.terms.clone()).unwrap_or_default();
        }
        self.refine(query, ask, meaning, Some(subject)).map(Some)
    }

    /// Whether a query is the one that was answered last.
    fn is_last(&self, spoken: &Spoken) -> bool {
        self.dialogue.spoken.first().is_some_and(|last| std::ptr::eq(last, spoken))
    }

    /// A question about a kind that neither narrows the list nor is left out of it.
    fn left_over(&self, ask: &Ask, subject: &KindWord) -> Option<Said> {
        let accounted = |word: &&KindWord| {
            let own = word.kind == subject.kind && (!word.negated || word.narrower.is_some());
            let all = word.many && word.after == Some(Class::All) && !word.negated;
            word.at == subject.at || own || all
        };
        let left = ask.kinds.iter().find(|word| !accounted(word))?;
        let (kinds, left) = (self.noun(&subject.kind, true), self.noun(&left.kind, left.many));
        let with = [("understood", kinds.as_str()), ("left", left.as_str())];
        let text = self.say(Say::NotUnderstood, &with);
        Some(self.asked(text, Query::default(), Missing::Words, Vec::new()))
    }

    /// "Which circuits do they have?": those of who was spoken of.
    fn owned(&self, ask: &Ask, subject: &KindWord, meaning: &Meaning<'_>) -> Flow<Said> {
        let owners = self.owners(&subject.kind);
        if owners.is_empty() {
            let they = self.parts.iter().find(|part| self.language.is(Class::They, &part.lower));
            let text = they.map_or("they", |part| part.text.as_str());
            return Ok(self.who_is_meant(ask, text));
        }
        let mut query = Query { kind: Some(subject.kind.clone()), ..Query::default() };
        let term = |thing: Thing| Term {
            text: thing.label.clone(),
            what: What::Thing(thing),
            negated: false,
        };
        query.terms = owners.into_iter().map(term).collect();
        self.refine(query, ask, meaning, Some(subject))
    }

    /// Those whom "they" can mean, if a list of this kind can be narrowed by them: whom the last answer gave, what it
    /// listed, or what it was about.
    fn owners(&self, kind: &Kind) -> Vec<Thing> {
        let (Some(offer), Some(last)) = (self.list_of(kind), self.dialogue.spoken.first()) else {
            return Vec::new();
        };
        let takes = |thing: &Thing| thing.kind != *kind && offer.slot_for(&thing.kind).is_some();
        let named = || {
            let terms = last.query.terms.iter().filter(|term| !term.negated);
            terms.filter_map(as_thing).filter(|thing| takes(thing)).cloned().collect::<Vec<Thing>>()
        };
        let told: Vec<Thing> = match last.query.want {
            Want::Field => self.told_by(&last.query).into_iter().filter(takes).collect(),
            _ => Vec::new(),
        };
        let is_whole = last.count == Some(last.shown.len()) && last.shown.len() <= OWNERS_MAX;
        let shown = last.shown.iter().filter(|thing| is_whole && takes(thing)).cloned().collect();
        let mut all = [told, shown, named()].into_iter();
        all.find(|things| !things.is_empty()).unwrap_or_default()
    }

    /// The things that are the value of the fields that were asked for: the provider of a circuit.
    fn told_by(&self, query: &Query) -> Vec<Thing> {
        let things = query.terms.iter().filter_map(as_thing);
        let told = things.flat_map(|thing| {
            let seen = self.dialogue.focus.iter().find(|focus| focus.is(thing)).unwrap_or(thing);
            let row = self.row_of(seen).unwrap_or_default();
            let fields = query.fields.iter().filter_map(|field| {
                let (key, value) = rows::field(&row, &self.attribute(&thing.kind, field))?;
                let known = self.packs.type_of_key_in(Some(&thing.kind), key)?;
                rows::thing(value, &known.kind, Some(known))
            });
            fields.collect::<Vec<Thing>>()
        });
        told.collect()
    }

    fn who_is_meant(&self, ask: &Ask, text: &str) -> Said {
        let said = self.say(Say::NoReference, &[("text", text)]);
        let query = self.provisional_query(ask, text);
        self.asked(said, query, Missing::Words, Vec::new())
    }

    /// Terms of the last queries that also narrow a list of this kind.
    pub(super) fn terms_for(&self, kind: &Kind) -> Vec<Term> {
        let Some(offer) = self.list_of(kind) else { return Vec::new() };
        let things = |term: &&Term| matches!(term.what, What::Thing(_)) && self.takes(offer, term);
        let spoken = self.dialogue.spoken.iter();
        let terms =
            spoken.map(|spoken| spoken.query.terms.iter().filter(things).cloned().collect());
        terms.into_iter().find(|terms: &Vec<Term>| !terms.is_empty()).unwrap_or_default()
    }
}
