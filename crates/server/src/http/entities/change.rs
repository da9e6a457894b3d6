//! `DELETE /conversations/{id}/entities/{type}/{name}` and `POST /conversations/{id}/entities/correction`:
//! putting right what a session takes itself to be about.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use throughline_engine::entity::{EntityRef, Kind};
use throughline_engine::id::SessionId;
use throughline_engine::session::LoadedSession;
use utoipa::ToSchema;

use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::condition::etag;
use crate::http::conversations::view::Versioned;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// A session after its things changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ThingsChanged {
    /// The session's version now.
    pub version: u64,
    /// Things in its head now.
    pub entities: usize,
}

/// What was understood, and what was meant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectionBody {
    /// What was understood.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    wrong: Option<Thing>,
    /// What was meant.
    #[serde(deserialize_with = "crate::http::body::object")]
    right: Thing,
}

/// A thing by its type and name or id.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// Its type.
    #[serde(rename = "type")]
    kind: String,
    /// Its name.
    #[serde(default)]
    name: String,
    /// Its id in the user's system.
    #[serde(default)]
    id: Option<String>,
}

impl TryFrom<Thing> for EntityRef {
    type Error = Problem;

    fn try_from(thing: Thing) -> Result<Self, Problem> {
        if thing.name.trim().is_empty() && thing.id.is_none() {
            return Err(Problem::invalid("name", "a thing needs a name or an id"));
        }
        Ok(Self { kind: Kind::new(thing.kind), name: thing.name, id: thing.id })
    }
}

fn changed(loaded: &LoadedSession) -> Versioned<ThingsChanged> {
    let version = loaded.version.number;
    let entities = loaded.head.entities.tracked.len();
    (etag(version), Json(ThingsChanged { version, entities }))
}

/// Forgets an entity: what the session knows about it is removed; what was said stays.
#[utoipa::path(delete, path = "/conversations/{id}/entities/{type}/{name}", tag = "entities",
    params(("id" = String, Path, description = "The session's id"),
        ("type" = String, Path, description = "The entity's type"),
        ("name" = String, Path, description = "Its name or id")),
    responses((status = 200, body = ThingsChanged), (status = 404, body = Problem)))]
pub async fn forget(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, kind, name)): Path<(SessionId, String, String)>,
) -> Result<Versioned<ThingsChanged>, Problem> {
    Ok(changed(&app.engine().forget_entity(&caller, &id, &kind, &name).await?))
}

/// Corrects what a message was understood to mean; the next message starts from there.
#[utoipa::path(post, path = "/conversations/{id}/entities/correction", tag = "entities",
    request_body = CorrectionBody,
    params(("id" = String, Path, description = "The session's id")),
    responses((status = 200, body = ThingsChanged), (status = 404, body = Problem)))]
pub async fn correct(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    body: Body<CorrectionBody>,
) -> Result<Versioned<ThingsChanged>, Problem> {
    let wrong = body.value.wrong.map(EntityRef::try_from).transpose()?;
    let right = EntityRef::try_from(body.value.right)?;
    Ok(changed(&app.engine().correct_entity(&caller, &id, wrong, right).await?))
}
