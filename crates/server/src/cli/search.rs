//! `throughline search` and `throughline index`: words across sessions.

use clap::{Args, Subcommand};
use console::style;
use serde_json::json;
use throughline_engine::index::{Part, Snippet};
use throughline_store::index;

use super::local::{Local, Who};
use super::{Settings, output};
use crate::assemble::{self, IfAbsent};
use crate::failure::Failure;

/// Flags of `search`.
#[derive(Debug, Args)]
pub struct Search {
    #[command(flatten)]
    who: Who,
    /// Words to look for.
    #[arg(required = true)]
    query: Vec<String>,
    /// At most this many hits, 1-100.
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

impl Search {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let local = Local::open(settings, &self.who, IfAbsent::Refuse).await?;
        let query = self.query.join(" ");
        let found = local.engine.search(&local.caller, &query, self.limit, 0).await;
        local.close().await;
        let found = found?;
        if self.who.json {
            return output::json(&found);
        }
        if found.hits.is_empty() {
            output::line("nothing was found")?;
        }
        for hit in &found.hits {
            let title = output::brief(hit.title.as_deref().unwrap_or(""), 60);
            let place = match (hit.hit.part, hit.hit.turn) {
                (Part::Title, _) => "title".to_owned(),
                (Part::Message, turn) => format!("turn {turn}, asked"),
                (Part::Reply, turn) => format!("turn {turn}, answered"),
            };
            let heading = style(hit.hit.session.to_string()).bold();
            output::line(format!("{heading} {place}  {}", style(title).dim()))?;
            output::line(format!("  {}", highlighted(&hit.snippet)))?;
        }
        if found.sessions_behind > 0 {
            eprintln!("{} sessions are not in the index yet", found.sessions_behind);
        }
        Ok(())
    }
}

/// The found words in colour, or between stars where there are no colours.
fn highlighted(snippet: &Snippet) -> String {
    let plain = |text: &str| output::plain(text).replace('\n', " ");
    if console::colors_enabled() {
        snippet.marked("\u{1b}[1;33m", "\u{1b}[0m", plain)
    } else {
        snippet.marked("*", "*", plain)
    }
}

/// Flags of `index`.
#[derive(Debug, Args)]
pub struct Index {
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make the index anew from the logs.
    Rebuild,
}

impl Index {
    /// Does it.
    pub async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Verb::Rebuild = self.verb;
        let (url, options) = assemble::store_options(&settings.load()?)?;
        if index::place_of(&url, &options).is_none() {
            let what =
                format!("each server of {url} has its index in memory, made anew at its start");
            let hint = "name a file in store.index to keep one on disk, and to rebuild it";
            return Err(Failure::new(what, hint));
        }
        let local = Local::open(settings, &self.who, IfAbsent::Refuse).await?;
        let counter = output::counter("sessions indexed:");
        let progress = counter.clone();
        let done = local.engine.rebuild_index(&local.caller, move |count| {
            progress.set_position(count);
        });
        let done = done.await;
        counter.finish_and_clear();
        local.close().await;
        let sessions = done?;
        if self.who.json {
            return output::json(&json!({"sessions": sessions}));
        }
        output::line(format!("the index holds {sessions} sessions"))
    }
}
