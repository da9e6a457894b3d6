//! Acknowledged entries survive a killed process, and a store that acknowledges too early is caught.
//!
//! The test runs itself again as a child that appends and prints each acknowledged number; the child is killed at
//! some point, and the store is opened and its entries are counted. (A kill does not affect the page cache, so this says
//! nothing about power loss.)

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use throughline_store::sabotage::Sabotage;
use throughline_store::{OpenOptions, StoreUrl, open};

use crate::sample::{append, key, log};

const STORE: &str = "THROUGHLINE_CRASH_TEST_STORE";
const HELD: &str = "THROUGHLINE_CRASH_TEST_HELD";
const SESSIONS: u64 = 3;

/// Not a test by itself: the process that is killed. Does nothing without the variable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_is_killed() {
    let Ok(url) = std::env::var(STORE) else { return };
    let mut options = OpenOptions::default();
    if std::env::var(HELD).is_ok() {
        options.sabotage = Some(Sabotage::HoldBack(Duration::from_secs(600)));
    }
    let store = open(&url.parse::<StoreUrl>().unwrap(), &options).await.unwrap();
    let mut out = std::io::stdout();
    for number in 0_u64.. {
        let session = key(&format!("s{}", number % SESSIONS));
        append(store.as_ref(), &session, &[&number.to_string()]).await;
        writeln!(out, "acknowledged {number}").unwrap();
    }
}

/// Lets a child append until it has acknowledged `enough` entries, kills it, and returns what it printed.
fn acknowledged_until_killed(url: &str, enough: usize, held: bool) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "crash::child_that_is_killed", "--nocapture"]).env(STORE, url);
    if held {
        child.env(HELD, "1");
    }
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in &mut lines {
        // The test harness prints an unterminated line first.
        let line = line.unwrap();
        let Some((_, number)) = line.split_once("acknowledged ") else { continue };
        said.push(number.parse().unwrap());
        if said.len() == enough {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    said
}

/// Returns what is wrong after a kill: entries lost, doubled or out of order.
async fn wrong_after_a_kill(url: &str, enough: usize, held: bool) -> Vec<String> {
    let said = {
        let url = url.to_owned();
        tokio::task::spawn_blocking(move || acknowledged_until_killed(&url, enough, held))
            .await
            .unwrap()
    };
    assert!(said.len() >= enough, "the child acknowledged {} only", said.len());
    let store = open(&url.parse::<StoreUrl>().unwrap(), &OpenOptions::default()).await.unwrap();
    let mut wrong = store.check().await.unwrap().problems;
    for session in 0..SESSIONS {
        let there = log(store.as_ref(), &key(&format!("s{session}"))).await;
        let mut promised: Vec<String> =
            said.iter().filter(|n| **n % SESSIONS == session).map(u64::to_string).collect();
        // One commit may have been in progress when the child was killed.
        let next = said.len() as u64;
        if there.len() > promised.len() && next % SESSIONS == session {
            promised.push(next.to_string());
        }
        if there != promised {
            wrong.push(format!("s{session}: {} there, {} promised", there.len(), promised.len()));
        }
    }
    wrong
}

fn url_in(folder: &tempfile::TempDir, kind: &str) -> String {
    format!("{kind}:{}", folder.path().join("store").display())
}

async fn check_survives(kind: &str) {
    for enough in [1, 17, 60] {
        let folder = tempfile::tempdir().unwrap();
        let wrong = wrong_after_a_kill(&url_in(&folder, kind), enough, false).await;
        assert_eq!(wrong, Vec::<String>::new(), "{kind}, killed after {enough}");
    }
}

async fn check_is_caught(kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let wrong = wrong_after_a_kill(&url_in(&folder, kind), 20, true).await;
    assert!(!wrong.is_empty(), "{kind}: acknowledged turns were lost and nobody noticed");
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_keeps_what_it_acknowledged() {
    check_survives("sqlite").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_keep_what_they_acknowledged() {
    check_survives("files").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_answers_before_it_writes_is_caught() {
    check_is_caught("sqlite").await;
    check_is_caught("files").await;
}
