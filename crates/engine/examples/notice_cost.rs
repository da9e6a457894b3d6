//! What noticing costs: time for one message with many known entities, and for an alias search.
//!
//! `cargo run --release -p throughline-engine --example notice_cost`

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use throughline_engine::entity::{
    Entities, Entity, EntityRef, Kind, KnownEntities, Moment, notice,
};
use throughline_engine::pack::PackSet;

const ROUNDS: usize = 4000;

/// Messages as people write them, with names, references, a typing error and none of these.
const MESSAGES: [&str; 8] = [
    "Show device sw-00042 in rack R12 at site Berlin and list its interfaces",
    "what are its interfaces?",
    "Which VLANs are on Gi1/0/1 of sw-00007, and is 10.20.30.40 still in use there?",
    "update my task00017 workflow so that it asks the manager first",
    "Compare sw-00001, sw-00002 and sw-00003; both of the first two were slow yesterday",
    "sw-0042x is down, can you check the second one",
    "I do not know what to do next, is there anything else that could have gone wrong here?",
    "No, I meant sw-00099. The ticket says \"please look at it today\", so move it to 10.0.0.0/24",
];

fn main() {
    let packs = PackSet::builtin();
    println!("| known entities | notice p50 | p99 | alias search p50 | p99 | index built in |");
    println!("|---|---|---|---|---|---|");
    for count in [100, 1_000, 10_000] {
        let started = Instant::now();
        let known = KnownEntities::of(entities(count, &packs));
        let built = started.elapsed();
        let entities = head(&packs, &known);
        let mut notices = timed(|round| {
            let message = MESSAGES[round % MESSAGES.len()];
            black_box(notice(message, &entities, &known, &packs));
        });
        let workflow = Kind::new("workflow");
        let mut searches = timed(|round| {
            let query = match round % 3 {
                0 => format!("my task{:05} workflow", round % count),
                1 => "task management workflow".to_owned(),
                _ => format!("the task{:05} thing", round % count),
            };
            black_box(known.find(&query, Some(&workflow), 5));
        });
        println!(
            "| {count} | {} | {} | {} | {} | {:.1} ms |",
            at(&mut notices, 50),
            at(&mut notices, 99),
            at(&mut searches, 50),
            at(&mut searches, 99),
            built.as_secs_f64() * 1000.0
        );
    }
}

/// Half devices, half workflows with their aliases.
fn entities(count: usize, packs: &PackSet) -> Vec<Entity> {
    let now: Timestamp = "2026-11-15T09:00:00Z".parse().expect("a time");
    let entity = |index: usize| {
        let (kind, name) = if index.is_multiple_of(2) {
            (Kind::new("device"), format!("sw-{:05}", index / 2))
        } else {
            (Kind::new("workflow"), format!("Task{:05} Management", index / 2))
        };
        let id = Some(index.to_string());
        let aliases = packs.aliases(&kind, &name);
        let mut entity = Entity::new(EntityRef { kind, name, id }, now);
        entity.aliases = aliases;
        entity
    };
    (0..count).map(entity).collect()
}

/// A head that has just spoken of two devices.
fn head(packs: &PackSet, known: &KnownEntities) -> Entities {
    let mut entities = Entities::default();
    let mut known = known.clone();
    let now: Timestamp = "2026-11-15T09:01:00Z".parse().expect("a time");
    for (turn, message) in (1..).zip(["show sw-00004", "and device sw-00005"]) {
        let noticed = notice(message, &entities, &known, packs);
        entities.apply_noticed(&noticed, message, &mut known, packs, Moment { turn, now });
    }
    entities
}

fn timed(mut once: impl FnMut(usize)) -> Vec<Duration> {
    for round in 0..ROUNDS / 10 {
        once(round);
    }
    let time = |round| {
        let started = Instant::now();
        once(round);
        started.elapsed()
    };
    (0..ROUNDS).map(time).collect()
}

/// A percentile in microseconds.
fn at(times: &mut [Duration], percent: usize) -> String {
    times.sort_unstable();
    let index = (times.len() * percent / 100).min(times.len() - 1);
    format!("{:.1} µs", times[index].as_secs_f64() * 1e6)
}
