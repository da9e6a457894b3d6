//! Plans the next step of a reply.

use super::ask::{Ask, Follow, Phrase};
use super::fit::counts;
use super::offer::{Means, Offer, Slot};
use super::read::{Part, Role};
use super::scene::{Flow, Said, Scene};
use super::schema::put;
use crate::lexicon::{self, Class, Family, Say};
use crate::pack::{Kind, words_of_identifier};
use crate::session::dialogue::{Query, Term, Want, What};

/// Maximum tools named that do something of the sort that was asked for.
const ALIKE_MAX: usize = 4;

impl Scene<'_> {
    /// The reply, or the call that must come first.
    pub(super) fn plan(&self) -> Flow<Said> {
        let (from, cancels) = self.opening();
        let mut parts: Vec<Part> =
            self.parts.iter().filter(|part| part.span.start >= from).cloned().collect();
        parts = self.completed(parts);
        let mut ask = self.ask(&parts);
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
            && let Some(said) = self.earlier()
        {
            return Ok(said);
        }
        if let Some(said) = self.statement()? {
            return Ok(said);
        }
        if let Some(said) = self.everything(&ask)? {
            return Ok(said);
        }
        if let Some(query) = self.search_of_kind(&ask) {
            return self.carry_out(query, true);
        }
        let changes = ask.verb.filter(|(family, _)| !family.reads() && !self.adds_up(&ask, &parts));
        if let Some((family, at)) = changes {
            return match self.act(&ask, &parts)? {
                Some(said) => Ok(said),
                None => Ok(self.cannot(family, &parts[at..])),
            };
        }
        let commands = parts.iter().any(|part| part.role == Role::Command);
        let counted = self.offers.iter().any(|offer| counts(offer, &parts, self.language));
        let valued = self.is_valued(&ask) || self.adds_up(&ask, &parts);
        let acts = commands || has_literal(&ask) || valued || counted;
        if (acts || self.is_command(&ask, &parts))
            && let Some(said) = self.act(&ask, &parts)?
        {
            return Ok(said);
        }
        if let Some(said) = self.serve(&ask, corrects)? {
            return Ok(said);
        }
        if let Some(said) = self.act(&ask, &parts)? {
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
    fn corrects(&self, parts: &[Part]) -> bool {
        let first = parts.iter().find(|part| part.role != Role::Filler);
        let opens = first.is_some_and(|part| {
            matches!(part.role, Role::Word(Class::No | Class::Sorry | Class::Wait))
        });
        let more = parts.iter().any(|part| !is_correcting(part) && part.role != Role::Filler);
        more && (opens || parts.iter().any(|part| part.is(Class::Meant)))
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

    /// The reply if no tool can carry out a verb.
    fn cannot(&self, family: Family, parts: &[Part]) -> Said {
        let end = parts.last().map_or(0, |part| part.span.end);
        let start = parts.first().map_or(0, |part| part.span.start);
        let what = self.message.get(start..end).unwrap_or(self.message);
        let mut said = self.lost();
        let alike = self.offers.iter().filter(|offer| offer.family == Some(family));
        let can: Vec<String> = alike.take(ALIKE_MAX).map(|offer| offer.words.join(" ")).collect();
        said.text = match can.is_empty() {
            true => self.say(Say::Cannot, &[("what", what)]),
            false => self.say(Say::CannotSo, &[("what", what), ("can", &can.join(", "))]),
        };
        said.unanswered = Some(if family.reads() { "no_tool" } else { "cannot" });
        said
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

fn has_literal(ask: &Ask) -> bool {
    ask.phrases.iter().any(|phrase| phrase.is_literal)
}
