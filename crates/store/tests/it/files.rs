//! Files: readable, robust against damage, shared by processes, nothing left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use throughline_engine::store::{Change, Expected, Found, Kind, Page, Store, StoreError};
use throughline_store::conformance::check_all;
use throughline_store::files::Files;

use crate::sample::{append, change, key, log, scope};

async fn open(root: &Path) -> Files {
    Files::open(root).await.unwrap()
}

fn folder_of(root: &Path, id: &str) -> PathBuf {
    root.join("threads/acme/ada/session").join(id)
}

/// A closed store with threads `one` and `two` of 130 turns.
async fn filled(root: &Path) {
    let store = open(root).await;
    for id in ["one", "two"] {
        let entries: Vec<String> = (0..130).map(|n| format!("{{\"said\":\"{id} {n}\"}}")).collect();
        let (first, rest) = entries.split_at(60);
        append(&store, &key(id), &first.iter().map(String::as_str).collect::<Vec<_>>()).await;
        append(&store, &key(id), &rest.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
}

#[tokio::test]
async fn a_person_can_read_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("conversations");
    let store = open(&root).await;
    let made = change("{\"title\":\"Racks\"}", &["{\"message\":\"Hello\"}", "two\nlines"]);
    let version = store.commit(&key("one"), Expected::Absent, made).await.unwrap();
    let head = fs::read_to_string(folder_of(&root, "one").join("head.json")).unwrap();
    let without_check: Vec<&str> =
        head.lines().filter(|line| !line.contains("\"check\"")).collect();
    assert_eq!(
        without_check.join("\n"),
        format!(
            r#"{{
  "key": "acme/ada/session/one",
  "version": 1,
  "incarnation": {},
  "entries": 2,
  "tail_bytes": 123,
  "changed_at": "2026-09-21T14:13:20Z",
  "expires_at": null,
  "rewritten": {{}},
  "head": {{
    "json": {{"title":"Racks"}}
  }}
}}"#,
            version.incarnation
        )
    );
    let log = fs::read_to_string(folder_of(&root, "one").join("turns-000001.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2);
    assert!(log.starts_with("{\"turn\":1,\"sum\":\""), "{log}");
    assert!(log.contains("\"entry\":{\"json\":{\"message\":\"Hello\"}}}\n"), "{log}");
    serde_json::from_str::<serde_json::Value>(&head).unwrap();
    for name in ["head.json", "turns-000001.jsonl", "."] {
        let mode = fs::metadata(folder_of(&root, "one").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

/// A modification of a thread's folder, and the message that it leads to.
type Damage = (&'static str, fn(&Path));

#[tokio::test]
async fn a_thread_whose_head_is_damaged_keeps_its_name_until_somebody_decides() {
    let break_it: [Damage; 3] = [
        ("head.json: it is truncated", |folder| {
            fs::write(folder.join("head.json"), "{\n  \"ch").unwrap();
        }),
        ("head.json: checksum mismatch", |folder| {
            let head = fs::read_to_string(folder.join("head.json")).unwrap();
            fs::write(
                folder.join("head.json"),
                head.replace("\"entries\": 130", "\"entries\": 129"),
            )
            .unwrap();
        }),
        ("it has no head.json", |folder| fs::remove_file(folder.join("head.json")).unwrap()),
    ];
    for (reason, break_it) in break_it {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("conversations");
        filled(&root).await;
        break_it(&folder_of(&root, "one"));
        let store = open(&root).await;
        assert_eq!(store.facts().damaged, 1);
        for refused in [
            store.head(&key("one"), None).await.map(drop),
            store.commit(&key("one"), Expected::Absent, change("new", &["1"])).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            assert!(error.to_string().contains(reason), "{reason} is not in {error}");
        }
        assert_eq!(log(&store, &key("two")).await.len(), 130);
        let report = store.check().await.unwrap();
        assert!(report.problems[0].contains(reason), "{report:?}");
        let salvaged = store.salvage(&key("one")).await.unwrap();
        assert_eq!(salvaged.iter().filter(|entry| entry.is_ok()).count(), 130);

        let aside = store.set_aside(&key("one"), "a test").await.unwrap();
        assert_eq!(aside, root.join("damaged/acme/ada/session/one/1"));
        assert!(fs::read_to_string(aside.join("reason.txt")).unwrap().contains("a test"));
        assert!(aside.join("turns-000001.jsonl").exists());
        assert_eq!(store.facts().damaged, 0);
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
        // The id can be used again, and erasing removes the damaged copy.
        append(&store, &key("one"), &["1"]).await;
        store.erase(&key("one")).await.unwrap();
        assert!(!root.join("damaged/acme").exists());
    }
}

#[tokio::test]
async fn a_segment_that_is_lost_costs_its_own_turns() {
    let break_it: [Damage; 2] = [
        ("turns-000101.jsonl is missing", |folder| {
            fs::remove_file(folder.join("turns-000101.jsonl")).unwrap();
        }),
        ("turns-000101.jsonl: it has 10 bytes, but", |folder| {
            let file = fs::OpenOptions::new().write(true).open(folder.join("turns-000101.jsonl"));
            file.unwrap().set_len(10).unwrap();
        }),
    ];
    for (reason, break_it) in break_it {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("conversations");
        filled(&root).await;
        break_it(&folder_of(&root, "one"));
        let store = open(&root).await;
        assert_eq!(store.facts().damaged, 1, "{reason}");
        assert_eq!(store.entries(&key("one"), 0..100).await.unwrap().len(), 100);
        let error = store.entries(&key("one"), 104..105).await.unwrap_err().to_string();
        assert!(error.contains("turns-000101.jsonl"), "{error}");
        let report = store.check().await.unwrap().problems.join("\n");
        assert!(report.contains(&reason.replace(" is missing", ": it is missing")), "{report}");
    }
}

#[tokio::test]
async fn a_log_that_was_changed_by_hand_goes_on_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("conversations");
    filled(&root).await;
    let store = open(&root).await;
    let segment = folder_of(&root, "one").join("turns-000101.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    // One line is longer than before, and an editor removed the last line break.
    fs::write(&segment, text.replace("one 104", "one hundred and four").trim_end()).unwrap();
    append(&store, &key("one"), &["\"130\"", "\"131\""]).await;
    let one = key("one");
    let read = |number: u64| store.entries(&one, number..number + 1);
    assert!(read(104).await.is_err());
    for number in [103, 105, 129] {
        let said = String::from_utf8(read(number).await.unwrap()[0].to_vec()).unwrap();
        assert_eq!(said, format!("{{\"said\":\"one {number}\"}}"));
    }
    assert_eq!(read(131).await.unwrap(), ["\"131\""]);
    // Replacing the entry ends the damage.
    let Found::Head(head) = store.head(&key("one"), None).await.unwrap() else { panic!("a head") };
    let gone = Change { overwrite: vec![(104, "\"gone\"".into())], ..change("head", &[]) };
    store.commit(&key("one"), Expected::At(head.version), gone).await.unwrap();
    assert_eq!(log(&store, &key("one")).await.len(), 132);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    let left: Vec<_> = fs::read_dir(folder_of(&root, "one")).unwrap().collect();
    assert_eq!(left.len(), 3, "a head and two segments: {left:?}");
}

#[tokio::test]
async fn check_names_what_is_wrong_inside_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("conversations");
    filled(&root).await;
    let store = open(&root).await;
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    let segment = folder_of(&root, "one").join("turns-000001.jsonl");
    let log = fs::read_to_string(&segment).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    let flipped = lines[6].replace("one 6", "one 7");
    lines[6] = &flipped;
    lines[20] = "{\"turn\":21,";
    lines.swap(30, 31);
    lines.pop();
    fs::write(&segment, lines.join("\n") + "\n").unwrap();
    fs::write(folder_of(&root, "two").join("notes.txt"), "mine").unwrap();
    let seen = store.check().await.unwrap().problems.join("\n");
    let notes = store.check().await.unwrap().notes.join("\n");
    assert!(notes.contains("two/notes.txt is a foreign file"), "{notes}");
    for sentence in [
        "acme/ada/session/one: turns-000001.jsonl line 7: checksum mismatch",
        "acme/ada/session/one: turns-000001.jsonl line 21: it is not a log line",
        "acme/ada/session/one: turns-000001.jsonl line 31: it is numbered as turn 32",
        "acme/ada/session/one: turns-000001.jsonl has 99 lines, the head counts 100",
    ] {
        assert!(seen.contains(sentence), "{sentence:?} is not in:\n{seen}");
    }
    let error = store.entries(&key("one"), 5..8).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(store.entries(&key("one"), 0..6).await.unwrap().len(), 6);
    assert_eq!(store.entries(&key("one"), 100..130).await.unwrap().len(), 30);
}

#[tokio::test]
async fn an_unfinished_commit_counts_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("conversations");
    filled(&root).await;
    let one = folder_of(&root, "one");
    // What a process leaves behind if it dies before the head is replaced, before a new thread is renamed, and
    // before an erased one is removed.
    let mut tail = fs::read(one.join("turns-000101.jsonl")).unwrap();
    tail.extend_from_slice(b"{\"turn\":131,\"sum\":\"00000000\",\"entry\":{\"te");
    fs::write(one.join("turns-000101.jsonl"), tail).unwrap();
    fs::write(one.join("turns-000201.jsonl"), "{}\n").unwrap();
    fs::write(one.join("turns-000001.v9.jsonl"), "{}\n").unwrap();
    fs::write(one.join("head.json.next"), "{").unwrap();
    let place = one.parent().unwrap();
    fs::create_dir(place.join(".new-three")).unwrap();
    fs::write(place.join(".new-three/turns-000001.jsonl"), "{}\n").unwrap();
    fs::create_dir(place.join(".erased-four")).unwrap();
    fs::write(place.join(".erased-four/head.json"), "{}").unwrap();
    let store = open(&root).await;
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    assert_eq!(log(&store, &key("one")).await.len(), 130);
    append(&store, &key("one"), &["\"later\""]).await;
    assert_eq!(log(&store, &key("one")).await.last().unwrap(), "\"later\"");
    append(&store, &key("three"), &["3"]).await;
    assert_eq!(log(&store, &key("three")).await, ["3"]);
    assert!(!place.join(".erased-four").exists());
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    drop(store);
    assert_eq!(log(&open(&root).await, &key("one")).await.len(), 131);
}

#[tokio::test]
async fn a_folder_that_is_not_ours_is_refused_and_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("letters");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("letter.txt"), "Dear friend").unwrap();
    let error = Files::open(&theirs).await.unwrap_err().to_string();
    assert!(error.contains("not a throughline folder"), "{error}");
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1);
    let newer = folder.path().join("newer");
    open(&newer).await;
    let marker = fs::read_to_string(newer.join("throughline.json")).unwrap();
    fs::write(newer.join("throughline.json"), marker.replace(": 1", ": 2")).unwrap();
    let error = Files::open(&newer).await.unwrap_err().to_string();
    assert!(error.contains("its layout version is 2"), "{error}");
    fs::write(newer.join("throughline.json"), "[]").unwrap();
    let error = Files::open(&newer).await.unwrap_err().to_string();
    assert!(error.contains("throughline.json is not from throughline"), "{error}");
}

/// Everything below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| match entry.unwrap().path() {
            folder if folder.is_dir() => files_below(&folder),
            file => vec![file],
        })
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_symbolic_link_is_never_followed_out_of_the_folder() {
    for place in ["acme/ada/session/evil", "acme/ada/session", "acme/ada", "acme"] {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("conversations"), folder.path().join("outside"));
        // What is behind the link looks as threads do.
        filled(&outside).await;
        let behind = match place.ends_with("evil") {
            true => folder_of(&outside, "one"),
            false => outside.join("threads").join(place),
        };
        let before = files_below(&outside);
        open(&root).await;
        let link = root.join("threads").join(place);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(behind, &link).unwrap();

        let store = open(&root).await;
        let report = store.check().await.unwrap();
        assert_eq!((report.threads, report.problems), (0, vec![]), "{place}");
        assert_eq!(report.notes, [format!("{} is a foreign file", link.display())]);
        assert_eq!(store.scan(None, 10).await.unwrap(), [], "{place}");
        let listed =
            store.list(&scope("ada"), Kind::Session, Page { limit: 10, after: None }).await;
        let id = if place.ends_with("evil") { "evil" } else { "one" };
        let erased = store.erase(&key(id)).await;
        if id == "evil" {
            assert_eq!(listed.unwrap(), []);
            assert_eq!(erased.unwrap().records, 1);
            assert!(link.symlink_metadata().is_err(), "the link itself is removed");
        } else {
            let refused = [
                listed.map(drop),
                erased.map(drop),
                store.head(&key(id), None).await.map(drop),
                store.entries(&key(id), 0..1).await.map(drop),
                store.commit(&key("new"), Expected::Absent, change("{}", &[])).await.map(drop),
                store.set_aside(&key(id), "a test").await.map(drop),
                store.salvage(&key(id)).await.map(drop),
            ];
            for error in refused.map(Result::unwrap_err) {
                assert!(matches!(error, StoreError::Damaged { .. }), "{place}: {error}");
                let named = format!("{} is a symbolic link", link.display());
                assert!(error.to_string().contains(&named), "{place}: {error}");
            }
        }
        assert_eq!(files_below(&outside), before, "{place}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_on_one_folder_conform_together() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("conversations");
    let (one, two) = (Arc::new(open(&root).await), Arc::new(open(&root).await));
    let shared = key("shared");
    let tasks = [Arc::clone(&one), Arc::clone(&two)].map(|store| {
        let key = shared.clone();
        tokio::spawn(async move {
            for number in 0..40 {
                append(store.as_ref(), &key, &[&number.to_string()]).await;
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    let page = || Page { limit: 10, after: None };
    let seen = one.list(&scope("ada"), Kind::Session, page()).await.unwrap();
    assert_eq!((seen.len(), seen[0].entries), (1, 80), "what the other wrote is listed");
    assert_eq!(seen, two.list(&scope("ada"), Kind::Session, page()).await.unwrap());
    two.erase(&shared).await.unwrap();
    assert_eq!(one.list(&scope("ada"), Kind::Session, page()).await.unwrap(), []);
    check_all(two).await;
}

#[tokio::test]
async fn what_was_erased_or_overwritten_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("conversations");
    let store = open(&root).await;
    let at = append(&store, &key("one"), &["\"zanzibar\"", "\"kept\""]).await;
    let blank = Change { overwrite: vec![(0, Bytes::from("{}"))], ..change("{}", &["\"3\""]) };
    store.commit(&key("one"), Expected::At(at), blank).await.unwrap();
    let held = || {
        fs::read_dir(folder_of(&root, "one"))
            .unwrap()
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect::<String>()
    };
    assert!(!held().contains("zanzibar"));
    assert_eq!(log(&store, &key("one")).await, ["{}", "\"kept\"", "\"3\""]);
    drop(store);
    let store = open(&root).await;
    assert_eq!(log(&store, &key("one")).await, ["{}", "\"kept\"", "\"3\""]);
    store.erase(&key("one")).await.unwrap();
    assert!(!root.join("threads/acme").exists(), "names of tenant and user go too");
}
