//! What later turns keep of an erased one: nothing, in no record, no file and no answer.
//!
//! A word is said in the second turn only. Later requests show what came of it: the turn itself, notes on the things that it
//! named, a memory, and the same in another session. Then the turn is erased.

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline_engine::access::Grants;
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::S3Server;
use throughline_testkit::trust;

use crate::app::{Answer, TestApp};
use crate::erased::{found, live_bytes};
use crate::isolation::{call, on_store};

const PROMISE: &str = "erased turns";
/// Said in the second turn, in its call and in its reply; every form of it begins alike.
const WORD: &str = "quagga";

struct Attack<'a> {
    app: &'a TestApp,
    key: String,
}

impl Attack<'_> {
    async fn send(&self, method: Method, path: &str, body: Value) -> Answer {
        call(self.app, &self.key, method, path, body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Value::Null).await
    }

    /// Prepares a message and records its exchange with the receipt.
    async fn exchange(&self, session: &str, message: &str, extra: Value) -> Value {
        let path = format!("/conversations/{session}");
        let asked = json!({"message": message});
        let prepared = self.send(Method::POST, &format!("{path}/prepare"), asked).await.expect(200);
        let mut turn =
            json!({"message": message, "reply": "Noted.", "receipt": prepared["receipt"]["id"]});
        turn.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap_or_default());
        let recorded = self.send(Method::POST, &format!("{path}/turns"), turn).await.expect(201);
        assert_eq!(recorded["receipt"], "kept");
        prepared
    }

    /// Two sessions in which the second turn of one is shown in many ways; the token of a link to it.
    async fn fill(&self) -> String {
        for id in ["a", "b"] {
            self.send(Method::POST, "/conversations", json!({"id": id})).await.expect(201);
        }
        let none = Value::Null;
        self.exchange("a", "Where is device kept-sw1 in rack R12?", none.clone()).await;
        let said = json!({"reply": "The code quaggaseven is noted for quagga-sw7.", "metadata": {"note": "quagganote"},
            "tool_executions": [{"server": "s", "name": "get_device", "arguments": {"name": "quagga-sw7"},
                "result": {"id": 77, "name": "quagga-sw7", "rack": {"id": 5, "name": "quagga-R13"}, "status": "quaggastate"}}]});
        let message = "My locker code is quaggaseven. Is device quagga-sw7 next to device kept-sw1 in rack quagga-R13?";
        self.exchange("a", message, said).await;
        let mut shown = String::new();
        for message in
            ["Is it up?", "And device kept-sw1, is it in the same rack?", "What is my locker code?"]
        {
            shown += &self.exchange("a", message, none.clone()).await.to_string();
        }
        assert!(shown.contains(WORD), "later requests show it");
        shown = self.exchange("b", "What is my locker code?", none.clone()).await.to_string();
        assert!(shown.contains("quaggaseven"), "another session recalls it: {shown}");
        self.get("/search?q=locker").await.expect(200);
        let share = self.send(Method::POST, "/conversations/a/shares", json!({})).await.expect(201);
        share["token"].as_str().unwrap().to_owned()
    }

    /// Every answer that could tell of the erased turn.
    async fn answers(&self, link: &str) -> Vec<(String, Answer)> {
        let mut paths: Vec<String> = (1..=5)
            .flat_map(|turn| {
                ["", "/context", "/request"]
                    .map(|part| format!("/conversations/a/turns/{turn}{part}"))
            })
            .collect();
        paths
            .extend(["/context", "/request"].map(|part| format!("/conversations/b/turns/1{part}")));
        for path in [
            "/conversations/a",
            "/conversations/a/history",
            "/conversations/a/export",
            "/conversations/a/export?format=markdown",
            "/conversations/b/export",
            "/conversations/a/entities",
            "/conversations",
            "/memories",
            "/memories/export",
            "/search?q=quaggaseven",
            "/search?q=locker",
            "/entities/device/quagga-sw7/conversations",
            "/users/ann/export",
        ] {
            paths.push(path.into());
        }
        let mut answers = Vec::new();
        for path in paths {
            let answer = self.get(&path).await;
            answers.push((path, answer));
        }
        for (session, message) in
            [("a", "Is it up?"), ("a", "What is my locker code?"), ("b", "What is my locker code?")]
        {
            let path = format!("/conversations/{session}/prepare");
            let answer = self.send(Method::POST, &path, json!({"message": message})).await;
            answers.push((format!("{path} of {message}"), answer));
        }
        answers.push(("the link".into(), self.app.get(&format!("/shared/{link}")).await));
        answers
    }
}

/// What an answer may say of the word: the caller's own question.
fn shows(name: &str, answer: &Answer) -> bool {
    let asked = usize::from(name.contains(WORD));
    answer.text.to_lowercase().matches(WORD).count() > asked || answer.text.contains("get_device")
}

async fn nothing_is_left(on: &str, app: &TestApp, folder: Option<&TempDir>) {
    let attack = Attack { app, key: app.key("acme", "ann", Grants::Write).await };
    let link = attack.fill().await;
    let first = attack.get("/conversations/a/turns/1/request").await;
    assert_eq!(first.status, 200, "{}", first.text);
    let before = attack.answers(&link).await;
    let seen = before.iter().filter(|(name, answer)| shows(name, answer)).count();
    assert!(seen >= 15, "the owner sees it in {seen} answers only");
    attack
        .send(Method::DELETE, "/conversations/a/turns/2?confirm=2", Value::Null)
        .await
        .expect(200);
    let mut wrong = Vec::new();
    let after = attack.answers(&link).await;
    for (name, answer) in after.iter().filter(|(name, answer)| shows(name, answer)) {
        wrong.push(format!("{name} shows it: {}", answer.text));
    }
    let place = match folder {
        Some(folder) => found(app, folder.path(), WORD).await,
        None => {
            let live = String::from_utf8_lossy(&live_bytes(app).await).to_lowercase();
            live.contains(WORD).then_some("in a record")
        }
    };
    wrong.extend(place.map(|place| format!("it is {place}")));
    // The rest stands: what did not show the turn is made again to the byte, what did says so.
    let again = attack.get("/conversations/a/turns/1/request").await;
    if again.text != first.text {
        wrong.push(format!("the request of turn 1 is another: {}", again.text));
    }
    for turn in 3..=5 {
        let path = format!("/conversations/a/turns/{turn}");
        let context = attack.get(&format!("{path}/context")).await.expect(200);
        let says = |piece: &&Value| piece["erased"] == true;
        let erased = context["pieces"].as_array().unwrap().iter().filter(says).count();
        let request = attack.get(&format!("{path}/request")).await;
        if erased == 0 || request.status != 404 {
            wrong.push(format!("turn {turn} does not say that something was erased: {context}"));
        }
    }
    trust::settle(PROMISE, on, after.len() as u64 + 6, &wrong);
}

#[tokio::test]
async fn later_turns_keep_nothing_of_an_erased_one_in_local_stores() {
    for kind in ["sqlite", "files"] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{kind}:{}", folder.path().join("store").display());
        nothing_is_left(kind, &on_store(&url).await, Some(&folder)).await;
    }
}

#[tokio::test]
async fn later_turns_keep_nothing_of_an_erased_one_in_remote_stores() {
    if let Some(redis) = RedisServer::start().await {
        nothing_is_left("redis", &on_store(&redis.url()).await, None).await;
    }
    if let Some(s3) = S3Server::weed().await {
        nothing_is_left("s3", &on_store(&s3.url("later", "c")).await, None).await;
    }
}
