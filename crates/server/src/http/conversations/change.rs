//! `PATCH /conversations/{id}`.

use axum::extract::State;
use serde::{Deserialize, Deserializer};
use throughline_engine::engine::SessionPatch;
use throughline_engine::id::{AgentName, SessionId};
use utoipa::ToSchema;

use super::view::{Conversation, PersonaBody, SettingsBody, Versioned, versioned};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::condition::IfMatch;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// Changes to a session; absent fields are left as they are.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChangeBody {
    /// New title, at most 200 characters; null removes it.
    #[serde(deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    title: Option<Option<String>>,
    /// New tags, replacing the old ones; at most 32 of 1–200 characters.
    tags: Option<Vec<String>>,
    /// New settings, replacing all old ones.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    settings: Option<SettingsBody>,
    /// New persona; null removes it.
    #[serde(deserialize_with = "present")]
    #[schema(value_type = Option<PersonaBody>)]
    persona: Option<Option<PersonaBody>>,
    /// `false` archives the session, `true` restores it.
    active: Option<bool>,
    /// Expire this many days from now, 1–3650.
    extend_days: Option<u32>,
    /// Name of the new agent.
    agent: Option<String>,
}

/// Distinguishes a null field from an absent one.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Changes a session, if it is still at the version in `If-Match`.
#[utoipa::path(patch, path = "/conversations/{id}", tag = "conversations", request_body = ChangeBody,
    params(("id" = String, Path, description = "Id of the session"),
        ("if-match" = Option<String>, Header, description = "Version that the session must have, in quotes, such as `\"3\"`; default: any")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub(super) async fn change(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    IfMatch(expected): IfMatch,
    body: Body<ChangeBody>,
) -> Result<Versioned<Conversation>, Problem> {
    let patch = SessionPatch::try_from(body.value)?;
    let loaded = app.engine().change_session(&caller, &id, patch, expected).await?;
    Ok(versioned(&loaded, app.engine().now()))
}

impl TryFrom<ChangeBody> for SessionPatch {
    type Error = Problem;

    fn try_from(body: ChangeBody) -> Result<Self, Problem> {
        Ok(Self {
            title: body.title,
            tags: body.tags,
            settings: body.settings.map(TryInto::try_into).transpose()?,
            persona: body.persona.map(|persona| persona.map(Into::into)),
            active: body.active,
            extend_days: body.extend_days,
            agent: body.agent.map(AgentName::new).transpose()?,
        })
    }
}
