//! The full-text index finds what was put in, in its scope only, and forgets what was removed.

use std::path::PathBuf;

use throughline_engine::id::{SessionId, TenantId, UserId};
use throughline_engine::index::{Document, Index, Part, Position, Query, Words};
use throughline_engine::store::{Scope, Version};
use throughline_store::index::SqliteIndex;
use throughline_store::open::BUSY_WAIT;

fn scope(tenant: &str, user: &str) -> Scope {
    Scope { tenant: TenantId::new(tenant).unwrap(), user: UserId::new(user).unwrap() }
}

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn at(number: u64) -> Position {
    Position { version: Version { number, incarnation: 1 }, entries: number }
}

fn message(turn: u64, text: &str) -> Document {
    Document { turn, part: Part::Message, text: text.into() }
}

async fn open(path: Option<PathBuf>) -> SqliteIndex {
    SqliteIndex::open(path, BUSY_WAIT).await.unwrap()
}

async fn found(index: &SqliteIndex, scope: &Scope, text: &str) -> Vec<String> {
    let query =
        Query { scope: scope.clone(), text: text.into(), words: Words::All, limit: 10, offset: 0 };
    index
        .search(&query)
        .await
        .unwrap()
        .into_iter()
        .map(|hit| {
            let text = hit.snippet.marked("[", "]", str::to_owned);
            format!("{}.{} {}", hit.session, hit.turn, text)
        })
        .collect()
}

#[tokio::test]
async fn words_are_found_by_their_stem_and_marked() {
    let index = open(None).await;
    let ada = scope("acme", "ada");
    let documents = vec![
        Document { turn: 0, part: Part::Title, text: "Rebooting the core".into() },
        message(1, "The switches in Zürich were rebooted twice."),
        Document { turn: 1, part: Part::Reply, text: "Understood.".into() },
    ];
    index.put(&ada, &id("s1"), documents, at(1)).await.unwrap();
    assert_eq!(
        found(&index, &ada, "switch zurich").await,
        ["s1.1 The [switches] in [Zürich] were rebooted twice."]
    );
    assert_eq!(found(&index, &ada, "reboot").await.len(), 2);
    assert_eq!(found(&index, &ada, "\"rebooted twice\"").await.len(), 1);
    assert_eq!(found(&index, &ada, "\"twice rebooted\"").await.len(), 0);
}

#[tokio::test]
async fn no_text_is_an_error() {
    let index = open(None).await;
    let ada = scope("acme", "ada");
    index.put(&ada, &id("s1"), vec![message(1, "a \0 \u{2}b\u{3} c")], at(1)).await.unwrap();
    for text in [
        "\"",
        "\"\"\"",
        "AND",
        "a AND",
        "NEAR(a b)",
        "(",
        "a*",
        "^a",
        "-a",
        "text:a",
        "{a b}:c",
        "😀",
        "'; DROP TABLE found; --",
        "\0",
        "a\0b",
        "a \u{2}",
        "\u{202e}",
        "+",
        "a+b",
        "",
    ] {
        found(&index, &ada, text).await;
    }
    let long = "word ".repeat(10_000);
    found(&index, &ada, &long).await;
    assert_eq!(found(&index, &ada, "b c").await, ["s1.1 a    [b]  [c]"]);
}

#[tokio::test]
async fn a_search_stays_in_its_scope() {
    let index = open(None).await;
    let scopes = [scope("acme", "ada"), scope("acme", "bob"), scope("other", "ada")];
    for (number, scope) in scopes.iter().enumerate() {
        let text = format!("secret {number}");
        index.put(scope, &id("same"), vec![message(1, &text)], at(1)).await.unwrap();
    }
    for (number, scope) in scopes.iter().enumerate() {
        assert_eq!(found(&index, scope, "secret").await, [format!("same.1 [secret] {number}")]);
    }
}

#[tokio::test]
async fn a_document_is_replaced_and_an_empty_one_removed() {
    let index = open(None).await;
    let ada = scope("acme", "ada");
    index.put(&ada, &id("s1"), vec![message(1, "old words")], at(1)).await.unwrap();
    index.put(&ada, &id("s1"), vec![message(1, "new words")], at(2)).await.unwrap();
    assert_eq!(found(&index, &ada, "old").await.len(), 0);
    assert_eq!(found(&index, &ada, "new").await.len(), 1);
    index.put(&ada, &id("s1"), vec![message(1, "")], at(3)).await.unwrap();
    assert_eq!(found(&index, &ada, "new").await.len(), 0);
    assert_eq!(index.position(&ada, &id("s1")).await.unwrap(), Some(at(3)));
}

#[tokio::test]
async fn an_older_position_changes_nothing() {
    let index = open(None).await;
    let ada = scope("acme", "ada");
    index.put(&ada, &id("s1"), vec![message(1, "later")], at(5)).await.unwrap();
    index.put(&ada, &id("s1"), vec![message(1, "earlier")], at(4)).await.unwrap();
    assert_eq!(found(&index, &ada, "later").await.len(), 1);
    assert_eq!(index.position(&ada, &id("s1")).await.unwrap(), Some(at(5)));
    assert_eq!(index.position(&ada, &id("s2")).await.unwrap(), None);
}

#[tokio::test]
async fn removed_words_are_gone_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    let index = open(Some(path.clone())).await;
    let (ada, bob) = (scope("acme", "ada"), scope("acme", "bob"));
    let secret = "zanzibarquux";
    for turn in 1..200 {
        let text = format!("the {secret}{turn} of turn {turn}");
        index.put(&ada, &id("s1"), vec![message(turn, &text)], at(turn)).await.unwrap();
    }
    index.put(&ada, &id("s2"), vec![message(1, "other words")], at(1)).await.unwrap();
    index.put(&bob, &id("s1"), vec![message(1, "words of bob")], at(1)).await.unwrap();
    assert_eq!(index.remove_session(&ada, &id("s1")).await.unwrap(), 199);
    assert_eq!(index.remove_session(&ada, &id("s1")).await.unwrap(), 0);
    assert_eq!(found(&index, &ada, "turn").await.len(), 0);
    for name in ["store.index.db", "store.index.db-wal"] {
        let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
        let holds = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        // The first six letters too: FTS5 stores what words have in common only once.
        assert!(!holds(&secret[..6]), "{name} still holds the erased word");
    }
    assert_eq!(found(&index, &ada, "words").await.len(), 1);
    assert_eq!(index.remove_scope(&ada).await.unwrap(), 1);
    assert_eq!(found(&index, &ada, "words").await.len(), 0);
    assert_eq!(found(&index, &bob, "words").await.len(), 1);
    index.clear().await.unwrap();
    assert_eq!(found(&index, &bob, "words").await.len(), 0);
    assert_eq!(index.position(&bob, &id("s1")).await.unwrap(), None);
}

#[tokio::test]
async fn an_index_that_cannot_be_read_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    let ada = scope("acme", "ada");
    let index = open(Some(path.clone())).await;
    index.put(&ada, &id("s1"), vec![message(1, "words")], at(1)).await.unwrap();
    drop(index);
    let index = open(Some(path.clone())).await;
    assert_eq!(found(&index, &ada, "words").await.len(), 1, "it lasts");
    drop(index);
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let index = open(Some(path.clone())).await;
    assert_eq!(found(&index, &ada, "words").await.len(), 0);
    assert_eq!(index.position(&ada, &id("s1")).await.unwrap(), None, "so it is filled again");
    index.put(&ada, &id("s1"), vec![message(1, "words")], at(1)).await.unwrap();
    assert_eq!(found(&index, &ada, "words").await.len(), 1);
}

#[tokio::test]
async fn a_file_of_another_program_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    std::fs::write(&path, "a letter to a friend".repeat(20)).unwrap();
    let error = SqliteIndex::open(Some(path.clone()), BUSY_WAIT).await.unwrap_err();
    assert!(error.to_string().contains("not an SQLite database"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), "a letter to a friend".repeat(20).as_bytes());
}
