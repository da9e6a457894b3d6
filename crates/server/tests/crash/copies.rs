//! Two servers on one store behave as one: nothing lost, nothing doubled, nothing stale, nothing twice.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use throughline_testkit::crash::{self, ledger};
use throughline_testkit::scripted_model::{ScriptedModel, Step, Turn};
use throughline_testkit::served::{Launch, Served};
use throughline_testkit::trust;

use crate::stores::{self, TestStore};

const SESSION: &str = "together";
const WRITERS: u64 = 64;
/// Waits for background work, at most; each looks at its result.
const LOOKS_MAX: u32 = 1_200;

struct Pair {
    servers: [Served; 2],
    http: reqwest::Client,
}

impl Pair {
    async fn start(launch: &Launch) -> Self {
        let servers = [Served::start(launch).await, Served::start(launch).await];
        let pair = Self { servers, http: reqwest::Client::new() };
        pair.servers[0].create(&pair.http, SESSION).await;
        pair
    }

    async fn record(&self, server: usize, message: &str, key: &str) -> (u16, Value) {
        let url = self.servers[server].url(&format!("/conversations/{SESSION}/turns"));
        let body = json!({ "message": message, "reply": format!("a reply to {message}") });
        let sent = self.http.post(url).header("idempotency-key", key).json(&body);
        let reply = sent.send().await.unwrap();
        (reply.status().as_u16(), reply.json().await.unwrap())
    }

    async fn chat(&self, server: usize) {
        let url = self.servers[server].url("/chat");
        let body = json!({ "conversation_id": SESSION, "message": "Go on." });
        let reply = self.http.post(url).json(&body).send().await.unwrap();
        assert_eq!(reply.status(), 200);
    }

    /// Waits until a model has written the notes on older turns, where there are any.
    async fn condensed_by_model(&self) {
        for _ in 0..LOOKS_MAX {
            let summary = &self.head(0).await["summary"];
            if summary.is_null() || summary["by"] != json!("extraction") {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("the notes stayed extracted sentences");
    }

    async fn head(&self, server: usize) -> Value {
        self.servers[server].get(&self.http, &format!("/conversations/{SESSION}")).await
    }
}

/// Everything that must hold on any store that takes several servers.
async fn check(store: &TestStore, turns_each: u64) {
    let pair = Pair::start(&store.launch).await;
    nothing_is_lost_or_doubled(&pair, turns_each).await;
    let on = store.launch.store.split(':').next().unwrap();
    trust::count("writers on two servers", on, WRITERS * turns_each, 0);
    nothing_is_stale(&pair).await;
    a_key_counts_on_both(&pair).await;
}

async fn nothing_is_lost_or_doubled(pair: &Pair, turns_each: u64) {
    let sent = crash::write_together(&pair.servers, SESSION, WRITERS, turns_each).await;
    for server in &pair.servers {
        let history = server.history(&pair.http, SESSION).await;
        assert_eq!(history.len() as u64, WRITERS * turns_each);
        let histories = BTreeMap::from([(SESSION.to_owned(), history)]);
        assert_eq!(ledger::compare(&sent, &histories), Vec::<String>::new());
    }
}

async fn nothing_is_stale(pair: &Pair) {
    let before = pair.head(1).await["turns"].as_u64().unwrap();
    for number in 1..=20 {
        let (writer, reader) = (number as usize % 2, (number as usize + 1) % 2);
        let message = format!("written on {writer}, number {number}");
        let (status, recorded) = pair.record(writer, &message, &format!("stale-{number}")).await;
        assert_eq!(status, 201, "{recorded}");
        let head = pair.head(reader).await;
        assert_eq!(head["turns"].as_u64(), Some(before + number));
        assert!(head["version"].as_u64() >= recorded["version"].as_u64(), "{head} {recorded}");
        let last = format!("/conversations/{SESSION}/history?limit=1&order=desc");
        let last = pair.servers[reader].get(&pair.http, &last).await;
        assert_eq!(last["turns"][0]["message"], json!(message));
    }
}

async fn a_key_counts_on_both(pair: &Pair) {
    for number in 0..10 {
        let (message, key) = (format!("said once, {number}"), format!("once-{number}"));
        let answers = tokio::join!(pair.record(0, &message, &key), pair.record(1, &message, &key));
        let ((first, one), (second, other)) = answers;
        assert_eq!([first.min(second), first.max(second)], [200, 201], "{one} {other}");
        assert_eq!(one["turn"], other["turn"]);
        let (status, problem) = pair.record(number % 2, "something else", &key).await;
        assert_eq!(status, 422, "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_sqlite_file_are_as_one() {
    check(&stores::sqlite(), 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_redis_are_as_one() {
    if let Some(store) = stores::redis().await {
        check(&store, 4).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_redis_cluster_are_as_one() {
    if let Some(store) = stores::redis_cluster().await {
        check(&store, 2).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_bucket_are_as_one() {
    if let Some(store) = stores::s3().await {
        check(&store, 2).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_turn_is_condensed_by_one_of_two_servers_on_sqlite() {
    condensed_once(&stores::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_turn_is_condensed_by_one_of_two_servers_on_redis() {
    if let Some(store) = stores::redis().await {
        condensed_once(&store).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_turn_is_condensed_by_one_of_two_servers_on_s3() {
    if let Some(store) = stores::s3().await {
        condensed_once(&store).await;
    }
}

async fn condensed_once(store: &TestStore) {
    let said = |_: &_| Some(Turn::Say(vec![Step::Text("They talked about racks.".into())]));
    let model = ScriptedModel::answering(said).await;
    let launch = store.launch.clone();
    let launch = launch.with("OPENAI_BASE_URL", model.openai_url()).with("OPENAI_API_KEY", "none");
    let pair = Pair::start(&launch.with("THROUGHLINE_LIMITS__WINDOW_TURNS", "15")).await;
    for number in 0..60_usize {
        let (status, told) =
            pair.record(number % 2, &format!("number {number}"), &format!("k{number}")).await;
        assert_eq!(status, 201, "{told}");
        if number % 15 == 14 {
            pair.chat(number % 2).await;
            pair.condensed_by_model().await;
        }
    }
    let mut condensed = Vec::new();
    for request in model.requests() {
        let text = request.body.to_string();
        condensed
            .extend((0..60).filter(|number| text.contains(&format!("User: number {number}\\n"))));
    }
    let times = condensed.len();
    condensed.sort_unstable();
    condensed.dedup();
    assert!(!condensed.is_empty(), "no turn was found in {:?}", model.requests().len());
    assert_eq!(condensed.len(), times, "some turns were condensed by both");
}
