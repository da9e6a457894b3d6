//! Looks up what the message names and the session does not know yet, before the turn continues.
//!
//! A turn with a model needs it for every name without data; without a model, only if the name is uncertain or a
//! tool takes the entity only by id. Everything else, and whatever exceeds the time limit, is left to the
//! background.
//!
//! Invariant: a look-up makes a mention known, more certain, or a question to the user. It never invents one.

use std::time::Duration;

use futures::future::join_all;
use tokio_util::sync::CancellationToken;

use super::{ChangeMark, LOOK_UPS_MAX, LookUp, Resolver, reading_tools};
use crate::catalog::KnownTool;
use crate::entity::{
    Ambiguity, CANDIDATES_MAX, Entity, EntityRef, Guess, How, Mention, Parameter, Resolution,
    Topic, is_known_by_id_only,
};
use crate::notice::{Understanding, with_found_entities};
use crate::pack::PackSet;
use crate::permission::Policy;
use crate::session::LoadedSession;
use crate::tool::ToolDefinition;

/// Confidence of an uncertain mention that a look-up confirmed.
const CONFIRMED: f32 = 0.75;
/// Confidence of a mention that was looked up and not found.
const MISSING: f32 = 0.5;
/// Minimum similarity of a name suggested for one that was not found.
const ALIKE: f64 = 0.8;

/// Who uses what the turn gathers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reader {
    /// A model: it benefits from everything known.
    Model,
    /// The offline reply: it needs values for a tool's parameters.
    Offline,
}

/// When entities were looked up for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookedUp {
    Never,
    /// At this state of changes by tools.
    At(ChangeMark),
    /// The state of changes was unknown.
    Unknown,
}

impl Resolver {
    pub async fn at_once(
        &self,
        (session, policy, tools): (&LoadedSession, &Policy, &[KnownTool]),
        mut understanding: Understanding,
        reader: Reader,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> (Understanding, LookedUp) {
        if limit.is_zero() || !could_need(&understanding, session) {
            return (understanding, LookedUp::Never);
        }
        let tools = reading_tools(policy, tools);
        let sought = sought(&understanding, session, reader, &self.packs, &tools);
        if sought.is_empty() {
            return (understanding, LookedUp::Never);
        }
        let mark = self.look_ups.changes.mark().await;
        let scope = &session.key.scope;
        let asking = LookUp { scope, tools: &tools, policy, mark, limit, cancel };
        let found = join_all(sought.iter().map(|mention| self.look_up(mention, &asking))).await;
        let answers: Vec<(Mention, Resolution)> = sought
            .iter()
            .cloned()
            .zip(found)
            .filter_map(|(mention, answer)| Some((mention, answer.ok().flatten()?)))
            .collect();
        let (guessed, named): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|(m, _)| m.how == How::Found);
        if reader == Reader::Model {
            understanding.doubt_missing(&named);
        }
        understanding.take_named(named, session);
        understanding.take_guessed(guessed, session);
        (understanding, mark.map_or(LookedUp::Unknown, LookedUp::At))
    }
}

/// Whether there is anything to look up, before tools are listed.
pub(crate) fn could_need(understanding: &Understanding, session: &LoadedSession) -> bool {
    let noticed = &understanding.noticed;
    !noticed.guesses.is_empty()
        || noticed.mentions.iter().any(|m| is_open(m, understanding, session))
}

/// Whether a mention has no data: no id, or an id that nobody has seen before.
fn is_open(mention: &Mention, understanding: &Understanding, session: &LoadedSession) -> bool {
    if matches!(mention.how, How::Reference | How::Fuzzy) {
        return false;
    }
    let known = session.head.entities.best(&mention.target(), &understanding.known);
    known.is_none_or(|known| known.entity.id.is_none())
}

/// What to look up: mentions that are open and needed, each entity once, then guesses.
fn sought(
    understanding: &Understanding,
    session: &LoadedSession,
    reader: Reader,
    packs: &PackSet,
    tools: &[ToolDefinition],
) -> Vec<Mention> {
    let mut sought: Vec<Mention> = Vec::new();
    for mention in
        understanding.noticed.mentions.iter().filter(|m| is_open(m, understanding, session))
    {
        let needed = match reader {
            Reader::Model => true,
            Reader::Offline => {
                !mention.is_sure() || (mention.id.is_none() && needs_id(mention, packs, tools))
            }
        };
        let again = sought.iter().any(|other| other.target().is(&mention.target()));
        if needed && !again {
            sought.push(mention.clone());
        }
    }
    let guesses = understanding.noticed.guesses.iter();
    sought.extend(guesses.flat_map(|guess| guess.kinds.iter().map(|kind| as_mention(guess, kind))));
    sought.truncate(LOOK_UPS_MAX);
    sought
}

/// Whether a tool takes such entities only by id.
fn needs_id(mention: &Mention, packs: &PackSet, tools: &[ToolDefinition]) -> bool {
    tools.iter().any(|definition| {
        let properties = definition.input_schema.get("properties").and_then(|p| p.as_object());
        properties.into_iter().flatten().any(|(name, schema)| {
            let parameter = Parameter { tool: &definition.tool.name, name, schema };
            is_known_by_id_only(parameter, &mention.kind, packs)
        })
    })
}

fn as_mention(guess: &Guess, kind: &crate::entity::Kind) -> Mention {
    Mention {
        kind: kind.clone(),
        name: guess.text.clone(),
        id: None,
        entity: None,
        span: guess.span,
        how: How::Found,
        confidence: CONFIRMED,
    }
}

impl Understanding {
    /// Applies the results of mentions: known now, or to ask about.
    fn take_named(&mut self, answers: Vec<(Mention, Resolution)>, session: &LoadedSession) {
        for (sought, resolution) in answers {
            match resolution {
                Resolution::One(entity) => {
                    let target = sought.target();
                    for mention in &mut self.noticed.mentions {
                        if mention.target().is(&target) {
                            recognise(mention, &entity.entity);
                        }
                    }
                    if let Some(about) = self.noticed.topic.as_mut().and_then(|t| t.entity.as_mut())
                        && about.is(&target)
                    {
                        about.clone_from(&entity.entity);
                    }
                    self.learn(*entity, session);
                }
                Resolution::Several(entities) => {
                    let candidates = alike(&sought, &entities);
                    if !candidates.is_empty() {
                        self.ask(&sought, candidates);
                    }
                }
                Resolution::None => {}
            }
        }
    }

    /// Lowers the confidence of mentions that were not found, so that nothing is based on them.
    fn doubt_missing(&mut self, answers: &[(Mention, Resolution)]) {
        for (sought, _) in answers.iter().filter(|(_, found)| *found == Resolution::None) {
            let target = sought.target();
            let same = self.noticed.mentions.iter_mut().filter(|m| m.target().is(&target));
            for mention in same {
                mention.confidence = mention.confidence.min(MISSING);
            }
            let topic = self.noticed.topic.take();
            let about = |topic: &Topic| topic.entity.as_ref().is_some_and(|one| one.is(&target));
            self.noticed.topic = topic.filter(|topic| !about(topic));
        }
    }

    /// Applies the results of guesses: mentions if exactly one entity has that name.
    fn take_guessed(&mut self, answers: Vec<(Mention, Resolution)>, session: &LoadedSession) {
        for guess in std::mem::take(&mut self.noticed.guesses) {
            let of_guess = answers.iter().filter(|(sought, _)| sought.span == guess.span);
            let found: Vec<(&Mention, &Entity)> = of_guess
                .flat_map(|(sought, resolution)| match resolution {
                    Resolution::One(entity) => vec![(sought, entity.as_ref())],
                    Resolution::Several(entities) => {
                        let exact = |e: &&Entity| e.entity.name.eq_ignore_ascii_case(&sought.name);
                        entities.iter().filter(exact).map(|entity| (sought, entity)).collect()
                    }
                    Resolution::None => Vec::new(),
                })
                .collect();
            match found.as_slice() {
                [] => {}
                [(sought, entity)] => {
                    let mut mention = (*sought).clone();
                    recognise(&mut mention, &entity.entity);
                    let about = Topic { entity: Some(entity.entity.clone()), about: None };
                    self.noticed.topic.get_or_insert(about);
                    self.noticed.mentions.push(mention);
                    self.learn((*entity).clone(), session);
                }
                several => {
                    let candidates = several.iter().map(|(_, e)| e.entity.clone()).collect();
                    self.ask(several[0].0, candidates);
                }
            }
        }
        self.noticed.mentions.sort_by_key(|mention| mention.span.start);
    }

    fn ask(&mut self, sought: &Mention, mut candidates: Vec<EntityRef>) {
        let target = sought.target();
        self.noticed.mentions.retain(|mention| !mention.target().is(&target));
        candidates.truncate(CANDIDATES_MAX);
        let text = target.label().to_owned();
        self.noticed.ambiguous.push(Ambiguity { text, span: sought.span, candidates });
    }

    fn learn(&mut self, found: Entity, session: &LoadedSession) {
        let found = [found];
        self.known = with_found_entities(self.known.clone(), &found, session);
        self.found.extend(found);
    }
}

fn recognise(mention: &mut Mention, entity: &EntityRef) {
    mention.name.clone_from(&entity.name);
    mention.id.clone_from(&entity.id);
    mention.entity = Some(entity.clone());
    mention.confidence = mention.confidence.max(CONFIRMED);
}

/// The results the name could have meant. A tool that ignores its arguments returns anything.
fn alike(sought: &Mention, found: &[Entity]) -> Vec<EntityRef> {
    let wanted = sought.name.to_lowercase();
    let is_alike = |entity: &&Entity| {
        let name = entity.entity.name.to_lowercase();
        name.contains(&wanted) || strsim::jaro_winkler(&name, &wanted) >= ALIKE
    };
    let alike = if wanted.is_empty() { Vec::new() } else { found.iter().collect() };
    alike.into_iter().filter(is_alike).map(|entity| entity.entity.clone()).collect()
}
