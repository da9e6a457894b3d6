//! `GET /tools`, and approval and permissions of tools beyond one session.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use throughline_engine::catalog::KnownTool;
use throughline_engine::engine::{DecisionScope, permission_name};
use throughline_engine::permission::Permission;
use throughline_engine::pin::{Pin, PinState};
use throughline_engine::rule::{Decision, Rule};
use throughline_engine::tool::{ToolEffects, ToolName};
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;
use crate::http::shapes;

/// Tools of all MCP servers.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolList {
    /// The tools.
    pub tools: Vec<ToolView>,
    /// Servers whose tools could not be listed.
    pub unavailable: Vec<Unavailable>,
}

/// A tool of an MCP server.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolView {
    /// Name of the MCP server.
    pub server: String,
    /// Name of the tool.
    pub name: String,
    /// Display name; null if it has none.
    pub title: Option<String>,
    /// Description by the server.
    pub description: String,
    /// JSON Schema of the arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// Effects, as declared by the server.
    #[schema(value_type = shapes::EffectsView)]
    pub effects: ToolEffects,
    /// Whether the current definition may be called.
    pub approved: bool,
    /// Why it may not be called; null if it may.
    pub refused: Option<String>,
    /// What happens to a call without special arguments: `reads`, `allowed`, `asks` or `denied`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<&'static str>,
    /// Why it asks or is denied; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Hash of the current definition.
    pub fingerprint: String,
    /// The approved definition, if the current one differs; null otherwise.
    pub pinned: Option<Pinned>,
}

/// A tool definition that was approved earlier.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pinned {
    /// Display name; null if it had none.
    pub title: Option<String>,
    /// Description by the server.
    pub description: String,
    /// JSON Schema of the arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// When it was approved.
    pub approved_at: jiff::Timestamp,
    /// Who approved it.
    pub approved_by: String,
}

impl From<&Pin> for Pinned {
    fn from(pin: &Pin) -> Self {
        Self {
            title: pin.definition.title.clone(),
            description: pin.definition.description.clone(),
            input_schema: pin.definition.input_schema.clone(),
            approved_at: pin.approved_at,
            approved_by: pin.approved_by.clone(),
        }
    }
}

/// A server whose tools could not be listed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Unavailable {
    /// Name of the MCP server.
    pub server: String,
    /// Why it failed.
    pub reason: String,
}

/// The approval of a tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct Approved {
    /// Name of the MCP server.
    pub server: String,
    /// Name of the tool.
    pub name: String,
    /// Hash of the approved definition.
    pub fingerprint: String,
    /// When it was approved.
    pub approved_at: jiff::Timestamp,
    /// Who approved it.
    pub approved_by: String,
}

impl From<Pin> for Approved {
    fn from(pin: Pin) -> Self {
        Self {
            server: pin.definition.tool.server,
            name: pin.definition.tool.name,
            fingerprint: pin.fingerprint,
            approved_at: pin.approved_at,
            approved_by: pin.approved_by,
        }
    }
}

impl ToolView {
    /// Adds what happens to a call.
    pub fn with(self, permission: &Permission) -> Self {
        let (name, why) = permission_name(permission);
        Self { permission: Some(name), why: why.map(str::to_owned), ..self }
    }
}

impl From<KnownTool> for ToolView {
    fn from(known: KnownTool) -> Self {
        let refused = known.pin.refusal();
        let pinned = match &known.pin {
            PinState::Changed(pin) => Some(Pinned::from(pin.as_ref())),
            PinState::Approved
            | PinState::Twin(_)
            | PinState::New
            | PinState::LookAlike
            | PinState::Refused(_) => None,
        };
        let definition = known.definition;
        Self {
            fingerprint: definition.fingerprint(),
            input_schema: definition.input_schema,
            effects: definition.effects,
            server: definition.tool.server,
            name: definition.tool.name,
            title: definition.title,
            description: definition.description,
            approved: refused.is_none(),
            refused,
            permission: None,
            why: None,
            pinned,
        }
    }
}

/// Lists the tools of all MCP servers, with approval and permission.
#[utoipa::path(get, path = "/tools", tag = "agents", operation_id = "tools", responses((status = 200, body = ToolList)))]
pub async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ToolList>, Problem> {
    let (tools, unavailable) = app.engine().tools(&caller).await?;
    let unavailable =
        unavailable.into_iter().map(|(server, reason)| Unavailable { server, reason }).collect();
    let permissions = app.engine().tool_permissions(&caller, &tools).await?;
    let tools = tools.into_iter().zip(&permissions);
    let tools = tools.map(|(known, permission)| ToolView::from(known).with(permission)).collect();
    Ok(Json(ToolList { tools, unavailable }))
}

/// Permission of a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleBody {
    /// `allow`, `ask`, `deny`, or `reads` for a tool that only reads.
    #[schema(value_type = String)]
    pub rule: Rule,
    /// Whether it applies to all users, which only administrators may set; default `false`.
    #[serde(default)]
    pub everyone: bool,
}

/// Whose permission to remove.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RevokeQuery {
    /// Whether to remove the one for all users instead of the caller's own; default `false`.
    everyone: bool,
}

/// The stored permission of a tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecisionView {
    /// Name of the MCP server.
    pub server: String,
    /// Name of the tool.
    pub name: String,
    /// `allow`, `ask`, `deny` or `reads`.
    #[schema(value_type = String)]
    pub rule: Rule,
    /// Hash of the definition that it applies to.
    pub fingerprint: String,
    /// When it was set.
    pub at: jiff::Timestamp,
    /// Who set it.
    pub by: String,
}

impl From<Decision> for DecisionView {
    fn from(decision: Decision) -> Self {
        Self {
            server: decision.tool.server,
            name: decision.tool.name,
            rule: decision.rule,
            fingerprint: decision.fingerprint,
            at: decision.at,
            by: decision.by,
        }
    }
}

fn scope(everyone: bool) -> DecisionScope {
    if everyone { DecisionScope::Everyone } else { DecisionScope::User }
}

/// Sets the permission of a tool in all sessions of the caller, or of all users, for its current definition.
#[utoipa::path(put, path = "/tools/{server}/{tool}/permission", tag = "agents", request_body = RuleBody,
    params(("server" = String, Path, description = "Name of the MCP server"),
        ("tool" = String, Path, description = "Name of the tool")),
    responses((status = 200, body = DecisionView), (status = 403, body = Problem),
        (status = 404, body = Problem)))]
pub async fn permit(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((server, name)): Path<(String, String)>,
    body: Body<RuleBody>,
) -> Result<Json<DecisionView>, Problem> {
    let tool = ToolName { server, name };
    let RuleBody { rule, everyone } = body.value;
    let decision = app.engine().set_tool_rule(&caller, &tool, rule, scope(everyone)).await?;
    Ok(Json(decision.into()))
}

/// Removes the permission of a tool.
#[utoipa::path(delete, path = "/tools/{server}/{tool}/permission", tag = "agents",
    params(("server" = String, Path, description = "Name of the MCP server"),
        ("tool" = String, Path, description = "Name of the tool"), RevokeQuery),
    responses((status = 204), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub async fn revoke(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((server, name)): Path<(String, String)>,
    Query(query): Query<RevokeQuery>,
) -> Result<StatusCode, Problem> {
    let tool = ToolName { server, name };
    app.engine().revoke_tool_rule(&caller, &tool, scope(query.everyone)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Approves the current definition of a tool.
#[utoipa::path(post, path = "/tools/{server}/{tool}/approve", tag = "agents",
    params(("server" = String, Path, description = "Name of the MCP server"),
        ("tool" = String, Path, description = "Name of the tool")),
    responses((status = 200, body = Approved), (status = 403, body = Problem),
        (status = 404, body = Problem)))]
pub async fn approve(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((server, name)): Path<(String, String)>,
) -> Result<Json<Approved>, Problem> {
    let pin = app.engine().approve_tool(&caller, &ToolName { server, name }).await?;
    Ok(Json(pin.into()))
}
