//! `GET`, `POST` and `DELETE /conversations/{id}/context`: the items of a session.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::SessionItemView;
use throughline_engine::id::SessionId;
use throughline_engine::item::{ItemName, SessionItem};
use throughline_engine::session::LoadedSession;
use utoipa::ToSchema;

use super::view::Versioned;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::condition::{IfMatch, etag};
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// Names a rule, a reference or a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemBody {
    /// `rule`, `reference` or `tool`.
    #[serde(rename = "type")]
    kind: ItemKind,
    /// Name of the item.
    name: String,
    /// MCP server of the tool; required for tools, not allowed otherwise.
    #[serde(default, rename = "serverName", alias = "server")]
    server: Option<String>,
}

/// Type of an item.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ItemKind {
    /// A rule.
    Rule,
    /// A reference.
    Reference,
    /// A tool.
    Tool,
}

impl TryFrom<ItemBody> for ItemName {
    type Error = Problem;

    fn try_from(body: ItemBody) -> Result<Self, Problem> {
        let name = body.name;
        match (body.kind, body.server) {
            (ItemKind::Rule, None) => Ok(Self::Rule { name }),
            (ItemKind::Reference, None) => Ok(Self::Reference { name }),
            (ItemKind::Tool, Some(server)) => Ok(Self::Tool { server, name }),
            (ItemKind::Tool, None) => Err(Problem::invalid("serverName", "required for a tool")),
            _ => Err(Problem::invalid("serverName", "only allowed for a tool")),
        }
    }
}

/// Items of a session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SessionItems {
    /// Version of the session; also the `ETag`.
    pub version: u64,
    /// Rules, references and tools.
    #[schema(value_type = Vec<shapes::SessionItemView>)]
    pub items: ListedItems,
}

/// Items with or without a check against what the agent offers.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ListedItems {
    /// After a change.
    Plain(Vec<SessionItem>),
    /// As listed.
    Checked(Vec<SessionItemView>),
}

fn answer(loaded: &LoadedSession, items: ListedItems) -> Versioned<SessionItems> {
    let version = loaded.version.number;
    (etag(version), Json(SessionItems { version, items }))
}

/// Lists the items of a session, and whether the agent still offers them.
#[utoipa::path(get, path = "/conversations/{id}/context", tag = "items",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = SessionItems), (status = 404, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Versioned<SessionItems>, Problem> {
    let (loaded, items) = app.engine().session_items(&caller, &id).await?;
    Ok(answer(&loaded, ListedItems::Checked(items)))
}

/// Adds an item that the agent offers, whatever its include mode.
#[utoipa::path(post, path = "/conversations/{id}/context", tag = "items", request_body = ItemBody,
    params(("id" = String, Path, description = "Id of the session"),
        ("if-match" = Option<String>, Header, description = "Version that the session must have, in quotes, such as `\"3\"`; default: any")),
    responses((status = 200, body = SessionItems), (status = 404, body = Problem)))]
pub(super) async fn add(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    IfMatch(expected): IfMatch,
    body: Body<ItemBody>,
) -> Result<Versioned<SessionItems>, Problem> {
    let item = ItemName::try_from(body.value)?;
    let loaded = app.engine().add_item(&caller, &id, item, expected).await?;
    Ok(answer(&loaded, ListedItems::Plain(loaded.head.items.clone())))
}

/// Removes an item from a session.
#[utoipa::path(delete, path = "/conversations/{id}/context", tag = "items",
    request_body = ItemBody,
    params(("id" = String, Path, description = "Id of the session"),
        ("if-match" = Option<String>, Header, description = "Version that the session must have, in quotes, such as `\"3\"`; default: any")),
    responses((status = 200, body = SessionItems), (status = 404, body = Problem)))]
pub(super) async fn remove(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    IfMatch(expected): IfMatch,
    body: Body<ItemBody>,
) -> Result<Versioned<SessionItems>, Problem> {
    let item = ItemName::try_from(body.value)?;
    let loaded = app.engine().remove_item(&caller, &id, &item, expected).await?;
    Ok(answer(&loaded, ListedItems::Plain(loaded.head.items.clone())))
}
