//! What a chat request says.

use serde::Deserialize;
use serde_json::Value;
use throughline_engine::id::{AgentName, SessionId};
use throughline_engine::request::TurnInput;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::turn::TurnRequest;
use utoipa::ToSchema;

use crate::http::conversations::view::PersonaBody;
use crate::http::problem::Problem;

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatBody {
    /// What the user says.
    message: String,
    /// The session; a new one when absent.
    #[serde(default, alias = "session_id")]
    conversation_id: Option<String>,
    /// The agent of a new session.
    #[serde(default)]
    agent: Option<String>,
    /// The persona of a new session.
    #[serde(default, deserialize_with = "crate::http::body::object")]
    persona: Option<PersonaBody>,
    /// The preset of a new session, where no persona is given.
    #[serde(default)]
    preset: Option<String>,
    /// The workflow that the message is about.
    #[serde(default)]
    workflow_id: Option<String>,
    /// That workflow's specification, shown to the model as data.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    workflow_spec: Option<Value>,
    /// Tokens that the request may take.
    #[serde(default)]
    budget_tokens: Option<u32>,
    /// Whether a heated message brings the calm-keeping reminder, for this message.
    #[serde(default, alias = "maintainPersonality")]
    keeps_calm: Option<bool>,
}

impl ChatBody {
    /// The engine's request.
    pub fn request(self, key: Option<RequestKey>) -> Result<TurnRequest, Problem> {
        let mut given = Vec::new();
        given.extend(self.workflow_id.map(|id| ("workflow_id".to_owned(), id)));
        given.extend(self.workflow_spec.map(|spec| ("workflow_spec".to_owned(), spec.to_string())));
        Ok(TurnRequest {
            session: self.conversation_id.map(SessionId::new).transpose()?,
            agent: self.agent.map(AgentName::new).transpose()?,
            input: TurnInput {
                message: self.message,
                given,
                budget_tokens: self.budget_tokens,
                keeps_calm: self.keeps_calm,
                ..TurnInput::default()
            },
            key,
            persona: self.persona.map(Into::into),
            preset: self.preset,
            model: None,
        })
    }
}
