//! Routes beside `/v1/responses`: tokens are counted here, the others are refused by name.
//!
//! A session is made by its first message and read over the REST API, so OpenAI's conversations have no objects of
//! their own here.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use throughline_engine::tokens;
use throughline_upstream::model::Provider;

use super::client::Client;
use super::refusal;
use crate::http::App;
use crate::http::body::bytes_of;
use crate::http::problem::Problem;

/// Fields of an item that a model reads as text.
const READ: [&str; 6] = ["text", "content", "output", "arguments", "name", "refusal"];

/// `POST /v1/responses/input_tokens`: tokens of the request itself, without what its session adds.
pub(super) async fn input_tokens(State(app): State<App>, request: Request) -> Response {
    let counted = count(&app, request).await;
    counted.unwrap_or_else(|problem| refusal::in_format(Provider::OpenAi, &problem))
}

async fn count(app: &App, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    Client::of(app, &parts.headers).await?;
    let body = bytes_of(body, app.settings().client_body_bytes_max).await?;
    let request: Value = serde_json::from_slice(&body)
        .map_err(|error| Problem::invalid("body", error.to_string()))?;
    let said = [&request["instructions"], &request["input"]].map(tokens_of).iter().sum::<u32>();
    let tools = request["tools"].as_array().into_iter().flatten();
    let tools: u32 = tools.map(|tool| tokens::count(&tool.to_string())).sum();
    let counted = json!({"object": "response.input_tokens", "input_tokens": said + tools});
    Ok(Json(counted).into_response())
}

/// Tokens of a text, or of the texts in an item.
fn tokens_of(value: &Value) -> u32 {
    match value {
        Value::String(text) => tokens::count(text),
        Value::Array(items) => items.iter().map(tokens_of).sum(),
        Value::Object(_) => READ.iter().map(|name| tokens_of(&value[name])).sum(),
        _ => 0,
    }
}

/// What OpenAI serves and this server does not.
pub(super) async fn refuse(method: Method, uri: Uri) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    let problem = Problem::new(
        StatusCode::NOT_IMPLEMENTED,
        "not_supported",
        format!("{method} {path} is not supported"),
        "POST /v1/responses with conversation or previous_response_id keeps a conversation; GET and DELETE \
         /v1/responses/{id} and GET /v1/responses/{id}/input_items read it; sessions are listed at \
         /api/v1/conversations",
    );
    refusal::in_format(Provider::OpenAi, &problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted_and_pictures_are_not() {
        let words = tokens::count("Two words");
        assert_eq!(tokens_of(&json!("Two words")), words);
        let text = json!({"type": "input_text", "text": "Two words"});
        let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
        assert_eq!(tokens_of(&json!([{"role": "user", "content": [text, image]}])), words);
        assert_eq!(tokens_of(&Value::Null), 0);
    }
}
