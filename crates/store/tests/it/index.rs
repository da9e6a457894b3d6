//! The full-text index finds what was put, only within its scope, and drops what was removed.

use std::path::PathBuf;
use std::time::Duration;

use throughline_engine::id::{SessionId, TenantId, UserId};
use throughline_engine::index::{Document, Index, Part, Position, Query, Words};
use throughline_engine::store::{Scope, Version};
use throughline_store::index::SqliteIndex;
use throughline_store::url::OpenOptions;

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
    SqliteIndex::open(path, &OpenOptions::default()).await.unwrap()
}

fn query(scope: &Scope, text: &str) -> Query {
    Query { scope: scope.clone(), text: text.into(), words: Words::All, limit: 10, offset: 0 }
}

/// The hits as `session.turn`.
async fn found(index: &SqliteIndex, scope: &Scope, text: &str) -> Vec<String> {
    let hits = index.search(&query(scope, text)).await.unwrap();
    hits.into_iter().map(|hit| format!("{}.{}", hit.session, hit.turn)).collect()
}

#[tokio::test]
async fn words_are_found_by_their_stem_and_marked() {
    let index = open(None).await;
    let ada = scope("acme", "ada");
    let text = "The switches in Zürich were rebooted twice.";
    let documents = vec![
        Document { turn: 0, part: Part::Title, text: "Rebooting the core".into() },
        message(1, text),
        Document { turn: 1, part: Part::Reply, text: "Understood.".into() },
    ];
    index.put(&ada, &id("s1"), documents, at(1)).await.unwrap();
    assert_eq!(found(&index, &ada, "switch zurich").await, ["s1.1"]);
    let snippets = index.snippets(&query(&ada, "switch zurich"), vec![text.into()]).await.unwrap();
    let marked = snippets[0].marked("[", "]", str::to_owned);
    assert_eq!(marked, "The [switches] in [Zürich] were rebooted twice.");
    assert_eq!(found(&index, &ada, "reboot").await.len(), 2);
    assert_eq!(found(&index, &ada, "\"rebooted twice\"").await.len(), 1);
    assert_eq!(found(&index, &ada, "\"twice rebooted\"").await.len(), 0);
}

#[tokio::test]
async fn words_of_every_script_are_found() {
    let index = open(None).await;
    let ada = scope("acme", "ada");
    let texts = [
        ("zh", "我们需要重启东京的核心交换机", &["交换机", "东京", "机", "核心交换"][..]),
        ("ja", "サーバーを再起動してください", &["再起動", "サーバー", "起動して"]),
        ("th", "กรุณารีสตาร์ทเซิร์ฟเวอร์หลัก", &["เซิร์ฟเวอร์", "หลัก"]),
        ("ko", "서버를 다시 시작해 주세요", &["서버", "시작"]),
        ("ru", "Перезагрузите коммутаторы в стойке", &["коммутатор", "стойка"]),
        ("de", "Die Schalter in den Häusern sind nicht erreichbar", &["Haus", "erreichbare"]),
        ("fr", "Les commutateurs de la baie ne sont pas dans une liste", &["commutateur"]),
    ];
    for (name, text, _) in texts {
        index.put(&ada, &id(name), vec![message(1, text)], at(1)).await.unwrap();
    }
    for (name, _, words) in texts {
        for word in words {
            assert_eq!(found(&index, &ada, word).await, [format!("{name}.1")], "{word}");
        }
    }
    assert_eq!(found(&index, &ada, "京都").await, [""; 0]);
}

#[tokio::test]
async fn a_search_that_takes_too_long_ends_and_nobody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    let options = OpenOptions { search_time_max: Duration::ZERO, ..OpenOptions::default() };
    let slow = SqliteIndex::open(Some(path.clone()), &options).await.unwrap();
    let ada = scope("acme", "ada");
    for turn in 1..=2_000 {
        slow.put(&ada, &id("s1"), vec![message(turn, "a a a")], at(turn)).await.unwrap();
    }
    let error = slow.search(&query(&ada, "a")).await.unwrap_err();
    assert!(error.to_string().contains("took longer than 0 seconds"), "{error}");
    let error = slow.search(&query(&ada, "a")).await.unwrap_err();
    assert!(error.to_string().contains("took longer"), "it is no worse the second time: {error}");
    let index = open(Some(path)).await;
    assert_eq!(found(&index, &ada, "a").await.len(), 10);
    assert_eq!(slow.remove_session(&ada, &id("s1")).await.unwrap(), 2_000);
}

#[tokio::test]
async fn a_writer_does_not_wait_for_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    let index = open(Some(path.clone())).await;
    let ada = scope("acme", "ada");
    index.put(&ada, &id("s1"), vec![message(1, "first")], at(1)).await.unwrap();
    assert_eq!(found(&index, &ada, "first").await.len(), 1);
    // A reader that never finishes.
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |sql| reader.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM session"), 1);
    index.put(&ada, &id("s2"), vec![message(1, "second")], at(1)).await.unwrap();
    assert_eq!(found(&index, &ada, "second").await, ["s2.1"]);
    assert_eq!(count("SELECT count(*) FROM session"), 1, "the reader sees what it began with");
}

#[tokio::test]
async fn what_waits_to_be_written_is_seen_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    let index = open(Some(path.clone())).await;
    let ada = scope("acme", "ada");
    let rows = || {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.query_row("SELECT count(*) FROM session", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    for turn in 1..=50 {
        index.put(&ada, &id("s1"), vec![message(turn, "word")], at(turn)).await.unwrap();
    }
    assert_eq!(rows(), 0, "nothing was written for each turn");
    assert_eq!(index.position(&ada, &id("s1")).await.unwrap(), Some(at(50)));
    assert_eq!(found(&index, &ada, "word").await.len(), 10);
    assert_eq!(rows(), 1);
    index.put(&ada, &id("s1"), vec![message(51, "zanzibar")], at(51)).await.unwrap();
    assert_eq!(index.remove_session(&ada, &id("s1")).await.unwrap(), 51);
    assert_eq!(found(&index, &ada, "zanzibar").await.len(), 0);
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
    assert_eq!(found(&index, &ada, "b c").await, ["s1.1"]);
}

#[tokio::test]
async fn a_search_stays_in_its_scope() {
    let index = open(None).await;
    let scopes = [scope("acme", "ada"), scope("acme", "bob"), scope("other", "ada")];
    for (number, scope) in scopes.iter().enumerate() {
        let name = id(&format!("of-{number}"));
        index.put(scope, &name, vec![message(1, "secret")], at(1)).await.unwrap();
    }
    for (number, scope) in scopes.iter().enumerate() {
        assert_eq!(found(&index, scope, "secret").await, [format!("of-{number}.1")]);
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
        // Also its first six letters: FTS5 stores common prefixes only once.
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

/// FTS5 keeps a few deleted documents among many, and merges them only once there are many.
#[tokio::test]
async fn a_few_removed_words_among_many_are_gone_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.index.db");
    let index = open(Some(path.clone())).await;
    let ada = scope("acme", "ada");
    for turn in 1..=2_000 {
        let text = format!("many words of turn {turn}");
        index.put(&ada, &id("kept"), vec![message(turn, &text)], at(turn)).await.unwrap();
    }
    let secret = "zanzibarquux";
    index.put(&ada, &id("gone"), vec![message(1, secret)], at(1)).await.unwrap();
    let holds = || {
        ["store.index.db", "store.index.db-wal"].into_iter().any(|name| {
            let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
            bytes.windows(6).any(|window| window == &secret.as_bytes()[..6])
        })
    };
    assert_eq!(found(&index, &ada, secret).await, ["gone.1"]);
    assert!(holds());
    assert_eq!(index.remove_session(&ada, &id("gone")).await.unwrap(), 1);
    assert!(!holds(), "the file still holds the erased word");
    assert_eq!(found(&index, &ada, "many").await.len(), 10);
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
    let error = SqliteIndex::open(Some(path.clone()), &OpenOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains("not an SQLite database"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), "a letter to a friend".repeat(20).as_bytes());
}
