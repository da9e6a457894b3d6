//! `throughline doctor`: looks at everything that a server needs, and says what to do about what is wrong.
//!
//! It changes nothing. Each model is asked for one word, each MCP server for its tools.
//!
//! Invariant: a check that failed says what to do, and one is enough for exit code 1.
//!
//! # Layout
//!
//! - [`here`]: configuration, models, MCP servers. [`place`]: the store and its folders. [`elsewhere`]: a server.

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

/// Seconds that a clock may be wrong by.
const CLOCK_SECONDS_MAX: i64 = 30;

/// Flags of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    who: Identity,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It works.
    Ok,
    /// It works, and something about it is not as it should be.
    Warning,
    /// It does not work.
    Failed,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    name: String,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// Everything that was looked at.
#[derive(Debug, Default)]
pub struct Findings(Vec<Check>);

impl Findings {
    /// It works.
    pub fn ok(&mut self, name: impl Into<String>, detail: impl Into<String>) {
        self.add(name.into(), Status::Ok, detail.into(), None);
    }

    /// It works, but.
    pub fn warn(&mut self, name: &str, detail: impl Into<String>, fix: impl Into<String>) {
        self.add(name.into(), Status::Warning, detail.into(), Some(fix.into()));
    }

    /// It does not work.
    pub fn fail(
        &mut self,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.add(name.into(), Status::Failed, detail.into(), Some(fix.into()));
    }

    /// A failure of ours as a check.
    pub fn failure(&mut self, name: impl Into<String>, failure: Failure) {
        let fix = failure.hint.unwrap_or_else(|| "see throughline config show".into());
        self.fail(name, failure.message, fix);
    }

    /// The clock of this machine against a time that cannot be later.
    pub fn clock(&mut self, now: Timestamp, known: Timestamp, of: &str) {
        let behind = known.duration_since(now).as_secs();
        if behind > CLOCK_SECONDS_MAX {
            let detail = format!("the clock says {now}, but {of} is {behind} s ahead of it");
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
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
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
