//! Turns what a message asks into a query: about what was shown, or a new one.
//!
//! Every phrase ends up in the query or in a question to the user.

use super::ask::{Ask, Follow, KindWord, Phrase, Pointer};
use super::find::Found;
use super::point::Meant;
use super::rows;
use super::scene::{Flow, Said, Scene};
use crate::entity::Number;
use crate::lexicon::{Class, Family, Say};
use crate::pack::{Kind, NamedBefore};
use crate::search::words::stems;
use crate::session::dialogue::{Missing, Query, Term, Thing, Want, What};

/// What the phrases and references of a message mean.
pub(super) struct Meaning<'a> {
    pub(super) things: Vec<Thing>,
    pub(super) phrases: Vec<&'a Phrase>,
}

impl Meaning<'_> {
    fn texts(&self) -> Vec<&str> {
        self.phrases.iter().map(|phrase| phrase.text.as_str()).collect()
    }
}

impl Scene<'_> {
    /// Answers reading requests, if they are about kinds with lists or views.
    pub(super) fn serve(&self, ask: &Ask, corrects: bool) -> Flow<Option<Said>> {
        if ask.phrases.iter().any(|phrase| phrase.is_literal) && !self.filters_days(ask) {
            return Ok(None);
        }
        let meaning = match self.meaning(ask)? {
            Ok(meaning) => meaning,
            Err(said) => return Ok(Some(*said)),
        };
        let subject =
            ask.kinds.iter().filter(|word| !word.negated).find(|word| {
                self.list_of(&word.kind).is_some() || self.view_of(&word.kind).is_some()
            });
        if let Some(said) = self.bounded(ask, subject, &meaning)? {
            return Ok(Some(said));
        }
        if let Some(words) = &ask.compared {
            let kind = subject.map(|word| self.noun(&word.kind, true));
            let kind = kind.unwrap_or_else(|| "things".into());
            let text = self.say(Say::NoComparison, &[("kinds", &kind), ("text", words)]);
            return Ok(Some(self.asked(text, Query::default(), Missing::Words, Vec::new())));
        }
        let narrows = ask.follows == Some(Follow::Only) || ask.of_shown;
        if corrects
            && !narrows
            && let Some(said) = self.corrected(ask, &meaning)?
        {
            return Ok(Some(said));
        }
        let by_value = || {
            let valued =
                |kind: &&Kind| ask.phrases.iter().any(|phrase| self.is_value(kind, &phrase.text));
            let all = self.all_kinds();
            let kinds: Vec<Kind> = all.iter().filter(valued).cloned().collect();
            let anew = ask.follows.is_none()
                && !ask.of_shown
                && ask.fields.is_empty()
                && ask.phrases.len() > 1;
            let kind = kinds.first().filter(|_| anew && kinds.len() == 1).cloned()?;
            let (narrower, after) = (None, None);
            Some(KindWord { kind, many: true, narrower, negated: false, after, at: 0 })
        };
        let valued = match subject.is_none() && ask.kinds.is_empty() {
            true => match by_value() {
                Some(word) => Some(word),
                None => self.kind_by_value(ask)?,
            },
            false => None,
        };
        match subject.or(valued.as_ref()) {
            Some(subject) => self.about_kind(ask, subject, &meaning),
            None if !ask.kinds.is_empty() && meaning.things.is_empty() => Ok(None),
            None => self.about_things(ask, &meaning),
        }
    }

    /// What references mean; a question if one means nothing or one of several.
    pub(super) fn meaning<'p>(&self, ask: &'p Ask) -> Flow<Result<Meaning<'p>, Box<Said>>> {
        let mut meaning = Meaning { things: Vec::new(), phrases: ask.phrases.iter().collect() };
        let picks =
            ask.phrases.iter().any(|phrase| phrase.picks && !self.picked(&phrase.text).is_empty());
        for pointer in &ask.pointers {
            match pointer.number {
                Number::One if picks && pointer.kinds.is_none() => continue,
                // "marsh-fw and its status": refers to what the message itself names.
                Number::One if pointer.kinds.is_none() && named_before(ask, pointer.at) => continue,
                Number::Many | Number::Both => continue,
                Number::Within => {
                    let next = meaning.phrases.iter().position(|phrase| phrase.at > pointer.at);
                    let Some(next) = next else { continue };
                    match self.picked(&meaning.phrases[next].text).as_slice() {
                        [only] => {
                            meaning.things.push(only.clone());
                            meaning.phrases.remove(next);
                        }
                        _ => continue,
                    }
                }
                _ => match self.meant(pointer) {
                    Meant::Things(things) => meaning.things.extend(things),
                    Meant::OneOf(things) => {
                        let text = &self.message[pointer.span.start..pointer.span.end];
                        let query = self.provisional_query(ask, text);
                        return Ok(Err(Box::new(self.several(query, 0, text, things))));
                    }
                    // "the devices" are what is asked for, not a reference to one.
                    Meant::Nothing if !pointer.is_possessive && is_asked_for(ask, pointer) => {}
                    Meant::Nothing => {
                        let text = &self.message[pointer.span.start..pointer.span.end];
                        let said = self.say(Say::NoReference, &[("text", text)]);
                        let query = self.provisional_query(ask, text);
                        return Ok(Err(Box::new(self.asked(
                            said,
                            query,
                            Missing::Term(0),
                            Vec::new(),
                        ))));
                    }
                },
            }
        }
        let picks: Vec<&Phrase> =
            meaning.phrases.iter().filter(|phrase| phrase.picks).copied().collect();
        for phrase in picks {
            let found = self.picked(&phrase.text);
            match found.as_slice() {
                [] => continue,
                [only] => meaning.things.push(only.clone()),
                _ => {
                    let query = self.provisional_query(ask, &phrase.text);
                    return Ok(Err(Box::new(self.several(query, 0, &phrase.text, found))));
                }
            }
            meaning.phrases.retain(|other| other.at != phrase.at);
        }
        if ask.there {
            meaning.things.extend(self.place());
        }
        Ok(Ok(meaning))
    }

    /// The query a message would be once its first word is understood.
    pub(super) fn provisional_query(&self, ask: &Ask, text: &str) -> Query {
        let term = Term { text: text.into(), what: What::Word, negated: false };
        let kind = ask.kinds.first();
        let many = kind.is_some_and(|kind| kind.many);
        let want = match (ask.counts, kind) {
            (true, _) => Want::Count,
            (false, Some(_)) if many => Want::List,
            (false, Some(_)) => Want::Field,
            (false, None) if ask.fields.is_empty() => Want::Show,
            (false, None) => Want::Field,
        };
        let mut fields = ask.fields.clone();
        fields.extend(kind.filter(|_| want == Want::Field).map(|k| rows::spoken(k.kind.as_str())));
        let kind = kind.map(|kind| kind.kind.clone());
        Query { want, kind, fields, terms: vec![term], ..Query::default() }
    }

    /// A message without a kind word.
    pub(super) fn about_things(&self, ask: &Ask, meaning: &Meaning<'_>) -> Flow<Option<Said>> {
        let base = self.dialogue.spoken.first().map(|spoken| spoken.query.clone());
        if ask.others && meaning.things.is_empty() && meaning.phrases.is_empty() {
            let message = self.message.trim();
            let with = [("understood", "that you ask for something else"), ("left", message)];
            let text = self.say(Say::NotUnderstood, &with);
            return Ok(Some(self.asked(text, Query::default(), Missing::Words, Vec::new())));
        }
        if !meaning.things.is_empty() {
            return self.about_pointed(ask, meaning, base).map(Some);
        }
        // "who has them?" asks for something of those that were shown, and not for them again.
        let held = ask.who && self.parts.iter().any(|part| part.is(Class::Relates));
        if held && ask.of_shown && meaning.phrases.is_empty() && ask.fields.is_empty() {
            return self.held(self.listed().to_vec()).map(Some);
        }
        if let Some(said) = self.given_to(ask, meaning)? {
            return Ok(Some(said));
        }
        let continues =
            matches!(ask.follows, Some(Follow::Continues | Follow::Same | Follow::Back));
        let refines = ask.of_shown
            || ask.follows.is_some()
            || ask.order.is_some()
            || ((ask.counts || ask.questions) && ask.fields.is_empty() && !ask.placed);
        let named: Vec<&&Phrase> =
            meaning.phrases.iter().filter(|phrase| looks_named(phrase)).collect();
        if !ask.fields.is_empty() && meaning.phrases.is_empty() {
            return Ok(match self.dialogue.focus.first() {
                Some(focus) => Some(self.fields_of(ask, vec![focus.clone()], None)?),
                None => None,
            });
        }
        // "who has it" asks for an owner, "who is it" does not.
        let relates = self.parts.iter().any(|part| part.is(Class::Relates));
        let anew = ask.follows.is_none() && !ask.of_shown && meaning.phrases.len() == 1;
        if let ([name], true) = (named.as_slice(), ask.who && !relates && anew)
            && ask.fields.is_empty()
        {
            return self.show_named(ask, name);
        }
        if let ([name], true) = (named.as_slice(), ask.who && relates && ask.fields.is_empty()) {
            let field = self.actor(name.kind.as_ref()).unwrap_or_else(|| "owner".into());
            let ask = Ask { fields: vec![field], ..Ask::default() };
            return self.field_of_named(&ask, name, None).map(Some);
        }
        let plain = ask.fields.is_empty() && meaning.phrases.len() == 1;
        if let ([name], true) = (named.as_slice(), ask.when && plain) {
            let ask = Ask { fields: vec!["created".into()], ..Ask::default() };
            return self.field_of_named(&ask, name, None).map(Some);
        }
        // "what is the status of rack R305": a field of what is named.
        if let ([field, name], None) = (meaning.phrases.as_slice(), ask.follows)
            && name.placed == Some(Class::Of)
            && field.placed.is_none()
            && !looks_named(field)
            && looks_named(name)
            && !ask.of_shown
        {
            return self.field_of_named(ask, name, None).map(Some);
        }
        // "how many boats are there?" after a list of tables: one of them is called so, but it is not asked for.
        let anew = ask.counts && !ask.of_shown && ask.follows.is_none();
        let labels = |phrase: &&Phrase| {
            let mut listed = self.listed().iter();
            listed.any(|one| rows::fit(&one.label, &phrase.text) == Some(rows::Fit::Exact))
        };
        if anew && !ask.placed && meaning.phrases.iter().any(labels) {
            return Ok(None);
        }
        // "tell me about Rosie", after a list of such things.
        let back = ask.follows == Some(Follow::Back);
        let shown = |name: &Phrase| {
            let called = |thing: &Thing| thing.label.eq_ignore_ascii_case(&name.text);
            ask.follows == Some(Follow::Continues) && self.listed().iter().any(called)
        };
        if let ([name], Some(base)) = (named.as_slice(), &base)
            && (back || shown(name))
            && matches!(base.want, Want::List | Want::Count)
            && meaning.phrases.len() == 1
            && let Some(kind) = &base.kind
            && let Found::One(thing) = self.find(&name.text, std::slice::from_ref(kind), None)?
        {
            return self.show(vec![thing]).map(Some);
        }
        if let ([name], true) = (named.as_slice(), ask.follows.is_none() && !ask.of_shown)
            && let Some(said) = self.told_field(name, meaning)?
        {
            return Ok(Some(said));
        }
        if let (true, Some(base)) = (refines, &base) {
            // "and for ant-core-2?": the same query about another thing.
            if continues && matches!(base.want, Want::Field | Want::Show) {
                return self.again(base.clone(), ask, meaning).map(Some);
            }
            let listed = self.last_list(None).map(|spoken| spoken.query.clone());
            if let Some(list) = listed.filter(|list| list.kind.is_some()) {
                let said = self.refine(list, ask, meaning, None)?;
                let leans = ask.of_shown || ask.follows.is_some() || ask.order.is_some();
                let plain = |name: &String| {
                    !name.contains(|c: char| c.is_uppercase() || c.is_ascii_digit())
                };
                let lost = said.unanswered == Some("question") && said.absent.iter().all(plain);
                let asked = said.dialogue.open.as_ref().is_some_and(|o| o.candidates.is_empty());
                // A question that names nothing of the list is not about the list.
                return Ok(Some(match lost && asked && !leans {
                    true => self.no_answer(&meaning.texts()),
                    false => said,
                }));
            }
        }
        match (named.as_slice(), meaning.phrases.as_slice()) {
            // "what's in Dock Cabinet"
            (_, [phrase]) if ask.placed && (ask.questions || ask.counts) => {
                self.contents_named(ask, phrase)
            }
            (_, [phrase]) => self.show_named(ask, phrase),
            ([name], _) => self.field_of_named(ask, name, None).map(Some),
            _ => Ok(None),
        }
    }

    /// The field that a verb asks for after "who": the provider, if somebody provides it.
    pub(super) fn actor(&self, kind: Option<&Kind>) -> Option<String> {
        let fields = &self.known(kind?)?.objects.fields;
        let verbs = self.parts.iter().filter(|part| part.is(Class::Relates));
        let mut verbs = verbs.map(|part| stems(&part.lower)).filter(|verb| !verb.is_empty());
        verbs.find_map(|verb| fields.iter().find(|field| stems(field) == verb).cloned())
    }

    /// A message about things it refers to.
    pub(super) fn about_pointed(
        &self,
        ask: &Ask,
        meaning: &Meaning<'_>,
        base: Option<Query>,
    ) -> Flow<Said> {
        let things = meaning.things.clone();
        let shows = matches!(ask.verb, Some((Family::Show | Family::List, _))) || ask.details;
        if (ask.questions || ask.counts)
            && ask.placed
            && meaning.phrases.is_empty()
            && ask.fields.is_empty()
            && let Some(said) = self.contents(ask, &things[0])?
        {
            return Ok(said);
        }
        if let Some(said) = self.unknown_act(ask, meaning) {
            return Ok(said);
        }
        if !ask.fields.is_empty() || !meaning.phrases.is_empty() {
            let mut ask_fields = ask.fields.clone();
            ask_fields.extend(meaning.phrases.iter().map(|phrase| phrase.text.clone()));
            return self.fields_query(ask_fields, things, None);
        }
        if ask.when {
            return self.fields_query(vec!["created".into()], things, None);
        }
        if ask.who && self.parts.iter().any(|part| part.is(Class::Relates)) {
            return self.held(things);
        }
        let goes_on = ask.follows.is_some() || !ask.questions;
        if let Some(base) = base.filter(|base| goes_on && !shows && base.want == Want::Field) {
            return self.fields_query(base.fields.clone(), things, base.kind.clone());
        }
        self.show(things)
    }

    pub(super) fn show(&self, things: Vec<Thing>) -> Flow<Said> {
        let term = |thing: Thing| Term {
            text: thing.label.clone(),
            what: What::Thing(thing),
            negated: false,
        };
        let kind = things.first().map(|thing| thing.kind.clone());
        let terms = things.into_iter().map(term).collect();
        self.run(Query { want: Want::Show, kind, terms, ..Query::default() })
    }

    pub(super) fn fields_of(
        &self,
        ask: &Ask,
        things: Vec<Thing>,
        subject: Option<&KindWord>,
    ) -> Flow<Said> {
        // "which rack is it in": a rack is in a site, not the other way round.
        let inside = |thing: &Thing| {
            let within = subject.filter(|subject| !subject.many && ask.placed && !ask.counts);
            within.and_then(|subject| self.known(&subject.kind)).is_some_and(|known| {
                known.parents.contains(&thing.kind)
                    && self.known(&thing.kind).is_some_and(|held| held.place)
            })
        };
        if let (Some(thing), Some(subject)) = (things.iter().find(|one| inside(one)), subject) {
            let field = self.noun(&subject.kind, false);
            let with = [("field", field.as_str()), ("thing", thing.label.as_str())];
            let mut said = self.lost();
            (said.text, said.unanswered) = (self.say(Say::NoField, &with), Some("question"));
            return Ok(said);
        }
        let mut fields = ask.fields.clone();
        let kinds = ask.kinds.iter().map(|word| rows::spoken(word.kind.as_str()));
        fields.extend(kinds.filter(|_| subject.is_some()));
        self.fields_query(fields, things, subject.map(|subject| subject.kind.clone()))
    }

    pub(super) fn fields_query(
        &self,
        fields: Vec<String>,
        things: Vec<Thing>,
        kind: Option<Kind>,
    ) -> Flow<Said> {
        let term = |thing: Thing| Term {
            text: thing.label.clone(),
            what: What::Thing(thing),
            negated: false,
        };
        let terms = things.into_iter().map(term).collect();
        self.run(Query { want: Want::Field, kind, fields, terms, ..Query::default() })
    }

    /// Kinds that can be listed, the most common ones first.
    pub(super) fn all_kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in
            self.offers.iter().filter(|offer| offer.lists()).filter_map(|offer| offer.kind.as_ref())
        {
            // Parts of things are not looked for by a bare name; each kind costs the server a query.
            let named = self
                .known(kind)
                .is_none_or(|known| known.bonus > 0.0 || known.named_before == NamedBefore::Any);
            if !kinds.contains(kind)
                && named
                && self.offers.iter().any(|o| o.kind.as_ref() == Some(kind) && o.is_free)
            {
                kinds.push(kind.clone());
            }
        }
        let bonus = |kind: &Kind| self.known(kind).map_or(0.0, |known| known.bonus);
        kinds.sort_by(|one, two| bonus(two).total_cmp(&bonus(one)));
        kinds
    }
}

/// Whether the kind of a reference is one that the message asks for.
fn is_asked_for(ask: &Ask, pointer: &Pointer) -> bool {
    pointer.kinds.iter().flatten().any(|kind| ask.kinds.iter().any(|word| word.kind == *kind))
}

/// Whether the message names something before that part.
fn named_before(ask: &Ask, at: usize) -> bool {
    ask.phrases.iter().any(|phrase| phrase.at < at && !phrase.picks && looks_named(phrase))
}

/// Whether a phrase looks like a name: it has a kind, a digit, a capital letter, or is quoted.
pub(super) fn looks_named(phrase: &Phrase) -> bool {
    let marked = phrase.text.contains(|c: char| c.is_ascii_digit() || c.is_uppercase());
    phrase.kind.is_some() || phrase.is_quoted || marked
}

pub(super) fn same_kind(things: &[Thing]) -> bool {
    things.windows(2).all(|pair| pair[0].kind == pair[1].kind)
}

/// Whether two terms are of the same sort, so that the newer one replaces the older.
pub(super) fn same_place(one: &Term, two: &Term) -> bool {
    match (&one.what, &two.what) {
        (What::Thing(one), What::Thing(two)) => one.kind == two.kind,
        (What::Choice { field: one, .. }, What::Choice { field: two, .. })
        | (What::Bound { field: one, .. }, What::Bound { field: two, .. }) => one == two,
        (What::Days { .. }, What::Days { .. }) => true,
        _ => false,
    }
}

/// Adds a term, replacing one of the same sort.
pub(super) fn replace(terms: &mut Vec<Term>, term: Term) {
    terms.retain(|old| !same_place(old, &term) && *old != term);
    terms.push(term);
}
