//! The reply without a model: a message is read, every word of it is accounted for, and only then something is
//! called. What is not certain is said and asked about.
//!
//! - [`read`] and [`ask`]: what each word is used for, and what the message asks for
//! - [`offer`] and [`schema`]: what the tools can do, and with which parameters
//! - [`plan`], [`serve`], [`narrow`], [`find`], [`point`], [`run`]: questions about things
//! - [`act`]: everything else that a tool does
//! - [`mod@answer`]: answers to questions of its own
//!
//! The same way serves a message when no model is configured and when the configured one failed; the record
//! says which.
//!
//! Invariant: a call is made only where nothing that matters in the message is left over.

mod act;
mod answer;
mod ask;
mod back;
mod fill;
mod find;
mod named;
mod narrow;
mod offer;
mod plan;
mod point;
mod read;
mod refine;
mod rows;
mod run;
mod scene;
mod schema;
mod serve;
mod show;
mod slot;
mod social;

use crate::events::TurnEvent;
use crate::lexicon;
use crate::pack::Kind;
use crate::permission::{self, Policy};
use crate::session::record::{ReplyForm, TurnError, TurnStatus};
use crate::tool::ToolDefinition;

use super::call::{RequestedCall, Verdict};
use super::{Answer, ReplyOutcome, ReplyRequest, recollect};
use offer::Freedom;
use read::Reader;
use scene::{Planned, Said, Scene, Step};

/// Calls of one turn, look-ups and pages included.
const CALLS_MAX: usize = 32;

impl Freedom for Policy {
    fn is_free(&self, tool: &ToolDefinition) -> bool {
        permission::may_read(tool, self)
    }

    fn reads(&self, tool: &ToolDefinition) -> bool {
        !tool.seems_to_change() || self.is_free(tool)
    }
}

/// Answers without a model, because of `why`.
pub async fn answer(mut asked: ReplyRequest<'_>, why: &str) -> ReplyOutcome {
    let mut answer = std::mem::take(&mut asked.before);
    answer.form = ReplyForm::Offline { why: why.to_owned(), fallback: false };
    if !asked.decided.is_empty() && !decide(&asked, &mut answer).await {
        return told(&asked, answer);
    }
    let packs = &asked.ports.packs;
    let usable = asked.tools.iter().filter(|known| known.pin.refusal().is_none());
    let tools: Vec<ToolDefinition> = usable.map(|known| known.definition.clone()).collect();
    let offers = offer::offers(&tools, packs, asked.policy);
    let nouns: Vec<Kind> = offers
        .iter()
        .filter_map(|offer| offer.kind.clone())
        .filter(|kind| packs.entity_type(kind).is_none())
        .collect();
    let language = lexicon::of(asked.message);
    let noticed = &asked.assembled.understanding.noticed;
    let reader = Reader { message: asked.message, language, noticed, packs, nouns: &nouns };
    let parts = reader.parts();
    let dialogue = asked.session.head.dialogue.as_deref().cloned().unwrap_or_default();
    while answer.calls.len() < CALLS_MAX {
        let scene = Scene {
            message: asked.message,
            language,
            packs,
            offers: &offers,
            tools: &tools,
            freedom: asked.policy,
            parts: &parts,
            dialogue: &dialogue,
            recent: &asked.assembled.recent,
            made: &answer.calls,
        };
        let step = scene.plan().map_or_else(|step| *step, |said| Step::Say(Box::new(said)));
        match step {
            Step::Say(said) => return tell(&asked, answer, *said, why),
            Step::Call(planned) => match call(&asked, *planned).await {
                Verdict::Ready(ready) => answer.calls.push(asked.calls().make(ready).await),
                Verdict::Refused(record) => answer.calls.push(*record),
                Verdict::Waits(awaited) => return ReplyOutcome::Paused(answer, vec![awaited]),
            },
        }
    }
    let said = Said { unanswered: Some("too_many_calls"), dialogue, ..Said::default() };
    tell(&asked, answer, said, why)
}

async fn call(asked: &ReplyRequest<'_>, planned: Planned) -> Verdict {
    let suspicion = if planned.tool.seems_to_change() && !planned.is_vouched_for {
        Some("it would change something that only a tool's answer has named".to_owned())
    } else {
        (!permission::asks_plainly(asked.message))
            .then(|| "it would change something, and the message may not ask for that".to_owned())
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

/// Makes the calls that were decided; `false` where none was approved.
async fn decide(asked: &ReplyRequest<'_>, answer: &mut Answer) -> bool {
    let calls = asked.calls();
    for awaited in &asked.decided {
        answer.calls.push(calls.make_decided(awaited, &asked.assembled.tools).await);
    }
    let approved = asked.decided.iter().any(|awaited| awaited.approved == Some(true));
    if !approved {
        let message = "the call was not approved".to_owned();
        answer.status = TurnStatus::Refused;
        answer.error = Some(TurnError { code: "not_approved".into(), message });
        answer.text = "Not done: the call was not approved.".into();
    }
    approved
}

/// Ends the turn with what is to be said.
fn tell(asked: &ReplyRequest<'_>, mut answer: Answer, said: Said, why: &str) -> ReplyOutcome {
    let mut unanswered = said.unanswered;
    answer.text = said.text;
    if answer.text.is_empty() {
        let written = recollect::written(asked);
        unanswered = unanswered.filter(|_| written.is_none());
        answer.text = written.unwrap_or_else(|| recollect::said_earlier(asked, why, &said.hint));
    }
    answer.dialogue = Some(said.dialogue);
    // A question back leaves a query unanswered; in a chat it is a reply like any other.
    let fails = |code: &&str| asked.is_query() || *code == "tool_failed";
    if let Some(code) = unanswered.filter(fails) {
        answer.status = TurnStatus::Failed;
        let message = answer.text.clone();
        answer.error = Some(TurnError { code: code.into(), message });
    }
    told(asked, answer)
}

fn told(asked: &ReplyRequest<'_>, answer: Answer) -> ReplyOutcome {
    asked.events.tell(TurnEvent::Delta(answer.text.clone()));
    ReplyOutcome::Finished(answer)
}
