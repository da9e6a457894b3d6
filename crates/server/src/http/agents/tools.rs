//! `GET /tools` and `POST /tools/{server}/{tool}/approve`.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use throughline_engine::catalog::KnownTool;
use throughline_engine::pin::{Pin, PinState};
use throughline_engine::tool::ToolName;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::conversations::view::{Raw, json};
use crate::http::part::Path;
use crate::http::problem::Problem;
use crate::http::shapes;

/// The tools of all servers.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolList {
    /// The tools.
    pub tools: Vec<ToolView>,
    /// Servers that could not be asked.
    pub unavailable: Vec<Unavailable>,
}

/// A tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolView {
    /// The server.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// What the server says it does.
    pub description: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Raw,
    /// What the server says of its effects.
    #[schema(value_type = shapes::EffectsView)]
    pub effects: Raw,
    /// Whether it may run as it is now defined.
    pub approved: bool,
    /// Why it may not.
    pub refused: Option<String>,
    /// Names the definition as it is now.
    pub fingerprint: String,
    /// The definition that was approved, where it is not the present one.
    pub pinned: Option<Pinned>,
}

/// A definition that was approved before.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pinned {
    /// Its title for people.
    pub title: Option<String>,
    /// What the server said it does.
    pub description: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Raw,
    /// When it was approved.
    pub approved_at: jiff::Timestamp,
    /// By whom.
    pub approved_by: String,
}

impl From<&Pin> for Pinned {
    fn from(pin: &Pin) -> Self {
        Self {
            title: pin.definition.title.clone(),
            description: pin.definition.description.clone(),
            input_schema: json(&pin.definition.input_schema),
            approved_at: pin.approved_at,
            approved_by: pin.approved_by.clone(),
        }
    }
}

/// A server that could not be asked.
#[derive(Debug, Serialize, ToSchema)]
pub struct Unavailable {
    /// The server.
    pub server: String,
    /// Why.
    pub reason: String,
}

/// An approval.
#[derive(Debug, Serialize, ToSchema)]
pub struct Approved {
    /// The server.
    pub server: String,
    /// The tool.
    pub name: String,
    /// The definition that was approved.
    pub fingerprint: String,
    /// When.
    pub approved_at: jiff::Timestamp,
    /// By whom.
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

impl From<KnownTool> for ToolView {
    fn from(known: KnownTool) -> Self {
        let refused = known.pin.refusal();
        let pinned = match &known.pin {
            PinState::Changed(pin) => Some(Pinned::from(pin.as_ref())),
            PinState::Approved | PinState::New | PinState::Shadows(_) | PinState::Refused(_) => {
                None
            }
        };
        let definition = known.definition;
        Self {
            fingerprint: definition.fingerprint(),
            input_schema: json(&definition.input_schema),
            effects: json(&definition.effects),
            server: definition.tool.server,
            name: definition.tool.name,
            title: definition.title,
            description: definition.description,
            approved: refused.is_none(),
            refused,
            pinned,
        }
    }
}

/// The tools of all servers, and how each stands.
#[utoipa::path(get, path = "/tools", tag = "agents", operation_id = "tools", responses((status = 200, body = ToolList)))]
pub async fn list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ToolList>, Problem> {
    let (tools, unavailable) = app.engine().tools(&caller).await?;
    let unavailable =
        unavailable.into_iter().map(|(server, reason)| Unavailable { server, reason }).collect();
    Ok(Json(ToolList { tools: tools.into_iter().map(Into::into).collect(), unavailable }))
}

/// Approves a tool's definition as it is now.
#[utoipa::path(post, path = "/tools/{server}/{tool}/approve", tag = "agents",
    params(("server" = String, Path, description = "The server"),
        ("tool" = String, Path, description = "The tool")),
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
