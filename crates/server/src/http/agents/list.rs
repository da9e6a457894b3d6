//! `GET /agents` and `GET /agents/{name}/items`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use throughline_engine::access::{Action, authorize};
use throughline_engine::engine::AgentItem;
use throughline_engine::error::Error;
use throughline_engine::id::AgentName;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// All agents.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Agents {
    /// The agents, by name.
    pub agents: Vec<AgentView>,
    /// Agent files that cannot be read, with the reason; the last valid version is in use.
    pub problems: Vec<String>,
}

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AgentView {
    /// Name of the agent.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether sessions without an agent use it.
    pub default: bool,
    /// Number of its rules.
    pub rules: usize,
    /// Number of its references.
    pub references: usize,
    /// Names of the MCP servers it uses.
    pub servers: Vec<String>,
    /// Names of the packs it uses; all packs if empty.
    pub packs: Vec<String>,
    /// Id of the preset for new sessions; null if none.
    pub preset: Option<String>,
}

/// Items that an agent offers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Items {
    /// Rules, references and tools.
    #[schema(value_type = Vec<shapes::OfferedItem>)]
    pub items: Vec<AgentItem>,
}

/// Lists the agents.
#[utoipa::path(get, path = "/agents", tag = "agents", responses((status = 200, body = Agents)))]
pub(super) async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<Agents>, Problem> {
    authorize(&caller, Action::Read)?;
    let book = app.engine().agents();
    let agents = book.all().map(|agent| AgentView {
        name: agent.name.to_string(),
        description: agent.description.clone(),
        default: agent.name == *book.default_name(),
        rules: agent.rules.len(),
        references: agent.references.len(),
        servers: agent.servers.iter().map(|server| server.server.clone()).collect(),
        packs: agent.packs.clone(),
        preset: agent.preset.clone(),
    });
    Ok(Json(Agents { agents: agents.collect(), problems: book.problems().to_vec() }))
}

/// Lists the items that an agent offers, with their include modes.
#[utoipa::path(get, path = "/agents/{name}/items", tag = "agents",
    params(("name" = String, Path, description = "Name of the agent")),
    responses((status = 200, body = Items), (status = 404, body = Problem)))]
pub(super) async fn items(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(name): Path<AgentName>,
) -> Result<Json<Items>, Problem> {
    let items = app.engine().agent_items(&caller, &name).await.map_err(as_missing)?;
    Ok(Json(Items { items }))
}

/// An unknown agent in the path is 404, while in a body it is 400.
pub(super) fn as_missing(error: Error) -> Problem {
    let missing = matches!(error, Error::NoAgent { .. });
    let problem = Problem::from(error);
    if missing {
        let Problem { code, detail, hint, .. } = problem;
        return Problem::new(StatusCode::NOT_FOUND, &code, detail, hint);
    }
    problem
}
