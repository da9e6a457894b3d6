//! `session list`, `session show`, `session history`.

use clap::Args;
use serde_json::json;
use throughline_engine::engine::{HistoryQuery, Order, SessionQuery};
use throughline_engine::session::record::{TurnRecord, TurnStatus};

use crate::cli::local::{Local, session_id};
use crate::cli::output;
use crate::failure::Failure;
use crate::http::conversations::turn::TurnBrief;
use crate::http::conversations::view::conversation;

/// Characters of a title in a list.
const TITLE_CHARACTERS: usize = 48;

/// Flags of `session list`.
#[derive(Debug, Args)]
pub struct List {
    /// At most this many, 1-1000.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Only sessions with this tag.
    #[arg(long)]
    tag: Option<String>,
    /// Also those that were put aside or have expired.
    #[arg(long)]
    all: bool,
}

impl List {
    /// Does it.
    pub async fn run(self, local: &Local, json: bool) -> Result<(), Failure> {
        let query =
            SessionQuery { limit: self.limit, tag: self.tag, with_inactive: self.all, after: None };
        let list = local.engine.list_sessions(&local.caller, query).await?;
        let now = local.engine.now();
        if json {
            let sessions: Vec<_> = list.sessions.iter().map(|s| conversation(s, now)).collect();
            return output::json(&json!({"conversations": sessions, "more": list.next.is_some()}));
        }
        if list.sessions.is_empty() {
            return output::line("there are no sessions");
        }
        let rows = list.sessions.iter().map(|session| {
            let head = &session.head;
            [
                head.id.to_string(),
                head.turns.to_string(),
                head.last_activity.strftime("%Y-%m-%d %H:%M").to_string(),
                output::brief(head.title.as_deref().unwrap_or("-"), TITLE_CHARACTERS),
                head.tags.join(", "),
            ]
        });
        output::table(["session", "turns", "last activity", "title", "tags"], rows)?;
        if list.next.is_some() {
            eprintln!("there are more; --limit shows them");
        }
        Ok(())
    }
}

/// Shows a head.
pub async fn show(local: &Local, session: &str, json: bool) -> Result<(), Failure> {
    let loaded = local.engine.session(&local.caller, &session_id(session)?).await?;
    let view = conversation(&loaded, local.engine.now());
    if json {
        return output::json(&view);
    }
    let head = &loaded.head;
    let none = || "-".to_owned();
    let expires = view.expiry_warning.or(view.expires_at.map(|at| at.to_string()));
    let items: Vec<String> = head.items.iter().map(|item| item.item.to_string()).collect();
    let rows = [
        ["session".into(), view.id],
        ["title".into(), view.title.unwrap_or_else(none)],
        ["agent".into(), view.agent.unwrap_or_else(|| "the default one".into())],
        ["turns".into(), view.turns.to_string()],
        ["version".into(), view.version.to_string()],
        ["active".into(), if view.active { "yes".into() } else { "no".into() }],
        ["created".into(), view.created_at.to_string()],
        ["last activity".into(), view.last_activity.to_string()],
        ["expires".into(), expires.unwrap_or_else(none)],
        ["tags".into(), view.tags.join(", ")],
        ["persona".into(), view.persona.map_or_else(none, |persona| persona.name)],
        ["topic".into(), head.entities.topic.as_ref().map_or_else(none, ToString::to_string)],
        ["things".into(), head.entities.tracked.len().to_string()],
        ["items".into(), items.join("\n")],
        ["last request".into(), format!("{} tokens", view.context_tokens)],
        ["erased turns".into(), view.erased_turns.to_string()],
    ];
    output::table(["", ""], rows)
}

/// Flags of `session history`.
#[derive(Debug, Args)]
pub struct History {
    /// The session.
    session: String,
    /// At most this many turns, 1-1000.
    #[arg(long, default_value_t = 50)]
    limit: u64,
    /// The turn to begin with.
    #[arg(long)]
    from: Option<u64>,
    /// Newest first.
    #[arg(long)]
    newest: bool,
}

impl History {
    /// Does it.
    pub async fn run(self, local: &Local, json: bool) -> Result<(), Failure> {
        let order = if self.newest { Order::Descending } else { Order::Ascending };
        let query = HistoryQuery { limit: self.limit, order, from: self.from };
        let page = local.engine.history(&local.caller, &session_id(&self.session)?, query).await?;
        if json {
            let turns: Vec<TurnBrief> =
                page.turns.iter().map(|turn| TurnBrief::from(turn.as_ref())).collect();
            return output::json(&json!({"turns": turns, "next": page.next}));
        }
        for turn in &page.turns {
            output::line(shown(turn))?;
        }
        if let Some(next) = page.next {
            eprintln!("it goes on with --from {next}");
        }
        Ok(())
    }
}

fn shown(turn: &TurnRecord) -> String {
    let heading = console::style(format!("{} · {}", turn.turn, turn.at)).dim();
    if turn.status == TurnStatus::Erased {
        let why = turn.error.as_ref().map_or("erased", |error| error.message.as_str());
        return format!("{heading}\n  ({})\n", output::plain(why));
    }
    let mut text = format!("{heading}\n> {}\n", output::plain(&turn.message));
    for call in &turn.calls {
        let outcome = if call.ok() { "" } else { " failed" };
        text.push_str(&format!("  [{}{outcome}, {} ms]\n", call.tool, call.took_ms));
    }
    text.push_str(&output::plain(&turn.reply));
    if let Some(error) = &turn.error {
        text.push_str(&format!("\n! {}", output::plain(&error.message)));
    }
    text.push('\n');
    text
}
