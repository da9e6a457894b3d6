//! What was erased is in no byte of the store: every kind of text, every way to erase it.
//!
//! Live records are read from the store itself, heads and derived ones too, whatever form they are kept in. What belongs to
//! no record is looked for in the files, plain and in every compressed frame that they hold.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use throughline_engine::access::Grants;
use throughline_engine::store::Found;
use throughline_testkit::frames::unpacked;
use throughline_testkit::trust;

use crate::app::TestApp;
use crate::isolation::{call, fill, on_store};

const PROMISE: &str = "erase and byte scan";

/// Every file below a folder, as bytes.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        all.extend(if path.is_dir() { bytes_below(&path) } else { std::fs::read(path).unwrap() });
    }
    all
}

/// All that the store answers, decoded.
pub(crate) async fn live_bytes(app: &TestApp) -> Vec<u8> {
    let store = app.app.engine().store();
    let mut all = Vec::new();
    for listed in store.scan(None, usize::MAX).await.unwrap() {
        all.extend(listed.key.to_string().bytes());
        if let Found::Head(head) = store.head(&listed.key, None).await.unwrap() {
            all.extend(&head.bytes[..]);
        }
        for entry in store.entries(&listed.key, 0..u64::MAX).await.unwrap() {
            all.extend(&entry[..]);
        }
    }
    all
}

/// Where the word is.
pub(crate) async fn found(app: &TestApp, folder: &Path, word: &str) -> Option<&'static str> {
    let holds = |bytes: &[u8]| {
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    };
    let files = bytes_below(folder);
    if holds(&live_bytes(app).await) {
        Some("in a record")
    } else if holds(&files) {
        Some("in a file")
    } else {
        holds(&unpacked(&files)).then_some("in a file, compressed")
    }
}

/// Words that only an erased user's texts hold.
#[tokio::test]
async fn a_user_is_in_no_byte_of_a_local_store() {
    for kind in ["sqlite", "files"] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{kind}:{}", folder.path().join("store").display());
        let app = on_store(&url).await;
        let admin = app.key("acme", "root", Grants::Admin).await;
        let users = trust::times(4);
        let mut wrong = Vec::new();
        for number in 0..users {
            let user = format!("user{number}");
            let key = app.key("acme", &user, Grants::Write).await;
            fill(&app, &key, &user, number).await;
            // The index is written when it is asked.
            call(&app, &key, Method::GET, "/search?q=canary", Value::Null).await.expect(200);
            let text = format!("bird{number}x");
            assert!(found(&app, folder.path(), &text).await.is_some(), "{kind}: it is there");
            let path = format!("/users/{user}?confirm={user}");
            call(&app, &admin, Method::DELETE, &path, Value::Null).await.expect(200);
            if let Some(place) = found(&app, folder.path(), &text).await {
                wrong.push(format!("{text} is still there, {place}"));
            }
        }
        // A session, a context, a preset, a memory and a file of each.
        trust::settle(PROMISE, kind, users * 5, &wrong);
    }
}

/// A text of some length: long ones are compressed.
fn text(word: &str, repeats: u64) -> String {
    let number = repeats * 7_919;
    format!("You are a patient tutor of {word}, lesson {number}. ")
        .repeat(1 + repeats as usize % 40)
}

/// Makes something that holds `word`, erases it alone, and answers what it was.
async fn made_and_erased(app: &TestApp, key: &str, which: u64, word: &str) -> &'static str {
    let long = text(word, which * 11 + 3);
    let send = async |method, path: &str, body: Value| call(app, key, method, path, body).await;
    let made = async |path: &str, body: Value| send(Method::POST, path, body).await.expect(201);
    let gone = async |path: &str| send(Method::DELETE, path, Value::Null).await;
    let indexed = async || {
        send(Method::GET, "/search?q=tutor", Value::Null).await.expect(200);
    };
    let turn = json!({"message": format!("My dog is {word}. Where is device {word}-sw in rack R12?"),
        "reply": long, "metadata": {"note": word},
        "tool_executions": [{"server": "s", "name": "get_rack", "arguments": {"name": word},
            "result": {"name": word, "devices": [word], "notes": long}}]});
    let (what, answer) = match which % 7 {
        0 => {
            let recorded = made("/conversations/a/turns", turn).await;
            made("/conversations/a/turns", json!({"message": "And then?", "reply": "Nothing."}))
                .await;
            indexed().await;
            let turn = &recorded["turn"];
            ("a turn", gone(&format!("/conversations/a/turns/{turn}?confirm={turn}")).await)
        }
        1 => {
            made("/conversations", json!({"id": "b", "title": word, "tags": [word]})).await;
            made("/conversations/b/turns", turn).await;
            indexed().await;
            ("a session", gone("/conversations/b/permanent").await)
        }
        2 => {
            let id = made("/memories", json!({"text": format!("My bird is {word}")})).await["id"]
                .clone();
            ("a memory", gone(&format!("/memories/{}", id.as_str().unwrap())).await)
        }
        3 => {
            let id = made("/memories", json!({"text": format!("My horse is {word}")})).await["id"]
                .clone();
            let path = format!("/memories/{}", id.as_str().unwrap());
            send(Method::PATCH, &path, json!({"text": format!("My horse is {word} the second")}))
                .await;
            ("a changed memory", gone(&path).await)
        }
        4 => {
            let file = json!({"command": "create", "path": "/memories/n.md", "file_text": long});
            send(Method::POST, "/memories/tool", file).await.expect(200);
            let delete = json!({"command": "delete", "path": "/memories/n.md"});
            ("a file", send(Method::POST, "/memories/tool", delete).await)
        }
        5 => {
            let context =
                json!({"id": "c", "name": "Tutor", "systemPrompt": long, "temperature": 0.5});
            made("/contexts", context).await;
            ("a context", gone("/conversations/c/permanent").await)
        }
        _ => {
            let preset = json!({"id": "p", "name": "Tutor", "description": word, "systemPrompt": long,
                "defaultPersonality": "patient"});
            made("/presets", preset).await;
            ("a preset", gone("/presets/p").await)
        }
    };
    assert!(answer.status < 300, "{what}: {} {}", answer.status, answer.text);
    what
}

#[tokio::test]
async fn each_kind_of_text_goes_with_what_it_was_part_of() {
    for kind in ["sqlite", "files"] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{kind}:{}", folder.path().join("store").display());
        let app = on_store(&url).await;
        let key = app.key("acme", "ann", Grants::Write).await;
        call(&app, &key, Method::POST, "/conversations", json!({"id": "a"})).await.expect(201);
        let (mut wrong, attempts) = (Vec::new(), trust::times(14));
        for number in 0..attempts {
            let word = format!("{}zebra{number}q", char::from(b'a' + (number % 26) as u8));
            let what = made_and_erased(&app, &key, number, &word).await;
            if let Some(place) = found(&app, folder.path(), &word).await {
                wrong.push(format!("{what} ({word}) is still there, {place}"));
            }
        }
        trust::settle(PROMISE, &format!("{kind}, kinds of text"), attempts, &wrong);
    }
}
