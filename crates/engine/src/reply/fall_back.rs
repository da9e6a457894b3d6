//! The reply after a model failed: what there is without it, and nothing that would be a guess.

use std::time::Duration;

use crate::events::{Events, TurnEvent};
use crate::failure::{UpstreamError, UpstreamFault};
use crate::session::record::{CallRecord, ReplyForm, TurnError, TurnStatus};
use crate::session::unsettled::OUTCOME_UNKNOWN;

use super::{Answer, CANCELLED, ReplyOutcome, ReplyRequest, offline, wording};

/// Time for the offline reply after a model failed, which may have used up the turn's time.
const FALL_BACK_TIMEOUT: Duration = Duration::from_secs(20);
/// The reason for an offline reply. The provider's own message is only in the record's error.
const FALLEN_BACK: &str = "the model could not be asked";
/// The error code of a turn whose model failed.
const MODEL_FAILED: &str = "model_failed";
/// The message of a turn that its reader stopped, which is no failure of the model.
const STOPPED: &str = "stopped";

/// The turn of a model that failed: what it had said, or the results of the calls it had made. If it had done neither,
/// tools may answer without a model. Without a result nothing is said in its place: that would be a guess.
pub(super) async fn fall_back(
    mut asked: ReplyRequest<'_>,
    mut answer: Answer,
    failure: UpstreamError,
) -> ReplyOutcome {
    let cancelled = failure.fault == UpstreamFault::Cancelled;
    let model = match &answer.form {
        ReplyForm::Model { model } => Some(model.clone()),
        _ => None,
    };
    let untouched = answer.text.is_empty() && answer.calls.is_empty();
    if untouched && !cancelled {
        let turn = Duration::from_secs(asked.ports.limits.turn_seconds_max);
        asked.cancel = asked.cancel.child_token();
        let cancel = asked.cancel.clone();
        let (events, quiet) = (asked.events, Events::nowhere());
        asked.events = &quiet;
        let (spans, form) = (std::mem::take(&mut answer.spans), answer.form.clone());
        let answering = offline::answer(asked, FALLEN_BACK);
        tokio::pin!(answering);
        let within = turn.min(FALL_BACK_TIMEOUT);
        let ended = match tokio::time::timeout(within, &mut answering).await {
            Ok(ended) => ended,
            Err(_) => {
                cancel.cancel();
                answering.await
            }
        };
        return match ended {
            ReplyOutcome::Finished(mut answer) => {
                answer.spans.splice(0..0, spans);
                if !answer.by_tools {
                    answer.text.clear();
                    answer = failed(answer, &failure, None);
                    answer.form = form;
                    return ReplyOutcome::Finished(answer);
                }
                events.tell(TurnEvent::Delta(answer.text.clone()));
                ReplyOutcome::Finished(failed(answer, &failure, model))
            }
            paused => paused,
        };
    }
    if answer.text.is_empty() && !cancelled && answer.calls.iter().any(CallRecord::ok) {
        answer.text = wording::results(&answer.calls);
        asked.events.tell(TurnEvent::Delta(answer.text.clone()));
        return ReplyOutcome::Finished(failed(answer, &failure, model));
    }
    answer.status = if answer.text.is_empty() { TurnStatus::Failed } else { TurnStatus::Partial };
    let unknown = answer.calls.iter().filter(|call| call.outcome_unknown);
    let unknown: Vec<String> = unknown.map(|call| call.tool.to_string()).collect();
    let error = match (cancelled, unknown.is_empty()) {
        (true, false) => TurnError::new(
            OUTCOME_UNKNOWN,
            format!(
                "outcome unknown: the turn was stopped during a call to {}",
                unknown.join(", ")
            ),
        ),
        (true, true) => TurnError::new(CANCELLED, STOPPED),
        (false, _) => TurnError::new(MODEL_FAILED, failure.public()),
    };
    answer.error = Some(error.caused_by(failure.fault));
    ReplyOutcome::Finished(answer)
}

/// Results worded in place of the model: the turn failed, and its record says why.
fn failed(mut answer: Answer, failure: &UpstreamError, model: Option<String>) -> Answer {
    answer.form = ReplyForm::Offline { why: FALLEN_BACK.into(), fallback: true, model };
    answer.status = TurnStatus::Failed;
    answer.error = Some(TurnError::new(MODEL_FAILED, failure.public()).caused_by(failure.fault));
    answer
}
