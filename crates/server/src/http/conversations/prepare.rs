//! `POST /conversations/{id}/prepare`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use throughline_engine::id::SessionId;
use throughline_engine::request::{AssembledRequest, TurnInput};
use throughline_upstream::model::{self, ModelConfig, Provider};
use utoipa::ToSchema;

use super::context::ReceiptView;
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// A message that the application's own model will answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PrepareBody {
    /// The user's message, at most `limits.message_bytes_max` (256 KiB).
    message: String,
    /// When it was said; default: now. The request states its day. Must not be before the last turn.
    #[serde(default)]
    at: Option<Timestamp>,
    /// Maximum tokens of the request; default: the context window less the reply.
    #[serde(default)]
    budget_tokens: Option<u32>,
    /// Format of `request`; default: `engine`.
    #[serde(default)]
    format: PreparedFormat,
}

/// Format of a prepared request.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PreparedFormat {
    /// `system`, `messages` and `tools`, the same for every provider.
    #[default]
    Engine,
    /// `messages` and `tools` for Chat Completions.
    OpenAi,
    /// `system`, `messages`, `tools` and `max_tokens` for Messages.
    Anthropic,
}

impl PreparedFormat {
    /// The request without what is the caller's: the model, its temperature and whether it streams.
    fn of(self, assembled: Arc<AssembledRequest>) -> PreparedRequest {
        let (provider, fields): (_, &[&str]) = match self {
            Self::Engine => return PreparedRequest::Engine(assembled),
            Self::OpenAi => (Provider::OpenAi, &["messages", "tools"]),
            Self::Anthropic => {
                (Provider::Anthropic, &["system", "messages", "tools", "max_tokens"])
            }
        };
        let mut body = model::body(&ModelConfig::new(provider, ""), &assembled.request);
        if let Some(body) = body.as_object_mut() {
            body.retain(|name, _| fields.contains(&name.as_str()));
        }
        PreparedRequest::Provider(body)
    }
}

/// A request in the wanted format.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum PreparedRequest {
    /// The same for every provider.
    Engine(#[serde(serialize_with = "request_of")] Arc<AssembledRequest>),
    /// The body of a provider.
    Provider(Value),
}

fn request_of<S: Serializer>(
    assembled: &Arc<AssembledRequest>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    assembled.request.serialize(serializer)
}

/// A request for the application's own model, and its receipt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PreparedContext {
    /// What is to be sent to the model, in the wanted format. In that of a provider, its fields are those of the
    /// provider's own request.
    #[schema(value_type = Object)]
    pub request: PreparedRequest,
    /// What the request is made of. Give its id when the exchange is recorded.
    pub receipt: ReceiptView,
}

/// Assembles a request for an application that calls its own model. Changes nothing.
#[utoipa::path(post, path = "/conversations/{id}/prepare", tag = "turns",
    request_body = PrepareBody, params(("id" = String, Path, description = "Id of the session")),
    responses((status = 200, body = PreparedContext), (status = 404, body = Problem)))]
pub(super) async fn prepare(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(id): Path<SessionId>,
    body: Body<PrepareBody>,
) -> Result<Json<PreparedContext>, Problem> {
    let PrepareBody { message, at, budget_tokens, format } = body.value;
    let input = TurnInput { message, at, budget_tokens, ..TurnInput::default() };
    let assembled = app.engine().prepare(&caller, &id, &input).await?;
    let receipt = ReceiptView::from(&assembled.receipt);
    Ok(Json(PreparedContext { request: format.of(assembled), receipt }))
}
