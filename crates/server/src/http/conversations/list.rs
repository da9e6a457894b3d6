//! `GET /conversations`.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::SessionQuery;
use throughline_engine::id::ThreadId;
use throughline_engine::store::PageMark;
use utoipa::{IntoParams, ToSchema};

use super::view::{Conversation, conversation};
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Query;
use crate::http::problem::Problem;

/// Selects sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Maximum number of sessions to return, 1–1000.
    #[param(default = 50)]
    limit: usize,
    /// `next_cursor` of the previous response; absent for the first page.
    cursor: Option<String>,
    /// Only sessions with this tag.
    tag: Option<String>,
    /// Whether to include archived and expired sessions; default `false`.
    inactive: bool,
}

impl Default for ListQuery {
    fn default() -> Self {
        Self { limit: 50, cursor: None, tag: None, inactive: false }
    }
}

/// A page of sessions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Conversations {
    /// The sessions, most recently changed first.
    pub conversations: Vec<Conversation>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Ids of sessions that are damaged and cannot be read; `throughline repair` helps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// Lists the caller's sessions, most recently changed first.
#[utoipa::path(get, path = "/conversations", tag = "conversations", params(ListQuery),
    responses((status = 200, body = Conversations)))]
pub(super) async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ListQuery>,
) -> Result<Json<Conversations>, Problem> {
    let now = app.engine().now();
    let after = query.cursor.as_deref().map(mark).transpose()?;
    let wanted =
        SessionQuery { limit: query.limit, after, tag: query.tag, with_inactive: query.inactive };
    let listed = app.engine().list_sessions(&caller, wanted).await?;
    Ok(Json(Conversations {
        conversations: listed.sessions.iter().map(|loaded| conversation(loaded, now)).collect(),
        next_cursor: listed.next.map(|mark| format!("{}~{}", mark.changed_at, mark.id)),
        damaged: listed.damaged.iter().map(ToString::to_string).collect(),
    }))
}

fn mark(cursor: &str) -> Result<PageMark, Problem> {
    let parsed = || {
        let (at, id) = cursor.split_once('~')?;
        Some(PageMark { changed_at: at.parse().ok()?, id: ThreadId::new(id).ok()? })
    };
    parsed().ok_or_else(|| Problem::invalid("cursor", "it is not a next_cursor of this endpoint"))
}
