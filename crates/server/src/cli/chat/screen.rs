//! What is shown while a turn runs and when it has ended.
//!
//! Invariant: where there is no terminal, nothing but plain text is written.

use std::io::Write;
use std::time::Duration;

use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use throughline_engine::entity::Mention;
use throughline_engine::events::TurnEvent;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::session::record::{EntityMention, ReplyForm, TurnRecord, TurnStatus};

use crate::cli::output::{brief, plain};

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(100);
/// Characters of a call's arguments.
const ARGUMENTS_CHARACTERS: usize = 160;

/// Where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A terminal: colours and spinners.
    Terminal,
    /// A pipe: plain text.
    Pipe,
    /// Nowhere; the caller shows the outcome.
    Nowhere,
}

/// Shows one turn.
pub struct Screen {
    place: Place,
    spinner: Option<ProgressBar>,
    said: bool,
    at_line_start: bool,
}

impl Screen {
    /// A screen for one turn.
    pub fn new(place: Place) -> Self {
        let mut screen = Self { place, spinner: None, said: false, at_line_start: true };
        screen.spin("thinking");
        screen
    }

    /// Something happened.
    pub fn event(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Delta(text) => self.say(text),
            TurnEvent::ToolCall { tool, .. } => self.spin(&format!("{tool} is running")),
            TurnEvent::ToolResult { tool, ok, .. } => {
                let mark = if *ok { "✓" } else { "✗" };
                self.note(&format!("{mark} {tool}"));
                self.spin("thinking");
            }
            TurnEvent::Context(_) | TurnEvent::Approval(_) | TurnEvent::Usage(_) => {}
        }
    }

    /// The turn is in the log.
    pub fn finished(&mut self, record: &TurnRecord) {
        if !self.said {
            self.say(&record.reply);
        }
        self.new_line();
        match record.status {
            TurnStatus::Partial => self.note("(stopped here; what was said is kept)"),
            TurnStatus::Refused
            | TurnStatus::Failed
            | TurnStatus::Complete
            | TurnStatus::Erased => {}
        }
        // The words of a refused turn say so already.
        if let Some(error) = record.error.as_ref().filter(|_| record.status == TurnStatus::Failed) {
            self.note(&format!("! {}", plain(&error.message)));
        }
        let understood: Vec<String> = record.entities.iter().map(understood).collect();
        if !understood.is_empty() {
            self.note(&format!("understood: {}", plain(&understood.join(", "))));
        }
        if let (ReplyForm::Offline { why, .. }, Place::Terminal) = (&record.form, self.place)
            && record.turn == 1
        {
            self.note(&format!("without a model: {}", plain(why)));
        }
    }

    /// Calls wait for a person.
    pub fn waiting(&mut self, calls: &[AwaitedCall]) {
        self.new_line();
        for call in calls {
            let arguments = brief(&call.arguments.to_string(), ARGUMENTS_CHARACTERS);
            let line = format!("{} {arguments} waits: {}", call.tool, plain(&call.reason));
            self.put(&format!("? {}\n", style(line).yellow()));
        }
    }

    /// A line beside the conversation.
    pub fn note(&mut self, text: &str) {
        self.new_line();
        self.put(&format!("{}\n", style(format!("  {text}")).dim()));
    }

    /// Nothing turns any more.
    pub fn still(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.still();
        self.put(&plain(text));
        self.said = true;
        self.at_line_start = text.ends_with('\n');
    }

    fn new_line(&mut self) {
        self.still();
        if !self.at_line_start {
            self.put("\n");
            self.at_line_start = true;
        }
    }

    fn put(&self, text: &str) {
        if self.place == Place::Nowhere {
            return;
        }
        let mut out = std::io::stdout().lock();
        // A reader that has gone away ends the conversation at its next line.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn spin(&mut self, what: &str) {
        if self.place != Place::Terminal {
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

/// A thing as it was understood, marked where that is not sure.
fn understood(mention: &EntityMention) -> String {
    let doubt = if mention.confidence < Mention::SURE { "?" } else { "" };
    format!("{} {}{doubt}", mention.kind, mention.name)
}
