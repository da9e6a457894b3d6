//! What a case's `policy` means in the configuration of this product.

use serde_json::{Value, json};
use throughline::config::Config;
use throughline_engine::rule::Rule;

use crate::world::strings;

/// The operator's part, in the configuration file.
pub(crate) fn apply(policy: &Value, config: &mut Config) {
    let rules = [
        ("allow", Rule::Allow),
        ("reads_only", Rule::Reads),
        ("ask", Rule::Ask),
        ("deny", Rule::Deny),
    ];
    for (key, rule) in rules {
        for tool in strings(&policy[key]) {
            let (server, name) = tool.split_once('/').unwrap();
            if let Some(entry) = config.servers.get_mut(server) {
                entry.tools.insert(name.to_owned(), rule);
            }
        }
    }
    for (server, entry) in &mut config.servers {
        entry.reads_only = policy[format!("server {server} reads_only")] == true;
    }
}

/// An agent's part, in its definition.
pub(crate) fn agent(policy: &Value, agent: &str) -> String {
    let allowed = strings(&policy[format!("agent {agent} allow")]);
    let allowed: Vec<String> = allowed.iter().map(|tool| tool.replacen('/', ":", 1)).collect();
    format!("allow = {}\n", json!(allowed))
}
