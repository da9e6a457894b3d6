//! SQLite: foreign files, damage, other processes, backup, erasure on disk.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use rusqlite::Connection;
use throughline_engine::store::{Change, Expected, Page, Store, StoreError};
use throughline_store::conformance::check_all;
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;
use throughline_testkit::frames::unpacked;

use crate::sample::{append, change, key, log};

async fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, BUSY_WAIT).await.unwrap()
}

/// A closed store with two threads.
async fn filled(path: &Path) {
    let store = open(path).await;
    for id in ["one", "two"] {
        for number in 0..30 {
            let entry = format!("{{\"turn\":{number},\"text\":\"{}\"}}", id.repeat(200));
            append(&store, &key(id), &[&entry]).await;
        }
    }
}

async fn refusal(path: &Path) -> String {
    let before = fs::read(path).unwrap();
    let error = Sqlite::open(path, BUSY_WAIT).await.unwrap_err();
    assert!(fs::read(path).unwrap() == before, "the file was touched");
    match error {
        StoreError::Refused { reason, hint, .. } => format!("refused: {reason}; hint: {hint}"),
        other => other.to_string(),
    }
}

#[tokio::test]
async fn a_file_that_is_not_ours_is_refused_and_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    fs::write(&path, "Dear friend, ".repeat(100)).unwrap();
    assert!(refusal(&path).await.contains("it is not an SQLite database"));
    fs::write(&path, "short").unwrap();
    assert!(refusal(&path).await.contains("it is not an SQLite database"));
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    assert!(refusal(&path).await.contains("an SQLite database of another program"));
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    filled(&path).await;
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    // The header still has the old version, while the new one is in the WAL.
    let seen = refusal(&path).await;
    assert!(seen.contains("schema version is 99") && seen.contains("newer throughline"), "{seen}");
}

#[tokio::test]
async fn a_file_that_was_cut_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    filled(&path).await;
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let seen = refusal(&path).await;
    assert!(seen.contains("is damaged") && seen.contains("restore a backup"), "{seen}");
}

/// Flips the last byte of an entry of the first thread in the file.
fn damage(path: &Path, number: i64) {
    let asked = "SELECT bytes FROM entry WHERE number = ?1 ORDER BY thread LIMIT 1";
    let connection = Connection::open(path).unwrap();
    let entry: Vec<u8> = connection.query_row(asked, [number], |row| row.get(0)).unwrap();
    drop(connection);
    let bytes = fs::read(path).unwrap();
    let at = bytes.windows(entry.len()).position(|window| window == entry).unwrap();
    let at = at + entry.len() - 1;
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(&[bytes[at] ^ 1]).unwrap();
}

async fn problems(path: &Path) -> String {
    open(path).await.check().await.unwrap().problems.join("\n")
}

#[tokio::test]
async fn check_names_a_flipped_byte_a_gap_and_a_wrong_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    filled(&path).await;
    assert_eq!(problems(&path).await, "");
    damage(&path, 7);
    assert_eq!(problems(&path).await, "entry 7 of acme/ada/session/one: checksum mismatch");
    let store = open(&path).await;
    assert_eq!(store.entries(&key("one"), 0..7).await.unwrap().len(), 7);
    let error = store.entries(&key("one"), 0..30).await.unwrap_err().to_string();
    assert!(error.contains("entry 7 of acme/ada/session/one is damaged"), "{error}");
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("DELETE FROM entry WHERE number = 3").unwrap();
    connection.execute_batch("UPDATE thread SET head = x'00' WHERE name = 'two'").unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch("UPDATE entry SET thread = 77 WHERE id = 10").unwrap();
    drop(connection);
    let seen = problems(&path).await;
    for sentence in [
        "row 10 of table entry refers to a missing row",
        "acme/ada/session/one: the head counts 30 entries, the log has 28",
        "acme/ada/session/two: missing entries: 1",
        "the head of acme/ada/session/two: checksum mismatch",
    ] {
        assert!(seen.contains(sentence), "{sentence:?} is not in:\n{seen}");
    }
}

#[tokio::test]
async fn check_names_a_broken_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    filled(&path).await;
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let middle = fs::metadata(&path).unwrap().len() / 8192 / 2 * 8192;
    file.seek(SeekFrom::Start(middle)).unwrap();
    file.write_all(&[0xab; 64]).unwrap();
    assert_ne!(problems(&path).await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_on_one_file_conform_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (one, two) = (Arc::new(open(&path).await), Arc::new(open(&path).await));
    let first = key("shared");
    let tasks = [Arc::clone(&one), Arc::clone(&two)].map(|store| {
        let key = first.clone();
        tokio::spawn(async move {
            for number in 0..50 {
                append(store.as_ref(), &key, &[&number.to_string()]).await;
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(log(one.as_ref(), &first).await.len(), 100);
    check_all(two).await;
}

#[tokio::test]
async fn the_file_is_private_and_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/store.db");
    filled(&path).await;
    for name in ["store.db", "."] {
        let mode = fs::metadata(path.parent().unwrap().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    assert_eq!(log(&open(&path).await, &key("one")).await.len(), 30);
}

/// Whether any file in the folder contains the words, plain or compressed.
fn on_disk(folder: &Path, words: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let mut bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.extend(unpacked(&bytes));
        bytes.windows(words.len()).any(|window| window == words.as_bytes())
    })
}

#[tokio::test]
async fn what_was_erased_or_overwritten_is_not_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("store.db")).await;
    append(&store, &key("kept"), &["\"harmless\""]).await;
    let secret = "\"the secret of zanzibar\"";
    let large = format!("\"{}\"", "the secret of sansibar ".repeat(2000));
    let at = append(&store, &key("gone"), &[secret, &large]).await;
    assert!(on_disk(folder.path(), "zanzibar"));
    let blank = Change { overwrite: vec![(0, Bytes::from("null"))], ..change("{}", &[]) };
    store.commit(&key("gone"), Expected::At(at), blank).await.unwrap();
    // A later request is answered after the WAL was truncated.
    append(&store, &key("kept"), &["1"]).await;
    assert!(!on_disk(folder.path(), "zanzibar"), "after the overwrite");
    assert!(on_disk(folder.path(), "sansibar"));
    let erased = store.erase(&key("gone")).await.unwrap();
    assert_eq!((erased.entries, erased.left), (2, 0));
    assert!(!on_disk(folder.path(), "sansibar"), "after the erasure");
    assert!(on_disk(folder.path(), "harmless"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_is_one_sound_moment_of_a_store_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.db"), folder.path().join("copy.db"));
    filled(&path).await;
    let store = Arc::new(open(&path).await);
    let writer = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for number in 0..100 {
                append(store.as_ref(), &key("busy"), &[&number.to_string()]).await;
            }
        }
    });
    let done = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&done);
    let copied = store
        .backup_to(&copy, move |progress| {
            assert!(progress.done <= progress.total);
            seen.store(progress.done, Ordering::Relaxed);
        })
        .await
        .unwrap();
    writer.await.unwrap();
    assert!(done.load(Ordering::Relaxed) > 0);
    assert_eq!(copied.bytes, fs::metadata(&copy).unwrap().len());
    assert!(!folder.path().join("copy.db-wal").exists());
    let again = store.backup_to(&copy, |_| {}).await.unwrap_err().to_string();
    assert!(again.contains("it already exists"), "{again}");
    let restored = folder.path().join("restored.db");
    Sqlite::copy(&copy, &restored, BUSY_WAIT, |_| {}).await.unwrap();
    let restored = open(&restored).await;
    let report = restored.check().await.unwrap();
    assert_eq!((report.threads, report.entries), (copied.threads, copied.entries));
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(log(&restored, &key("two")).await, log(store.as_ref(), &key("two")).await);
    append(&restored, &key("two"), &["1"]).await;
}

#[tokio::test]
async fn a_damaged_store_gives_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.db"), folder.path().join("copy.db"));
    filled(&path).await;
    damage(&path, 7);
    let error = open(&path).await.backup_to(&copy, |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("entry 7 of acme/ada/session/one"), "{error}");
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("copy")), "{names:?}");
}

/// A turn of a long session adds a few pages to the WAL, not its whole head; a regression fails here.
#[tokio::test]
async fn an_append_writes_few_bytes_whatever_its_head_is() {
    const APPENDS: u64 = 200;
    const BYTES_MAX: u64 = 8_850;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("work.db");
    let store = open(&path).await;
    let head = |turn: u64| -> Bytes {
        let things =
            (0..400).map(|n| format!("thing {n} was seen {} times", (n * 7 + turn / (n + 1)) % 97));
        Bytes::from(Vec::from_iter(things).join("\n"))
    };
    let turn = |number: u64| {
        let said = format!("turn {number}: {}", "words of a turn ".repeat(60));
        Change { head: head(number), ..change("", &[&said]) }
    };
    let mut at = store.commit(&key("s"), Expected::Absent, turn(0)).await.unwrap();
    let wal = || fs::metadata(folder.path().join("work.db-wal")).unwrap().len();
    let before = wal();
    for number in 1..=APPENDS {
        at = store.commit(&key("s"), Expected::At(at), turn(number)).await.unwrap();
    }
    let each = (wal() - before) / APPENDS;
    println!("an append writes {each} bytes to the WAL; its head has {}", head(1).len());
    assert!(each <= BYTES_MAX, "an append writes {each} bytes to the WAL");
}

/// An index for listings made by `built`, which then claims to be the usual one.
fn spoil_index(path: &Path, built: &str) {
    let usual = "CREATE INDEX thread_recent ON thread (place, changed_at DESC, name)";
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(&format!(
            "DROP INDEX thread_recent; {built}; PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = '{usual}' WHERE name = 'thread_recent';"
        ))
        .unwrap();
}

#[tokio::test]
async fn an_index_that_lost_a_thread_is_rebuilt_and_the_thread_is_listed() {
    for built in [
        "CREATE INDEX thread_recent ON thread (place, changed_at DESC, name) WHERE name <> 'two'",
        "CREATE INDEX thread_recent ON thread (place, changed_at DESC, replace(name, 'two', 'tvo'))",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        filled(&path).await;
        spoil_index(&path, built);
        let store = open(&path).await;
        let two = key("two");
        let page = Page { limit: 10, after: None };
        let listed = store.list(&two.scope, two.kind, page).await.unwrap();
        let mut ids: Vec<&str> = listed.iter().map(|listed| listed.key.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["one", "two"], "{built}");
        assert_eq!(store.erase(&two).await.unwrap().heads, 1);
        assert_eq!(store.check().await.unwrap().problems, [""; 0]);
    }
}

#[tokio::test]
async fn a_head_that_was_changed_is_counted_until_it_is_erased() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    filled(&path).await;
    let connection = Connection::open(&path).unwrap();
    let changed = "UPDATE thread SET head_sum = head_sum + 1 WHERE name = 'two'";
    assert_eq!(connection.execute(changed, []).unwrap(), 1);
    drop(connection);
    let store = open(&path).await;
    assert_eq!(store.facts().damaged, 0, "nobody has read it");
    assert!(store.head(&key("one"), None).await.is_ok());
    assert!(matches!(store.head(&key("two"), None).await, Err(StoreError::Damaged { .. })));
    assert_eq!(store.facts().damaged, 1);
    store.erase(&key("two")).await.unwrap();
    assert_eq!(store.facts().damaged, 0);
}
