//! A session in a few lines: what is noticed in each message.

use jiff::Timestamp;
use serde_json::Value;

use super::*;
use crate::pack::PackSet;
use crate::tool::ToolName;

mod argument;
mod harvest;
mod memory;
mod notice;
mod resolution;
mod robust;

#[derive(Clone)]
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

/// Mentions as `type name` with `~` if uncertain, then questions and gaps.
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
