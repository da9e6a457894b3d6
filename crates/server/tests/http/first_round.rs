//! Data of the first released version: a database that it wrote is opened, read, rebuilt to the byte and gone on with.

use std::io::Read;

use serde_json::{Value, json};

use crate::app::TestApp;

const DATABASE: &[u8] = include_bytes!("../fixtures/first-round.db.gz");
const EXPECTED: &str = include_str!("../fixtures/first-round.json");

#[tokio::test]
async fn what_the_first_version_stored_is_read_rebuilt_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first-round.db");
    let mut database = Vec::new();
    flate2::read::GzDecoder::new(DATABASE).read_to_end(&mut database).unwrap();
    std::fs::write(&path, database).unwrap();
    let url = format!("sqlite:{}", path.display());
    let app = TestApp::builder().set(|config| config.store.url = url).demo().start().await;

    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    for (session, expected) in expected.as_object().unwrap() {
        let head = app.get(&format!("/conversations/{session}")).await.expect(200);
        assert_eq!(head["turns"], expected["turns"], "{session}");
        let history = format!("/conversations/{session}/history?limit=100");
        let history = app.get(&history).await.expect(200);
        let turns = history["turns"].as_array().unwrap();
        for (at, turn) in turns.iter().enumerate() {
            assert_eq!(turn["message"], expected["messages"][at], "{session} {at}");
            assert_eq!(turn["reply"], expected["replies"][at], "{session} {at}");
            let path = format!("/conversations/{session}/turns/{}/request", at + 1);
            let request = app.get(&path).await;
            assert_eq!(request.status, 200, "{path}: {}", request.text);
            let hash = request.headers["x-request-hash"].to_str().unwrap();
            assert_eq!(json!(hash), expected["request_hashes"][at], "{path}");
        }
    }
    let message = json!({"conversation_id": "tour", "message": "list sites"});
    let turn = app.post("/chat", message).await.expect(200);
    assert_eq!(turn["turn"], 5);
    let context = app.get("/conversations/tour/turns/5/context").await.expect(200);
    let history =
        |piece: &&Value| piece["source"]["kind"] == "history" && piece["included"] == true;
    let shown = context["pieces"].as_array().unwrap().iter().filter(history).count();
    assert!(shown >= 8, "the conversation is shown word for word: {context}");
}
