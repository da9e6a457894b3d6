//! `GET /agents/{name}/usage` and `GET /conversations/{id}/context/usage`: how often items were used, as JSON
//! or CSV.

use std::fmt::Write;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{self, AgentUsage};
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::item::ItemName;
use throughline_engine::session::usage::{ItemTotal, ItemUsage};
use utoipa::{IntoParams, ToSchema};

use super::list::as_missing;
use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::{Path, Query};
use crate::http::problem::Problem;
use crate::http::shapes;

/// Format of the counts.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// `json`, or `csv` for spreadsheets.
    #[param(default = "json")]
    format: UsageFormat,
}

/// Format of the counts.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsageFormat {
    /// For programs.
    #[default]
    Json,
    /// For spreadsheets.
    Csv,
}

/// Use of items in a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionUsageView {
    /// All items that were sent.
    #[schema(value_type = Vec<shapes::ItemUsageView>)]
    pub items: Vec<ItemUsage>,
    /// Items of the session that were sent at least five times and never used; candidates for removal.
    #[schema(value_type = Vec<shapes::ItemUsageView>)]
    pub unused: Vec<ItemUsage>,
}

impl From<&engine::SessionUsage> for SessionUsageView {
    fn from(usage: &engine::SessionUsage) -> Self {
        Self { items: usage.items.clone(), unused: usage.unused.clone() }
    }
}

/// Use of items over all sessions of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentUsageView {
    /// Number of sessions counted.
    pub sessions: usize,
    /// All items that were sent.
    #[schema(value_type = Vec<shapes::ItemUsageView>)]
    pub items: Vec<ItemTotal>,
}

impl From<&AgentUsage> for AgentUsageView {
    fn from(usage: &AgentUsage) -> Self {
        Self { sessions: usage.sessions, items: usage.items.clone() }
    }
}

/// Counts how often items were sent and used in a session.
#[utoipa::path(get, path = "/conversations/{id}/context/usage", tag = "items",
    params(("id" = String, Path, description = "Id of the session"), UsageQuery),
    responses((status = 200, content((SessionUsageView = "application/json"), (String = "text/csv"))), (status = 404, body = Problem)))]
pub async fn of_session(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    Query(query): Query<UsageQuery>,
) -> Result<Response, Problem> {
    let usage = app.engine().session_usage(&caller, &id).await?;
    Ok(match query.format {
        UsageFormat::Json => Json(SessionUsageView::from(&usage)).into_response(),
        UsageFormat::Csv => csv_response(session_csv(&usage)),
    })
}

/// Counts how often an agent's items were sent and used, over the caller's sessions.
#[utoipa::path(get, path = "/agents/{name}/usage", tag = "agents",
    params(("name" = String, Path, description = "Name of the agent"), UsageQuery),
    responses((status = 200, content((AgentUsageView = "application/json"), (String = "text/csv"))), (status = 404, body = Problem)))]
pub async fn of_agent(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(name): Path<AgentName>,
    Query(query): Query<UsageQuery>,
) -> Result<Response, Problem> {
    let usage = app.engine().agent_usage(&caller, &name).await.map_err(as_missing)?;
    Ok(match query.format {
        UsageFormat::Json => Json(AgentUsageView::from(&usage)).into_response(),
        UsageFormat::Csv => csv_response(agent_csv(&usage)),
    })
}

fn csv_response(text: String) -> Response {
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// A session's counts as CSV.
pub fn session_csv(usage: &engine::SessionUsage) -> String {
    let mut text = "type,server,name,sent,used,suggestion\r\n".to_owned();
    for item in &usage.items {
        let suggestion = if usage.unused.contains(item) { "remove" } else { "" };
        let _ = write!(text, "{},{suggestion}\r\n", fields(item));
    }
    text
}

/// An agent's counts as CSV.
pub fn agent_csv(usage: &AgentUsage) -> String {
    let mut text = "type,server,name,sent,used,sessions\r\n".to_owned();
    for total in &usage.items {
        let _ = write!(text, "{},{}\r\n", fields(&total.usage), total.sessions);
    }
    text
}

fn fields(usage: &ItemUsage) -> String {
    let (kind, server, name) = match &usage.item {
        ItemName::Rule { name } => ("rule", "", name),
        ItemName::Reference { name } => ("reference", "", name),
        ItemName::Tool { server, name } => ("tool", server.as_str(), name),
    };
    format!("{kind},{},{},{},{}", field(server), field(name), usage.sent, usage.used)
}

/// A CSV field. Tool names come from servers, so spreadsheet formulas are escaped.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if formula { "'" } else { "" };
    if formula || text.contains(['"', ',', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_field_and_never_becomes_a_formula() {
        let item =
            |server: &str, name: &str| ItemName::Tool { server: server.into(), name: name.into() };
        let counted = |item| ItemUsage { item, sent: 7, used: 0 };
        let formula = counted(item("stock", "=HYPERLINK(\"x\")"));
        let items = vec![formula.clone(), counted(item("a,b", "plain"))];
        let usage = engine::SessionUsage { items, unused: vec![formula] };
        assert_eq!(
            session_csv(&usage),
            "type,server,name,sent,used,suggestion\r\n\
             tool,stock,\"'=HYPERLINK(\"\"x\"\")\",7,0,remove\r\n\
             tool,\"a,b\",plain,7,0,\r\n"
        );
    }
}
