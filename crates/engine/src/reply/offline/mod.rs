//! The reply without a model: a tool is called only after every word of the message is accounted for. What is
//! uncertain is asked about.
//!
//! - [`read`] and [`ask`]: the role of each word, and what the message asks for
//! - [`offer`] and [`schema`]: what the tools can do, and their parameters
//! - [`plan`], [`serve`], [`narrow`], [`find`], [`point`], [`run`]: questions about things
//! - [`act`], [`act_again`], [`fit`], [`sum`]: all other tool calls
//! - [`among`]: filters the last result by a value
//! - [`called`], [`naming`], [`paths`], [`spelling`], [`zones`]: the words of tool names, values from the conversation,
//!   typos, time zones
//! - [`requests`]: several requests in one message
//! - [`server`]: which server is meant if several have the same tool
//! - [`mod@answer`]: answers to its own questions
//!
//! It is used when no model is configured and when the configured one failed; the record says which.
//!
//! Invariant: a call is made only if no content word of the message is left over.

mod act;
mod act_again;
mod among;
mod answer;
mod ask;
mod back;
mod called;
mod fill;
mod find;
mod fit;
mod means;
mod named;
mod naming;
mod narrow;
mod offer;
mod paths;
mod plan;
mod point;
mod read;
mod refine;
mod requests;
mod rows;
mod run;
mod scene;
mod schema;
mod serve;
mod server;
mod show;
mod slot;
mod social;
mod spelling;
mod sum;
mod zones;

use crate::entity::{Noticed, Span};
use crate::events::TurnEvent;
use crate::lexicon::{self, Language, Say};
use crate::pack::Kind;
use crate::permission::{self, Policy};
use crate::session::dialogue::Dialogue;
use crate::session::pending::AwaitedCall;
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnStatus};
use crate::tool::ToolDefinition;

use super::call::{RequestedCall, Verdict};
use super::{Answer, ReplyOutcome, ReplyRequest, recollect, wording};
use offer::{Freedom, Offer};
use read::{Part, Reader};
use requests::Split;
use scene::{Planned, Said, Scene, Step};

/// Maximum calls per turn, including look-ups and pages.
const CALLS_MAX: usize = 32;

impl Freedom for Policy {
    fn is_free(&self, tool: &ToolDefinition) -> bool {
        permission::may_read(tool, self)
    }

    fn reads(&self, tool: &ToolDefinition) -> bool {
        !tool.seems_to_change() || self.is_free(tool)
    }
}

/// Replies without a model, for the reason `why`.
pub async fn answer(mut asked: ReplyRequest<'_>, why: &str) -> ReplyOutcome {
    let mut answer = std::mem::take(&mut asked.before);
    answer.form = ReplyForm::Offline { why: why.to_owned(), fallback: false };
    if !asked.decided.is_empty() && !decide(&asked, &mut answer).await {
        return told(&asked, answer);
    }
    let planner = Planner::new(&asked).await;
    if let Some((text, done)) = recollect::forgetting(&asked) {
        let unanswered = (!done).then_some("question");
        let said = Said { text, unanswered, dialogue: planner.dialogue, ..Said::default() };
        return tell(&asked, answer, said, why).await;
    }
    if let Some(text) = recollect::told_by_user(&asked).filter(|_| asked.decided.is_empty()) {
        let said = Said { text, dialogue: planner.dialogue, ..Said::default() };
        return tell(&asked, answer, said, why).await;
    }
    let recounts = asked.decided.is_empty() && planner.first_message.is_none();
    if let Some(text) = recollect::recounted(&asked).filter(|_| recounts) {
        let said = Said { text, dialogue: planner.dialogue, ..Said::default() };
        return tell(&asked, answer, said, why).await;
    }
    let several = planner.requests();
    if let Some((Split::Sentences, spans)) = &several {
        let pieces: Vec<Piece> = spans.iter().copied().map(Piece::Words).collect();
        match answer_each(&asked, &mut answer, &pieces).await {
            Ended::Said(said) => return tell(&asked, answer, *said, why).await,
            Ended::Waits(awaited) => return ReplyOutcome::Paused(answer, vec![awaited]),
            Ended::Unanswered => {}
        }
    }
    match planner.answer(&asked, &mut answer).await {
        Ok(said) => {
            let lost = said.unanswered.is_some_and(|code| code != "unavailable");
            let mut pieces: Vec<Piece> = Vec::new();
            if let Some((Split::Clauses, spans)) = several.filter(|_| lost) {
                pieces = spans.into_iter().map(Piece::Words).collect();
            } else if lost {
                let each = requests::distributed(&planner.parts);
                pieces = each.into_iter().map(Piece::Parts).collect();
            }
            if !pieces.is_empty() {
                match answer_each(&asked, &mut answer, &pieces).await {
                    Ended::Said(said) => return tell(&asked, answer, *said, why).await,
                    Ended::Waits(awaited) => return ReplyOutcome::Paused(answer, vec![awaited]),
                    Ended::Unanswered => {}
                }
            }
            tell(&asked, answer, said, why).await
        }
        Err(awaited) => ReplyOutcome::Paused(answer, vec![*awaited]),
    }
}

/// One of the requests of a message.
enum Piece {
    Words(Span),
    /// The message with one of the values that it names.
    Parts(Vec<Part>),
}

/// How the answers to the requests of one message ended.
enum Ended {
    Said(Box<Said>),
    Waits(AwaitedCall),
    /// The first request was not understood by itself.
    Unanswered,
}

/// Answers the requests of a message, one after the other.
async fn answer_each(asked: &ReplyRequest<'_>, answer: &mut Answer, pieces: &[Piece]) -> Ended {
    let mut all = Said::default();
    let mut texts: Vec<String> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let dialogue = (at > 0).then(|| all.dialogue.clone());
        let mut planner = match piece {
            Piece::Words(span) => Planner::of(asked, Some(*span), dialogue).await,
            Piece::Parts(_) => Planner::of(asked, None, dialogue).await,
        };
        if let Piece::Parts(parts) = piece {
            planner.parts.clone_from(parts);
        }
        let mut said = match planner.answer(asked, answer).await {
            Ok(said) => said,
            Err(awaited) => return Ended::Waits(*awaited),
        };
        if at == 0 && said.unanswered.is_some() {
            return Ended::Unanswered;
        }
        if said.text.is_empty() {
            let left = planner.message.as_str();
            let with = [("understood", "the rest"), ("left", left)];
            let language = lexicon::english();
            said.text = language.say(Say::NotUnderstood, &with).unwrap_or_default();
        }
        all.unanswered = all.unanswered.or(said.unanswered);
        all.absent.extend(said.absent);
        all.dialogue = said.dialogue;
        texts.push(said.text);
    }
    all.text = texts.join("\n\n");
    Ended::Said(Box::new(all))
}

/// Makes the reading calls that would answer the message without a model, as a start for the model. Nothing waits
/// and nothing is changed; such calls are left to the model.
pub async fn look_up(asked: &ReplyRequest<'_>, answer: &mut Answer) {
    let planner = Planner::new(asked).await;
    while answer.calls.len() < CALLS_MAX {
        let Step::Call(planned) = planner.step(asked, &answer.calls) else { return };
        match call(asked, *planned).await {
            Verdict::Ready(ready) if ready.reads() => {
                answer.calls.push(asked.calls().make(ready).await);
            }
            _ => return,
        }
    }
}

/// A parsed message and the means to answer it.
struct Planner {
    tools: Vec<ToolDefinition>,
    offers: Vec<Offer>,
    parts: Vec<Part>,
    dialogue: Dialogue,
    language: &'static Language,
    first_message: Option<String>,
    /// Files that the conversation knows, with their paths.
    files: Vec<(String, String)>,
    /// The message to answer: this one, or the previous one if this one only names a server for it.
    message: String,
    /// Servers with the same tools, if none was named.
    undecided: Vec<String>,
    /// The reply if a server is named that is unavailable.
    down: Option<String>,
}

impl Planner {
    async fn new(asked: &ReplyRequest<'_>) -> Self {
        Self::of(asked, None, None).await
    }

    /// Reads a piece of the message, or all of it, after this dialogue.
    async fn of(asked: &ReplyRequest<'_>, piece: Option<Span>, dialogue: Option<Dialogue>) -> Self {
        let packs = &asked.ports.packs;
        let text = piece.map_or(asked.message, |piece| &asked.message[piece.start..piece.end]);
        let usable = asked.tools.iter().filter(|known| known.pin.refusal().is_none());
        let mut tools: Vec<ToolDefinition> = usable.map(|known| known.definition.clone()).collect();
        let down = server::names_one(text, asked.unavailable.iter().map(|(name, _)| name));
        let down = down.and_then(|_| unavailable(asked));
        let language = lexicon::of(text);
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
        let commands = offers.iter().filter_map(Offer::command).collect();
        let message = servers.instead.unwrap_or_else(|| text.to_owned());
        let language = lexicon::of(&message);
        // Mentions have their positions in the message itself.
        let noticed = &asked.assembled.understanding.noticed;
        let noticed = match piece {
            _ if message != text => Noticed::default(),
            Some(piece) => requests::noticed_in(noticed, piece),
            None => noticed.clone(),
        };
        let reader = Reader {
            message: &message,
            language,
            noticed: &noticed,
            packs,
            nouns: &nouns,
            commands,
            servers: &servers.spans,
            sums: offers.iter().any(Offer::takes_sum),
            zones: offers.iter().any(Offer::takes_zone),
            files: &files,
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
            first_message,
            files,
            message,
            undecided,
            down,
        }
    }

    /// The requests of the message, if there are several.
    fn requests(&self) -> Option<(Split, Vec<Span>)> {
        let commands: Vec<String> = self.offers.iter().filter_map(Offer::command).collect();
        requests::requests(&self.message, self.language, &commands)
    }

    /// The reply, after the calls that it needs; or the call that waits for approval.
    async fn answer(
        &self,
        asked: &ReplyRequest<'_>,
        answer: &mut Answer,
    ) -> Result<Said, Box<AwaitedCall>> {
        while answer.calls.len() < CALLS_MAX {
            match self.step(asked, &answer.calls) {
                Step::Say(said) => return Ok(*said),
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

    /// The step after the calls that were made.
    fn step(&self, asked: &ReplyRequest<'_>, made: &[CallRecord]) -> Step {
        if let Some(text) = self.down.clone() {
            let unanswered = Some("unavailable");
            let dialogue = self.dialogue.clone();
            return Step::Say(Box::new(Said { text, unanswered, dialogue, ..Said::default() }));
        }
        let scene = Scene {
            message: &self.message,
            language: self.language,
            packs: &asked.ports.packs,
            offers: &self.offers,
            tools: &self.tools,
            freedom: asked.policy,
            parts: &self.parts,
            dialogue: &self.dialogue,
            first_message: self.first_message.as_deref(),
            files: &self.files,
            recent: &asked.assembled.recent,
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

async fn call(asked: &ReplyRequest<'_>, planned: Planned) -> Verdict {
    let suspicion = if planned.tool.seems_to_change() && !planned.is_vouched_for {
        Some("it would change something that only a tool has named".to_owned())
    } else {
        (!permission::asks_plainly(asked.message)).then(|| {
            "it would change something, and the message does not clearly ask for that".to_owned()
        })
    };
    let call = RequestedCall {
        id: format!("call_{}", asked.ports.clock.id().simple()),
        tool: Ok(planned.tool),
        arguments: Ok(planned.arguments),
        round: 1,
        said_before: String::new(),
        approved: false,
        suspicion,
    };
    asked.calls().check(call).await
}

/// Makes the decided calls; `false` if none was approved.
async fn decide(asked: &ReplyRequest<'_>, answer: &mut Answer) -> bool {
    let calls = asked.calls();
    for awaited in &asked.decided {
        answer.calls.push(calls.make_decided(awaited, &asked.assembled.tools).await);
    }
    let approved = asked.decided.iter().any(|awaited| awaited.approved == Some(true));
    if !approved {
        answer.status = TurnStatus::Refused;
        answer.error = Some(TurnError::new("not_approved", "the call was not approved"));
        answer.text = "Not done: the call was not approved.".into();
    }
    approved
}

/// Ends the turn with a reply.
async fn tell(asked: &ReplyRequest<'_>, mut answer: Answer, said: Said, why: &str) -> ReplyOutcome {
    let mut unanswered = said.unanswered;
    // An unavailable server may be why nothing was found.
    let unsure = unanswered.is_some_and(|code| !matches!(code, "unavailable" | "tool_failed"));
    let nothing = !answer.calls.iter().any(CallRecord::ok);
    let missing = unavailable(asked).filter(|_| unsure && nothing);
    answer.text = said.text;
    let approved = asked.decided.iter().any(|awaited| awaited.approved == Some(true));
    if answer.text.is_empty() && approved && answer.calls.iter().any(CallRecord::ok) {
        // The approved call is the answer, whatever the message alone would give.
        (answer.text, unanswered) = (wording::results(&answer.calls), None);
    } else if let (Some("no_tool"), Some(told)) = (unanswered, recollect::told_before(asked)) {
        (answer.text, unanswered) = (told, None);
    } else if answer.text.is_empty() {
        // No rule knows the user's name, whatever its words.
        let not_told = recollect::not_told(asked);
        let written = match not_told {
            None => recollect::written(asked).await,
            Some(_) => None,
        };
        unanswered = unanswered.filter(|_| written.is_none());
        let hint = missing.as_deref().unwrap_or(&said.hint);
        let found = written.or_else(|| recollect::told_near(asked)).or(not_told);
        answer.text = found.unwrap_or_else(|| recollect::said_earlier(asked, why, hint));
    } else if let Some(missing) = missing {
        answer.text = format!("{} {missing}", answer.text);
    }
    answer.dialogue = Some(said.dialogue);
    answer.absent = said.absent;
    // A question to the user leaves a query unanswered; in a chat it is an ordinary reply.
    let fails = |code: &&str| asked.is_query() || *code == "tool_failed";
    if let Some(code) = unanswered.filter(fails) {
        answer.status = TurnStatus::Failed;
        answer.error = Some(TurnError::new(code, &answer.text));
    }
    told(asked, answer)
}

/// The first message of the session, unless it was erased or withdrawn.
async fn first_message(asked: &ReplyRequest<'_>) -> Option<String> {
    let read = asked.notes.sessions.turns(asked.session, 0..1).await;
    let turns = read.inspect_err(|error| tracing::warn!(%error, "cannot read the first turn"));
    let first = turns.ok()?.into_iter().next()?;
    let head = &asked.session.head;
    (head.uses(&first) && !first.message.is_empty()).then(|| first.message.clone())
}

/// The agent's servers without tools, and why.
fn unavailable(asked: &ReplyRequest<'_>) -> Option<String> {
    let servers: Vec<String> =
        asked.unavailable.iter().map(|(server, why)| format!("{server} ({why})")).collect();
    let with = [("servers", servers.join("; "))];
    let with: Vec<(&str, &str)> = with.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let language = lexicon::of(asked.message);
    let said = language.say(Say::Unavailable, &with);
    let said = said.or_else(|| lexicon::english().say(Say::Unavailable, &with));
    said.filter(|_| !servers.is_empty())
}

fn told(asked: &ReplyRequest<'_>, answer: Answer) -> ReplyOutcome {
    asked.events.tell(TurnEvent::Delta(answer.text.clone()));
    ReplyOutcome::Finished(answer)
}
