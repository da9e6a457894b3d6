//! Checks of a remote server: reachability, health, key and clock.

use axum::http::header;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::Value;

use super::Findings;
use crate::assemble::{Demo, IfAbsent};
use crate::cli::Settings;
use crate::cli::api::{Api, Call, Wait};
use crate::cli::local::Identity;
use crate::cli::output::{self, field};
use crate::clock;
use crate::failure::Failure;

/// Checks the server.
pub(super) async fn look(
    settings: &Settings,
    who: &Identity,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let api = Api::open(settings, who, Demo::Without, IfAbsent::Refuse, Wait::UntilStarted).await?;
    let response = match api.call(Call::get(&["health", "live"])).await {
        Ok(response) => response,
        Err(failure) => {
            findings.failure("server", failure);
            return Ok(());
        }
    };
    findings.ok("server", "it responds");
    if let Some(there) =
        response.headers().get(header::DATE).and_then(|date| time(date.to_str().ok()?))
    {
        findings.clock(clock::system().now(), there, "the server's clock");
    }
    match api.json(Call::get(&["health"])).await {
        Ok(health) if !health["version"].is_string() || !health["store"].is_object() => {
            findings.fail("server", "it is not a Throughline server", "check --server");
            return Ok(());
        }
        Ok(health) => parts(&health, findings),
        Err(failure) => findings.failure("health", failure),
    }
    match api.json(Call::get(&["conversations"]).with("limit", 1)).await {
        Ok(_) => findings.ok("key", "the server accepts it"),
        Err(failure) => findings.failure("key", failure),
    }
    Ok(())
}

fn parts(health: &Value, findings: &mut Findings) {
    let ours = env!("CARGO_PKG_VERSION");
    let version = field(health, "version");
    if version != ours {
        let detail = format!("the server is {version}, this program {ours}");
        findings.warn("version", detail, "use the same version on both sides");
    }
    findings.ok(
        "store",
        format!("{}, {}", field(&health["store"], "backend"), field(health, "status")),
    );
    for warning in output::list(health, "warnings").iter().filter_map(Value::as_str) {
        findings.warn("health", warning, "run throughline doctor on the server's machine");
    }
    match output::list(health, "models") {
        [] => findings.ok("models", "none configured; answers are made without a model"),
        models => findings.ok("models", format!("{} configured", models.len())),
    }
    findings.ok("MCP servers", format!("{} configured", output::list(health, "servers").len()));
}

/// Parses a `Date` header.
fn time(date: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(date).ok()
}
