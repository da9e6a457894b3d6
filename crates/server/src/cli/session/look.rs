//! `session list`, `session show`, `session history`.

use clap::Args;
use serde_json::Value;

use crate::cli::api::{Api, Call, Named};
use crate::cli::output::{self, field};
use crate::failure::Failure;

/// Characters of a title in a list.
const TITLE_CHARACTERS: usize = 48;
/// Characters of a time up to the minutes.
const MINUTES: usize = "2026-01-31T12:00".len();

/// Arguments of `session list`.
#[derive(Debug, Args)]
pub(super) struct List {
    /// The maximum number of sessions, 1-1000.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Only sessions with this tag.
    #[arg(long)]
    tag: Option<String>,
    /// Include archived and expired sessions.
    #[arg(long)]
    all: bool,
}

impl List {
    /// Runs the command.
    pub(super) async fn run(self, api: &Api, json: bool) -> Result<(), Failure> {
        let call = Call::get(&["conversations"])
            .with("limit", self.limit)
            .with("inactive", self.all)
            .with_any("tag", self.tag);
        let list = api.json(call).await?;
        if json {
            return output::json(&list);
        }
        let sessions = output::list(&list, "conversations");
        for id in output::list(&list, "damaged") {
            let id = id.as_str().unwrap_or_default();
            eprintln!(
                "{} is damaged; run throughline repair {}",
                output::plain(id),
                output::plain(id)
            );
        }
        if sessions.is_empty() {
            let hint = "; --all includes archived and expired ones";
            return output::line(format!(
                "there are no sessions{}",
                if self.all { "" } else { hint }
            ));
        }
        let rows = sessions.iter().map(|session| {
            let activity = field(session, "last_activity").replace('T', " ");
            [
                field(session, "id"),
                field(session, "turns"),
                activity.chars().take(MINUTES).collect(),
                output::brief(&field(session, "title"), TITLE_CHARACTERS),
                field(session, "tags"),
            ]
        });
        output::table(["session", "turns", "last activity", "title", "tags"], rows)?;
        if !list["next_cursor"].is_null() {
            eprintln!("there are more; raise --limit to see them");
        }
        Ok(())
    }
}

/// Shows a session.
pub(super) async fn show(api: &Api, session: &str, json: bool) -> Result<(), Failure> {
    let id = api.id(Named::Session, session).await?;
    let head = api.json(Call::get(&["conversations", &id])).await?;
    if json {
        return output::json(&head);
    }
    let things = api.json(Call::get(&["conversations", &id, "entities"])).await;
    let things = things.unwrap_or_default();
    let or = |value: &Value, other: &str| match value.as_str() {
        Some(text) => text.to_owned(),
        None => other.to_owned(),
    };
    let expires = or(&head["expiry_warning"], &output::time(&head, "expires_at"));
    let items: Vec<String> = output::list(&head, "items").iter().map(output::item).collect();
    let rows = [
        ["session".into(), field(&head, "id")],
        ["title".into(), field(&head, "title")],
        ["agent".into(), or(&head["agent"], "the default one")],
        ["turns".into(), field(&head, "turns")],
        ["version".into(), field(&head, "version")],
        ["active".into(), if head["active"] == true { "yes".into() } else { "no".into() }],
        ["created".into(), output::time(&head, "created_at")],
        ["last activity".into(), output::time(&head, "last_activity")],
        ["expires".into(), expires],
        ["tags".into(), field(&head, "tags")],
        ["persona".into(), field(&head["persona"], "name")],
        ["topic".into(), field(&things, "topic")],
        ["things".into(), output::list(&things, "entities").len().to_string()],
        ["items".into(), items.join("\n")],
        ["last request".into(), format!("{} tokens", field(&head, "context_tokens"))],
        ["erased turns".into(), field(&head, "erased_turns")],
    ];
    output::table(["", ""], rows)
}

/// Arguments of `session history`.
#[derive(Debug, Args)]
pub(super) struct History {
    /// The session's id or a unique prefix.
    session: String,
    /// The maximum number of turns, 1-1000.
    #[arg(long, default_value_t = 50)]
    limit: u64,
    /// The first turn to show.
    #[arg(long)]
    from: Option<u64>,
    /// Show the newest turns first.
    #[arg(long)]
    newest: bool,
}

impl History {
    /// Runs the command.
    pub(super) async fn run(self, api: &Api, json: bool) -> Result<(), Failure> {
        let id = api.id(Named::Session, &self.session).await?;
        let call = Call::get(&["conversations", &id, "history"])
            .with("limit", self.limit)
            .with("order", if self.newest { "desc" } else { "asc" })
            .with_any("cursor", self.from);
        let page = api.json(call).await?;
        if json {
            return output::json(&page);
        }
        for turn in output::list(&page, "turns") {
            output::line(shown(turn))?;
        }
        if let Some(next) = page["next_cursor"].as_str() {
            eprintln!("continue with --from {next}");
        }
        Ok(())
    }
}

fn shown(turn: &Value) -> String {
    let heading = format!("{} · {}", field(turn, "turn"), output::time(turn, "at"));
    let heading = console::style(heading).dim();
    let error = turn["error"]["message"].as_str();
    if turn["status"] == "erased" {
        return format!("{heading}\n  ({})\n", output::plain(error.unwrap_or("erased")));
    }
    let mut text = format!("{heading}\n> {}\n", output::plain(&field(turn, "message")));
    for tool in output::list(turn, "tools_used").iter().filter_map(Value::as_str) {
        text.push_str(&format!("  [{}]\n", output::plain(tool)));
    }
    text.push_str(&output::plain(&field(turn, "reply")));
    if turn["error"]["code"] == "cancelled" {
        text.push_str("\n(stopped)");
    } else if let Some(error) = error {
        text.push_str(&format!("\n! {}", output::plain(error)));
    }
    text.push('\n');
    text
}
