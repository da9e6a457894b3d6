//! `/memories` over HTTP: what a person, another user and a wrong request get.

use reqwest::Method;
use serde_json::{Value, json};
use throughline_engine::access::Grants;

use crate::app::{Answer, TestApp, send};

/// One user's calls.
struct User<'a> {
    app: &'a TestApp,
    key: String,
}

impl User<'_> {
    async fn call(&self, method: Method, path: &str, body: Value) -> Answer {
        let request = self.app.request(method, &format!("/api/v1{path}"));
        let request = request.header("x-api-key", &self.key);
        send(if body.is_null() { request } else { request.json(&body) }).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, body).await
    }
}

async fn user<'a>(app: &'a TestApp, tenant: &str, name: &str) -> User<'a> {
    User { app, key: app.key(tenant, name, Grants::Write).await }
}

fn texts(answer: &Value, list: &str) -> Vec<String> {
    let list = answer[list].as_array().unwrap();
    list.iter().map(|memory| memory["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_memory_is_kept_superseded_corrected_found_and_forgotten() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    let old = json!({"text": "My rack is R41", "subject": "my rack"});
    ann.post("/memories", old.clone()).await.expect(201);
    ann.post("/memories", old).await.expect(200);
    let new = json!({"text": "My rack is R42", "subject": "My Rack"});
    let kept = ann.post("/memories", new).await.expect(201);
    assert_eq!(texts(&kept, "superseded"), ["My rack is R41"]);
    assert_eq!(
        (&kept["kind"], &kept["trust"], &kept["source"]),
        (&json!("profile"), &json!("told"), &Value::Null)
    );
    ann.post("/memories", json!({"text": "I like tea", "kind": "preference"})).await.expect(201);
    let list = ann.get("/memories?limit=1").await.expect(200);
    assert_eq!(
        (list["total"].as_u64(), texts(&list, "memories")),
        (Some(2), vec!["I like tea".into()])
    );
    let rest = format!("/memories?cursor={}", list["next_cursor"].as_str().unwrap());
    assert_eq!(texts(&ann.get(&rest).await.expect(200), "memories"), ["My rack is R42"]);
    let liked = ann.get("/memories?kind=preference").await.expect(200);
    assert_eq!(texts(&liked, "memories"), ["I like tea"]);
    let all = ann.get("/memories?superseded=true&subject=my%20rack").await.expect(200);
    assert_eq!(all["total"], 2);
    let hits = ann.get("/memories/search?q=which+rack").await.expect(200);
    assert_eq!(texts(&hits, "hits")[0], "My rack is R42");
    assert_eq!(
        texts(&ann.get("/memories?q=rack").await.expect(200), "memories")[0],
        "My rack is R42"
    );
    let at = format!("/memories/{}", kept["id"].as_str().unwrap());
    let changed = ann.call(Method::PATCH, &at, json!({"text": "My rack is R43"})).await.expect(200);
    assert_eq!(changed["id"], kept["id"]);
    let history = ann.get(&format!("{at}/history")).await.expect(200);
    assert_eq!(texts(&history, "versions"), ["My rack is R41", "My rack is R42", "My rack is R43"]);
    let gone = ann.call(Method::DELETE, &at, Value::Null).await.expect(200);
    // With the one that it had superseded.
    assert_eq!((gone["memories"].as_u64(), gone["versions"].as_u64()), (Some(2), Some(2)));
    assert_eq!(ann.get(&at).await.code(), "missing");
    assert_eq!(ann.call(Method::DELETE, "/memories", Value::Null).await.code(), "invalid");
    let gone = ann.call(Method::DELETE, "/memories?confirm=all", Value::Null).await.expect(200);
    assert_eq!(gone["memories"], 1);
    assert_eq!(ann.get("/memories?superseded=true").await.expect(200)["total"], 0);
}

#[tokio::test]
async fn another_users_memories_answer_nothing_whatever_is_asked() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    let secret = json!({"text": "My pin is QX4711Z", "subject": "my pin"});
    let kept = ann.post("/memories", secret).await.expect(201);
    let id = kept["id"].as_str().unwrap();
    let note = json!({"command": "create", "path": "/memories/pin.md", "file_text": "QX4711Z"});
    ann.post("/memories/tool", note).await.expect(200);
    ann.post("/conversations", json!({"id": "s"})).await.expect(201);
    let said = json!({"message": "My door code is QX4711Z.", "reply": "Noted: QX4711Z."});
    ann.post("/conversations/s/turns", said).await.expect(201);
    for (tenant, name) in [("acme", "bob"), ("other", "ann")] {
        let stranger = user(&app, tenant, name).await;
        let mut answers = vec![
            stranger.get("/memories?superseded=true").await,
            stranger.get("/memories?q=pin").await,
            stranger.get("/memories?subject=my+pin").await,
            stranger.get(&format!("/memories?cursor={}~{id}", "2999-01-01T00:00:00Z")).await,
            stranger.get("/memories/search?q=QX4711Z").await,
            stranger.get("/memories/export").await,
            stranger.get(&format!("/memories/{id}")).await,
            stranger.get(&format!("/memories/{id}/history")).await,
            stranger.call(Method::PATCH, &format!("/memories/{id}"), json!({"text": "x"})).await,
            stranger.call(Method::DELETE, &format!("/memories/{id}"), Value::Null).await,
            stranger
                .call(Method::DELETE, &format!("/memories/{id}?turns=erased"), Value::Null)
                .await,
            stranger.call(Method::DELETE, "/conversations/s/turns/1?confirm=1", Value::Null).await,
            stranger.get("/memories?session=s").await,
            stranger.get("/search?q=door+code").await,
            stranger.get("/conversations/s/turns/1").await,
        ];
        stranger.post("/conversations", json!({"id": "own"})).await.expect(201);
        let asked = json!({"message": "What are my door code and my pin?"});
        answers.push(stranger.post("/conversations/own/prepare", asked).await);
        for command in [
            json!({"command": "view", "path": "/memories"}),
            json!({"command": "view", "path": "/memories/pin.md"}),
            json!({"command": "delete", "path": "/memories/pin.md"}),
            json!({"command": "rename", "old_path": "/memories/pin.md", "new_path": "/memories/x"}),
            json!({"command": "view", "path": "/memories/../../acme/ann/memory_file"}),
        ] {
            answers.push(stranger.post("/memories/tool", command).await);
        }
        for answer in answers {
            assert!(!answer.text.contains("QX4711Z"), "{}", answer.text);
            assert!(matches!(answer.status, 200 | 404), "{} {}", answer.status, answer.text);
        }
        // The same subject and the same id are the stranger's own.
        let mine = json!({"text": "My pin is 1", "subject": "my pin"});
        assert_eq!(stranger.post("/memories", mine).await.expect(201)["superseded"], json!([]));
        let export = json!({"format": "throughline.memories/1", "memories": [{
            "id": id, "text": "taken over", "kind": "fact", "trust": "told",
            "source": {"session": "s", "turn": 1, "sentence": "My door code is QX4711Z."},
            "created_at": "2026-01-01T00:00:00Z", "changed_at": "2026-01-01T00:00:00Z"}]});
        stranger.post("/memories/import", export).await.expect(200);
        let all = "/memories?confirm=all&turns=erased";
        stranger.call(Method::DELETE, all, Value::Null).await.expect(200);
    }
    let turn = ann.get("/conversations/s/turns/1").await.expect(200);
    assert_eq!((&turn["reply"], &turn["withheld"]), (&json!("Noted: QX4711Z."), &json!(false)));
    assert_eq!(ann.get(&format!("/memories/{id}")).await.expect(200)["text"], "My pin is QX4711Z");
    let view = json!({"command": "view", "path": "/memories/pin.md"});
    assert!(ann.post("/memories/tool", view).await.text.contains("QX4711Z"));
}

#[tokio::test]
async fn a_key_that_only_reads_changes_nothing() {
    let app = TestApp::start().await;
    let reader = User { key: app.key("acme", "ann", Grants::Read).await, app: &app };
    reader.get("/memories").await.expect(200);
    let create = json!({"command": "create", "path": "/memories/a", "file_text": "x"});
    for (method, path, body) in [
        (Method::POST, "/memories", json!({"text": "x"})),
        (Method::PATCH, "/memories/x", json!({"text": "x"})),
        (Method::DELETE, "/memories/x", Value::Null),
        (Method::DELETE, "/memories?confirm=all", Value::Null),
        (Method::POST, "/memories/import", json!([])),
        (Method::POST, "/memories/tool", create),
    ] {
        assert_eq!(reader.call(method, path, body).await.code(), "forbidden", "{path}");
    }
}

#[tokio::test]
async fn wrong_requests_are_refused_with_the_reason() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    let long = "x".repeat(100 * 1024);
    for (path, body, status, code) in [
        ("/memories", json!({"text": long}), 413, "over_limit"),
        ("/memories", json!({"text": "  "}), 400, "invalid"),
        ("/memories", json!({"text": 7}), 400, "invalid_body"),
        ("/memories", json!({"text": "x", "user": "bob"}), 400, "invalid_body"),
        ("/memories", json!({"text": "x", "kind": "secret"}), 400, "invalid_body"),
        (
            "/memories/import",
            json!({"results": [{"memory": "fine"}, {"memory": 1}]}),
            400,
            "invalid",
        ),
        ("/memories/tool", json!({"command": "run", "path": "/memories"}), 400, "invalid_body"),
        (
            "/memories/tool",
            json!({"command": "create", "path": "/memories/a", "file_text": "x".repeat(200_000)}),
            413,
            "over_limit",
        ),
    ] {
        let answer = ann.post(path, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{}", answer.text);
    }
    for path in ["?limit=0", "?limit=101", "?cursor=x", "?user=bob", "/search?q=", "/search"] {
        assert_eq!(ann.get(&format!("/memories{path}")).await.status, 400, "{path}");
    }
    assert_eq!(ann.get("/memories").await.expect(200)["total"], 0, "nothing half-written");
    let lines = "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"likes tea\"]}\n";
    let import = |body: String| {
        let request = app.request(Method::POST, "/api/v1/memories/import");
        send(
            request
                .header("x-api-key", &ann.key)
                .header("content-type", "application/x-ndjson")
                .body(body),
        )
    };
    assert_eq!(import(format!("{lines}{{\"type\":")).await.code(), "invalid");
    assert_eq!(import(lines.to_owned()).await.expect(200)["imported"], 1);
}

#[tokio::test]
async fn the_memory_tool_answers_in_its_own_words() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    let run = async |command: Value| {
        let answer = ann.post("/memories/tool", command).await.expect(200);
        (answer["content"].as_str().unwrap().to_owned(), answer["is_error"].as_bool().unwrap())
    };
    let heading = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";
    assert_eq!(
        run(json!({"command": "view", "path": "/memories"})).await,
        (format!("{heading}\n0B\t/memories"), false)
    );
    let path = "/memories/plans/racks.md";
    let create = json!({"command": "create", "path": path, "file_text": "R41\nR42\n"});
    assert_eq!(run(create.clone()).await, (format!("File created successfully at: {path}"), false));
    assert_eq!(run(create).await, (format!("Error: File {path} already exists"), true));
    let listed = format!("{heading}\n8B\t/memories\n8B\t/memories/plans\n8B\t{path}");
    assert_eq!(run(json!({"command": "view", "path": "/memories/"})).await, (listed, false));
    let viewed = format!("Here's the content of {path} with line numbers:\n     2\tR42\n     3\t");
    assert_eq!(
        run(json!({"command": "view", "path": path, "view_range": [2, -1]})).await,
        (viewed, false)
    );
    let replace = |old: &str, new: &str| json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new});
    assert_eq!(
        run(replace("R42", "R43")).await,
        ("The memory file has been edited.\n     1\tR41\n     2\tR43\n     3\t".into(), false)
    );
    assert_eq!(
        run(replace("R9", "x")).await,
        (
            format!(
                "No replacement was performed, old_str `R9` did not appear verbatim in {path}."
            ),
            true
        )
    );
    assert_eq!(run(replace("R4", "x")).await, ("No replacement was performed. Multiple occurrences of old_str `R4` in lines: 1, 2. Please ensure it is unique".into(), true));
    let insert = |line: i64| json!({"command": "insert", "path": path, "insert_line": line, "insert_text": "R40\n"});
    assert_eq!(run(insert(0)).await, (format!("The file {path} has been edited."), false));
    assert_eq!(run(insert(9)).await, ("Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]".into(), true));
    let rename =
        json!({"command": "rename", "old_path": "/memories/plans", "new_path": "/memories/home"});
    assert_eq!(
        run(rename).await,
        ("Successfully renamed /memories/plans to /memories/home".into(), false)
    );
    let moved = "/memories/home/racks.md";
    assert_eq!(
        run(json!({"command": "view", "path": moved})).await.0,
        format!(
            "Here's the content of {moved} with line numbers:\n     1\tR40\n     2\tR41\n     3\tR43\n     4\t"
        )
    );
    assert_eq!(
        run(json!({"command": "view", "path": path})).await,
        (format!("The path {path} does not exist. Please provide a valid path."), true)
    );
    assert_eq!(
        run(json!({"command": "delete", "path": "/memories/home"})).await,
        ("Successfully deleted /memories/home".into(), false)
    );
    assert_eq!(
        run(json!({"command": "delete", "path": moved})).await,
        (format!("Error: The path {moved} does not exist"), true)
    );
    for path in [
        "/etc/passwd",
        "/memories/../etc",
        "/memories/%2e%2e/etc",
        "/memoriesx",
        "memories/a",
        "/memories//a",
        "/memories/a\\b",
        "",
    ] {
        let create = json!({"command": "create", "path": path, "file_text": "x"});
        assert!(run(create).await.1, "{path}");
    }
}

#[tokio::test]
async fn whoever_forgets_is_told_what_becomes_of_the_turn_and_may_erase_it() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    let eve = user(&app, "acme", "eve").await;
    ann.post("/conversations", json!({"id": "s"})).await.expect(201);
    for message in ["I'm allergic to nuts.", "I live in Porto."] {
        let turn = json!({"message": message, "reply": "Noted."});
        ann.post("/conversations/s/turns", turn).await.expect(201);
    }
    let id = async |words: &str| {
        let found = ann.get(&format!("/memories/search?q={words}")).await.expect(200);
        found["hits"][0]["id"].as_str().unwrap().to_owned()
    };
    let nuts = format!("/memories/{}", id("nuts").await);
    for wrong in ["?turns=burned", "?turn=erased"] {
        ann.call(Method::DELETE, &format!("{nuts}{wrong}"), Value::Null).await.expect(400);
    }
    let kept = ann.call(Method::DELETE, &nuts, Value::Null).await.expect(200);
    assert_eq!(kept["said_in"], json!([{"session": "s", "turn": 1, "became": "withheld"}]));
    assert!(kept["notes"][0].as_str().unwrap().contains("stay in the conversation"), "{kept}");
    let turn = ann.get("/conversations/s/turns/1").await.expect(200);
    assert_eq!(
        (&turn["message"], &turn["withheld"]),
        (&json!("I'm allergic to nuts."), &json!(true))
    );
    let history = ann.get("/conversations/s/history").await.expect(200);
    assert_eq!(
        (&history["turns"][0]["withheld"], &history["turns"][1]["withheld"]),
        (&json!(true), &json!(false))
    );

    let porto = format!("/memories/{}?turns=erased", id("Porto").await);
    let gone = ann.call(Method::DELETE, &porto, Value::Null).await.expect(200);
    assert_eq!((&gone["memories"], &gone["said_in"][0]["became"]), (&json!(1), &json!("erased")));
    assert_eq!(ann.get("/conversations/s/turns/2").await.expect(200)["message"], "");

    // A single turn, by itself.
    let (delete, first) = (|| Method::DELETE, "/conversations/s/turns/1?confirm=1");
    for wrong in ["/conversations/s/turns/1", "/conversations/s/turns/1?confirm=2"] {
        ann.call(delete(), wrong, Value::Null).await.expect(400);
    }
    eve.call(delete(), first, Value::Null).await.expect(404);
    ann.call(delete(), "/conversations/s/turns/9?confirm=9", Value::Null).await.expect(404);
    let erased = ann.call(delete(), first, Value::Null).await.expect(200);
    assert_eq!((&erased["turns"], &erased["memories"]), (&json!(1), &json!(0)), "{erased}");
    let again = ann.call(delete(), first, Value::Null).await.expect(200);
    assert_eq!(again["turns"], 0, "{again}");
    assert!(!ann.get("/conversations/s/export").await.text.contains("nuts"));
}

#[tokio::test]
async fn what_is_told_or_imported_without_a_subject_supersedes_what_it_is_about() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    ann.post("/memories", json!({"text": "My scooter is red"})).await.expect(201);
    let blue = ann.post("/memories", json!({"text": "My scooter is blue"})).await.expect(201);
    assert_eq!(texts(&blue, "superseded"), ["My scooter is red"]);
    let mem0 = json!({"results": [
        {"memory": "User lives in Porto", "created_at": "2026-03-01T00:00:00Z"},
        {"memory": "User's scooter is green", "created_at": "2026-02-01T00:00:00Z"},
        {"memory": "Lives in Faro", "created_at": "2026-01-01T00:00:00Z"}]});
    let report = ann.post("/memories/import", mem0).await.expect(200);
    assert_eq!((&report["imported"], &report["contradicting"]), (&json!(3), &json!(1)), "{report}");
    let named = &report["contradictions"][0];
    assert_eq!(named["text"], "User's scooter is green", "{report}");
    assert_eq!(texts(named, "contradicts"), ["My scooter is blue"]);
    let mut known = texts(&ann.get("/memories").await.expect(200), "memories");
    known.sort();
    assert_eq!(known, ["My scooter is blue", "User lives in Porto"], "the newest of each");
    let all = texts(&ann.get("/memories?superseded=true").await.expect(200), "memories");
    assert_eq!(all.len(), 5, "what is older stays in the history: {all:?}");
}

#[tokio::test]
async fn what_was_told_elsewhere_is_offered_for_a_question_in_other_words_and_for_no_other() {
    let app = TestApp::start().await;
    let ann = user(&app, "acme", "ann").await;
    let told = "Our boat's MMSI is 235087411.";
    ann.post("/conversations", json!({"id": "spring"})).await.expect(201);
    let said = json!({"message": told, "reply": "Noted."});
    ann.post("/conversations/spring/turns", said).await.expect(201);
    for (query, offered) in [
        ("What number identifies our yacht on the radio?", true),
        ("Which bus goes to the airport?", false),
        ("What is my shoe size?", false),
    ] {
        let answer = ann.post("/query", json!({"query": query})).await.expect(200);
        let response = answer["response"].as_str().unwrap();
        assert_eq!(
            (response.contains(told), &answer["success"]),
            (offered, &json!(false)),
            "{answer}"
        );
        assert_eq!(response.starts_with("I don't know that for certain."), offered, "{answer}");
    }
}
