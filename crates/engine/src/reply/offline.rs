//! The reply without a model: choose a tool by ranking, fill its arguments, word its result; or answer
//! from what the conversation already holds; or say plainly what cannot be done.
//!
//! The same way serves a message when no model is configured and when the configured one failed; the
//! record says which.
//!
//! Invariant: it says what is missing instead of guessing, and never claims to be a model.

use serde_json::Value;

use crate::entity::{How, Kind, Mention, Noticed, Parameter, is_about};
use crate::events::TurnEvent;
use crate::mode::PromptMode;
use crate::pack::PackSet;
use crate::permission;
use crate::search::words::stems;
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnStatus};
use crate::tool::ToolDefinition;

use super::call::{RequestedCall, Verdict};
use super::fill::{Filling, fill};
use super::{Answer, ReplyOutcome, ReplyPorts, ReplyRequest, earlier, recollect, verb, wording};

/// Tools that are considered.
const CANDIDATES: usize = 12;
/// The lowest relevance at which a tool is considered: its score, and whether it is about the subject.
const RELEVANCE_MIN: f32 = 0.5;
/// The lowest score at which it is worth asking for what a tool lacks, where the message does not name what
/// the tool is about.
const ASKING_MIN: f32 = 0.7;
/// What a pack's steering adds to a tool's fitness, per unit of weight.
const STEERING_SHARE: f32 = 0.08;
/// What a tool gains for being about what the message asks about.
const SUBJECT_GAIN: f32 = 0.3;
/// What a tool gains for being completely fillable, and loses when it is not.
const FILLABLE_GAIN: f32 = 0.25;
/// What a tool gains when the message has its noun in the same number.
const NOUN_GAIN: f32 = 0.35;
/// What a tool that changes something loses when the message asks for no change.
const UNASKED_CHANGE_LOSS: f32 = 1.0;
/// What a tool that only reads loses when the message asks for a change.
const UNCHANGING_LOSS: f32 = 0.5;
/// What a tool gains when its verb asks for the same kind of change as the message's.
const VERB_GAIN: f32 = 0.4;
/// What it loses when it asks for another: nothing is added because somebody wants it removed.
const OTHER_VERB_LOSS: f32 = 0.6;

/// Answers without a model, because of `why`.
pub async fn answer(mut asked: ReplyRequest<'_>, why: &str) -> ReplyOutcome {
    let mut answer = std::mem::take(&mut asked.before);
    answer.form = ReplyForm::Offline { why: why.to_owned(), fallback: false };
    if !asked.decided.is_empty() {
        return ReplyOutcome::Finished(go_on(&asked, answer).await);
    }
    // "No, the rack" is about something else than what was answered before.
    let noticed = &asked.assembled.understanding.noticed;
    let earlier = earlier::find(asked.message, &noticed.mentions, &asked.assembled.recent)
        .filter(|_| noticed.correction.is_none());
    if let Some(found) = earlier {
        answer.text = format!("From turn {}: {}", found.turn, found.text);
        return told(&asked, answer);
    }
    match choose(&asked).await {
        Choice::Call(definition, filling) => call(&asked, answer, definition, filling).await,
        Choice::Ask(question) => {
            answer.text = question;
            fail_query(&asked, &mut answer, "missing_arguments");
            told(&asked, answer)
        }
        Choice::Read(text) => {
            answer.text = text;
            told(&asked, answer)
        }
        Choice::None => {
            answer.text = recollect::said_earlier(&asked, why);
            fail_query(&asked, &mut answer, "no_tool");
            told(&asked, answer)
        }
    }
}

enum Choice {
    Call(Box<ToolDefinition>, Filling),
    Ask(String),
    Read(String),
    None,
}

/// The tool that fits best, if one fits well enough; or what the agent's references say, where
/// that fits better than a tool that nobody asked for.
async fn choose(asked: &ReplyRequest<'_>) -> Choice {
    let written = recollect::written(asked);
    let written_score = written.as_ref().map_or(0.0, |(score, _)| *score);
    let otherwise = written.map_or(Choice::None, |(_, text)| Choice::Read(text));
    let ReplyPorts { selector, packs, .. } = asked.ports;
    let tools = asked.tools.iter().filter(|known| known.pin.refusal().is_none());
    let tools: Vec<ToolDefinition> = tools.map(|known| known.definition.clone()).collect();
    let Ok(ranked) = selector.rank_tools(&tools, asked.message, CANDIDATES, &[]).await else {
        return otherwise;
    };
    let steering = packs.steering(asked.message);
    let wanted_verb = verb::of_message(asked.message);
    let mode = asked.assembled.receipt.mode;
    let wants_change =
        wanted_verb.is_some() || matches!(mode, PromptMode::Creation | PromptMode::Modification);
    let understood = asked.understood();
    let asked_about = asked_about(asked.message, understood.noticed, packs);
    let mut best: Option<(f32, &ToolDefinition, Filling, bool)> = None;
    for (name, hit) in &ranked {
        let Some(definition) = tools.iter().find(|tool| tool.tool == *name) else { continue };
        let filling = fill(definition, asked.message, &understood, packs);
        #[expect(clippy::cast_precision_loss, reason = "a small weight")]
        let steered = steering.weight(&name.name) as f32 * STEERING_SHARE;
        let subject = is_subject(&name.name, &asked_about, understood.noticed, packs);
        let relevance = hit.score + if subject { SUBJECT_GAIN } else { 0.0 };
        let says_noun = says_its_noun(asked.message, &name.name);
        let unasked = !subject && !wants_change && hit.score < written_score;
        let unfillable = !filling.missing.is_empty() && !subject && !says_noun;
        if relevance < RELEVANCE_MIN || unasked || (unfillable && hit.score < ASKING_MIN) {
            continue;
        }
        let mut fitness = relevance + steered;
        fitness += if filling.missing.is_empty() { FILLABLE_GAIN } else { -FILLABLE_GAIN };
        fitness += if says_noun { NOUN_GAIN } else { 0.0 };
        let changes = definition.seems_to_change();
        if wanted_verb.is_some_and(|wanted| wanted.excludes(changes, verb::of_tool(&name.name))) {
            continue;
        }
        fitness -= match (changes, wants_change) {
            (true, false) => UNASKED_CHANGE_LOSS,
            (false, true) => UNCHANGING_LOSS,
            _ => 0.0,
        };
        fitness += match (wanted_verb, verb::of_tool(&name.name)) {
            (Some(wanted), Some(verb)) if changes && wanted == verb => VERB_GAIN,
            (Some(_), Some(_)) if changes => -OTHER_VERB_LOSS,
            _ => 0.0,
        };
        if fitness > 0.0 && best.as_ref().is_none_or(|(most, ..)| fitness > *most) {
            best = Some((fitness, definition, filling, subject));
        }
    }
    match best {
        // What is missing for something else than what was named is not worth a question.
        Some((_, _, filling, false))
            if !filling.missing.is_empty() && !understood.noticed.mentions.is_empty() =>
        {
            otherwise
        }
        Some((_, definition, filling, _)) => {
            if !filling.missing.is_empty() || is_left_open(definition, &filling, asked) {
                Choice::Ask(question(asked, definition, &filling))
            } else if let Some(changeable) = changes_nothing(definition, &filling) {
                Choice::Ask(changeable)
            } else {
                Choice::Call(Box::new(definition.clone()), filling)
            }
        }
        None => otherwise,
    }
}

/// What to say instead of a call that says what to change, but not into what.
fn changes_nothing(definition: &ToolDefinition, filling: &Filling) -> Option<String> {
    let updates = verb::of_tool(&definition.tool.name) == Some(verb::Family::Change);
    let filled = filling.arguments.as_object()?;
    let properties = definition.input_schema.get("properties").and_then(Value::as_object)?;
    let open = properties.keys().filter(|name| !filled.contains_key(*name));
    let open: Vec<String> = open.map(|name| name.replace('_', " ")).collect();
    (updates && filled.len() < 2 && !open.is_empty()).then(|| {
        let name = &definition.tool.name;
        format!("To use {name} I need to know what to change: the {}.", open.join(", the "))
    })
}

/// Whether words that fit several things would have filled a parameter: without them, the call would
/// answer something else than what was asked.
fn is_left_open(definition: &ToolDefinition, filling: &Filling, asked: &ReplyRequest<'_>) -> bool {
    let properties = definition.input_schema.get("properties").and_then(Value::as_object);
    let unfilled = |name: &str| filling.arguments.get(name).is_none();
    let candidates = asked
        .assembled
        .understanding
        .noticed
        .ambiguous
        .iter()
        .filter_map(|open| open.candidates.first());
    candidates.into_iter().any(|candidate| {
        properties.into_iter().flatten().any(|(name, schema)| {
            let parameter = Parameter { tool: &definition.tool.name, name, schema };
            unfilled(name) && is_about(parameter, &candidate.kind, &asked.ports.packs)
        })
    })
}

/// Whether a tool is about what the message asks about, else about something that it mentions.
fn is_subject(tool: &str, asked_about: &[&Kind], noticed: &Noticed, packs: &PackSet) -> bool {
    if asked_about.is_empty() {
        let kind = packs.type_of_tool(tool).map(|entity_type| &entity_type.kind);
        return kind.is_some_and(|kind| noticed.of_kind(kind).next().is_some());
    }
    let name = stems(tool);
    asked_about.iter().filter_map(|kind| packs.entity_type(kind)).any(|entity_type| {
        let noun = stems(entity_type.word());
        !noun.is_empty() && noun.iter().all(|word| name.contains(word))
    })
}

/// Whether the message has the tool's noun in the same form: "sites" for `list_sites`.
fn says_its_noun(message: &str, tool: &str) -> bool {
    let noun = tool.rsplit('_').next().unwrap_or(tool);
    message.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(noun))
}

/// Types that the message names without naming one of them: "the *survey* of project 123".
fn asked_about<'a>(message: &str, noticed: &'a Noticed, packs: &'a PackSet) -> Vec<&'a Kind> {
    let words: Vec<String> = stems(message);
    let named = packs.types().iter().filter(|entity_type| {
        let noun = stems(entity_type.word());
        !noun.is_empty()
            && noun.iter().all(|word| words.contains(word))
            && noticed.of_kind(&entity_type.kind).next().is_none()
    });
    noticed.asked_about.iter().chain(named.map(|entity_type| &entity_type.kind)).collect()
}

/// What has to be said before the tool can be called.
fn question(asked: &ReplyRequest<'_>, definition: &ToolDefinition, filling: &Filling) -> String {
    let understood = asked.understood();
    if let Some(ambiguity) = understood.noticed.ambiguous.first() {
        let candidates: Vec<String> =
            ambiguity.candidates.iter().map(|candidate| format!("- {candidate}")).collect();
        return format!("Which do you mean by \"{}\"?\n{}", ambiguity.text, candidates.join("\n"));
    }
    let unsure = understood.noticed.mentions.iter().find(|mention| !mention.is_sure());
    if let Some(entity) = unsure.and_then(|mention| mention.entity.as_ref()) {
        return format!("Did you mean {entity}? Please say its name as it is written.");
    }
    let missing: Vec<String> = filling.missing.iter().map(|name| name.replace('_', " ")).collect();
    format!(
        "To use {} I need to know the {}. Please say which.",
        definition.tool.name,
        missing.join(" and the ")
    )
}

/// Calls the tool, or waits for its approval.
async fn call(
    asked: &ReplyRequest<'_>,
    mut answer: Answer,
    definition: Box<ToolDefinition>,
    filling: Filling,
) -> ReplyOutcome {
    let unasked = !permission::asks_plainly(asked.message);
    let suspicion = if definition.seems_to_change() && !filling.is_vouched_for {
        Some("it would change something that only a tool's answer has named".to_owned())
    } else {
        unasked
            .then(|| "it would change something, and the message may not ask for that".to_owned())
    };
    let call = RequestedCall {
        id: format!("call_{}", asked.ports.clock.id().simple()),
        tool: Ok(*definition),
        arguments: Ok(filling.arguments),
        round: 1,
        said_before: String::new(),
        approved: false,
        suspicion,
    };
    let calls = asked.calls();
    match calls.check(call).await {
        Verdict::Ready(call) => {
            let record = calls.make(call).await;
            let unused = unused(&asked.assembled.understanding.noticed, &record);
            answer.calls.push(record);
            worded(&mut answer);
            answer.text.push_str(&unused);
            told(asked, answer)
        }
        Verdict::Refused(record) => {
            answer.calls.push(*record);
            worded(&mut answer);
            told(asked, answer)
        }
        Verdict::Waits(awaited) => ReplyOutcome::Paused(answer, vec![awaited]),
    }
}

/// A word on things that the message named and the tool has no parameter for: the answer is not about them
/// alone.
fn unused(noticed: &Noticed, call: &CallRecord) -> String {
    let is_given = |mention: &Mention| earlier::names(&call.arguments, mention);
    let mut left: Vec<String> = Vec::new();
    let named = noticed.mentions.iter().filter(|mention| mention.how != How::Reference);
    for mention in named.filter(|mention| call.ok() && mention.is_sure() && !is_given(mention)) {
        let label = mention.target().to_string();
        if !left.contains(&label) {
            left.push(label);
        }
    }
    match left.as_slice() {
        [] => String::new(),
        left => format!("\n\nNot narrowed to {}: the tool cannot.", left.join(", ")),
    }
}

/// Makes or refuses the calls that were decided.
async fn go_on(asked: &ReplyRequest<'_>, mut answer: Answer) -> Answer {
    let calls = asked.calls();
    for awaited in &asked.decided {
        let record = calls.make_decided(awaited, &asked.assembled.tools).await;
        answer.calls.push(record);
    }
    if asked.decided.iter().all(|awaited| awaited.approved != Some(true)) {
        answer.status = TurnStatus::Refused;
        answer.error = Some(TurnError {
            code: "not_approved".into(),
            message: "the call was not approved".into(),
        });
        answer.text = "Not done: the call was not approved.".into();
    } else {
        worded(&mut answer);
    }
    asked.events.tell(TurnEvent::Delta(answer.text.clone()));
    answer
}

/// The results in words; a failed call fails the turn.
fn worded(answer: &mut Answer) {
    answer.text = wording::results(&answer.calls);
    if let Some(failed) = answer.calls.iter().find(|call| !call.ok()) {
        answer.status = TurnStatus::Failed;
        answer.error =
            Some(TurnError { code: "tool_failed".into(), message: wording::result(failed) });
    }
}

fn told(asked: &ReplyRequest<'_>, answer: Answer) -> ReplyOutcome {
    asked.events.tell(TurnEvent::Delta(answer.text.clone()));
    ReplyOutcome::Finished(answer)
}

/// A query without a tool is a failed one; a chat message without one is not.
fn fail_query(asked: &ReplyRequest<'_>, answer: &mut Answer, code: &str) {
    if asked.is_query() {
        answer.status = TurnStatus::Failed;
        answer.error = Some(TurnError { code: code.into(), message: answer.text.clone() });
    }
}
