//! What a case's `policy` means in the configuration of this product.

use serde_json::{Value, json};
use throughline::config::Config;

use crate::world::strings;

/// The operator's part, in the configuration file.
pub fn apply(_policy: &Value, _config: &mut Config) {}

/// An agent's part, in its definition.
pub fn agent(policy: &Value, _agent: &str) -> String {
    let named = |tool: &String| tool.replacen('/', ":", 1);
    let ask: Vec<String> = strings(&policy["ask"]).iter().map(named).collect();
    format!("approve = {}\n", json!(ask))
}
