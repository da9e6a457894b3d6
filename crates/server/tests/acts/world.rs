//! One case's world: the product over a store in memory, the servers and the model that the case describes.
//!
//! Everything is real but the model and the MCP servers, which are scripted: requests go over HTTP into the
//! product, and out of it over HTTP to both. A restart is a new engine over the same store.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::access::{Gate, Keys, NewKey};
use throughline::assemble::{self, Demo};
use throughline::config::{Config, Environment, ModelEntry, ServerEntry};
use throughline::http::dropin::Upstreams;
use throughline::http::{self, App, Setup};
use throughline_engine::access::Grants;
use throughline_engine::id::{AgentName, TenantId, UserId};
use throughline_engine::store::Store;
use throughline_testkit::scripted_mcp::http::HttpServer;
use throughline_testkit::scripted_mcp::table::{Table, TableAnswer, TableTool};
use throughline_testkit::scripted_mcp::{Era, Script};
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The agent of sessions that name none.
pub(crate) const AGENT: &str = "case";

/// What the model does next.
#[derive(Default)]
pub(crate) struct Plan {
    pub turns: VecDeque<Turn>,
    /// Whether it repeats what it is shown, as a faithful summary would.
    pub echoes: bool,
}

pub(crate) struct World {
    pub policy: Value,
    pub plan: Arc<Mutex<Plan>>,
    pub model: ScriptedModel,
    servers: BTreeMap<String, (Arc<Table>, HttpServer)>,
    offline: bool,
    manual: Vec<String>,
    packs: Vec<String>,
    agents: Vec<String>,
    store: Arc<dyn Store>,
    folder: TempDir,
    keys: BTreeMap<String, String>,
    running: Option<Running>,
}

struct Running {
    app: App,
    address: std::net::SocketAddr,
    _stop: DropGuard,
}

impl World {
    pub(crate) async fn of(case: &Value) -> Self {
        let plan = Arc::new(Mutex::new(Plan::default()));
        let model = answering(plan.clone()).await;
        let config = config();
        let store = assemble::store(&config).await.unwrap();
        let turns = case["turns"].as_array().unwrap();
        let agents = turns.iter().filter_map(|turn| turn["agent"].as_str().map(str::to_owned));
        let mut world = Self {
            policy: case.get("policy").cloned().unwrap_or_else(|| json!({})),
            plan,
            model,
            servers: BTreeMap::new(),
            offline: turns.iter().any(|turn| turn["door"] == "offline")
                || turns.iter().any(|turn| turn["model_is"] == "client-sampling"),
            manual: strings(&case["session"]["manual_tools"]),
            packs: strings(&case["agent_packs"]),
            agents: agents.chain(["release".to_owned()]).collect(),
            store,
            folder: tempfile::tempdir().unwrap(),
            keys: BTreeMap::new(),
            running: None,
        };
        for tool in case["tools"].as_array().unwrap() {
            let server = tool["server"].as_str().unwrap();
            let instructions = case["servers"][server]["instructions"].as_str();
            world.add_tool(server, tool, instructions).await;
        }
        for resource in case["resources"].as_array().into_iter().flatten() {
            world.server(resource["server"].as_str().unwrap(), None, true).await;
        }
        for name in ["alice", "bob"] {
            world.add_key(name, Grants::Write).await;
        }
        world.add_key("operator", Grants::Admin).await;
        world.restart().await;
        world
    }

    async fn add_key(&mut self, name: &str, scope: Grants) {
        let keys = Keys::new(self.store.clone(), throughline::clock::system());
        let (tenant, user) = (TenantId::new("t").unwrap(), UserId::new(name).unwrap());
        let key = keys.create(NewKey { name: name.into(), tenant, user, scope }).await.unwrap();
        self.keys.insert(name.to_owned(), key.0.reveal());
    }

    async fn server(&mut self, name: &str, instructions: Option<&str>, ascii: bool) -> Arc<Table> {
        if let Some((table, _)) = self.servers.get(name) {
            return table.clone();
        }
        let table = Arc::new(Table::new(instructions.map(str::to_owned), Vec::new()));
        // The newer era repeats a tool's name in a header, which takes no other letters.
        let era = if ascii { Era::Newer } else { Era::Older };
        let script = Script { era, ..Script::default() };
        let server = HttpServer::with_table(script, table.clone()).await;
        self.servers.insert(name.to_owned(), (table.clone(), server));
        table
    }

    /// Adds a tool, in place of the one of that name where it is there and not doubled on purpose.
    pub(crate) async fn add_tool(
        &mut self,
        server: &str,
        tool: &Value,
        instructions: Option<&str>,
    ) {
        let ascii = tool["name"].as_str().unwrap().is_ascii();
        let table = self.server(server, instructions, ascii).await;
        let made = TableTool { definition: definition(tool), answer: answer(tool) };
        table.change(|tools| {
            if tool["duplicate"] != true {
                tools.retain(|known| known.definition["name"] != tool["name"]);
            }
            tools.push(made);
        });
    }

    /// Says that a server's list has changed, though it has not.
    pub(crate) fn announce(&self, server: &str) {
        self.servers[server].0.change(|_| {});
    }

    /// Every call that reached a server: `server/tool` and arguments.
    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        let all = self.servers.iter().flat_map(|(server, (table, _))| {
            let calls = table.calls().into_iter();
            calls.map(move |(tool, arguments)| (format!("{server}/{tool}"), arguments))
        });
        all.collect()
    }

    /// Starts the product, again where it runs.
    pub(crate) async fn restart(&mut self) {
        self.running = None;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let config = self.config(address);
        let keys = Keys::new(self.store.clone(), throughline::clock::system());
        let gate = Gate::open(keys, None, address.ip()).await.unwrap();
        let assembled = assemble::engine(&config, self.store.clone(), Demo::Without).await.unwrap();
        let upstreams = Upstreams::of(&config).unwrap();
        let app = App::new(Setup {
            engine: assembled.engine,
            gate,
            settings: config.server,
            servers: assembled.servers,
            telemetry: config.telemetry,
        })
        .with_upstreams(upstreams);
        let stop = CancellationToken::new();
        tokio::spawn(http::run(listener, app.clone(), stop.clone().cancelled_owned()));
        self.running = Some(Running { app, address, _stop: stop.drop_guard() });
        self.call("GET", "/tools", "operator", None).await;
    }

    fn config(&self, address: std::net::SocketAddr) -> Config {
        let mut config = config();
        config.server.bind = address;
        config.agents.folder = self.folder.path().into();
        config.agents.default = AgentName::new(AGENT).unwrap();
        if !self.offline {
            config.model.push(ModelEntry {
                name: "scripted".into(),
                provider: "openai".into(),
                model: "scripted-1".into(),
                base_url: self.model.openai_url(),
                api_key_env: "SCRIPTED_KEY".into(),
                retries_max: 0,
                ..ModelEntry::default()
            });
        }
        for (name, (_, server)) in &self.servers {
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
            // Other letters are refused by the configuration: such a server cannot be there.
            if name.bytes().all(plain) {
                let entry = ServerEntry { url: server.url(), ..ServerEntry::default() };
                config.servers.insert(name.clone(), entry);
            }
        }
        crate::policy::apply(&self.policy, &mut config);
        for agent in self.agents.iter().map(String::as_str).chain([AGENT]) {
            self.write_agent(agent, &config);
        }
        config
    }

    fn write_agent(&self, agent: &str, config: &Config) {
        let folder = self.folder.path().join(agent);
        std::fs::create_dir_all(&folder).unwrap();
        let mut text = crate::policy::agent(&self.policy, agent);
        if !self.packs.is_empty() {
            text.push_str(&format!("packs = {}\n", json!(self.packs)));
        }
        for server in config.servers.keys() {
            text.push_str(&format!("[servers.{server}]\n[servers.{server}.tools]\n"));
            let prefix = format!("{server}/");
            for tool in self.manual.iter().filter_map(|tool| tool.strip_prefix(&prefix)) {
                text.push_str(&format!("{} = \"manual\"\n", json!(tool)));
            }
        }
        std::fs::write(folder.join("agent.toml"), text).unwrap();
    }

    pub(crate) fn engine(&self) -> &throughline_engine::engine::Engine {
        self.running.as_ref().unwrap().app.engine()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.as_ref().unwrap().address)
    }

    pub(crate) fn key(&self, principal: &str) -> &str {
        &self.keys[principal]
    }

    /// A request to the API; the status and the body.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        principal: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        let url = self.url(&format!("/api/v1{path}"));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.request(method.parse().unwrap(), url).bearer_auth(self.key(principal));
        let request = body.into_iter().fold(request, reqwest::RequestBuilder::json);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }
}

/// The defaults, in memory.
fn config() -> Config {
    let mut config = Config::defaults().unwrap();
    config.store.url = "memory:".into();
    config.packs.folder = "no-such-folder".into();
    let sabotage = std::env::var("THROUGHLINE_SABOTAGE").unwrap_or_default();
    config.environment =
        Environment::of([("SCRIPTED_KEY", "key"), ("THROUGHLINE_SABOTAGE", &sabotage)]);
    config
}

async fn answering(plan: Arc<Mutex<Plan>>) -> ScriptedModel {
    ScriptedModel::answering(move |request| {
        let mut plan = plan.lock().unwrap();
        Some(plan.turns.pop_front().unwrap_or_else(|| match plan.echoes {
            true => Turn::text(&texts(&request.body["messages"]).join("\n")),
            false => Turn::text("ok"),
        }))
    })
    .await
}

/// Every text in a value.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| [vec![key.clone()], texts(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn definition(tool: &Value) -> Value {
    let mut definition = json!({
        "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"],
    });
    for field in ["annotations", "_meta", "title", "outputSchema"] {
        if !tool[field].is_null() {
            definition[field] = tool[field].clone();
        }
    }
    definition
}

fn answer(tool: &Value) -> TableAnswer {
    let error = &tool["protocol_error"];
    if let (Some(code), Some(message)) = (error["code"].as_i64(), error["message"].as_str()) {
        return TableAnswer::Error(code, message.to_owned());
    }
    let text = match &tool["returns_generated"] {
        Value::Null => tool["returns"].as_str().unwrap_or_default().to_owned(),
        generated => generate(generated),
    };
    let mut content = vec![json!({"type": "text", "text": text})];
    if !tool["returns_resource"].is_null() {
        content.push(json!({"type": "resource", "resource": tool["returns_resource"]}));
    }
    if !tool["returns_link"].is_null() {
        let mut link = tool["returns_link"].clone();
        link["type"] = json!("resource_link");
        content.push(link);
    }
    TableAnswer::Result(json!({"content": content, "isError": tool["is_error"]}))
}

fn generate(wanted: &Value) -> String {
    let rows = wanted["rows"].as_u64().unwrap();
    let row = |n: u64| {
        let text = wanted["row"].to_string().replace("{n}", &n.to_string());
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let results: Vec<Value> = (1..=rows).map(row).collect();
    json!({"count": rows, "next": null, "previous": null, "results": results}).to_string()
}
