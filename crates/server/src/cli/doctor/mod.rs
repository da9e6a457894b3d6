//! `throughline doctor`: checks everything a server needs, and suggests fixes.
//!
//! It changes nothing. Each model is asked for one word, each MCP server for its tools.
//!
//! Invariant: every failed check suggests a fix, and one failure means exit code 1.
//!
//! # Layout
//!
//! - [`here`]: configuration, models, MCP servers. [`place`]: the store and its folders. [`elsewhere`]: a
//!   remote server.

mod elsewhere;
mod here;
mod place;

use clap::Args;
use console::style;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::local::Identity;
use super::{Settings, output};
use crate::failure::Failure;

/// Tolerated clock difference, in seconds.
const CLOCK_SECONDS_MAX: i64 = 30;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    who: Identity,
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// It works.
    Ok,
    /// It works, but needs attention.
    Warning,
    /// It does not work.
    Failed,
}

/// A check and its result.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    name: String,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// All checks.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Check>);

impl Findings {
    /// Adds a passed check.
    pub(super) fn ok(&mut self, name: impl Into<String>, detail: impl Into<String>) {
        self.add(name.into(), Status::Ok, detail.into(), None);
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, name: &str, detail: impl Into<String>, fix: impl Into<String>) {
        self.add(name.into(), Status::Warning, detail.into(), Some(fix.into()));
    }

    /// Adds a failed check.
    pub(super) fn fail(
        &mut self,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(name.into(), Status::Failed, detail.into(), Some(fix.into()));
    }

    /// Adds a failure as a failed check.
    pub(super) fn failure(&mut self, name: impl Into<String>, failure: Failure) {
        let fix = failure.hint.unwrap_or_else(|| "see throughline config show".into());
        self.fail(name, failure.message, fix);
    }

    /// Compares this machine's clock with a time that cannot be in the future.
    pub(super) fn clock(&mut self, now: Timestamp, known: Timestamp, of: &str) {
        let behind = known.duration_since(now).as_secs();
        if behind > CLOCK_SECONDS_MAX {
            let detail = format!("the clock says {now}, but {of} is {behind} s ahead");
            self.fail("clock", detail, "set this machine's clock, and use NTP");
        } else {
            self.ok("clock", format!("it is {now}"));
        }
    }

    fn add(&mut self, name: String, status: Status, detail: String, fix: Option<String>) {
        self.0.push(Check { name, status, detail: output::plain(&detail), fix });
    }

    fn count(&self, status: Status) -> usize {
        self.0.iter().filter(|check| check.status == status).count()
    }
}

impl Doctor {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let mut findings = Findings::default();
        match settings.server() {
            Some(_) => elsewhere::look(settings, &self.who, &mut findings).await?,
            None => here::look(settings, &mut findings).await,
        }
        let (failed, warnings) = (findings.count(Status::Failed), findings.count(Status::Warning));
        if settings.json {
            output::json(&json!({"ok": failed == 0, "checks": findings.0}))?;
        } else {
            findings.0.iter().try_for_each(tell)?;
            output::line(format!(
                "{} checks: {failed} failed, {warnings} with a warning",
                findings.0.len()
            ))?;
        }
        match failed {
            0 => Ok(()),
            _ => {
                let hint = "see the fix beside each failed check";
                Err(Failure::new(format!("{failed} checks failed"), hint).coded("unhealthy"))
            }
        }
    }
}

fn tell(check: &Check) -> Result<(), Failure> {
    let mark = match check.status {
        Status::Ok => style("ok     ").green(),
        Status::Warning => style("warning").yellow(),
        Status::Failed => style("failed ").red(),
    };
    output::line(format!("{mark}  {}: {}", check.name, check.detail))?;
    match &check.fix {
        Some(fix) => output::line(format!("         → {fix}")),
        None => Ok(()),
    }
}
