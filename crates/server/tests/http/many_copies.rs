//! Many copies of the server on one store, against a model of what they may answer: on Redis a hundred in a run of the usual
//! size.
//!
//! The copies are whole servers with caches and connections of their own; only the process is shared. Writers send each
//! request to any copy. The model is the contract: a turn that was acknowledged has its number for ever, the same key is
//! the same turn on every copy, a head is changed by one of those who saw it, and what was acknowledged is read everywhere.

use std::collections::BTreeMap;
use std::time::Instant;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::S3Server;
use throughline_testkit::seeded::Seeded;
use throughline_testkit::trust;

use crate::app::{Answer, TestApp};

const PROMISE: &str = "many copies against a model";
/// Copies of a usual run, and always where copies are few; as many writers.
const COPIES: u64 = 5;
const SESSIONS: u64 = 8;
const STEPS_EACH: u64 = 12;
/// Any number will do.
const SEED: u64 = 20_261_116;
/// A copy may refuse under load; the same request again is the same turn.
const REFUSALS_MAX: u32 = 50;

/// What a writer was told, and what it saw that must not be.
#[derive(Default)]
struct Told {
    /// Messages by session and turn.
    turns: Vec<(String, u64, String)>,
    checks: u64,
    refusals: u64,
    wrong: Vec<String>,
}

struct Writer<'a> {
    copies: &'a [TestApp],
    seeded: Seeded,
    told: Told,
}

impl Writer<'_> {
    fn copy(&mut self) -> usize {
        self.seeded.below(self.copies.len() as u64) as usize
    }

    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.told.checks += 1;
        if !holds {
            self.told.wrong.push(what());
        }
    }

    async fn record(&mut self, copy: usize, session: &str, message: &str) -> Answer {
        for _ in 0..REFUSALS_MAX {
            let answer = record(&self.copies[copy], session, message).await;
            if !matches!(answer.status, 409 | 429 | 503) {
                return answer;
            }
            self.told.refusals += 1;
        }
        panic!("{message} was refused {REFUSALS_MAX} times");
    }

    /// One message, on one copy or on two at once, perhaps again on another, then read on any.
    async fn say(&mut self, session: &str, message: &str) {
        let (one, two) = (self.copy(), self.copy());
        let first = if self.seeded.happens(150) {
            let (first, second) = tokio::join!(
                record(&self.copies[one], session, message),
                record(&self.copies[two], session, message)
            );
            let made = [&first, &second].iter().filter(|answer| answer.status == 201).count();
            self.check(made <= 1, || format!("{message} was made twice at once"));
            self.record(one, session, message).await
        } else {
            self.record(one, session, message).await
        };
        let (turn, version) = numbers(&first.json());
        let is_recorded = matches!(first.status, 200 | 201);
        self.check(is_recorded, || format!("{message}: {} {}", first.status, first.text));
        self.told.turns.push((session.into(), turn, message.into()));
        if self.seeded.happens(250) {
            let again = self.record(two, session, message).await;
            let same = again.status == 200 && numbers(&again.json()).0 == turn;
            self.check(same, || format!("{message}, {turn} again: {}", again.text));
        }
        let reader = self.copy();
        let head = self.copies[reader].get(&format!("/conversations/{session}")).await.json();
        let is_new =
            head["turns"].as_u64() >= Some(turn) && head["version"].as_u64() >= Some(version);
        self.check(is_new, || {
            format!("copy {reader} is behind {turn} of version {version}: {head}")
        });
    }

    /// Two copies change the head that was seen: one of them at most.
    async fn rename(&mut self, session: &str, title: &str) {
        let (one, two, path) = (self.copy(), self.copy(), format!("/conversations/{session}"));
        let version = self.copies[one].get(&path).await.json()["version"].to_string();
        let seen = format!("\"{version}\"");
        let change = |copy: usize, title: String| {
            let (app, path, seen) = (&self.copies[copy], &path, &seen);
            async move {
                let headers = [("if-match", seen.as_str())];
                app.send_with(Method::PATCH, path, json!({"title": title}), &headers).await.status
            }
        };
        let statuses =
            tokio::join!(change(one, format!("{title} a")), change(two, format!("{title} b")));
        self.check(statuses != (200, 200), || format!("{title}: both changed version {version}"));
    }
}

async fn record(app: &TestApp, session: &str, message: &str) -> Answer {
    let body = json!({"message": message, "reply": format!("A reply to {message}.")});
    let path = format!("/conversations/{session}/turns");
    app.post_with(&path, body, &[("idempotency-key", message)]).await
}

fn numbers(recorded: &Value) -> (u64, u64) {
    let number = |name: &str| recorded[name].as_u64().unwrap_or_default();
    (number("turn"), number("version"))
}

/// Turns of a session as a copy has them.
async fn history(app: &TestApp, session: &str) -> Vec<(u64, String)> {
    let path = format!("/conversations/{session}/history?limit=1000&order=asc");
    let found = app.get(&path).await.expect(200);
    let turns = found["turns"].as_array().unwrap().iter();
    turns.map(|turn| (numbers(turn).0, turn["message"].as_str().unwrap().to_owned())).collect()
}

async fn agree(on: &str, url: &str, copies: u64) {
    let began = Instant::now();
    let start = || TestApp::builder().set(|config| config.store.url = url.into()).start();
    let mut apps = Vec::new();
    for _ in 0..copies {
        apps.push(start().await);
    }
    let started = began.elapsed();
    for session in 0..SESSIONS {
        apps[0].post("/conversations", json!({"id": format!("s{session}")})).await.expect(201);
    }
    let writers = (0..copies).map(|number| {
        let seeded = Seeded::new(trust::seed(SEED) ^ (number << 32));
        let mut writer = Writer { copies: &apps, seeded, told: Told::default() };
        async move {
            for step in 0..STEPS_EACH {
                let session = format!("s{}", writer.seeded.below(SESSIONS));
                writer.say(&session, &format!("w{number}-{step}")).await;
                if writer.seeded.happens(100) {
                    writer.rename(&session, &format!("title {number} {step}")).await;
                }
            }
            writer.told
        }
    });
    let writing = Instant::now();
    let told = join_all(writers).await;
    let wrote = writing.elapsed();
    let mut wrong: Vec<String> = told.iter().flat_map(|told| told.wrong.clone()).collect();
    let mut model: BTreeMap<String, BTreeMap<u64, String>> = BTreeMap::new();
    for (session, turn, message) in told.iter().flat_map(|told| &told.turns) {
        let other = model.entry(session.clone()).or_default().insert(*turn, message.clone());
        wrong.extend(other.map(|other| format!("{session} {turn}: {other} and {message}")));
    }
    let mut checks: u64 = told.iter().map(|told| told.checks).sum();
    for (session, turns) in &model {
        let wanted: Vec<(u64, String)> = (1..).zip(turns.values().cloned()).collect();
        // Every copy reads some session, every session is read by several copies.
        for app in apps.iter().skip(checks as usize % 5).step_by(5) {
            checks += 1;
            let found = history(app, session).await;
            if found != wanted || !turns.keys().copied().eq(1..=turns.len() as u64) {
                wrong.push(format!("{session}: {found:?}, not {turns:?}"));
            }
        }
    }
    let refusals: u64 = told.iter().map(|told| told.refusals).sum();
    let turns = copies * STEPS_EACH;
    println!(
        "{on}: {copies} copies started in {started:.1?}; {turns} turns in {wrote:.1?}; {refusals} refusals; {checks} checks"
    );
    trust::settle(PROMISE, on, checks, &wrong);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_on_one_redis_answer_as_one() {
    let Some(redis) = RedisServer::start().await else { return };
    agree("redis", &redis.url(), trust::times(COPIES)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_on_one_bucket_answer_as_one() {
    let Some(s3) = S3Server::weed().await else { return };
    agree("s3", &s3.url("copies", "c"), COPIES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_on_one_file_answer_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    agree("sqlite", &url, COPIES).await;
}
