//! `POST /conversations`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use throughline_engine::creation::NewSession;
use throughline_engine::id::{AgentName, SessionId};
use utoipa::ToSchema;

use super::view::{Conversation, PersonaBody, SettingsBody, Versioned, versioned};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;

/// A session to create.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CreateBody {
    /// Id of the session, 1–128 characters of `A–Z a–z 0–9 . _ -`; generated if absent.
    pub id: Option<String>,
    /// Name of the agent; default: the default agent.
    pub agent: Option<String>,
    /// Title, at most 200 characters; default: the start of the first message.
    pub title: Option<String>,
    /// Tags for filtering, at most 32 of 1–200 characters.
    pub tags: Vec<String>,
    /// Persona of the assistant; absent for none.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    pub persona: Option<PersonaBody>,
    /// Id of the preset to create the persona from, unless `persona` is given; default: that of the agent.
    pub preset: Option<String>,
    /// Settings of the session.
    #[serde(deserialize_with = "crate::http::body::object")]
    pub settings: SettingsBody,
}

/// Creates a session.
#[utoipa::path(post, path = "/conversations", tag = "conversations", request_body = CreateBody,
    responses((status = 201, body = Conversation), (status = 409, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    body: Body<CreateBody>,
) -> Result<(StatusCode, Versioned<Conversation>), Problem> {
    let new = NewSession::try_from(body.value)?;
    let loaded = app.engine().create_session(&caller, new).await?;
    Ok((StatusCode::CREATED, versioned(&loaded, app.engine().now())))
}

impl TryFrom<CreateBody> for NewSession {
    type Error = Problem;

    fn try_from(body: CreateBody) -> Result<Self, Problem> {
        Ok(Self {
            id: body.id.map(SessionId::new).transpose()?,
            agent: body.agent.map(AgentName::new).transpose()?,
            title: body.title,
            tags: body.tags,
            persona: body.persona.map(Into::into),
            preset: body.preset,
            settings: body.settings.try_into()?,
            key: None,
        })
    }
}
