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

/// What to change; what is absent stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChangeBody {
    /// A new title; null removes it.
    #[serde(deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    title: Option<Option<String>>,
    /// New labels.
    tags: Option<Vec<String>>,
    /// New settings, replacing the old ones.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    settings: Option<SettingsBody>,
    /// A new persona; null removes it.
    #[serde(deserialize_with = "present")]
    #[schema(value_type = Option<PersonaBody>)]
    persona: Option<Option<PersonaBody>>,
    /// `false` archives it, `true` brings it back.
    active: Option<bool>,
    /// Days from now until it expires, 1–3650.
    extend_days: Option<u32>,
    /// A new agent.
    agent: Option<String>,
}

/// A field that is there, be it null or not.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Changes a session, if it is still at the version in `If-Match`.
#[utoipa::path(patch, path = "/conversations/{id}", tag = "conversations", request_body = ChangeBody,
    params(("id" = String, Path, description = "The session's id"),
        ("if-match" = Option<String>, Header, description = "The version it must be at, in quotes")),
    responses((status = 200, body = Conversation), (status = 404, body = Problem),
        (status = 409, body = Problem)))]
pub async fn change(
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
