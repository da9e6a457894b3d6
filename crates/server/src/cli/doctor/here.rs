//! Checks of this machine: configuration, models, MCP servers and the store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt;
use throughline_engine::failure::{UpstreamError, UpstreamFault};
use throughline_engine::model::{Block, Message, ModelRequest, Role};
use throughline_engine::pack::PackSet;
use throughline_engine::tool::Tools;
use throughline_upstream::mcp::{McpProxy, Transport};
use throughline_upstream::model::{self, ModelConfig};
use tokio_util::sync::CancellationToken;

use super::{Findings, place};
use crate::agents::AgentFolder;
use crate::agents::watch::{self, Fixed};
use crate::assemble::{self, IfAbsent};
use crate::cli::Settings;
use crate::config::Config;

/// Time limit for a model.
const MODEL_PATIENCE: Duration = Duration::from_secs(20);
/// Maximum tokens of the requested reply.
const REPLY_TOKENS: u32 = 16;

/// Runs all checks.
pub(super) async fn look(settings: &Settings, findings: &mut Findings) {
    let config = match settings.load() {
        Ok(config) => config,
        Err(failure) => {
            findings.failure("configuration", failure);
            return;
        }
    };
    findings.ok("configuration", "it is valid");
    documents(&config, findings);
    // A store that was named is meant to be there.
    let absent = if settings.store.is_some() { IfAbsent::Refuse } else { IfAbsent::Create };
    place::look(&config, absent, findings).await;
    models(&config, findings).await;
    servers(&config, findings).await;
}

/// Invalid packs and agents.
fn documents(config: &Config, findings: &mut Findings) {
    let (_, problems) = PackSet::load(assemble::toml_files(&config.packs.folder));
    for problem in problems {
        let fix = "correct the named line; until then the pack is not used";
        findings.warn("packs", problem.to_string(), fix);
    }
    let fixed = Fixed { default: config.agents.default.clone(), agents: Vec::new() };
    let (agents, _) = watch::look(&mut AgentFolder::new(&config.agents.folder), &fixed);
    for problem in agents.problems() {
        findings.warn("agents", problem, "correct that file; the rest of the agent stays in use");
    }
}

async fn models(config: &Config, findings: &mut Findings) {
    let each = config.each_model();
    if each.is_empty() {
        findings.ok("models", "none configured; answers are made without a model");
    }
    for (name, model) in each {
        let called = format!("model {name}");
        let model = match model {
            Ok(model) => model,
            Err(failure) => {
                findings.failure(called, failure);
                continue;
            }
        };
        let address = model.base_url.clone();
        match one_word(model).await {
            Ok(()) => findings.ok(called, format!("{address} answers and accepts the key")),
            Err(error) => {
                let fix = advice(error.fault, &name);
                findings.fail(called, format!("{address}: {}", error.message), fix);
            }
        }
    }
}

/// Asks a model for a single word.
async fn one_word(mut config: ModelConfig) -> Result<(), UpstreamError> {
    config.retries_max = 0;
    config.head_timeout = MODEL_PATIENCE;
    config.first_token_timeout = MODEL_PATIENCE;
    config.total_timeout = MODEL_PATIENCE;
    let model = model::connect(config)?;
    let content = vec![Block::text("Answer with the word: ok")];
    let request = ModelRequest {
        messages: vec![Message { role: Role::User, content }],
        reply_tokens_max: REPLY_TOKENS,
        temperature: 1.0,
        ..ModelRequest::default()
    };
    let mut events = model.stream(&request, CancellationToken::new()).await?;
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(())
}

fn advice(fault: UpstreamFault, name: &str) -> String {
    match fault {
        UpstreamFault::Unreachable | UpstreamFault::TimedOut => {
            format!(
                "check base_url of the model {name}, that the server runs, and the network (proxy, firewall)"
            )
        }
        UpstreamFault::Unauthorized => {
            format!(
                "the key was rejected: set a valid key in the variable named by api_key_env of {name}"
            )
        }
        UpstreamFault::RateLimited => {
            "the provider limits the rate: check your plan, or wait".into()
        }
        UpstreamFault::Rejected | UpstreamFault::NotFound => {
            format!("the request was rejected: check model and sends_temperature of {name}")
        }
        UpstreamFault::Malformed | UpstreamFault::TooLarge => {
            format!(
                "the response is not in the provider's format: check provider and base_url of {name}"
            )
        }
        UpstreamFault::Failed | UpstreamFault::Cancelled => {
            "the provider failed: try again, and see its status page".into()
        }
    }
}

async fn servers(config: &Config, findings: &mut Findings) {
    let mut configs = match config.server_configs() {
        Ok(configs) => configs,
        Err(failure) => return findings.failure("MCP servers", failure),
    };
    if configs.is_empty() {
        return findings.ok("MCP servers", "none configured");
    }
    for server in &mut configs {
        // Nothing else is done meanwhile, and a package may be downloaded first.
        server.list_timeout = server.list_timeout.max(server.connect_timeout);
    }
    let names: Vec<String> = configs.iter().map(|server| server.name.clone()).collect();
    let remote: BTreeSet<String> = configs
        .iter()
        .filter(|server| matches!(server.transport, Transport::Http { .. }))
        .map(|server| server.name.clone())
        .collect();
    let proxy = match McpProxy::new(configs) {
        Ok(proxy) => proxy,
        Err(error) => {
            let fix = "correct it under [servers] in the configuration";
            return findings.fail("MCP servers", error.to_string(), fix);
        }
    };
    let listing = proxy.list().await;
    proxy.shutdown().await;
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in &listing.tools {
        *tools.entry(&tool.tool.server).or_default() += 1;
    }
    for name in &names {
        let called = format!("MCP server {name}");
        match listing.unavailable.iter().find(|(server, _)| server == name) {
            Some((_, reason)) => {
                let fix = if remote.contains(name) {
                    format!("check url under [servers.{name}], and that the server runs")
                } else {
                    format!("check command and args under [servers.{name}], and run it by hand")
                };
                findings.fail(called, reason, fix);
            }
            None => {
                let count = tools.get(name.as_str()).copied().unwrap_or(0);
                findings.ok(called, format!("it responds and has {count} tools"));
            }
        }
    }
}
