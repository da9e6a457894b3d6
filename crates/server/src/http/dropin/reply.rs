//! `POST /v1/chat/completions` and `POST /v1/messages`.

use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use bytes::Bytes;
use serde::de::IgnoredAny;
use throughline_engine::id::SessionId;
use throughline_engine::session::apply::RequestKey;
use throughline_engine::trace;
use throughline_engine::turn::{DropIn, DropInTurn};
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
}

impl Asked {
    async fn take(app: &App, format: Provider, request: Request) -> Result<Self, Problem> {
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
        Ok(Self { format, visitor, session, key, headers, body })
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
                let client = ClientBody::read(self.format, self.text()?)?;
                match self.begin(app, session, &client).await? {
                    DropIn::Answered(record) => {
                        return Ok(converse::stored(&client, session, &record));
                    }
                    DropIn::Open(turn) => self.remembered(*turn, &client, chosen),
                }
            }
            None => self.plain(chosen),
        };
        Ok(forward.run(app).await)
    }

    fn text(&self) -> Result<&str, Problem> {
        std::str::from_utf8(&self.body).map_err(|_| Problem::invalid("body", "it is not UTF-8"))
    }

    async fn begin(
        &self,
        app: &App,
        session: &SessionId,
        client: &ClientBody<'_>,
    ) -> Result<DropIn, Problem> {
        let (caller, key) = (&self.visitor.caller, self.key.clone());
        Ok(app.engine().begin_drop_in(caller, session, &client.request(), key).await?)
    }

    /// The request with memory.
    fn remembered(
        &self,
        mut turn: DropInTurn,
        client: &ClientBody<'_>,
        chosen: Chosen<'_>,
    ) -> Forward {
        let put_in = PutIn { addition: Some(&turn.addition), model: chosen.model };
        let body = splice::with(client, put_in);
        turn.handed_on_as(body.as_bytes());
        let model = self.model_name(chosen, client.model_name());
        let call = turn.span().in_scope(|| trace::model_call(&model, client.asked));
        let keeping = Keeping { turn, calls: calls::since_the_message(client), model };
        self.forward(chosen, body.into(), Remains { call, keeping: Some(keeping) })
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
