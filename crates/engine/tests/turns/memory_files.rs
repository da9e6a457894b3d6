//! Files of the memory tool: every edit is kept, a renamed file takes its history along, limits hold.

use std::sync::Arc;

use throughline_engine::access::Caller;
use throughline_engine::error::Error;
use throughline_engine::fact::files::{FileCommand, MemoryFiles};
use throughline_engine::limits::Limits;
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;

fn files() -> MemoryFiles {
    let limits = Limits { memory_files_max: 2, memory_file_bytes_max: 10, ..Limits::default() };
    MemoryFiles::new(Arc::new(Memory::new()), Arc::new(FixedClock::default()), Arc::new(limits))
}

fn create(path: &str, text: &str) -> FileCommand {
    FileCommand::Create { path: path.into(), file_text: text.into() }
}

fn replace(path: &str, old: &str, new: &str) -> FileCommand {
    FileCommand::StrReplace { path: path.into(), old_str: old.into(), new_str: new.into() }
}

async fn run(files: &MemoryFiles, command: FileCommand) -> bool {
    !files.run(&Caller::local(), command).await.unwrap().is_error
}

async fn history(files: &MemoryFiles, path: &str) -> Vec<(String, String)> {
    let versions = files.history(&Caller::local(), path).await.unwrap();
    versions.into_iter().map(|version| (version.path, version.text)).collect()
}

#[tokio::test]
async fn every_edit_is_kept_and_goes_along_with_a_new_name() {
    let files = files();
    assert!(run(&files, create("/memories/a/b", "one")).await);
    assert!(run(&files, replace("/memories/a/b", "one", "two")).await);
    let insert = FileCommand::Insert {
        path: "/memories/a/b".into(),
        insert_line: 1,
        insert_text: "three".into(),
    };
    assert!(run(&files, insert).await);
    let rename =
        FileCommand::Rename { old_path: "/memories/a".into(), new_path: "/memories/c".into() };
    assert!(run(&files, rename).await);
    let kept = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let expected = [
        kept("/memories/a/b", "one"),
        kept("/memories/a/b", "two"),
        kept("/memories/a/b", "two\nthree"),
        kept("/memories/c/b", "two\nthree"),
    ];
    assert_eq!(history(&files, "/memories/c/b").await, expected);
    assert!(run(&files, FileCommand::Delete { path: "/memories/c".into() }).await);
    assert!(files.history(&Caller::local(), "/memories/c/b").await.is_err());
    assert!(run(&files, create("/memories/c/b", "new")).await);
    assert_eq!(history(&files, "/memories/c/b").await, [kept("/memories/c/b", "new")]);
}

#[tokio::test]
async fn a_name_is_of_a_file_or_of_a_folder_and_an_existing_one_is_not_replaced() {
    let files = files();
    assert!(run(&files, create("/memories/a", "x")).await);
    for path in ["/memories/a", "/memories/a/b", "/memories", "/memories/"] {
        assert!(!run(&files, create(path, "y")).await, "{path}");
    }
    assert!(run(&files, create("/memories/b", "y")).await);
    for (old, new) in [("a", "b"), ("a", "a"), ("a", "a/c"), ("x", "y"), ("", "y")] {
        let [old_path, new_path] = [old, new].map(|name| format!("/memories/{name}"));
        let rename = FileCommand::Rename { old_path, new_path };
        assert!(!run(&files, rename).await, "{old} to {new}");
    }
    assert_eq!(history(&files, "/memories/a").await.len(), 1);
}

#[tokio::test]
async fn a_file_over_a_limit_is_refused_and_nothing_changes() {
    let files = files();
    let over = async |command| match files.run(&Caller::local(), command).await {
        Err(Error::OverLimit { limit, .. }) => limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(over(create("/memories/a", "12345678901")).await, "memory_file_bytes_max");
    assert!(run(&files, create("/memories/a", "1234567890")).await);
    assert_eq!(over(replace("/memories/a", "1", "11")).await, "memory_file_bytes_max");
    assert_eq!(history(&files, "/memories/a").await.len(), 1);
    assert!(run(&files, create("/memories/b", "")).await);
    assert_eq!(over(create("/memories/c", "")).await, "memory_files_max");
}
