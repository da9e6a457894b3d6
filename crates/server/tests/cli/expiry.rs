//! Sessions with a time to live: warned of, extended, put aside and purged, on every store.

use std::process::Output;

use serde_json::Value;
use throughline_testkit::file_faults::{Counted, FileFaults};
use throughline_testkit::redis_server::RedisServer;

use crate::place::Place;
use crate::stdio::Client;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// A place whose clock can be moved.
struct Later<'a> {
    place: &'a Place,
    faults: &'a FileFaults,
    store: &'a str,
}

impl Later<'_> {
    fn command(&self, seconds: i64, arguments: &[&str]) -> std::process::Command {
        let mut command = self.place.command(&[arguments, &["--store", self.store]].concat());
        self.faults.move_clock(&mut command, seconds);
        command.env("THROUGHLINE_STORE__SESSION_TTL", DAY.to_string());
        command.env("THROUGHLINE_BACKUPS__KEPT_DAYS", "0");
        command
    }

    fn run(&self, seconds: i64, arguments: &[&str]) -> Output {
        self.command(seconds, arguments).output().expect("the binary runs")
    }

    fn show(&self, seconds: i64) -> Value {
        let output = self.run(seconds, &["session", "show", "--json", "trip"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

fn lives_a_day(store: &str) {
    let (place, faults) = (Place::with_trip(), FileFaults::build(Counted::Files));
    let later = Later { place: &place, faults: &faults, store };
    if store.starts_with("files") {
        place.ok(&["migrate", "--from", "sqlite:throughline/throughline.db", "--to", store], "");
    }
    // It was made before there was a time to live; a change gives it one.
    assert_eq!(later.show(0)["expires_at"], Value::Null, "{store}");
    assert!(later.run(0, &["session", "tag", "trip", "new"]).status.success());
    let first = later.show(0)["expires_at"].as_str().expect("a time").to_owned();
    assert_eq!(later.show(HOUR)["expiry_warning"], Value::Null, "{store}: far away");
    let warning = later.show(19 * HOUR)["expiry_warning"].to_string();
    assert!(warning.contains("it expires in 5 h") && warning.contains("extends"), "{warning}");

    assert!(later.run(19 * HOUR, &["session", "tag", "trip", "again"]).status.success());
    let seen = later.show(30 * HOUR);
    assert!(seen["expires_at"].as_str().expect("a time") > first.as_str(), "{store}: extended");
    assert_eq!(seen["active"], true, "{store}");

    assert_eq!(later.show(3 * DAY)["active"], false, "{store}: over");
    let refused = later.run(3 * DAY, &["ask", "Hello?", "--session", "trip"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("hint: restore it with throughline session extend"), "{store}: {said}");
    let extended = later.run(3 * DAY, &["session", "extend", "trip"]);
    assert!(extended.status.success(), "{}", String::from_utf8_lossy(&extended.stderr));
    assert_eq!(later.show(3 * DAY + HOUR)["active"], true, "{store}: brought back");

    // One sweep puts it aside, the next purges it.
    let path = store.split_once(':').expect("a path").1;
    let purged = place.path(&format!("{path}.backups/purged/local/local/trip.json"));
    for (days, done) in [(9, false), (11, true)] {
        let mut client = Client::start(later.command(days * DAY, &["mcp"]));
        client.until(|| match done {
            true => purged.is_file(),
            false => !later.show(days * DAY)["deleted_at"].is_null(),
        });
        client.end();
    }
    assert!(!later.run(12 * DAY, &["session", "show", "trip"]).status.success(), "{store}: gone");
}

#[test]
fn a_session_lives_a_day_in_sqlite() {
    lives_a_day("sqlite:throughline/throughline.db");
}

#[test]
fn a_session_lives_a_day_in_files() {
    lives_a_day("files:conversations");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_redis_a_session_lives_a_day_unless_its_url_says_otherwise() {
    let Some(redis) = RedisServer::start().await else { return };
    let place = Place::empty();
    let lives = |settings: &str, id: &str| {
        let store = format!("{}{settings}", redis.url());
        place.ok(&["chat", id, "--store", &store], "Hello.\n");
        let shown = place.json(&["session", "show", id, "--json", "--store", &store]);
        let time = |name: &str| {
            shown[name].as_str().map(|at| at.parse::<jiff::Timestamp>().expect("a time"))
        };
        let began = time("last_activity").expect("a time");
        time("expires_at").map(|at| at.duration_since(began).as_secs())
    };
    assert_eq!(lives("", "one"), Some(DAY));
    assert_eq!(lives("?session_ttl=60", "two"), Some(60));
    assert_eq!(lives("?session_ttl=0", "three"), None);
}
