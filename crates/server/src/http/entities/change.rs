//! `DELETE /conversations/{id}/entities/{type}/{name}` and `POST /conversations/{id}/entities/correction`:
//! corrects the entities of a session.

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

/// A session after its entities changed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ThingsChanged {
    /// Version of the session; also the `ETag`.
    pub version: u64,
    /// Number of entities in its head.
    pub entities: usize,
}

/// A misunderstood entity, and the intended one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrectionBody {
    /// What was understood; absent if nothing was.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    wrong: Option<Thing>,
    /// What was meant.
    #[serde(deserialize_with = "crate::http::body::object")]
    right: Thing,
}

/// An entity; a name or an id is required.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// Entity type, such as `device`.
    #[serde(rename = "type")]
    kind: String,
    /// Entity name; may be empty if there is an id.
    #[serde(default)]
    name: String,
    /// Id in the user's system.
    #[serde(default)]
    id: Option<String>,
}

impl TryFrom<Thing> for EntityRef {
    type Error = Problem;

    fn try_from(thing: Thing) -> Result<Self, Problem> {
        if thing.name.trim().is_empty() && thing.id.is_none() {
            return Err(Problem::invalid("name", "an entity needs a name or an id"));
        }
        Ok(Self { kind: Kind::new(thing.kind), name: thing.name, id: thing.id })
    }
}

fn changed(loaded: &LoadedSession) -> Versioned<ThingsChanged> {
    let version = loaded.version.number;
    let entities = loaded.head.entities.tracked.len();
    (etag(version), Json(ThingsChanged { version, entities }))
}

/// Forgets an entity: removes what the session knows about it. The turns are unchanged.
#[utoipa::path(delete, path = "/conversations/{id}/entities/{type}/{name}", tag = "entities",
    params(("id" = String, Path, description = "Id of the session"),
        ("type" = String, Path, description = "Entity type, such as `device`"),
        ("name" = String, Path, description = "Name or id of the entity")),
    responses((status = 200, body = ThingsChanged), (status = 404, body = Problem)))]
pub(super) async fn forget(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path((id, kind, name)): Path<(SessionId, String, String)>,
) -> Result<Versioned<ThingsChanged>, Problem> {
    Ok(changed(&app.engine().forget_entity(&caller, &id, &kind, &name).await?))
}

/// Corrects a misunderstood entity; the next message uses the corrected one.
#[utoipa::path(post, path = "/conversations/{id}/entities/correction", tag = "entities",
    request_body = CorrectionBody,
    params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = ThingsChanged), (status = 404, body = Problem)))]
pub(super) async fn correct(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    body: Body<CorrectionBody>,
) -> Result<Versioned<ThingsChanged>, Problem> {
    let wrong = body.value.wrong.map(EntityRef::try_from).transpose()?;
    let right = EntityRef::try_from(body.value.right)?;
    Ok(changed(&app.engine().correct_entity(&caller, &id, wrong, right).await?))
}
