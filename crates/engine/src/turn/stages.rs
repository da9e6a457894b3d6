//! Where the time of a turn went: gathering its context, its model, its tools, its commit.
//!
//! All but the commit is in the record. A record cannot hold how long its own commit took, so that is kept in memory, for
//! the newest turns.

use std::time::{Duration, Instant};

use crate::reply::Answer;
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

/// The stages of a turn that began at `started` and gathered its context for so long. Without measured spans, which only
/// replies with a model have, the calls follow each other, and the rest is the reply.
pub(super) fn of(started: Instant, gathered: Duration, answer: &Answer) -> Vec<Stage> {
    let stage = |name: String, start_ms, took_ms| Stage { name, start_ms, took_ms };
    let mut stages = vec![stage("recall".to_owned(), 0, milliseconds(gathered))];
    if answer.spans.is_empty() {
        let mut at = milliseconds(gathered);
        for call in &answer.calls {
            stages.push(stage(format!("tool {}", call.tool), at, call.took_ms));
            at += call.took_ms;
        }
        let total = milliseconds(started.elapsed());
        stages.push(stage("reply".to_owned(), at.min(total), total.saturating_sub(at)));
    }
    for span in &answer.spans {
        let start = milliseconds(span.begun.saturating_duration_since(started));
        stages.push(stage(span.name.clone(), start, milliseconds(span.took)));
    }
    stages
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Span;

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
        let stages = of(started, Duration::from_millis(5), &answer);
        let seen: Vec<_> =
            stages.iter().map(|s| (s.name.as_str(), s.start_ms, s.took_ms)).collect();
        let expected =
            [("recall", 0, 5), ("model m", 5, 40), ("tool a:b", 45, 10), ("model m", 55, 20)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_reply_without_a_model_is_what_remains() {
        let stages = of(Instant::now(), Duration::ZERO, &Answer::default());
        let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["recall", "reply"]);
    }
}
