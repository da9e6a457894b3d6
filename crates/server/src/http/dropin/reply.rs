//! `POST /v1/chat/completions` and `POST /v1/messages`.

use std::time::Instant;

use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use bytes::Bytes;
use serde::de::IgnoredAny;
use throughline_engine::id::SessionId;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::trace;
use throughline_upstream::model::Provider;

use super::client_body::{self, ClientBody};
use super::forward::Forward;
use super::keep::{Keeping, Remains};
use super::splice::PutIn;
use super::upstreams::Chosen;
use super::visitor::Visitor;
use super::{SESSION, calls, converse, refusal, splice};
use crate::http::App;
use crate::http::body::Body;
use crate::http::idempotency::IdempotencyKey;
use crate::http::problem::Problem;

/// A reply in OpenAI's format.
pub async fn openai(State(app): State<App>, request: Request) -> Response {
    answered(app, Provider::OpenAi, request).await
}

/// A reply in Anthropic's format.
pub async fn anthropic(State(app): State<App>, request: Request) -> Response {
    answered(app, Provider::Anthropic, request).await
}

async fn answered(app: App, format: Provider, request: Request) -> Response {
    match Asked::take(&app, format, request).await {
        Ok(asked) => match asked.reply(&app).await {
            Ok(response) => response,
            Err(problem) => refusal::dressed(format, &problem),
        },
        Err(problem) => refusal::dressed(format, &problem),
    }
}

/// A request, taken apart.
struct Asked {
    format: Provider,
    visitor: Visitor,
    session: Option<SessionId>,
    key: Option<RequestKey>,
    headers: HeaderMap,
    body: Bytes,
    started: Instant,
}

impl Asked {
    async fn take(app: &App, format: Provider, request: Request) -> Result<Self, Problem> {
        let started = Instant::now();
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::of(app, &parts.headers).await?;
        let key = IdempotencyKey::from_request_parts(&mut parts, app).await?;
        let session = match parts.headers.get(SESSION) {
            Some(id) => Some(SessionId::new(id.to_str().unwrap_or_default())?),
            None => None,
        };
        let headers = parts.headers.clone();
        let whole = Request::from_parts(parts, body);
        let body = Body::<IgnoredAny>::from_request(whole, app).await?.bytes;
        let key = key.of(format.as_str(), &body);
        Ok(Self { format, visitor, session, key, headers, body, started })
    }

    async fn reply(self, app: &App) -> Result<Response, Problem> {
        let model = client_body::model_of(&self.body);
        let Some(chosen) = app.upstreams().choose(self.format, model.as_deref()) else {
            let text = self.text()?;
            let client = ClientBody::read(self.format, text)?;
            let (caller, session) = (self.visitor.caller.clone(), self.session.clone());
            return converse::reply(app, caller, session, self.key.clone(), &client).await;
        };
        let forward = match &self.session {
            Some(session) => {
                let text = self.text()?;
                let client = ClientBody::read(self.format, text)?;
                if let Some(again) = self.again(app, session, &client).await? {
                    return Ok(again);
                }
                self.remembered(app, session.clone(), &client, chosen).await?
            }
            None => self.plain(chosen),
        };
        Ok(forward.run(app).await)
    }

    fn text(&self) -> Result<&str, Problem> {
        std::str::from_utf8(&self.body).map_err(|_| Problem::invalid("body", "it is not UTF-8"))
    }

    /// The stored answer of the same keyed request.
    async fn again(
        &self,
        app: &App,
        session: &SessionId,
        client: &ClientBody<'_>,
    ) -> Result<Option<Response>, Problem> {
        let Some(key) = &self.key else { return Ok(None) };
        let kept = app.engine().exchange_before(&self.visitor.caller, session, key).await?;
        Ok(kept.map(|record| converse::stored(client, session, &record)))
    }

    /// The request with memory.
    async fn remembered(
        &self,
        app: &App,
        session: SessionId,
        client: &ClientBody<'_>,
        chosen: Chosen<'_>,
    ) -> Result<Forward, Problem> {
        let caller = self.visitor.caller.clone();
        let request = client.request();
        let mut addition = app.engine().prepare_addition(&caller, &session, &request).await?;
        let (before, beside) = (addition.before.as_slice(), addition.beside.as_slice());
        let body = splice::with(client, PutIn { before, beside, model: chosen.model });
        addition.handed_on_as(body.as_bytes());
        let model = self.model_name(chosen, client.model_name());
        let call = addition.span().in_scope(|| trace::model_call(&model, client.asked));
        let keeping = Keeping {
            caller,
            session,
            addition,
            message: request.message,
            calls: calls::since_the_message(client),
            model,
            key: self.key.clone(),
            started: self.started,
        };
        let remains = Remains { call, keeping: Some(keeping) };
        Ok(self.forward(chosen, body.into(), remains))
    }

    /// The request as it is; only a model's configured name becomes the provider's.
    fn plain(&self, chosen: Chosen<'_>) -> Forward {
        let client = self.text().ok().and_then(|text| ClientBody::read(self.format, text).ok());
        let asked = client.as_ref().map(|client| client.asked).unwrap_or_default();
        let named = client_body::model_of(&self.body);
        let call = trace::model_call(&self.model_name(chosen, named.as_deref()), asked);
        let renamed = client.filter(|_| chosen.model.is_some()).map(|client| {
            splice::with(&client, PutIn { model: chosen.model, ..PutIn::default() }).into()
        });
        let remains = Remains { call, keeping: None };
        self.forward(chosen, renamed.unwrap_or_else(|| self.body.clone()), remains)
    }

    /// `provider/model`.
    fn model_name(&self, chosen: Chosen<'_>, named: Option<&str>) -> String {
        format!("{}/{}", self.format.as_str(), chosen.model.or(named).unwrap_or_default())
    }

    fn forward(&self, chosen: Chosen<'_>, body: Bytes, remains: Remains) -> Forward {
        Forward {
            upstream: chosen.upstream.clone(),
            method: Method::POST,
            path: chosen.upstream.reply_path().to_owned(),
            headers: self.headers.clone(),
            lent: self.visitor.lent.clone(),
            body: Some(body),
            remains,
        }
    }
}
