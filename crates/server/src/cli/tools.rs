//! `throughline tools`: tools of MCP servers.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use throughline_engine::tool::ToolName;

use super::api::{Api, Call};
use super::local::Identity;
use super::output::field;
use super::{Settings, output};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;
use crate::http::agents::calls::APPROVAL_NEEDED;

/// Characters of a description in a list.
const DESCRIPTION_CHARACTERS: usize = 60;

/// Arguments of `tools`.
#[derive(Debug, Args)]
pub(super) struct Tools {
    #[command(flatten)]
    who: Identity,
    /// Also start the demo inventory.
    #[arg(long, global = true)]
    demo: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the tools of all servers with their approval status.
    List,
    /// Find tools that match a description.
    Search {
        /// What the tool should do.
        #[arg(required = true)]
        query: Vec<String>,
        /// The maximum number of results.
        #[arg(long, default_value_t = 5)]
        limit: usize,
    },
    /// Call a tool.
    Call {
        /// SERVER:TOOL
        tool: String,
        /// The arguments, as a JSON object.
        #[arg(default_value = "{}")]
        arguments: String,
        /// The agent whose rules decide which calls need approval.
        #[arg(long)]
        agent: Option<String>,
        /// Approve this call, if it needs approval.
        #[arg(long)]
        approve: bool,
    },
    /// Approve the current definition of a tool.
    Approve {
        /// SERVER:TOOL
        tool: String,
    },
}

impl Tools {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::List | Verb::Search { .. } => IfAbsent::Pretend,
            Verb::Call { .. } | Verb::Approve { .. } => IfAbsent::Create,
        };
        let act = async |api: &Api| act(api, self.verb, settings.json).await;
        Api::during(settings, &self.who, Demo::by(self.demo), then, act).await
    }
}

async fn act(api: &Api, verb: Verb, json: bool) -> Result<(), Failure> {
    match verb {
        Verb::List => list(api, json).await,
        Verb::Search { query, limit } => search(api, &query.join(" "), limit, json).await,
        Verb::Call { tool, arguments, agent, approve } => {
            let body =
                json!({"arguments": object(&arguments)?, "agent": agent, "approve": approve});
            call(api, &name(&tool)?, body, json).await
        }
        Verb::Approve { tool } => {
            let ToolName { server, name } = name(&tool)?;
            let approved = api.json(Call::post(&["tools", &server, &name, "approve"])).await?;
            if json {
                return output::json(&approved);
            }
            output::line(format!("the current definition of {tool} is approved"))
        }
    }
}

async fn list(api: &Api, json: bool) -> Result<(), Failure> {
    let listed = api.json(Call::get(&["tools"])).await?;
    if json {
        return output::json(&listed);
    }
    let (tools, unavailable) =
        (output::list(&listed, "tools"), output::list(&listed, "unavailable"));
    for server in unavailable {
        let reason = output::plain(&field(server, "reason"));
        eprintln!("{} is not available: {reason}", field(server, "server"));
    }
    if tools.is_empty() {
        let why = if unavailable.is_empty() { "; configure servers under [servers]" } else { "" };
        return output::line(format!("there are no tools{why}"));
    }
    output::table(["tool", "state", "description"], tools.iter().map(row))
}

fn row(tool: &Value) -> [String; 3] {
    [
        format!("{}:{}", field(tool, "server"), field(tool, "name")),
        tool["refused"].as_str().unwrap_or("approved").to_owned(),
        output::brief(&field(tool, "description"), DESCRIPTION_CHARACTERS),
    ]
}

async fn search(api: &Api, query: &str, limit: usize, json: bool) -> Result<(), Failure> {
    let call = Call::get(&["tools", "search"]).with("query", query).with("limit", limit);
    let found = api.json(call).await?;
    if json {
        return output::json(&found);
    }
    let rows = output::list(&found, "tools").iter().map(|found| {
        let [tool, state, description] = row(&found["tool"]);
        let score = found["score"].as_f64().unwrap_or_default();
        [format!("{score:.2}"), tool, state, description]
    });
    output::table(["score", "tool", "state", "description"], rows)
}

fn object(arguments: &str) -> Result<Value, Failure> {
    let read = serde_json::from_str(arguments).ok().filter(Value::is_object);
    read.ok_or_else(|| {
        let what = "the arguments are not a JSON object";
        Failure::wrong_use(what, r#"for example '{"name": "rack-1"}'"#)
    })
}

async fn call(api: &Api, tool: &ToolName, body: Value, json: bool) -> Result<(), Failure> {
    let call = Call::post(&["tools", &tool.server, &tool.name, "call"]).body(body);
    let called = api.json(call).await.map_err(|failure| match failure.code.as_str() {
        APPROVAL_NEEDED => Failure { hint: Some("add --approve to run it".into()), ..failure },
        _ => failure,
    })?;
    if json {
        output::json(&called)?;
    } else {
        output::line(output::plain(&field(&called, "result")))?;
    }
    if called["ok"] == true {
        Ok(())
    } else {
        Err(Failure::new(format!("{tool} failed"), "its result is printed above"))
    }
}

fn name(text: &str) -> Result<ToolName, Failure> {
    match text.split_once(':') {
        Some((server, name)) if !server.is_empty() && !name.is_empty() => {
            Ok(ToolName { server: server.into(), name: name.into() })
        }
        _ => Err(Failure::wrong_use(
            format!("{text:?} is not a tool name"),
            "write SERVER:TOOL; see throughline tools list",
        )),
    }
}
