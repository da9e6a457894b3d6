//! A conversation in a few lines: what is noticed, message by message.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::pack::PackSet;
use crate::tool::ToolName;

struct Talk {
    packs: PackSet,
    entities: Entities,
    known: KnownEntities,
    turn: u64,
}

impl Talk {
    fn new() -> Self {
        let (packs, entities, known) =
            (PackSet::builtin(), Entities::default(), KnownEntities::new());
        Self { packs, entities, known, turn: 0 }
    }

    fn at(&self) -> Moment {
        let start: Timestamp = "2026-11-15T09:00:00Z".parse().expect("a time");
        let seconds = i64::try_from(self.turn).expect("few turns") * 60;
        let now = start.checked_add(jiff::SignedDuration::from_secs(seconds)).expect("in range");
        Moment { turn: self.turn, now }
    }

    fn say(&mut self, message: &str) -> Noticed {
        self.turn += 1;
        let at = self.at();
        let noticed = notice(message, &self.entities, &self.known, &self.packs);
        self.entities.apply_noticed(&noticed, message, &mut self.known, &self.packs, at);
        noticed
    }

    fn answer(&mut self, tool: &str, result: &Value) -> Harvest {
        let tool = ToolName { server: "inventory".to_owned(), name: tool.to_owned() };
        let at = self.at();
        let found = harvest(&tool, &Value::Null, result, &self.packs, at.now);
        self.entities.apply_harvest(&found, &mut self.known, &self.packs, at);
        found
    }

    fn check(&mut self, message: &str, expected: &str) {
        assert_eq!(shown(&self.say(message)), expected, "{message}");
    }
}

/// Mentions as `type name` with `~` where unsure, then questions and gaps.
fn shown(noticed: &Noticed) -> String {
    let mut parts: Vec<String> = noticed
        .mentions
        .iter()
        .map(|mention| {
            let doubt = if mention.is_sure() { "" } else { "~" };
            format!("{doubt}{}", mention.target())
        })
        .collect();
    parts.extend(noticed.ambiguous.iter().map(|asked| format!("{}?", asked.text)));
    parts.extend(noticed.unresolved.iter().map(|gap| format!("!{}", gap.text)));
    parts.join(", ")
}

#[test]
fn names_beside_cue_words_are_noticed() {
    let mut talk = Talk::new();
    talk.check(
        "Show device core-sw-01 in rack R12 at site Berlin",
        "device core-sw-01, rack R12, site Berlin",
    );
    talk.check("VLANs 10, 20 and 30 please", "vlan 10, vlan 20, vlan 30");
    talk.check(
        "add C++ and Python answers to project 123 survey",
        "answer C++, answer Python, project 123",
    );
    talk.check("What about the Task Management workflow?", "workflow Task Management");
}

#[test]
fn ordinary_words_are_not_names() {
    let mut talk = Talk::new();
    talk.check("I will rack my brains on site today", "");
    talk.check("It is raining, is it possible to continue?", "");
    talk.check("for example project 999 or device foo-01", "");
}

#[test]
fn references_point_back() {
    let mut talk = Talk::new();
    talk.check("Show device core-sw-01 in site Berlin", "device core-sw-01, site Berlin");
    talk.check("what are its interfaces?", "device core-sw-01");
    talk.check("is it reachable?", "device core-sw-01");
    talk.check("what else is in that site", "site Berlin");
}

#[test]
fn the_second_one_is_the_second_of_the_last_list() {
    let mut talk = Talk::new();
    talk.say("list devices in site Berlin");
    talk.answer(
        "list_devices",
        &json!({"results": [
            {"id": 1, "name": "core-sw-01", "site": {"id": 9, "name": "Berlin"}},
            {"id": 2, "name": "core-sw-02", "site": {"id": 9, "name": "Berlin"}},
            {"id": 3, "name": "edge-01", "site": {"id": 9, "name": "Berlin"}},
        ]}),
    );
    talk.check("show the second one", "device core-sw-02");
    talk.check("and the first two", "device core-sw-01, device core-sw-02");
}
