//! `throughline search` and `throughline index`: search across sessions.

use clap::{Args, Subcommand};
use console::style;
use serde_json::{Value, json};
use throughline_engine::index::Snippet;
use throughline_store::index;

use super::api::{Api, Call};
use super::local::{Identity, Local};
use super::output::field;
use super::{Settings, output};
use crate::assemble::{self, Demo, IfAbsent};
use crate::failure::Failure;

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(super) struct Search {
    #[command(flatten)]
    who: Identity,
    /// The words to search for.
    #[arg(required = true)]
    query: Vec<String>,
    /// The maximum number of hits, 1-100.
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

impl Search {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let call = Call::get(&["search"]).with("q", self.query.join(" ")).with("limit", self.limit);
        let act = async |api: &Api| {
            let found = api.json(call).await?;
            if settings.json { output::json(&found) } else { tell(&found) }
        };
        Api::during(settings, &self.who, Demo::Without, IfAbsent::Refuse, act).await
    }
}

fn tell(found: &Value) -> Result<(), Failure> {
    let hits = output::list(found, "hits");
    if hits.is_empty() {
        output::line("nothing was found")?;
    }
    for hit in hits {
        let title = output::brief(hit["title"].as_str().unwrap_or(""), 60);
        let place = match hit["part"].as_str() {
            Some("title") => "title".to_owned(),
            Some("message") => format!("turn {}, asked", field(hit, "turn")),
            _ => format!("turn {}, answered", field(hit, "turn")),
        };
        let heading = style(field(hit, "session")).bold();
        output::line(format!("{heading} {place}  {}", style(title).dim()))?;
        output::line(format!("  {}", highlighted(&snippet(&hit["snippet"]))))?;
    }
    match found["sessions_behind"].as_u64() {
        Some(behind) if behind > 0 => eprintln!("{behind} sessions are not indexed yet"),
        _ => {}
    }
    Ok(())
}

/// An excerpt, as the index marked it.
fn snippet(value: &Value) -> Snippet {
    let text = value["text"].as_str().unwrap_or_default().to_owned();
    let at = |mark: &Value, name| usize::try_from(mark[name].as_u64()?).ok();
    let marks = output::list(value, "marks").iter();
    let marks = marks.filter_map(|mark| Some(at(mark, "start")?..at(mark, "end")?));
    let within = |mark: &std::ops::Range<usize>| text.get(mark.clone()).is_some();
    let marks = marks.filter(within).collect();
    Snippet { text, marks }
}

/// The matching words in colour, or between asterisks without colours.
fn highlighted(snippet: &Snippet) -> String {
    let plain = |text: &str| output::plain(text).replace('\n', " ");
    if console::colors_enabled() {
        snippet.marked("\u{1b}[1;33m", "\u{1b}[0m", plain)
    } else {
        snippet.marked("*", "*", plain)
    }
}

/// Arguments of `index`.
#[derive(Debug, Args)]
pub(super) struct Index {
    #[command(flatten)]
    who: Identity,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Rebuild the index from the logs.
    Rebuild,
}

impl Index {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let Verb::Rebuild = self.verb;
        let (url, options) = assemble::store_options(&settings.load()?)?;
        if index::index_path(&url, &options).is_none() {
            let what =
                format!("servers of {url} keep their index in memory and rebuild it at start");
            let hint = "set store.index to a file to keep the index on disk";
            return Err(Failure::new(what, hint));
        }
        let config = settings.load_for(IfAbsent::Refuse)?;
        let local = Local::with(config, &self.who, Demo::Without).await?;
        let counter = output::counter("sessions indexed:");
        let progress = counter.clone();
        let done = local.engine.rebuild_index(&local.caller, move |count| {
            progress.set_position(count);
        });
        let done = done.await;
        counter.finish_and_clear();
        local.close().await;
        let sessions = done?;
        if settings.json {
            return output::json(&json!({"sessions": sessions}));
        }
        output::line(format!("{sessions} sessions are indexed"))
    }
}
