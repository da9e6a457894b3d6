//! Where the time of a turn went: gathering its context, its model, its tools, its commit.
//!
//! All but the commit is in the record. A record cannot hold how long its own commit took, so that is kept in memory, for
//! the newest turns.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::reply::Answer;
use crate::session::pending::PendingTurn;
use crate::session::record::Stage;
use crate::store::Key;

/// Commits that are remembered.
const COMMITS_MAX: u64 = 10_000;

/// How long the newest commits took.
pub struct CommitTimes(moka::sync::Cache<(Key, u64), u64>);

impl Default for CommitTimes {
    fn default() -> Self {
        Self(moka::sync::Cache::new(COMMITS_MAX))
    }
}

impl CommitTimes {
    pub fn note(&self, session: &Key, turn: u64, took: Duration) {
        self.0.insert((session.clone(), turn), milliseconds(took));
    }

    pub fn of(&self, session: &Key, turn: u64) -> Option<u64> {
        self.0.get(&(session.clone(), turn))
    }
}

/// What was measured of a turn while its request was made.
#[derive(Debug, Clone)]
pub(super) enum Beginning {
    /// When it began, and how long it gathered its context.
    New(Instant, Duration),
    /// When it resumed, the stages before it paused, the calls made by then, and how long it waited.
    Resumed { started: Instant, before: Vec<Stage>, calls: usize, waited: Duration },
}

impl Beginning {
    /// A paused turn that resumes `now`.
    pub(super) fn resumed(pending: &PendingTurn, started: Instant, now: Timestamp) -> Self {
        let (before, calls) = (pending.stages.clone(), pending.calls.len());
        let waited = now.duration_since(pending.at).try_into().unwrap_or_default();
        Self::Resumed { started, before, calls, waited }
    }
}

/// The stages of a turn. Without measured spans, which only replies with a model have, the calls follow each other, and the
/// rest is the reply.
pub(super) fn of(beginning: &Beginning, answer: &Answer) -> Vec<Stage> {
    let stage = |name: String, start_ms, took_ms| Stage { name, start_ms, took_ms };
    let (mut stages, started, began_at, mut at, calls_before) = match beginning {
        Beginning::New(started, gathered) => {
            let gathered = milliseconds(*gathered);
            (vec![stage("recall".to_owned(), 0, gathered)], started, 0, gathered, 0)
        }
        Beginning::Resumed { started, before, calls, waited } => {
            let (paused_at, waited) = (end_of(before), milliseconds(*waited));
            let mut stages = before.clone();
            stages.push(stage("approval".to_owned(), paused_at, waited));
            (stages, started, paused_at + waited, paused_at + waited, *calls)
        }
    };
    if answer.spans.is_empty() {
        for call in answer.calls.iter().skip(calls_before) {
            stages.push(stage(format!("tool {}", call.tool), at, call.took_ms));
            at += call.took_ms;
        }
        let total = began_at + milliseconds(started.elapsed());
        stages.push(stage("reply".to_owned(), at.min(total), total.saturating_sub(at)));
    }
    for span in &answer.spans {
        let start = began_at + milliseconds(span.begun.saturating_duration_since(*started));
        stages.push(stage(span.name.clone(), start, milliseconds(span.took)));
    }
    stages
}

/// When the last of the stages ended, since the turn began.
fn end_of(stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.start_ms.saturating_add(stage.took_ms)).max().unwrap_or(0)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Span;
    use crate::session::record::CallRecord;

    #[test]
    fn measured_spans_stand_where_they_began_and_nothing_is_made_up_beside_them() {
        let started = Instant::now();
        let span = |name: &str, begun, took| Span {
            name: name.to_owned(),
            begun: started + Duration::from_millis(begun),
            took: Duration::from_millis(took),
        };
        let spans = vec![span("model m", 5, 40), span("tool a:b", 45, 10), span("model m", 55, 20)];
        let answer = Answer { spans, ..Answer::default() };
        let stages = of(&Beginning::New(started, Duration::from_millis(5)), &answer);
        let expected =
            [("recall", 0, 5), ("model m", 5, 40), ("tool a:b", 45, 10), ("model m", 55, 20)];
        assert_eq!(seen(&stages), expected);
    }

    #[test]
    fn a_turn_that_goes_on_keeps_its_stages_and_tells_how_long_it_waited() {
        let stage = |name: &str, start_ms, took_ms| Stage { name: name.into(), start_ms, took_ms };
        let before = vec![stage("recall", 0, 5), stage("model m", 5, 40)];
        let (started, waited) = (Instant::now(), Duration::from_secs(3));
        let begun = started + Duration::from_millis(2);
        let span = Span { name: "model m".to_owned(), begun, took: Duration::from_millis(20) };
        let answer = Answer { spans: vec![span], ..Answer::default() };
        let resumed = Beginning::Resumed { started, before, calls: 1, waited };
        let expected =
            [("recall", 0, 5), ("model m", 5, 40), ("approval", 45, 3000), ("model m", 3047, 20)];
        assert_eq!(seen(&of(&resumed, &answer)), expected);
        let calls = vec![CallRecord::default(), CallRecord { took_ms: 7, ..CallRecord::default() }];
        let stages = of(&resumed, &Answer { calls, ..Answer::default() });
        assert_eq!(seen(&stages)[3], ("tool ", 3045, 7), "only calls that were made since");
    }

    fn seen(stages: &[Stage]) -> Vec<(&str, u64, u64)> {
        stages.iter().map(|stage| (stage.name.as_str(), stage.start_ms, stage.took_ms)).collect()
    }

    #[test]
    fn a_reply_without_a_model_is_what_remains() {
        let stages = of(&Beginning::New(Instant::now(), Duration::ZERO), &Answer::default());
        let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["recall", "reply"]);
    }
}
