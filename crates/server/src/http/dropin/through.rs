//! `GET /v1/models`, `POST /v1/messages/count_tokens` and `POST /v1/embeddings`: forwarded, or answered
//! locally.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use throughline_engine::tokens;
use throughline_upstream::model::pass_through::ClientCall;
use throughline_upstream::model::{Api, Provider};

use super::answer_form::AnswerForm;
use super::client::Client;
use super::forward::Forward;
use super::keep::TurnToKeep;
use super::notes::Notes;
use super::upstreams::ChosenUpstream;
use super::{client_body, refusal, splice};
use crate::http::App;
use crate::http::body::bytes_of;
use crate::http::problem::Problem;

/// Models of the client's provider; Anthropic clients always send `anthropic-version`.
pub(super) async fn models(State(app): State<App>, request: Request) -> Response {
    let api = match request.headers().contains_key("anthropic-version") {
        true => Api::Messages,
        false => Api::ChatCompletions,
    };
    let listed = list_models(&app, api, request).await;
    listed.unwrap_or_else(|problem| refusal::in_format(api.provider(), &problem))
}

async fn list_models(app: &App, api: Api, request: Request) -> Result<Response, Problem> {
    let passed = Passed::take(app, api, request).await?;
    match app.upstreams().choose(api.provider(), None) {
        Some(chosen) => Ok(passed.forward(chosen).run(app).await),
        None => Ok(Json(own_models(app, api)).into_response()),
    }
}

/// Counts the tokens of a request; locally if there is no Anthropic model.
pub(super) async fn count_tokens(State(app): State<App>, request: Request) -> Response {
    let counted = count(&app, request).await;
    counted.unwrap_or_else(|problem| refusal::in_format(Provider::Anthropic, &problem))
}

async fn count(app: &App, request: Request) -> Result<Response, Problem> {
    let passed = Passed::take(app, Api::Messages, request).await?;
    let Some(chosen) = passed.chosen(app) else {
        let tokens = tokens::count(&String::from_utf8_lossy(&passed.body));
        return Ok(Json(json!({"input_tokens": tokens})).into_response());
    };
    Ok(passed.forward(chosen).run(app).await)
}

/// Embeddings, computed by the provider.
pub(super) async fn embeddings(State(app): State<App>, request: Request) -> Response {
    let embedded = embed(&app, request).await;
    embedded.unwrap_or_else(|problem| refusal::in_format(Provider::OpenAi, &problem))
}

async fn embed(app: &App, request: Request) -> Result<Response, Problem> {
    let passed = Passed::take(app, Api::ChatCompletions, request).await?;
    let chosen = passed.chosen(app).ok_or_else(|| app.upstreams().none_of(passed.api))?;
    Ok(passed.forward(chosen).run(app).await)
}

/// A request that is forwarded as it is.
struct Passed {
    api: Api,
    client: Client,
    method: Method,
    path: String,
    headers: axum::http::HeaderMap,
    body: Bytes,
}

impl Passed {
    async fn take(app: &App, api: Api, request: Request) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let client = Client::of(app, &parts.headers).await?;
        let body = bytes_of(body, app.settings().client_body_bytes_max).await?;
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        // OpenAI's base URL contains the version, Anthropic's does not.
        let path = match api.provider() {
            Provider::OpenAi => path.trim_start_matches("/v1"),
            Provider::Anthropic => path,
        };
        let (path, headers) = (path.to_owned(), parts.headers);
        Ok(Self { api, client, method: parts.method, path, headers, body })
    }

    fn chosen<'a>(&self, app: &'a App) -> Option<ChosenUpstream<'a>> {
        let (model, _) = client_body::outline(&self.body);
        app.upstreams().choose(self.api.provider(), model.as_deref())
    }

    fn forward(self, chosen: ChosenUpstream<'_>) -> Forward {
        let renamed = chosen
            .model
            .and_then(|model| splice::renamed(std::str::from_utf8(&self.body).ok()?, model));
        let body = renamed.map_or(self.body, Bytes::from);
        let body = (self.method != Method::GET).then_some(body);
        let (method, path, headers) = (self.method, self.path, self.headers);
        let call =
            ClientCall { method, path, headers, lent: self.client.lent, body, streams: false };
        Forward {
            upstream: chosen.upstream.clone(),
            call,
            api: self.api,
            form: AnswerForm::AsItIs,
            notes: Notes::default(),
            remains: TurnToKeep::none(),
        }
    }
}

/// The configured models, if there is none of this provider.
fn own_models(app: &App, api: Api) -> Value {
    let names = app.upstreams().names();
    let entry = |name: &String| match api.provider() {
        Provider::OpenAi => {
            json!({"id": name, "object": "model", "created": 0, "owned_by": "throughline"})
        }
        Provider::Anthropic => json!({
            "id": name, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z",
        }),
    };
    let data: Vec<Value> = names.iter().map(entry).collect();
    match api.provider() {
        Provider::OpenAi => json!({"object": "list", "data": data}),
        Provider::Anthropic => json!({
            "data": data, "has_more": false, "first_id": names.first(), "last_id": names.last(),
        }),
    }
}
