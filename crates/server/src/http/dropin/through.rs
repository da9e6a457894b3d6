//! `GET /v1/models` and `POST /v1/messages/count_tokens`: handed on, or answered from what is here.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use throughline_engine::tokens;
use throughline_upstream::model::Provider;

use super::forward::Forward;
use super::keep::Remains;
use super::upstreams::Chosen;
use super::visitor::Visitor;
use super::{client_body, converse, refusal};
use crate::http::App;
use crate::http::body::Body;
use crate::http::problem::Problem;

/// The models of the provider whose client asks; Anthropic's always say their version.
pub async fn models(State(app): State<App>, request: Request) -> Response {
    let format = match request.headers().contains_key("anthropic-version") {
        true => Provider::Anthropic,
        false => Provider::OpenAi,
    };
    let listed = list_models(&app, format, request).await;
    listed.unwrap_or_else(|problem| refusal::dressed(format, &problem))
}

async fn list_models(app: &App, format: Provider, request: Request) -> Result<Response, Problem> {
    let visitor = Visitor::of(app, request.headers()).await?;
    let path = request.uri().path_and_query().map_or("/v1/models", |path| path.as_str());
    let Some(chosen) = app.upstreams().choose(format, None) else {
        return Ok(Json(own_models(app, format)).into_response());
    };
    // OpenAI's base address has the version in it, Anthropic's has not.
    let path = match format {
        Provider::OpenAi => path.trim_start_matches("/v1"),
        Provider::Anthropic => path,
    };
    let sent = handed_on(chosen, visitor, request.headers(), (Method::GET, path), None);
    Ok(sent.run(app).await)
}

/// Counts a request's tokens.
pub async fn count_tokens(State(app): State<App>, request: Request) -> Response {
    let counted = count(&app, request).await;
    counted.unwrap_or_else(|problem| refusal::dressed(Provider::Anthropic, &problem))
}

async fn count(app: &App, request: Request) -> Result<Response, Problem> {
    let visitor = Visitor::of(app, request.headers()).await?;
    let headers = request.headers().clone();
    let body = Body::<IgnoredAny>::from_request(request, app).await?.bytes;
    let model = client_body::model_of(&body);
    let Some(chosen) = app.upstreams().choose(Provider::Anthropic, model.as_deref()) else {
        let tokens = tokens::count(&String::from_utf8_lossy(&body));
        return Ok(Json(json!({"input_tokens": tokens})).into_response());
    };
    let target = (Method::POST, "/v1/messages/count_tokens");
    Ok(handed_on(chosen, visitor, &headers, target, Some(body)).run(app).await)
}

fn handed_on(
    chosen: Chosen<'_>,
    visitor: Visitor,
    headers: &HeaderMap,
    (method, path): (Method, &str),
    body: Option<Bytes>,
) -> Forward {
    Forward {
        upstream: chosen.upstream.clone(),
        method,
        path: path.to_owned(),
        headers: headers.clone(),
        lent: visitor.lent,
        body,
        remains: Remains::none(),
    }
}

/// What can be asked for here when no provider of the format is configured.
fn own_models(app: &App, format: Provider) -> Value {
    let mut names = app.engine().model_names();
    if names.is_empty() {
        names.push(converse::OFFLINE.to_owned());
    }
    let entry = |name: &String| match format {
        Provider::OpenAi => {
            json!({"id": name, "object": "model", "created": 0, "owned_by": "throughline"})
        }
        Provider::Anthropic => json!({
            "id": name, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z",
        }),
    };
    let data: Vec<Value> = names.iter().map(entry).collect();
    match format {
        Provider::OpenAi => json!({"object": "list", "data": data}),
        Provider::Anthropic => json!({
            "data": data, "has_more": false, "first_id": names.first(), "last_id": names.last(),
        }),
    }
}
