//! `GET /conversations/{id}/approvals` and `PUT`, `DELETE /conversations/{id}/permissions/{server}/{tool}`:
//! pending tool calls, and the permissions of tools in one session.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::RuleInForce;
use throughline_engine::id::SessionId;
use throughline_engine::rule::Rule;
use throughline_engine::session::pending::AwaitedCall;
use throughline_engine::tool::ToolName;
use utoipa::ToSchema;

use super::view::{Conversation, Versioned, versioned};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// Pending tool calls, and the rules that apply to tools.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Approvals {
    /// Tool calls that wait for approval.
    #[schema(value_type = Vec<shapes::AwaitedCallView>)]
    pub awaiting_approval: Vec<AwaitedCall>,
    /// Rules of tools.
    #[schema(value_type = Vec<shapes::RuleView>)]
    pub rules: Vec<RuleInForce>,
}

/// Permission of a tool in one session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionRuleBody {
    /// `allow`, `ask`, `deny`, or `reads` for a tool that only reads.
    #[schema(value_type = String)]
    rule: Rule,
}

/// Lists the tool calls that wait for approval, and the rules that apply to tools.
#[utoipa::path(get, path = "/conversations/{id}/approvals", tag = "chat",
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = Approvals), (status = 404, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
) -> Result<Json<Approvals>, Problem> {
    let (session, rules) = app.engine().rules_in_force(&caller, &id).await?;
    let pending = session.head.pending.iter();
    let awaiting_approval = pending.flat_map(|pending| pending.undecided()).cloned().collect();
    Ok(Json(Approvals { awaiting_approval, rules }))
}

/// Sets the permission of a tool in this session, for its current definition.
#[utoipa::path(put, path = "/conversations/{id}/permissions/{server}/{tool}", tag = "chat",
    request_body = SessionRuleBody,
    params(("id" = String, Path, description = "Id of the session"),
        ("server" = String, Path, description = "Name of the MCP server"),
        ("tool" = String, Path, description = "Name of the tool")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem)))]
pub(super) async fn set(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, server, name)): Path<(SessionId, String, String)>,
    body: Body<SessionRuleBody>,
) -> Result<Versioned<Conversation>, Problem> {
    let tool = ToolName { server, name };
    let session = app.engine().set_session_rule(&caller, &id, &tool, body.value.rule).await?;
    Ok(versioned(&session, app.engine().now()))
}

/// Removes the permission of a tool in this session.
#[utoipa::path(delete, path = "/conversations/{id}/permissions/{server}/{tool}", tag = "chat",
    params(("id" = String, Path, description = "Id of the session"),
        ("server" = String, Path, description = "Name of the MCP server"),
        ("tool" = String, Path, description = "Name of the tool")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem)))]
pub(super) async fn revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, server, name)): Path<(SessionId, String, String)>,
) -> Result<Versioned<Conversation>, Problem> {
    let tool = ToolName { server, name };
    let session = app.engine().revoke_session_rule(&caller, &id, &tool).await?;
    Ok(versioned(&session, app.engine().now()))
}
