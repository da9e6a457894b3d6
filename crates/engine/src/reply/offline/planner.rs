//! Plans the answer to one request: reads it once, then takes one step after the other.

use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::call::Verdict;
use super::super::{Answer, ReplyRequest, recollect};
use super::offer::{self, Freedom, Offer};
use super::read::{Part, Reader, own_only};
use super::requests::{self, Split};
use super::scene::{Planned, Said, Scene, Step};
use super::schema::plain;
use super::{CALLS_MAX, call, first_message, paths, server, social, unavailable};
use crate::entity::{Noticed, Span};
use crate::lexicon::{self, Class, Family, Language, Say};
use crate::pack::{Kind, PackSet};
use crate::permission::{self, Doubt};
use crate::session::dialogue::Dialogue;
use crate::session::pending::AwaitedCall;
use crate::session::record::CallRecord;
use crate::tool::ToolDefinition;

/// A parsed message and the means to answer it.
pub(super) struct Planner {
    tools: Vec<ToolDefinition>,
    offers: Vec<Offer>,
    pub parts: Vec<Part>,
    pub dialogue: Dialogue,
    language: &'static Language,
    /// The language of replies.
    speaks: &'static Language,
    pub first_message: Option<String>,
    /// Files that the conversation knows, with their paths.
    files: Vec<(String, String)>,
    /// The message to answer: this one, or the previous one if this one only names a server for it.
    pub message: String,
    /// Servers with the same tools, if none was named.
    undecided: Vec<String>,
    /// The reply if a server is named that is unavailable.
    down: Option<String>,
}

impl Planner {
    pub(super) async fn new(asked: &ReplyRequest<'_>) -> Self {
        Self::of(asked, None, None).await
    }

    /// Reads a piece of the message, or all of it, after this dialogue.
    pub(super) async fn of(
        asked: &ReplyRequest<'_>,
        piece: Option<Span>,
        dialogue: Option<Dialogue>,
    ) -> Self {
        let packs = &asked.ports.packs;
        let text = piece.map_or(asked.message, |piece| &asked.message[piece.start..piece.end]);
        let usable = asked.tools.iter().filter(|known| known.pin.refusal().is_none());
        let mut tools: Vec<ToolDefinition> = usable.map(|known| known.definition.clone()).collect();
        let down = server::names_one(text, asked.unavailable.iter().map(|(name, _)| name));
        let down = down.and_then(|_| unavailable(asked));
        let (language, _) = recollect::languages(asked, text);
        let recent = &asked.assembled.recent;
        let servers = server::choose(&mut tools, text, language, recent);
        let mut offers = offer::offers(&tools, packs, asked.policy);
        paths::recall(&mut offers, &tools, recent);
        let nouns: Vec<Kind> = offers
            .iter()
            .filter_map(|offer| offer.kind.clone())
            .filter(|kind| packs.entity_type(kind).is_none())
            .collect();
        let files = paths::seen(recent);
        let commands = commands(&offers);
        let message = servers.instead.unwrap_or_else(|| text.to_owned());
        let (language, speaks) = recollect::languages(asked, &message);
        // Mentions have their positions in the message itself.
        let noticed = &asked.assembled.understanding.noticed;
        let noticed = match piece {
            _ if message != text => Noticed::default(),
            Some(piece) => requests::noticed_in(noticed, piece),
            None => noticed.clone(),
        };
        let used = offer::packs_used(&offers, packs);
        let noticed = own_only(noticed, &message, &nouns, (packs, &used));
        let today = today(asked);
        let reader = Reader {
            message: &message,
            language,
            noticed: &noticed,
            packs,
            packs_used: &used,
            nouns: &nouns,
            commands,
            makers: makers(&offers),
            values: values(&offers),
            measures: measures(&offers),
            servers: &servers.spans,
            sums: offers.iter().any(Offer::takes_sum),
            zones: offers.iter().any(Offer::takes_zone),
            dates: offers.iter().any(Offer::takes_date),
            today,
            files: &files,
            path_words: paths::words(&offers),
            kind_words: kind_words(&offers, packs),
        };
        let before = || asked.session.head.dialogue.as_deref().cloned().unwrap_or_default();
        let dialogue = dialogue.unwrap_or_else(before);
        let first_message = match social::asks_for_first(asked.message, language) {
            true => first_message(asked).await,
            false => None,
        };
        let undecided = servers.undecided.into_iter().collect();
        let parts = reader.parts();
        Self {
            parts,
            tools,
            offers,
            dialogue,
            language,
            speaks,
            first_message,
            files,
            message,
            undecided,
            down,
        }
    }

    /// The requests of the message, if there are several.
    pub(super) fn requests(&self) -> Option<(Split, Vec<Span>)> {
        requests::requests(&self.message, self.language, &self.commands())
    }

    /// The request beside what the message forbids.
    pub(super) fn permitted(&self) -> Option<Span> {
        requests::permitted(&self.message, self.language, &self.commands())
    }

    /// Verbs of the tools.
    fn commands(&self) -> Vec<String> {
        commands(&self.offers)
    }

    /// The reply, after the calls that it needs; or the call that waits for approval.
    pub(super) async fn answer(
        &self,
        asked: &ReplyRequest<'_>,
        answer: &mut Answer,
    ) -> Result<Said, Box<AwaitedCall>> {
        while answer.calls.len() < CALLS_MAX {
            match self.step(asked, &answer.calls) {
                Step::Say(said) => return Ok(*said),
                Step::Call(planned) if let Some(doubt) = self.doubt(asked, &planned) => {
                    return Ok(self.undone(doubt));
                }
                Step::Call(planned) => match call(asked, *planned).await {
                    Verdict::Ready(ready) => answer.calls.push(asked.calls().make(ready).await),
                    Verdict::Refused(record) => answer.calls.push(*record),
                    Verdict::Waits(awaited) => return Err(Box::new(awaited)),
                },
            }
        }
        let dialogue = self.dialogue.clone();
        Ok(Said { unanswered: Some("too_many_calls"), dialogue, ..Said::default() })
    }

    /// Why a call would change something that the message does not ask for. What one clause forbids does not speak
    /// against the other, if it names another thing: "do not delete 3, delete 4".
    fn doubt(&self, asked: &ReplyRequest<'_>, planned: &Planned) -> Option<Doubt> {
        if asked.policy.reads(&planned.tool) {
            return None;
        }
        let doubt = permission::doubt(asked.message, &planned.arguments)?;
        let other = || {
            let (before, after) = asked.message.split_once(&self.message)?;
            let words = [before, after].into_iter().flat_map(str::split_whitespace);
            let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
            let named: Vec<&str> =
                words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect();
            let given = planned.arguments.to_string();
            let apart = |word: &&str| !given.contains(*word);
            Some(!named.is_empty() && named.iter().all(apart))
        };
        let forbids_other = doubt == Doubt::Forbids
            && permission::doubt(&self.message, &planned.arguments).is_none()
            && other().unwrap_or_default();
        (!forbids_other).then_some(doubt)
    }

    /// Nothing was changed, and why.
    fn undone(&self, doubt: Doubt) -> Said {
        let why = match doubt {
            Doubt::Forbids => Say::Forbidden,
            Doubt::Deliberates => Say::Deliberated,
            Doubt::Excepts => Say::Excepted,
            Doubt::Alternatives => Say::WhichOfThem,
        };
        let text = self.speaks.say(why, &[]);
        let text = text.or_else(|| lexicon::english().say(why, &[])).unwrap_or_default();
        Said { text, dialogue: self.dialogue.clone(), ..Said::default() }
    }

    /// The step after the calls that were made.
    pub(super) fn step(&self, asked: &ReplyRequest<'_>, made: &[CallRecord]) -> Step {
        if let Some(text) = self.down.clone() {
            let unanswered = Some("unavailable");
            let dialogue = self.dialogue.clone();
            return Step::Say(Box::new(Said { text, unanswered, dialogue, ..Said::default() }));
        }
        let scene = Scene {
            message: &self.message,
            language: self.language,
            speaks: self.speaks,
            packs: &asked.ports.packs,
            offers: &self.offers,
            tools: &self.tools,
            freedom: asked.policy,
            parts: &self.parts,
            dialogue: &self.dialogue,
            first_message: self.first_message.as_deref(),
            files: &self.files,
            today: today(asked),
            now: asked.ports.clock.now().to_zoned(TimeZone::UTC).time(),
            recent: &asked.assembled.recent,
            facts: &asked.assembled.facts,
            memory_full: asked.memory_full,
            made,
        };
        match scene.plan().map_or_else(|step| *step, |said| Step::Say(Box::new(said))) {
            Step::Call(planned)
                if server::has_copies(&planned.tool, &self.tools)
                    && !self
                        .dialogue
                        .open
                        .as_ref()
                        .is_some_and(|open| open.calls(&planned.tool.tool)) =>
            {
                let servers = self.undecided.join(", ");
                let mut said = scene.lost();
                said.text = scene.say(Say::WhichServer, &[("servers", &servers)]);
                said.unanswered = Some("question");
                Step::Say(Box::new(said))
            }
            step => step,
        }
    }
}

/// Today's date in UTC.
fn today(asked: &ReplyRequest<'_>) -> Date {
    asked.ports.clock.now().to_zoned(TimeZone::UTC).date()
}

/// Words besides the verbs of the lexicon that say what is done.
fn commands(offers: &[Offer]) -> Vec<String> {
    let decisions = offers.iter().flat_map(Offer::decisions);
    offers.iter().filter_map(Offer::command).chain(decisions).collect()
}

/// The values of several words that parameters take.
fn values(offers: &[Offer]) -> BTreeSet<String> {
    let slots = offers.iter().flat_map(|offer| &offer.slots);
    let values = slots.flat_map(|slot| slot.shape.choices.iter().chain(&slot.shape.hints));
    let values = values.filter_map(|value| Some(plain(value.as_str()?)));
    values.filter(|value| value.contains(' ')).collect()
}

/// The units of measurement that parameters take.
fn measures(offers: &[Offer]) -> BTreeSet<&'static str> {
    let slots = offers.iter().flat_map(|offer| &offer.slots);
    let values = slots.flat_map(|slot| slot.shape.choices.iter());
    values.filter_map(|value| lexicon::measure(&plain(value.as_str()?))).collect()
}

/// First words of tools that make something, where the lexicon has them as other verbs.
fn makers(offers: &[Offer]) -> Vec<String> {
    let english = lexicon::english();
    let makes = offers.iter().filter(|offer| offer.family == Some(Family::Create));
    let first = makes.clone().filter_map(|offer| offer.words.first().cloned());
    let first = first.filter(|word| english.family(word).is_some_and(Family::reads));
    // "open a ticket", where one can be created.
    let opens = makes.take(1).flat_map(|_| english.words(Class::Opens).map(str::to_owned));
    first.chain(opens).collect()
}

/// The words for what can be listed, in the singular and the plural.
fn kind_words(offers: &[Offer], packs: &PackSet) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for kind in offers.iter().filter(|offer| offer.lists()).filter_map(|offer| offer.kind.as_ref())
    {
        match packs.entity_type(kind) {
            Some(known) => words.extend(known.cues.iter().map(|cue| cue.text.clone())),
            None => words.extend([kind.to_string(), lexicon::plural(kind.as_str())]),
        }
    }
    words.sort();
    words.dedup();
    words
}
