//! The reply without a model: a tool is called only after every word of the message is accounted for. What is
//! uncertain is asked about.
//!
//! - [`read`] and [`ask`]: the role of each word, and what the message asks for
//! - [`offer`] and [`schema`]: what the tools can do, and their parameters
//! - [`hints`] and [`modes`]: values that only descriptions name, and tools that do several things
//! - [`plan`], [`serve`], [`kinds`], [`each`], [`bounds`], [`narrow`], [`placed`], [`find`], [`point`], [`valued`], [`run`]: questions about things
//! - [`act`], [`act_again`], [`made`], [`fit`], [`give`], [`spread`], [`written`], [`tail`], [`able`], [`sum`]: all other tool calls
//! - [`meant`]: the tool that a question means, where its words are others
//! - [`folders`], [`tables`], [`dictated`]: files without a folder, rows of a table, notes
//! - [`among`]: filters the last result by a value
//! - [`dates`] and [`day_filter`]: days in words, and lists of what is on them
//! - [`called`], [`naming`], [`own`], [`pair`], [`refer`], [`paths`], [`spelling`], [`zones`]: the words of tool names, values from the conversation,
//!   typos, time zones
//! - [`requests`]: several requests in one message
//! - [`server`]: which server is meant if several have the same tool
//! - [`mod@answer`]: answers to its own questions
//!
//! It is used when no model is configured and when the configured one failed; the record says which.
//!
//! Invariant: a call is made only if no content word of the message is left over.

mod able;
mod act;
mod act_again;
mod among;
mod answer;
mod ask;
mod back;
mod bounds;
mod called;
mod dates;
mod day_filter;
mod dictated;
mod each;
mod fill;
mod find;
mod fit;
mod folders;
mod give;
mod hints;
mod kinds;
mod made;
mod means;
mod meant;
mod modes;
mod named;
mod naming;
mod narrow;
mod offer;
mod own;
mod pair;
mod paths;
mod placed;
mod plan;
mod planner;
mod point;
mod read;
mod refer;
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
mod spread;
mod sum;
mod tables;
mod tail;
mod valued;
mod written;
mod zones;

use crate::entity::Span;
use crate::events::TurnEvent;
use crate::lexicon::{self, Family, Say};
use crate::pack::words_of_identifier;
use crate::permission::{self, Policy};
use crate::session::dialogue::{Dialogue, Query, Spoken, Want};
use crate::session::pending::AwaitedCall;
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnStatus};
use crate::tool::ToolDefinition;

use super::call::{RequestedCall, Verdict};
use super::{Answer, ReplyOutcome, ReplyRequest, recollect, wording};
use offer::Freedom;
use planner::Planner;
use read::Part;
use requests::Split;
use scene::{Planned, Said, Step};

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
pub(super) async fn answer(mut asked: ReplyRequest<'_>, why: &str) -> ReplyOutcome {
    let mut answer = std::mem::take(&mut asked.before);
    answer.form = ReplyForm::Offline { why: why.to_owned(), fallback: false, model: None };
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
    if recollect::only_user_knows(&asked) && asked.decided.is_empty() {
        let (unanswered, mut dialogue) = (Some("no_tool"), planner.dialogue);
        // The user went on to something else.
        dialogue.open = None;
        return tell(&asked, answer, Said { unanswered, dialogue, ..Said::default() }, why).await;
    }
    let recounts = asked.decided.is_empty() && planner.first_message.is_none();
    if let Some(text) = recollect::recounted(&asked).filter(|_| recounts) {
        let said = Said { text, dialogue: planner.dialogue, ..Said::default() };
        return tell(&asked, answer, said, why).await;
    }
    let several = planner.requests();
    let sentences = match (planner.permitted(), &several) {
        (Some(span), _) => Some(vec![span]),
        (None, Some((Split::Sentences, spans))) => Some(spans.clone()),
        _ => None,
    };
    if let Some(spans) = sentences {
        let pieces: Vec<Piece> = spans.into_iter().map(Piece::Words).collect();
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
                if pieces.is_empty() {
                    pieces = requests::by_kinds(&planner.parts);
                }
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
            said.text = recollect::say(asked, Say::NotUnderstood, &with);
        }
        all.unanswered = all.unanswered.or(said.unanswered);
        all.absent.extend(said.absent);
        all.dialogue = said.dialogue;
        texts.push(said.text);
    }
    texts.dedup();
    all.text = texts.join("\n\n");
    Ended::Said(Box::new(all))
}

/// Makes the reading calls that would answer the message without a model, as a start for the model. Nothing waits
/// and nothing is changed; such calls are left to the model.
pub(super) async fn look_up(asked: &ReplyRequest<'_>, answer: &mut Answer) {
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
        answer.text = recollect::say(asked, Say::NotApproved, &[]);
        answer.dialogue = refused(asked);
    }
    approved
}

/// The dialogue after a refusal, so that "no, I meant high" is about what was refused.
fn refused(asked: &ReplyRequest<'_>) -> Option<Dialogue> {
    let awaited = asked.decided.first()?;
    let mut verbs = words_of_identifier(&awaited.tool.name).into_iter();
    let family = verbs.find_map(|word| lexicon::english().family(&word));
    let call = Some((awaited.tool.clone(), awaited.arguments.as_object()?.clone()));
    let want = Want::Act(family.unwrap_or(Family::Change));
    let query = Query { want, call, refused: true, ..Query::default() };
    let mut dialogue = asked.session.head.dialogue.as_deref().cloned().unwrap_or_default();
    (dialogue.open, dialogue.unanswered) = (None, false);
    dialogue.speak(Spoken { turn: 0, query, shown: Vec::new(), count: None });
    Some(dialogue)
}

/// Ends the turn with a reply.
async fn tell(asked: &ReplyRequest<'_>, mut answer: Answer, said: Said, why: &str) -> ReplyOutcome {
    let mut unanswered = said.unanswered;
    // An unavailable server may be why nothing was found.
    let unsure = unanswered.is_some_and(|code| !matches!(code, "unavailable" | "tool_failed"));
    let nothing = !answer.calls.iter().any(CallRecord::ok);
    let missing = unavailable(asked).filter(|_| unsure && nothing);
    answer.by_tools = unanswered.is_none() && !said.text.is_empty() && !nothing;
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
    answer.dialogue = Some(Dialogue { unanswered: unanswered.is_some(), ..said.dialogue });
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
    (!servers.is_empty()).then(|| recollect::say(asked, Say::Unavailable, &with))
}

fn told(asked: &ReplyRequest<'_>, answer: Answer) -> ReplyOutcome {
    asked.events.tell(TurnEvent::Delta(answer.text.clone()));
    ReplyOutcome::Finished(answer)
}
