//! Plans the next step of a reply.

use super::ask::{Ask, Follow, Phrase};
use super::fit::counts;
use super::meant::is_lost;
use super::offer::{Means, Offer, Slot};
use super::read::{Literal, Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use super::serve::looks_named;
use crate::entity::Number;
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::{Kind, words_of_identifier};
use crate::session::dialogue::{Missing, Query, Term, Thing, Want, What};

impl Scene<'_> {
    /// The reply, or the call that must come first.
    pub(super) fn plan(&self) -> Flow<Said> {
        let (from, cancels) = self.opening();
        let parts = self.parts.iter().filter(|part| part.span.start >= from).cloned().collect();
        let parts = self.completed(self.referred(self.done_to(parts)));
        let ask = self.ask(&parts);
        let said = self.by_words(ask.clone(), parts.clone(), (from, cancels))?;
        let meant = if is_lost(&said) { self.by_meaning(&ask, &parts)? } else { None };
        // A question that understood more is not given up for one about another tool.
        let asks = |said: &Said| said.unanswered == Some("question");
        let meant = meant.filter(|meant| !(asks(meant) && asks(&said)));
        let mut said = meant.unwrap_or(said);
        let lists = ask.kinds.iter().any(|word| self.list_of(&word.kind).is_some());
        let lists = lists && ask.verb.is_none_or(|(family, _)| family.reads());
        said.dialogue.unread = said.unanswered.is_some() && (leans(&ask) || lists);
        let offers = said.dialogue.open.as_ref().is_some_and(|open| !open.candidates.is_empty());
        if said.unanswered.is_some() && !offers {
            self.mention(&ask, &mut said);
        }
        Ok(said)
    }

    /// What a message without an answer names is what "it" means in the next one, and not what was shown before.
    fn mention(&self, ask: &Ask, said: &mut Said) {
        let named: Vec<&Phrase> = ask.phrases.iter().filter(|it| looks_named(it)).collect();
        let is = |thing: &&Thing| {
            named.iter().any(|phrase| phrase.text.to_lowercase() == thing.label.to_lowercase())
        };
        let found = self.shown().find(is).cloned();
        let said_so =
            |name: &str| named.iter().any(|it| it.text.to_lowercase() == name.to_lowercase());
        match found.or_else(|| self.found_by_calls(&said_so)) {
            Some(thing) => said.dialogue.focus_on(thing),
            None if named.is_empty() => {}
            None => said.dialogue.focus.clear(),
        }
    }

    /// The reply by the words of the tools.
    fn by_words(
        &self,
        mut ask: Ask,
        mut parts: Vec<Part>,
        (from, cancels): (usize, bool),
    ) -> Flow<Said> {
        if self.dialogue.open.is_some()
            && !cancels
            && !self.only_greets(from)
            && let Some(said) = self.answered(&ask, &parts)?
        {
            return Ok(said);
        }
        if let Some(said) = self.social(from) {
            return Ok(said);
        }
        if let Some(said) = self.dictated()? {
            return Ok(said);
        }
        if let Some(said) = self.noted(&ask) {
            return Ok(said);
        }
        let corrects = self.corrects(&parts);
        if corrects {
            parts.retain(|part| !is_correcting(part));
            ask = self.ask(&parts);
            ask.corrects = true;
            if let Some(said) = self.chosen_again(&ask, &parts)? {
                return Ok(said);
            }
        }
        let lost = is_fragment(&ask, &parts) || self.leans_on_open(&ask) || is_correction(&ask);
        if self.dialogue.unanswered && lost {
            let mut said = self.lost();
            (said.text, said.unanswered) = (self.say(Say::GoesOn, &[]), Some("question"));
            return Ok(said);
        }
        if let Some(said) = self.unshown(&ask) {
            return Ok(said);
        }
        if corrects && let Some(said) = self.change_again(&ask, &parts)? {
            return Ok(said);
        }
        if let Some(said) = self.calculation(&parts)? {
            return Ok(said);
        }
        if let Some(said) = self.among_shown(&ask, &parts) {
            return Ok(said);
        }
        if let Some(said) = self.act_again(&ask, &parts, corrects)? {
            return Ok(said);
        }
        if !corrects
            && ask.follows != Some(Follow::Same)
            && self
                .dialogue
                .spoken
                .first()
                .is_some_and(|spoken| matches!(spoken.query.want, Want::Act(_)))
            && ask.verb.is_none_or(|(family, _)| family.reads())
            && let Some(said) = self.earlier()
        {
            return Ok(said);
        }
        if let Some(said) = self.statement()? {
            return Ok(said);
        }
        if let Some(said) = self.about_table(&ask, &parts)? {
            return Ok(said);
        }
        if let Some(said) = self.files_asked(&ask, &parts)? {
            return Ok(said);
        }
        if let Some(said) = self.everything(&ask)? {
            return Ok(said);
        }
        if let Some(query) = self.search_of_kind(&ask) {
            return self.carry_out(query, true);
        }
        if let Some(said) = self.ability(&ask, &parts) {
            return Ok(said);
        }
        let changes = ask.verb.filter(|(family, _)| !family.reads() && !self.adds_up(&ask, &parts));
        if let Some((family, at)) = changes {
            return match self.act(&ask, &parts)? {
                Some(said) => Ok(said),
                None => match self.act_by_values(&ask, &parts)? {
                    Some(said) => Ok(said),
                    None => Ok(self
                        .act_by_choice(&ask, &parts)?
                        .unwrap_or_else(|| self.cannot(&ask, family, &parts[at..]))),
                },
            };
        }
        let commands = parts.iter().any(|part| part.role == Role::Command);
        let counted = self.offers.iter().any(|offer| counts(offer, &parts, self.language));
        let valued = self.is_valued(&ask) || self.adds_up(&ask, &parts);
        let literal = has_literal(&ask) && !self.filters_days(&ask);
        // What is asked of a list that was shown is not asked of everything.
        let of_list = ask.of_shown && self.last_list(None).is_some();
        let acts = commands || literal || valued || counted;
        if !of_list
            && (acts || self.is_command(&ask, &parts))
            && let Some(said) = self.act(&ask, &parts)?
        {
            return Ok(said);
        }
        if let Some(said) = self.mentioned(&ask)? {
            return Ok(said);
        }
        // What would change something is not answered by showing it.
        let lead = parts.iter().position(|part| part.role == Role::Command);
        if let Some(at) = lead.filter(|at| self.only_changes(&parts[*at].lower)) {
            return Ok(self.cannot(&ask, Family::Change, &parts[at..]));
        }
        if let Some(said) = self.serve(&ask, corrects)? {
            return Ok(said);
        }
        if !of_list && let Some(said) = self.act(&ask, &parts)? {
            return Ok(said);
        }
        let earlier = self.earlier().filter(|_| ask.follows != Some(Follow::Same));
        Ok(earlier.unwrap_or_else(|| {
            let mut said = self.lost();
            let asks = self.language.asks_for_something(self.message) && !self.offers.is_empty();
            if asks {
                said.hint = self.say(Say::Lost, &[("what", &self.abilities())]);
            }
            said
        }))
    }

    /// Whether a message says that the previous one was misunderstood.
    pub(super) fn corrects(&self, parts: &[Part]) -> bool {
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let opens = first.is_some_and(|part| {
            matches!(part.role, Role::Word(Class::No | Class::Sorry | Class::Wait))
        });
        let more = parts.iter().any(|part| !is_correcting(part) && part.role != Role::Filler);
        more && (opens || parts.iter().any(|part| part.is(Class::Meant)))
    }

    /// Whether a message goes on with a list that a question is still open about, so that it was not shown.
    fn leans_on_open(&self, ask: &Ask) -> bool {
        let lists =
            |query: &Query| query.kind.is_some() && matches!(query.want, Want::List | Want::Count);
        let open = self.dialogue.open.as_ref();
        let open = open.filter(|open| open.candidates.is_empty() && lists(&open.query));
        (open.is_some() || self.dialogue.unread) && leans(ask) && ask.kinds.is_empty()
    }

    /// The question what "those" are, where nothing was shown.
    fn unshown(&self, ask: &Ask) -> Option<Said> {
        let many = ask.pointers.iter().find(|pointer| pointer.number == Number::Many);
        let nothing = self.dialogue.spoken.is_empty() && self.listed().is_empty();
        let word = |part: &&Part| part.is(Class::These) || part.is(Class::They);
        let word = self.parts.iter().find(word).map(|part| part.span);
        let span = many.map(|pointer| pointer.span).or(word).filter(|_| nothing)?;
        let text = &self.message[span.start..span.end];
        let query = self.provisional_query(ask, text);
        let said = self.say(Say::NoReference, &[("text", text)]);
        ask.kinds.is_empty().then(|| self.asked(said, query, Missing::Term(0), Vec::new()))
    }

    /// Whether numbers are to be added up: "add 2.5 and 4".
    pub(super) fn adds_up(&self, ask: &Ask, parts: &[Part]) -> bool {
        let english = lexicon::english();
        let sums = |(_, at): (Family, usize)| english.is(Class::Sum, &parts[at].lower);
        let numbers = ask.phrases.iter().all(|phrase| phrase.text.parse::<f64>().is_ok());
        ask.verb.is_some_and(sums)
            && numbers
            && ask.phrases.len() > 1
            && ask.kinds.is_empty()
            && ask.pointers.is_empty()
    }

    /// "What is on the board?": all things of the kind that most tools of that server are about.
    fn everything(&self, ask: &Ask) -> Flow<Option<Said>> {
        let [phrase] = ask.phrases.as_slice() else { return Ok(None) };
        let asks = ask.questions || matches!(ask.verb, Some((Family::List | Family::Show, _)));
        let plain = ask.kinds.is_empty() && ask.fields.is_empty() && ask.pointers.is_empty();
        let said = phrase.text.to_lowercase();
        let named = |offer: &&Offer| words_of_identifier(&offer.tool.tool.server).contains(&said);
        let is_word = self.language.is(Class::Collection, &said);
        let names_server = self.offers.iter().any(|offer| named(&offer));
        if !asks || !plain || ask.counts || ask.follows.is_some() {
            return Ok(None);
        }
        if ask.placed
            && let Some((kind, term)) = self.only_value(phrase)
        {
            let (want, terms) = (Want::List, vec![term]);
            return self.run(Query { want, kind: Some(kind), terms, ..Query::default() }).map(Some);
        }
        if !(is_word || names_server) {
            return Ok(None);
        }
        let of_server = |offer: &&Offer| !names_server || named(offer);
        let mut kinds: Vec<(&Kind, usize)> = Vec::new();
        for kind in self.offers.iter().filter(of_server).filter_map(|offer| offer.kind.as_ref()) {
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, tools)) => *tools += 1,
                None => kinds.push((kind, 1)),
            }
        }
        kinds.retain(|(kind, _)| self.list_of(kind).is_some());
        kinds.sort_by_key(|(_, tools)| std::cmp::Reverse(*tools));
        let kind = match kinds.as_slice() {
            [(kind, _)] => *kind,
            [(kind, most), (_, next), ..] if most > next => *kind,
            _ => return Ok(None),
        };
        self.run(Query { want: Want::List, kind: Some(kind.clone()), ..Query::default() }).map(Some)
    }

    /// What can be listed by a value that no other kind has: "in progress", "in the backlog".
    fn only_value(&self, phrase: &Phrase) -> Option<(Kind, Term)> {
        let whole = self.with_preposition(phrase).map(|whole| whole.text);
        let mut found: Vec<(Kind, Term)> = Vec::new();
        for offer in self.offers.iter().filter(|offer| offer.lists()) {
            let said = whole.iter().chain([&phrase.text]);
            let mut valued = said.flat_map(|text| {
                offer.slots.iter().filter_map(|slot| Some((slot, slot.shape.choice(text)?)))
            });
            if let (Some(kind), Some((slot, value))) = (&offer.kind, valued.next()) {
                let what = What::Choice { field: slot.name().to_owned(), value: value.clone() };
                let text = phrase.text.clone();
                found.push((kind.clone(), Term { text, what, negated: phrase.negated }));
            }
        }
        let first = found.first()?.0.clone();
        found.iter().all(|(kind, _)| *kind == first).then(|| found.swap_remove(0))
    }

    /// The search for things of a kind by words: "find tasks about the freezer".
    fn search_of_kind(&self, ask: &Ask) -> Option<Query> {
        let ([kind], [phrase]) = (ask.kinds.as_slice(), ask.phrases.as_slice()) else {
            return None;
        };
        let list = self.list_of(&kind.kind);
        let searches = |offer: &&Offer| {
            offer.kind.as_ref() == Some(&kind.kind)
                && offer.family == Some(Family::Find)
                && (offer.is_free && offer.fixed.is_empty())
                && list.is_none_or(|list| list.tool.tool != offer.tool.tool)
        };
        let offer = self.offers.iter().find(searches)?;
        let slot = offer.slots.iter().find(|slot| slot.means == Means::Search)?;
        let means_more = phrase.text.split_whitespace().any(|word| {
            let word = word.to_lowercase();
            let own =
                |slot: &Slot| slot.words.contains(&word) || slot.shape.choice(&word).is_some();
            offer.slots.iter().any(own)
        });
        let plain = matches!(ask.verb, Some((Family::Find, _)))
            && phrase.placed.is_none()
            && phrase.kind.is_none()
            && ask.fields.is_empty()
            && ask.pointers.is_empty()
            && !phrase.negated
            && !means_more;
        let mut arguments = offer.fixed.clone();
        put(&mut arguments, &slot.shape.path, slot.shape.value(&phrase.text)?);
        let call = Some((offer.tool.tool.clone(), arguments));
        let want = Want::Act(Family::Find);
        plain.then(|| Query { want, kind: offer.kind.clone(), call, ..Query::default() })
    }

    /// The answer in an earlier result.
    fn earlier(&self) -> Option<Said> {
        let found = crate::reply::earlier::find(self.message, &[], self.recent)?;
        let text = format!("From turn {}: {}", found.turn, found.text);
        Some(Said { text, dialogue: self.dialogue.clone(), ..Said::default() })
    }
}

fn is_correcting(part: &Part) -> bool {
    matches!(
        part.role,
        Role::Word(
            Class::No | Class::Sorry | Class::Wait | Class::Meant | Class::Mean | Class::Yes
        )
    )
}

/// Whether a message only adds values to the one before it: "and Lucy?", "from 2026-12-14 to 2026-12-16".
fn is_fragment(ask: &Ask, parts: &[Part]) -> bool {
    let plain = ask.verb.is_none()
        && ask.kinds.is_empty()
        && ask.pointers.is_empty()
        && ask.fields.is_empty()
        && !ask.questions
        && !ask.counts
        && !ask.of_shown
        && !ask.corrects
        && !parts.iter().any(|part| part.role == Role::Command);
    let days = ask.phrases.iter().all(|phrase| {
        let role = parts.get(phrase.at).map(|part| &part.role);
        matches!(role, Some(Role::Literal(Literal::Date | Literal::Period | Literal::Time)))
    });
    let adds = ask.follows == Some(Follow::Continues) || days;
    plain && adds && !ask.phrases.is_empty()
}

/// Whether a message is about what was shown before it.
fn leans(ask: &Ask) -> bool {
    ask.of_shown || ask.follows.is_some_and(|follows| follows != Follow::Back)
}

/// Whether a message only corrects the one before it: "no, I meant high".
fn is_correction(ask: &Ask) -> bool {
    ask.corrects && ask.verb.is_none() && !ask.questions && !ask.counts
}

fn has_literal(ask: &Ask) -> bool {
    ask.phrases.iter().any(|phrase| phrase.is_literal)
}
