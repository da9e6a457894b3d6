//! Output while a turn runs and when it has ended.
//!
//! Invariant: without a terminal only plain text is written.

use std::io::Write;
use std::time::Duration;

use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use throughline_engine::entity::Mention;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::session::record::EntityMention;

use super::markdown::Markdown;
use crate::cli::output::{self, brief, field, plain};
use crate::failure::Failure;

/// Interval of the spinner.
const TICK: Duration = Duration::from_millis(100);
/// Characters shown of a call's arguments.
const ARGUMENTS_CHARACTERS: usize = 160;

/// Where output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownOn {
    /// A terminal: colours, Markdown and spinners.
    Terminal,
    /// A pipe: plain text.
    Pipe,
    /// Nowhere; the caller shows the outcome.
    Nowhere,
}

/// Shows one turn.
pub(super) struct Screen {
    place: ShownOn,
    spinner: Option<ProgressBar>,
    markdown: Markdown,
    said: bool,
    at_line_start: bool,
}

impl Screen {
    /// A screen for one turn.
    pub(super) fn new(place: ShownOn) -> Self {
        let markdown = Markdown::for_terminal();
        let mut screen = Self { place, spinner: None, markdown, said: false, at_line_start: true };
        screen.spin("thinking");
        screen
    }

    /// Shows an event of the stream.
    pub(super) fn event(&mut self, name: &str, data: &Value) {
        let tool = || plain(&format!("{}:{}", field(data, "server"), field(data, "name")));
        match name {
            "delta" => self.say(data["text"].as_str().unwrap_or_default()),
            "tool_call" => self.spin(&format!("{} is running", tool())),
            "tool_result" => {
                let mark = if data["ok"] == true { "✓" } else { "✗" };
                self.note(&format!("{mark} {}", tool()));
                self.spin("thinking");
            }
            _ => {}
        }
    }

    /// Shows the outcome of the turn.
    pub(super) fn finished(&mut self, reply: &Value) -> Result<(), Failure> {
        if reply["status"] == "awaiting_approval" {
            self.new_line();
            let calls: Vec<AwaitedCall> = output::read(reply["awaiting_approval"].clone())?;
            self.waiting(&calls);
            return Ok(());
        }
        if !self.said {
            self.say(reply["reply"].as_str().unwrap_or_default());
        }
        self.new_line();
        match (reply["status"].as_str(), reply["error"]["message"].as_str()) {
            (Some("partial"), _) => self.stopped(),
            // The reply of a refused turn already says so.
            (Some("failed"), Some(error)) => self.note(&format!("! {}", plain(error))),
            _ => {}
        }
        let mentions: Vec<EntityMention> = output::read(reply["entities"].clone())?;
        let understood: Vec<String> = mentions.iter().map(understood).collect();
        if !understood.is_empty() {
            self.note(&format!("understood: {}", plain(&understood.join(", "))));
        }
        let first_offline = reply["form"]["by"] == "offline" && reply["turn"] == 1;
        if first_offline && self.place == ShownOn::Terminal {
            self.note(&format!("without a model: {}", plain(&field(&reply["form"], "why"))));
        }
        Ok(())
    }

    /// Shows that the turn was stopped.
    pub(super) fn stopped(&mut self) {
        self.note("(stopped; the reply so far is kept)");
    }

    /// Shows calls that wait for approval.
    fn waiting(&mut self, calls: &[AwaitedCall]) {
        for call in calls {
            let arguments = brief(&call.arguments.to_string(), ARGUMENTS_CHARACTERS);
            let line = format!("{} {arguments} waits: {}", call.tool, plain(&call.reason));
            self.put(&format!("? {}\n", style(line).yellow()));
        }
    }

    /// Prints a dimmed line.
    pub(super) fn note(&mut self, text: &str) {
        self.new_line();
        self.put(&format!("{}\n", style(format!("  {text}")).dim()));
    }

    /// Stops the spinner.
    pub(super) fn still(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.still();
        let text = plain(text);
        let shown = match self.place {
            ShownOn::Terminal => self.markdown.push(&text),
            ShownOn::Pipe | ShownOn::Nowhere => text,
        };
        self.reply(&shown);
        self.said = true;
    }

    fn reply(&mut self, shown: &str) {
        if !shown.is_empty() {
            self.put(shown);
            self.at_line_start = shown.ends_with('\n');
        }
    }

    fn new_line(&mut self) {
        self.still();
        let rest = self.markdown.finish();
        self.reply(&rest);
        if !self.at_line_start {
            self.put("\n");
            self.at_line_start = true;
        }
    }

    fn put(&self, text: &str) {
        if self.place == ShownOn::Nowhere {
            return;
        }
        let mut out = std::io::stdout().lock();
        // A closed pipe ends the conversation at the next line.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn spin(&mut self, what: &str) {
        if self.place != ShownOn::Terminal {
            return;
        }
        if !self.at_line_start {
            self.new_line();
        }
        let spinner = self.spinner.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg:.dim}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            let spinner = ProgressBar::new_spinner().with_style(style);
            spinner.enable_steady_tick(TICK);
            spinner
        });
        spinner.set_message(what.to_owned());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.still();
    }
}

/// An entity as it was understood; a question mark if unsure.
fn understood(mention: &EntityMention) -> String {
    let doubt = if mention.confidence < Mention::SURE { "?" } else { "" };
    format!("{} {}{doubt}", mention.kind, mention.name)
}
