//! `POST /v1/chat/completions`, `POST /v1/messages` and `POST /v1/responses`.
//!
//! Invariant: a request with a session that would be valid without it is forwarded, whether or not memory can
//! be used.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use throughline_engine::creation::NewSession;
use throughline_engine::error::{Error, Fault};
use throughline_engine::session::apply::RequestKey;
use throughline_engine::trace::{self, ModelParameters};
use throughline_engine::turn::{DropIn, DropInTurn};
use throughline_upstream::model::pass_through::ClientCall;
use throughline_upstream::model::responses::{self, Rename};
use throughline_upstream::model::{Api, Provider};

use super::answer_form::{AnswerForm, Conversion};
use super::client::Client;
use super::client_body::{self, ClientBody, Unusable};
use super::forward::Forward;
use super::keep::{Keeping, TurnToKeep};
use super::notes::Notes;
use super::splice::Insertion;
use super::thread::{self, ReplyId, Thread};
use super::upstreams::ChosenUpstream;
use super::{calls, refusal, splice, stored};
use crate::http::App;
use crate::http::body::bytes_of;
use crate::http::idempotency::IdempotencyKey;
use crate::http::problem::Problem;
use crate::json_limits;

/// Field for the longest reply: most servers, and newer models of OpenAI.
pub(super) const LIMIT_NAMES: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// OpenAI Chat Completions.
pub(super) async fn openai(State(app): State<App>, request: Request) -> Response {
    answered(app, Api::ChatCompletions, request).await
}

/// Anthropic Messages.
pub(super) async fn anthropic(State(app): State<App>, request: Request) -> Response {
    answered(app, Api::Messages, request).await
}

/// OpenAI Responses.
pub(super) async fn response(State(app): State<App>, request: Request) -> Response {
    answered(app, Api::Responses, request).await
}

async fn answered(app: App, api: Api, request: Request) -> Response {
    let answered = match Incoming::take(&app, api, request).await {
        Ok(call) => call.reply(&app).await,
        Err(problem) => Err(problem),
    };
    answered.unwrap_or_else(|problem| refusal::in_format(api.provider(), &problem))
}

/// A parsed request.
struct Incoming {
    api: Api,
    client: Client,
    key: Option<RequestKey>,
    headers: HeaderMap,
    query: Option<String>,
    body: Bytes,
}

/// A request to forward.
struct Outgoing<'a> {
    chosen: ChosenUpstream<'a>,
    text: Bytes,
    notes: Notes,
    remains: TurnToKeep,
    /// The ids of a stored response.
    reply_id: Option<ReplyIds>,
}

/// What a stored response is called.
struct ReplyIds {
    id: String,
    previous: Option<String>,
    conversation: Option<String>,
}

impl Incoming {
    async fn take(app: &App, api: Api, request: Request) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let client = Client::of(app, &parts.headers).await?;
        let key = IdempotencyKey::from_request_parts(&mut parts, app).await?;
        let query = parts.uri.query().map(str::to_owned);
        let headers = parts.headers;
        let body = bytes_of(body, app.settings().client_body_bytes_max).await?;
        let key = key.of(api.as_str(), &body);
        Ok(Self { api, client, key, headers, query, body })
    }

    async fn reply(self, app: &App) -> Result<Response, Problem> {
        let (model, _) = client_body::outline(&self.body);
        let upstreams = app.upstreams();
        let chosen = upstreams.choose(self.api.provider(), model.as_deref());
        let chosen = chosen.ok_or_else(|| upstreams.none_of(self.api))?;
        let text = self.text(app);
        let thread =
            Thread::of(app, &self.client, self.api, &self.headers, text.as_deref().ok()).await?;
        if self.converts(chosen) {
            thread::check_convertible(&self.body, &thread)?;
        }
        let text = thread.text.as_deref().map_or(text, Ok);
        let client = text.and_then(|text| ClientBody::read(self.api, text));
        let outgoing = match (client, &thread.session) {
            (Ok(client), Some(session)) => match self.begin(app, session, &client).await {
                Ok(DropIn::Answered(record)) => {
                    let id = session.id.clone().ok_or_else(crate::http::problem::internal)?;
                    let mut response = stored::answer(&client, &id, &record);
                    let mut notes = Notes::default();
                    notes.kept_in(&id);
                    notes.write(response.headers_mut());
                    return Ok(response);
                }
                Ok(DropIn::Open(turn)) => self.with_session(app, *turn, &client, &thread, chosen),
                Err(error) if thread.needed || !may_pass(&error) => return Err(error.into()),
                Err(error) => self.unkept(chosen, error.code(), &error.to_string()),
            },
            (Ok(client), None) if self.client.has_user => {
                self.with_user(app, &client, chosen).await
            }
            (Ok(client), None) => self.plain(chosen, Notes::default(), client.asked),
            (Err(why), Some(_)) if thread.needed => {
                return Err(Problem::invalid("input", why.reason()));
            }
            (Err(why), Some(_)) => self.unkept(chosen, why.code(), &why.reason()),
            (Err(_), None) => self.plain(chosen, Notes::default(), ModelParameters::default()),
        };
        Ok(self.forward(app, outgoing).run(app).await)
    }

    /// The request's text, if it is JSON within the limits.
    fn text(&self, app: &App) -> Result<&str, Unusable> {
        let unreadable = |reason: &str| Unusable::Unreadable(reason.to_owned());
        json_limits::check(&self.body, app.settings().shape())
            .map_err(|_| unreadable("it is nested too deeply or has too many values"))?;
        std::str::from_utf8(&self.body).map_err(|_| unreadable("it is not UTF-8"))
    }

    async fn begin(
        &self,
        app: &App,
        session: &NewSession,
        client: &ClientBody<'_>,
    ) -> Result<DropIn, Error> {
        let (caller, key) = (&self.client.caller, self.key.clone());
        app.engine().begin_drop_in(caller, session.clone(), &client.request(), key).await
    }

    /// The request with what its session adds.
    fn with_session<'a>(
        &self,
        app: &App,
        mut turn: DropInTurn,
        client: &ClientBody<'_>,
        thread: &Thread,
        chosen: ChosenUpstream<'a>,
    ) -> Outgoing<'a> {
        let put_in = Insertion { addition: Some(&turn.addition), model: chosen.model };
        let text = Bytes::from(splice::with(client, put_in));
        turn.handed_on_as(&self.sent(chosen, &text).0);
        let model = model_name(chosen, client.model_name());
        let call = turn.span().in_scope(|| trace::model_call(&model, client.asked));
        let mut notes = Notes::default();
        notes.kept_in(turn.session());
        notes.added(turn.receipt());
        let id = || ReplyId::make(turn.session(), turn.turns_before(), app.engine().new_id());
        let id = (self.api == Api::Responses).then(id);
        let items = || client.messages.iter().map(|(_, item)| item.clone()).collect();
        let round = id.clone().map(|id| (id, items()));
        let keeping = Keeping { turn, calls: calls::since_the_message(client), model, round };
        let remains = TurnToKeep { call, keeping: Some(keeping) };
        let (previous, conversation) = (thread.previous.clone(), thread.conversation.clone());
        let reply_id = id.map(|id| ReplyIds { id, previous, conversation });
        Outgoing { chosen, text, notes, remains, reply_id }
    }

    /// The request with the user's memories; nothing is stored.
    async fn with_user<'a>(
        &self,
        app: &App,
        client: &ClientBody<'_>,
        chosen: ChosenUpstream<'a>,
    ) -> Outgoing<'a> {
        let request = client.request();
        let (addition, receipts) =
            match app.engine().remembered_for(&self.client.caller, &request).await {
                Ok(remembered) => remembered,
                Err(error) => return self.unkept(chosen, error.code(), &error.to_string()),
            };
        let mut notes = Notes::default();
        notes.added(&receipts);
        let mut plain = self.plain(chosen, notes, client.asked);
        let put_in = Insertion { addition: Some(&addition), model: chosen.model };
        plain.text = splice::with(client, put_in).into();
        plain
    }

    /// The request without memory, and why.
    fn unkept<'a>(&self, chosen: ChosenUpstream<'a>, code: &str, reason: &str) -> Outgoing<'a> {
        let mut notes = Notes::default();
        notes.not_kept(code, reason);
        self.plain(chosen, notes, ModelParameters::default())
    }

    /// The request as it is; only a configured model name is replaced by the provider's.
    fn plain<'a>(
        &self,
        chosen: ChosenUpstream<'a>,
        notes: Notes,
        asked: ModelParameters,
    ) -> Outgoing<'a> {
        let (named, _) = client_body::outline(&self.body);
        let call = trace::model_call(&model_name(chosen, named.as_deref()), asked);
        let text = std::str::from_utf8(&self.body).ok();
        let renamed = chosen.model.and_then(|model| splice::renamed(text?, model));
        let text = renamed.map_or_else(|| self.body.clone(), Bytes::from);
        let remains = TurnToKeep { call, keeping: None };
        Outgoing { chosen, text, notes, remains, reply_id: None }
    }

    /// Whether the provider is sent chat completions instead.
    fn converts(&self, chosen: ChosenUpstream<'_>) -> bool {
        self.api == Api::Responses && !chosen.upstream.config().serves_responses
    }

    /// What the provider is sent; with the original request if it was converted.
    fn sent(
        &self,
        chosen: ChosenUpstream<'_>,
        text: &Bytes,
    ) -> (Bytes, Option<(Value, responses::ChatRequest)>) {
        if !self.converts(chosen) {
            return (text.clone(), None);
        }
        let config = chosen.upstream.config();
        let request: Value = serde_json::from_slice(text).unwrap_or_default();
        let own = config.base_url.starts_with(Provider::OpenAi.default_base_url());
        let chat = responses::to_chat(&request, LIMIT_NAMES[usize::from(own)]);
        (chat.body.clone().into(), Some((request, chat)))
    }

    fn forward(&self, app: &App, outgoing: Outgoing<'_>) -> Forward {
        let Outgoing { chosen, text, mut notes, remains, reply_id } = outgoing;
        let (body, converted) = self.sent(chosen, &text);
        let (named, streams) = client_body::outline(&body);
        let api = if converted.is_some() { Api::ChatCompletions } else { self.api };
        let form = match (converted, reply_id) {
            (Some((mut request, chat)), ids) => {
                notes.not_converted(&chat.left_out);
                let ReplyIds { id, previous, conversation } = ids.unwrap_or_else(|| {
                    let id = format!("resp_{}", app.engine().new_id().simple());
                    ReplyIds { id, previous: None, conversation: None }
                });
                request["previous_response_id"] = previous.into();
                request["conversation"] = conversation.map(|id| json!({"id": id})).into();
                AnswerForm::FromChat(Box::new(Conversion {
                    id,
                    model: named.unwrap_or_default(),
                    created: app.engine().now().as_second(),
                    request,
                    custom: chat.custom,
                    stream: None,
                }))
            }
            (None, Some(ReplyIds { id, previous, conversation })) => {
                AnswerForm::Renamed(Rename::new(id, previous).within(conversation))
            }
            (None, None) => AnswerForm::AsItIs,
        };
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let call = ClientCall {
            method: Method::POST,
            path: format!("{}{query}", api.path()),
            headers: self.headers.clone(),
            lent: self.client.lent.clone(),
            body: Some(body),
            streams,
        };
        let upstream = chosen.upstream.clone();
        Forward { upstream, call, api: self.api, form, notes, remains }
    }
}

/// `provider/model`.
fn model_name(chosen: ChosenUpstream<'_>, named: Option<&str>) -> String {
    let provider = chosen.upstream.config().provider.as_str();
    format!("{provider}/{}", chosen.model.or(named).unwrap_or_default())
}

/// Whether a request is forwarded without memory after this error. Missing rights and a reused idempotency key
/// are never ignored.
fn may_pass(error: &Error) -> bool {
    !matches!(error.fault(), Fault::Forbidden | Fault::KeyMismatch)
}
