//! What is typed wrongly is exit code 2, with a reason; and what `--help` says.

use crate::place::Place;

#[test]
fn wrong_use_is_exit_code_two_with_a_reason() {
    let place = Place::with_store();
    for arguments in [
        &["nothing-such"][..],
        &["session"],
        &["session", "show"],
        &["session", "show", "../etc"],
        &["session", "tag", "some"],
        &["receipt", "some"],
        &["receipt", "diff", "one", "two"],
        &["replay", "some", "zero"],
        &["search"],
        &["tools", "call", "no-colon"],
        &["tools", "call", "a:b", "not json"],
        &["migrate", "--from", "ftp://x", "--to", "memory:"],
        &["migrate", "--from", "files:a", "--to", "files:a"],
        &["backup", "--store", "memory:"],
        &["restore"],
        &["restore", "x.db", "--store", "memory:"],
        &["chat", "../x"],
        &["check", "--store", "nonsense"],
    ] {
        let (code, error) = place.fails(arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains("error:") || error.contains("Usage:"), "{arguments:?}: {error}");
    }
}

#[test]
fn what_is_not_there_is_exit_code_one_with_a_hint() {
    let place = Place::with_store();
    for arguments in [
        &["session", "show", "none"][..],
        &["session", "history", "none"],
        &["session", "export", "none"],
        &["session", "erase", "none", "--yes"],
        &["session", "import", "none.json"],
        &["receipt", "none", "1"],
        &["replay", "none", "1"],
        &["restore", "none.db"],
        &["pack", "check", "none"],
        &["chat", "--agent", "nobody"],
    ] {
        let (code, error) = place.fails(arguments);
        assert_eq!(code, 1, "{arguments:?}: {error}");
        assert!(error.contains("error:") && error.contains("hint:"), "{arguments:?}: {error}");
    }
}

#[test]
fn a_command_that_reads_makes_no_store() {
    let place = Place::empty();
    let typo = "sqlite:thruoghline.db";
    for arguments in [
        &["session", "list"][..],
        &["session", "show", "some"],
        &["session", "history", "some"],
        &["session", "export", "some"],
        &["session", "erase", "some", "--yes"],
        &["receipt", "some", "1"],
        &["replay", "some", "1"],
        &["search", "words"],
        &["index", "rebuild"],
        &["check"],
        &["backup", "copy.db"],
        &["key", "list"],
        &["context", "list"],
        &["item", "list", "some"],
        &["item", "available"],
        &["preset", "list"],
        &["preset", "show", "preset-calm-counselor"],
        &["tools", "list"],
        &["tools", "search", "words"],
    ] {
        for store in [typo, "files:mistyped"] {
            let (code, error) = place.fails(&[arguments, &["--store", store]].concat());
            assert_eq!(code, 1, "{arguments:?}: {error}");
            assert!(error.contains(&format!("there is no store {store}")), "{error}");
        }
    }
    for arguments in [&["preset", "list"][..], &["tools", "list"], &["item", "available"]] {
        place.ok(arguments, "");
    }
    assert_eq!(place.names(), Vec::<String>::new(), "nothing was made");
}

#[test]
fn the_help_names_every_command() {
    let place = Place::empty();
    insta::assert_snapshot!("help", place.ok(&["--help"], ""));
    for command in ["session", "receipt", "replay", "search", "index", "tools", "pack", "check"] {
        assert!(place.ok(&[command, "--help"], "").contains("Usage:"));
    }
}
