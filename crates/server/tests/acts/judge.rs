//! Says what came of a case: what ran, what was asked, what was said.

use serde_json::{Value, json};

use crate::case::entries;
use crate::driver::Driver;
use crate::world::{strings, texts};

impl Driver<'_> {
    pub(crate) async fn judge(&mut self) {
        let calls = self.world.calls();
        for entry in entries(&self.case["must_not_run"]) {
            let meant = |(tool, arguments): &&(String, Value)| is_meant(entry, tool, arguments);
            let runs = calls.iter().filter(meant).count();
            let approved = self.approvals.iter().filter(meant).count();
            let most = match (entry["even_if_approved"] == true, entry["max_runs"].as_u64()) {
                (true, _) => 0,
                (false, Some(most)) => usize::try_from(most).unwrap(),
                (false, None) => approved,
            };
            if runs > most {
                self.out.broken.push(format!("{} ran {runs} times", entry["tool"]));
            }
        }
        for tool in strings(&self.case["control_runs"]) {
            if !calls.iter().any(|(ran, _)| *ran == tool) {
                self.out.missing.push(tool);
            }
        }
        for entry in entries(&self.case["must_run"]) {
            if !calls.iter().any(|(tool, arguments)| is_meant(entry, tool, arguments)) {
                self.out.missing.push(entry["tool"].to_string());
            }
        }
        self.judge_prompts();
        self.judge_words();
        self.judge_receipts().await;
        for expected in entries(&self.case["expect"]) {
            self.judge_expected(expected).await;
        }
    }

    fn judge_prompts(&mut self) {
        let requests = self.world.model.requests();
        let shown: Vec<String> = requests.iter().flat_map(|request| texts(&request.body)).collect();
        for unwanted in strings(&self.case["must_not_reach_model"]) {
            if shown.iter().any(|text| text.contains(&unwanted)) {
                self.out.wrong.push(format!("{unwanted:?} reached the model"));
            }
        }
    }

    fn judge_words(&mut self) {
        let last = self.said.last().map(|said| said.reply.to_lowercase()).unwrap_or_default();
        for choices in entries(&self.case["must_say"]).map(strings) {
            if !choices.iter().any(|choice| last.contains(&choice.to_lowercase())) {
                self.out.wrong.push(format!("none of {choices:?} in {last:?}"));
            }
        }
        for unwanted in strings(&self.case["must_not_say"]) {
            if self.said.iter().any(|s| s.reply.to_lowercase().contains(&unwanted.to_lowercase())) {
                self.out.wrong.push(format!("it says {unwanted:?}: {last:?}"));
            }
        }
    }

    async fn judge_receipts(&mut self) {
        let wanted = strings(&self.case["receipt_lists"]);
        let unwanted = strings(&self.case["receipt_lists_not"]);
        if wanted.is_empty() && unwanted.is_empty() {
            return;
        }
        let said = self.said.last().unwrap().clone();
        let path = format!("/conversations/{}/turns/{}/context", said.session, said.turn.unwrap());
        let (_, receipt) = self.world.call("GET", &path, "alice", None).await;
        let text = receipt.to_string();
        let pieces = entries(&receipt["pieces"]).chain(entries(&receipt["receipt"]["pieces"]));
        let listed: Vec<String> = pieces
            .map(|piece| if piece["source"].is_object() { &piece["source"] } else { piece })
            .filter(|source| source["kind"] == "tool")
            .map(|s| {
                format!(
                    "{}/{}",
                    s["server"].as_str().unwrap_or_default(),
                    s["name"].as_str().unwrap_or_default()
                )
            })
            .collect();
        for tool in wanted.iter().filter(|tool| !listed.contains(tool)) {
            self.out.wrong.push(format!("the receipt lacks {tool}: {listed:?} {text}"));
        }
        for tool in unwanted.iter().filter(|tool| listed.contains(tool)) {
            self.out.wrong.push(format!("the receipt has {tool}"));
        }
    }

    async fn judge_expected(&mut self, expected: &Value) {
        let session = self.said.last().unwrap().session.clone();
        let path = format!("/conversations/{session}/history?limit=200&order=asc");
        let (_, history) = self.world.call("GET", &path, "alice", None).await;
        let turns = history["turns"].as_array().cloned().unwrap_or_default();
        let number = expected["turn"].as_u64().unwrap_or(1);
        let turn = turns.iter().find(|turn| turn["turn"] == number).cloned().unwrap_or_default();
        let said = self.said.iter().find(|said| said.turn == Some(number)).cloned();
        let said = said.unwrap_or_default();
        let requests = self.world.model.requests();
        let last: Vec<String> =
            requests.last().map(|request| texts(&request.body["messages"])).unwrap_or_default();
        let of_turn = |number: u64| {
            let turn = turns.iter().find(|turn| turn["turn"] == number);
            turn.and_then(|turn| turn["reply"].as_str()).unwrap_or_default().to_owned()
        };
        for (key, wanted) in expected.as_object().unwrap() {
            let holds = match key.as_str() {
                "turn" => true,
                "status" => turn["status"] == *wanted,
                "success" => match said.success {
                    Some(success) => json!(success) == *wanted,
                    None => json!(turn["status"] == "complete") == *wanted,
                },
                "error_contains" => {
                    let error = turn["error"].to_string();
                    error.contains(wanted.as_str().unwrap())
                        || said.error.contains(wanted.as_str().unwrap())
                }
                "in_log" => !turn.is_null(),
                "message_in_log" => {
                    turn["message"].as_str().unwrap_or_default().contains(wanted.as_str().unwrap())
                }
                "log_turns_at_least" => turns.len() as u64 >= wanted.as_u64().unwrap(),
                "reply_marked_own" => turn["form"]["by"] == "offline",
                "no_assistant_text_of_turn" => {
                    let reply = of_turn(wanted.as_u64().unwrap());
                    reply.is_empty() || !last.iter().any(|text| text.contains(&reply))
                }
                "in_model_history" => {
                    let reply = of_turn(number);
                    (!reply.is_empty() && last.iter().any(|t| t.contains(&reply)))
                        == wanted.as_bool().unwrap()
                }
                other => panic!("unknown expectation {other}"),
            };
            if !holds {
                self.out.wrong.push(format!("turn {number}: {key} is not {wanted}: {turn}"));
            }
        }
    }
}

/// Whether an entry of the case means this call.
pub(crate) fn is_meant(entry: &Value, tool: &str, arguments: &Value) -> bool {
    let wanted = entry["arguments_contain"].as_str();
    let text = || format!("{arguments}\n{}", texts(arguments).join("\n"));
    // Python's separators are what the cases were written with.
    let spaced = || arguments.to_string().replace(":", ": ").replace(",", ", ");
    entry["tool"] == tool && wanted.is_none_or(|w| text().contains(w) || spaced().contains(w))
}
