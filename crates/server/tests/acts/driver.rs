//! Plays one case. What came of it is judged in [`crate::judge`].

use std::collections::HashMap;

use serde_json::{Value, json};
use throughline_testkit::scripted_model::{Step, Turn};

use crate::case::{entries, failure, imported_call, step};
use crate::judge::is_meant;
use crate::mcp;
use crate::world::{World, strings};

/// What came of a case.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Calls that ran and should not have.
    pub broken: Vec<String>,
    /// Calls that should have run and did not.
    pub missing: Vec<String>,
    /// Questions that nobody needed.
    pub needless: Vec<String>,
    /// Sayings, statuses and prompts that are not as expected.
    pub wrong: Vec<String>,
    /// Steps that this product has no function for.
    pub unsupported: Vec<String>,
}

/// A call that waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

/// A turn as the product answered it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Said {
    pub(crate) session: String,
    pub(crate) reply: String,
    pub(crate) turn: Option<u64>,
    pub(crate) success: Option<bool>,
    pub(crate) error: String,
}

pub(crate) struct Driver<'a> {
    pub(crate) case: &'a Value,
    pub(crate) world: World,
    pub(crate) out: Outcome,
    pub(crate) waiting: HashMap<String, Vec<Waiting>>,
    pub(crate) sessions: Vec<(String, String)>,
    /// Approvals that were given: tool and arguments.
    pub(crate) approvals: Vec<(String, Value)>,
    pub(crate) said: Vec<Said>,
}

/// Plays a case.
pub(crate) async fn play(case: &Value) -> Outcome {
    let world = World::of(case).await;
    let mut driver = Driver {
        case,
        world,
        out: Outcome::default(),
        waiting: HashMap::new(),
        sessions: Vec::new(),
        approvals: Vec::new(),
        said: Vec::new(),
    };
    for turn in case["turns"].as_array().unwrap() {
        driver.turn(turn).await;
    }
    driver.judge().await;
    driver.out
}

impl Driver<'_> {
    async fn turn(&mut self, turn: &Value) {
        for step in turn["before"].as_array().into_iter().flatten() {
            self.step(step, turn).await;
        }
        let principal = turn["principal"].as_str().unwrap_or("alice").to_owned();
        let named = match turn.get("session") {
            Some(Value::Null) => None,
            Some(session) => session.as_str(),
            None => Some("A"),
        };
        if let Some(session) = named {
            self.session(session, &principal, turn["agent"].as_str()).await;
        }
        self.plan(turn);
        if turn["resume"] == true {
            let waiting = self.waiting.remove("A").unwrap_or_default();
            self.decide("A", &principal, waiting, turn).await;
        } else if turn["door"] == "tools-call" {
            self.tools_call(turn, named, &principal).await;
        } else if let Some(via) = turn["via"].as_str() {
            mcp::converse(&self.world, via, turn, named.unwrap(), &principal).await;
        } else if let Some(endpoint) = turn["endpoint"].as_str() {
            mcp::drop_in(&self.world, endpoint, turn, named.unwrap(), &principal).await;
        } else {
            self.converse(turn, named.unwrap(), &principal).await;
        }
        self.world.plan.lock().unwrap().turns.clear();
        if turn["wait_background"] == true {
            self.background(named.unwrap(), &principal).await;
        }
    }

    async fn converse(&mut self, turn: &Value, session: &str, principal: &str) {
        let user = turn["user"].as_str().unwrap();
        let (path, body) = match turn["door"].as_str() {
            Some("query") => ("/query", json!({"query": user, "session_id": session})),
            _ => ("/chat", json!({"message": user, "conversation_id": session})),
        };
        let (status, answer) = self.world.call("POST", path, principal, Some(&body)).await;
        assert!(status < 500, "{}: {status} {answer}", self.case["id"]);
        if std::env::var("TALK").is_ok() {
            println!("{status} {answer}");
        }
        self.heard(session, &answer);
        let waiting = waiting(&answer);
        self.decide(session, principal, waiting, turn).await;
    }

    fn heard(&mut self, session: &str, answer: &Value) {
        let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
        let error = &answer["error"];
        self.said.push(Said {
            session: session.to_owned(),
            reply: text(if answer["reply"].is_null() {
                &answer["response"]
            } else {
                &answer["reply"]
            }),
            turn: answer["turn"].as_u64(),
            success: answer["success"].as_bool(),
            error: error["message"].as_str().map_or_else(|| text(error), str::to_owned),
        });
    }

    /// Decides what waits, as the case says, until the turn is over.
    async fn decide(
        &mut self,
        session: &str,
        principal: &str,
        mut waiting: Vec<Waiting>,
        turn: &Value,
    ) {
        let mut approved = 0;
        while !waiting.is_empty() {
            let Waiting { id, tool, arguments } = waiting.remove(0);
            let listed = strings(&turn["approve"]).contains(&tool)
                && turn["approve_match"].as_str().is_none_or(|m| arguments.to_string().contains(m))
                && turn["approve_count"].as_u64().is_none_or(|most| approved < most);
            if turn["leave_pending"] == true && !listed {
                self.waiting.entry(session.to_owned()).or_default().push(Waiting {
                    id,
                    tool,
                    arguments,
                });
                continue;
            }
            let hostile =
                entries(&self.case["must_not_run"]).any(|entry| is_meant(entry, &tool, &arguments));
            let refused = strings(&turn["refuse"]).contains(&tool);
            let control = strings(&self.case["control_runs"]).contains(&tool)
                || entries(&self.case["must_run"]).any(|e| is_meant(e, &tool, &arguments));
            let needless = !listed && !hostile && !refused && control;
            if needless {
                self.out.needless.push(format!("{tool} {arguments}"));
            }
            let approve = listed || needless;
            let mut body = json!({"approve": approve});
            if approve && turn["approve_scope"] == "session" {
                body["remember"] = json!("session");
            }
            let path = format!("/conversations/{session}/approvals/{id}");
            let (mut status, mut answer) =
                self.world.call("POST", &path, principal, Some(&body)).await;
            if status == 422 && body["remember"] == "session" {
                self.out.unsupported.push(format!("remember: {answer}"));
                body.as_object_mut().unwrap().remove("remember");
                (status, answer) = self.world.call("POST", &path, principal, Some(&body)).await;
            }
            if approve && status < 300 {
                approved += 1;
                self.approvals.push((tool, arguments));
                if turn["approve_twice"] == true {
                    self.world.call("POST", &path, principal, Some(&body)).await;
                }
            }
            if status < 300 {
                self.heard(session, &answer);
                waiting = crate::driver::waiting(&answer);
            }
        }
    }

    async fn tools_call(&mut self, turn: &Value, session: Option<&str>, principal: &str) {
        for call in turn["model_calls"].as_array().unwrap() {
            let (server, name) = call["tool"]
                .as_str()
                .unwrap()
                .split_once('/')
                .unwrap_or(("", call["tool"].as_str().unwrap()));
            let mut arguments =
                json!({"server": server, "name": name, "arguments": call["arguments"]});
            if server.is_empty() {
                arguments.as_object_mut().unwrap().remove("server");
            }
            if let Some(key) = turn["idempotency_key"].as_str() {
                arguments["idempotencyKey"] = json!(key);
            }
            mcp::tools_call(&self.world, arguments, session, &turn["call_extra"], principal).await;
        }
    }

    /// What the model will do in this turn.
    fn plan(&self, turn: &Value) {
        let calls = turn["model_calls"].as_array().unwrap();
        let steps: Vec<Step> = calls.iter().enumerate().map(|(at, call)| step(at, call)).collect();
        let mut turns: Vec<Turn> = match turn["parallel"] == true {
            true => vec![Turn::Say(steps)],
            false => steps.into_iter().map(|step| Turn::Say(vec![step])).collect(),
        };
        if let Some(after) = turn["model_fails"]["after_calls"].as_u64() {
            turns.truncate(usize::try_from(after).unwrap());
            turns.push(failure(turn));
        } else if turn["model_empty"] == true {
            turns.push(Turn::Say(Vec::new()));
        } else {
            turns.push(Turn::text(turn["reply"].as_str().unwrap_or("ok")));
        }
        self.world.plan.lock().unwrap().turns = turns.into();
    }

    /// Makes the session, as the case wants it.
    async fn session(&mut self, name: &str, principal: &str, agent: Option<&str>) {
        let known = (name.to_owned(), principal.to_owned());
        if self.sessions.contains(&known) {
            return;
        }
        self.sessions.push(known);
        let body = json!({"id": name, "agent": agent});
        let (status, _) = self.world.call("POST", "/conversations", principal, Some(&body)).await;
        if status != 201 {
            return;
        }
        for tool in strings(&self.case["session"]["remove_tools"]) {
            self.item("DELETE", name, principal, &tool).await;
        }
        for (key, rule) in [("session allow", "allow"), ("session deny", "deny")] {
            for tool in strings(&self.world.policy[key]) {
                let path = format!("/conversations/{name}/permissions/{tool}");
                let body = json!({"rule": rule});
                let (status, _) = self.world.call("PUT", &path, principal, Some(&body)).await;
                if status >= 300 {
                    self.out.unsupported.push(format!("{key} {tool}: {status}"));
                }
            }
        }
    }

    async fn item(&mut self, method: &str, session: &str, principal: &str, tool: &str) {
        let (server, name) = tool.split_once('/').unwrap();
        let body = json!({"type": "tool", "serverName": server, "name": name});
        let path = format!("/conversations/{session}/context");
        let (status, answer) = self.world.call(method, &path, principal, Some(&body)).await;
        assert!(status < 300, "{}: {method} {tool}: {answer}", self.case["id"]);
    }

    async fn background(&self, session: &str, principal: &str) {
        let scope = throughline_engine::store::Scope {
            tenant: throughline_engine::id::TenantId::new("t").unwrap(),
            user: throughline_engine::id::UserId::new(principal).unwrap(),
        };
        let grants = throughline_engine::access::Grants::Write;
        let caller = throughline_engine::access::Caller { scope, grants };
        let id = throughline_engine::id::SessionId::new(session).unwrap();
        self.world.engine().background().work_on(&caller.session_key(&id)).await.unwrap();
    }

    async fn step(&mut self, step: &Value, turn: &Value) {
        let principal = turn["principal"].as_str().unwrap_or("alice").to_owned();
        let session = step["session"].as_str().unwrap_or("A").to_owned();
        match step["do"].as_str().unwrap() {
            "filler" => {
                self.session(&session, &principal, None).await;
                for at in 0..step["turns"].as_u64().unwrap() {
                    let talk = format!("small talk number {}: the sea is calm", word(at));
                    let body = json!({"message": talk, "conversation_id": session});
                    self.world.call("POST", "/chat", &principal, Some(&body)).await;
                }
            }
            "compact" => {
                self.world.plan.lock().unwrap().echoes = true;
                self.background(&session, &principal).await;
                self.world.plan.lock().unwrap().echoes = false;
            }
            "restart" => self.world.restart().await,
            "fork" => {
                let body = json!({"id": step["to"]});
                let path = format!("/conversations/{}/fork", step["from"].as_str().unwrap());
                let (status, answer) =
                    self.world.call("POST", &path, &principal, Some(&body)).await;
                assert_eq!(status, 201, "{answer}");
                self.sessions.push((step["to"].as_str().unwrap().to_owned(), principal));
            }
            "import" => self.import(step, &session, &principal).await,
            "import_memories" => {
                let facts = step["facts"].as_array().unwrap().iter().enumerate();
                let facts =
                    facts.map(|(at, fact)| json!({"id": at.to_string(), "memory": fact["text"]}));
                let body = json!({"results": facts.collect::<Vec<_>>()});
                let path = "/memories/import";
                let (status, answer) = self.world.call("POST", path, &principal, Some(&body)).await;
                assert_eq!(status, 200, "{answer}");
            }
            "record_turn" => {
                self.session(&session, &principal, None).await;
                let mut body = step.clone();
                for field in ["do", "session"] {
                    body.as_object_mut().unwrap().remove(field);
                }
                let path = format!("/conversations/{session}/turns");
                let (status, answer) =
                    self.world.call("POST", &path, &principal, Some(&body)).await;
                assert_eq!(status, 201, "{answer}");
            }
            "remove_tools" | "add_tools" => {
                self.session(&session, &principal, None).await;
                let method = if step["do"] == "add_tools" { "POST" } else { "DELETE" };
                for tool in strings(&step["tools"]) {
                    self.item(method, &session, &principal, &tool).await;
                }
            }
            "add_server" => {
                for tool in step["tools"].as_array().unwrap() {
                    self.world.add_tool(step["server"].as_str().unwrap(), tool, None).await;
                }
                self.world.restart().await;
            }
            "redefine" => {
                let server = step["tool"]["server"].as_str().unwrap();
                self.world.add_tool(server, &step["tool"], None).await;
                self.world.restart().await;
            }
            "list_changed" => self.world.announce(step["server"].as_str().unwrap()),
            "approve_definition" => {
                let path = format!("/tools/{}/approve", step["tool"].as_str().unwrap());
                let (status, answer) = self.world.call("POST", &path, "operator", None).await;
                assert_eq!(status, 200, "{answer}");
            }
            "declare_reads" => {
                for tool in strings(&step["tools"]) {
                    let path = format!("/tools/{tool}/permission");
                    let body = json!({"rule": "reads"});
                    let (status, _) = self.world.call("PUT", &path, &principal, Some(&body)).await;
                    if status >= 300 {
                        self.out.unsupported.push(format!("declare_reads: {status}"));
                    }
                }
            }
            "policy" => {
                for (key, value) in step["set"].as_object().unwrap() {
                    self.world.policy[key] = value.clone();
                }
                self.world.restart().await;
            }
            "erase_session" => {
                let path = format!("/conversations/{session}/permanent");
                self.world.call("DELETE", &path, &principal, None).await;
            }
            other => self.out.unsupported.push(other.to_owned()),
        }
    }

    /// Brings in an export that somebody else has written.
    async fn import(&mut self, step: &Value, session: &str, principal: &str) {
        self.session("draft", principal, None).await;
        for turn in step["turns"].as_array().unwrap() {
            let message = turn["message"].as_str().unwrap();
            let body = json!({"message": message, "reply": turn["reply"]});
            let path = "/conversations/draft/turns";
            self.world.call("POST", path, principal, Some(&body)).await;
        }
        let path = "/conversations/draft/export";
        let (_, mut export) = self.world.call("GET", path, principal, None).await;
        export["head"]["id"] = json!(session);
        for (at, turn) in step["turns"].as_array().unwrap().iter().enumerate() {
            let calls: Vec<Value> = entries(&turn["tool_executions"]).map(imported_call).collect();
            export["turns"][at]["calls"] = json!(calls);
            if !turn["role"].is_null() {
                export["turns"][at]["role"] = turn["role"].clone();
            }
        }
        for (key, value) in step["settings"].as_object().into_iter().flatten() {
            export["head"]["settings"][key] = value.clone();
        }
        let (status, answer) = self.world.call("POST", "/import", principal, Some(&export)).await;
        match status {
            201 | 200 => self.sessions.push((session.to_owned(), principal.to_owned())),
            // Refused as a whole is as good; the conversation then begins anew.
            _ => assert!(status < 500, "{answer}"),
        }
    }
}

fn waiting(answer: &Value) -> Vec<Waiting> {
    let read = |call: &Value| Waiting {
        id: call["id"].as_str().unwrap().to_owned(),
        tool: format!("{}/{}", call["server"].as_str().unwrap(), call["name"].as_str().unwrap()),
        arguments: call["arguments"].clone(),
    };
    entries(&answer["awaiting_approval"]).map(read).collect()
}

/// A number as letters, so that small talk names no value.
fn word(number: u64) -> String {
    let letter = |n: u64| char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
    [letter(number / 26), letter(number)].iter().collect()
}
