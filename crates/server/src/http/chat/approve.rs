//! `POST /conversations/{id}/approvals/{call}`: approve or refuse a tool call.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use throughline_engine::events::Events;
use throughline_engine::id::SessionId;
use throughline_engine::turn::{Approval, Remember};
use tokio::sync::mpsc::unbounded_channel;
use utoipa::ToSchema;

use super::reply::{ChatReply, status};
use super::{run, stream};
use crate::http::App;
use crate::http::body::Body;
use crate::http::caller::Authenticated;
use crate::http::part::Path;
use crate::http::problem::Problem;

/// Decision about a tool call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionBody {
    /// `true` runs the call, `false` refuses it.
    #[serde(alias = "approved")]
    approve: bool,
    /// Where the approval applies beyond this call: `session`, or `user` for all sessions of the caller;
    /// default: this call only.
    #[serde(default, alias = "remember")]
    scope: Option<ScopeBody>,
}

/// Where an approval applies.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ScopeBody {
    /// In this session.
    Session,
    /// In all sessions of the caller.
    User,
}

impl From<DecisionBody> for Approval {
    fn from(body: DecisionBody) -> Self {
        let remember = body.scope.map(|scope| match scope {
            ScopeBody::Session => Remember::Session,
            ScopeBody::User => Remember::User,
        });
        Self { approve: body.approve, remember }
    }
}

/// Decides a tool call that waits for approval. The turn continues once all its calls are decided; with
/// `accept: text/event-stream` the rest is streamed.
#[utoipa::path(post, path = "/conversations/{id}/approvals/{call}", tag = "chat",
    request_body = DecisionBody,
    params(("id" = String, Path, description = "Id of the session"),
        ("call" = String, Path, description = "Id of the call")),
    responses((status = 200, content((ChatReply = "application/json"), (String = "text/event-stream"))), (status = 202, body = ChatReply),
        (status = 404, body = Problem)))]
pub(super) async fn approve(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Path(call): Path<(SessionId, String)>,
    headers: HeaderMap,
    body: Body<DecisionBody>,
) -> Result<Response, Problem> {
    let approval = Approval::from(body.value);
    if wants_events(&headers) {
        let (sender, events) = unbounded_channel();
        let running = run::decide(&app, caller, call, approval, Events::to(sender));
        return stream::respond(app, running, events).await;
    }
    let running = run::decide(&app, caller, call, approval, Events::nowhere());
    let outcome = running.outcome().await?;
    Ok((status(&outcome), Json(ChatReply::of(&app, &outcome))).into_response())
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}
