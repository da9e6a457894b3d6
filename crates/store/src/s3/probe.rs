//! Verifies on opening that conditional writes work: of several concurrent writers, exactly one wins.
//!
//! Sequential checks are not enough. Some servers compare and write in two steps and pass any sequential check;
//! others accept the condition and ignore it. So every round is a race.

use std::fmt;

use bytes::Bytes;
use futures::future::join_all;
use object_store::path::Path;
use throughline_engine::store::Result;
use uuid::Uuid;

use super::layout::Layout;
use super::objects::{Objects, Put, ReadOutcome, WriteCondition};

/// Number of rounds, each with two races.
const ROUNDS: usize = 6;
/// Number of writers per race.
const WRITERS: usize = 8;

/// The result of the probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Races with exactly one winner.
    pub sound: usize,
    /// The first problem found.
    pub fault: Option<String>,
}

impl Probe {
    /// Whether concurrent writers are safe.
    pub fn is_reliable(&self) -> bool {
        self.fault.is_none()
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            None => {
                write!(
                    f,
                    "conditional writes: verified by {} races of {WRITERS} writers",
                    self.sound
                )
            }
            Some(fault) => write!(f, "conditional writes: not reliable, {fault}"),
        }
    }
}

/// Runs the races on temporary objects.
pub(super) async fn run(objects: &Objects, layout: &Layout) -> Result<Probe> {
    let path = layout.probe(&Uuid::now_v7().simple().to_string());
    let mut probe = Probe { sound: 0, fault: None };
    for round in 0..ROUNDS {
        if let Some(fault) = one_round(objects, &path, &mut probe.sound).await? {
            probe.fault = Some(format!("{fault} (round {} of {ROUNDS})", round + 1));
            break;
        }
    }
    objects.delete(&path).await?;
    Ok(probe)
}

async fn one_round(objects: &Objects, path: &Path, sound: &mut usize) -> Result<Option<String>> {
    objects.delete(path).await?;
    if let Some(fault) = race(objects, path, &WriteCondition::Absent, "create if absent").await? {
        return Ok(Some(fault));
    }
    *sound += 1;
    let ReadOutcome::Object { etag: Some(tag), .. } = objects.get(path, None, None).await? else {
        return Ok(Some("a written object has no ETag".into()));
    };
    let when = WriteCondition::Matches(tag);
    if let Some(fault) = race(objects, path, &when, "replace if unchanged").await? {
        return Ok(Some(fault));
    }
    *sound += 1;
    // The ETag is stale now: another writer must be refused even without a race.
    let late = objects.put_once(path, body("late"), &when).await?;
    Ok(matches!(late, Put::Done(_)).then(|| "a stale condition was accepted".into()))
}

/// Writes concurrently under one condition; returns what is wrong with the outcome, if anything.
async fn race(
    objects: &Objects,
    path: &Path,
    when: &WriteCondition,
    what: &str,
) -> Result<Option<String>> {
    let bodies: Vec<Bytes> = (0..WRITERS).map(|writer| body(&writer.to_string())).collect();
    let tries = bodies.iter().map(|bytes| objects.put_once(path, bytes.clone(), when));
    let mut winners = Vec::new();
    let mut unclear = Vec::new();
    for (writer, outcome) in join_all(tries).await.into_iter().enumerate() {
        match outcome? {
            Put::Done(_) => winners.push(writer),
            Put::Unclear(reason) => unclear.push(reason),
            Put::Refused => {}
        }
    }
    if winners.len() > 1 {
        return Ok(Some(format!("{what}: {} of {WRITERS} writers won", winners.len())));
    }
    let Some(winner) = winners.first() else {
        return match unclear.first() {
            None => Ok(Some(format!("{what}: all {WRITERS} writers were refused"))),
            // The conditions could not be tested, because the server did not respond.
            Some(reason) if unclear.len() == WRITERS => {
                let reason =
                    format!("the server answered no write of the start-up probe: {reason}");
                Err(objects.unavailable(reason, false))
            }
            // One of the writers without a response won.
            Some(_) => Ok(None),
        };
    };
    match objects.get(path, None, None).await? {
        ReadOutcome::Object { bytes, .. } if bytes == bodies[*winner] => Ok(None),
        _ => Ok(Some(format!("{what}: the stored object is not the winner's"))),
    }
}

fn body(writer: &str) -> Bytes {
    Bytes::from(format!("start-up probe, writer {writer}, {}\n", Uuid::now_v7()))
}
