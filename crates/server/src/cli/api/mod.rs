//! The REST API for commands, in this process or on a server.
//!
//! A command is written once, as requests. Without `--server` they go to the routes of an engine in this
//! process, without a socket, as the local user; with it they go to that server, as the holder of the key.
//!
//! Invariant: a command does not know where its requests go.
//!
//! # Layout
//!
//! - [`call`]: a request. [`remote`]: a server. [`ids`]: ids from prefixes.

mod call;
mod ids;
mod remote;

use std::net::{IpAddr, Ipv4Addr};

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt;
use reqwest::Url;
use serde_json::Value;
use tower::ServiceExt;

use super::Settings;
use super::local::{Identity, Local};
use crate::access::{Gate, Keys};
use crate::assemble::{Demo, IfAbsent};
use crate::failure::Failure;
use crate::http::{self, App, Setup};
pub(super) use call::Call;
pub(super) use ids::{Named, one_of};
use remote::Remote;

/// Largest request body for the engine in this process, in bytes.
const BODY_BYTES_MAX: usize = 1 << 30;

/// How long to wait for an MCP server that is still starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// As long as a message would.
    Briefly,
    /// Until it has started: nothing else is done meanwhile, and a package may be downloaded first.
    UntilStarted,
}

/// Target of a command's requests.
pub(super) struct Api(Target);

enum Target {
    LocalApi(Box<LocalApi>),
    Elsewhere(Box<Remote>),
}

struct LocalApi {
    local: Local,
    app: App,
    routes: Router,
    base: Url,
}

impl Api {
    /// Connects to `--server`, or opens the configured store; `then` applies if there is none.
    pub(super) async fn open(
        settings: &Settings,
        who: &Identity,
        demo: Demo,
        then: IfAbsent,
        wait: Wait,
    ) -> Result<Self, Failure> {
        if let Some((address, key)) = settings.server() {
            who.refuse_tenant()?;
            if demo == Demo::With {
                let what = "--demo starts the demo inventory on this machine, not on a server";
                return Err(Failure::wrong_use(
                    what,
                    "start the server with throughline serve --demo",
                ));
            }
            let remote = Remote::new(&address, key.as_ref(), who.user())?;
            return Ok(Self(Target::Elsewhere(Box::new(remote))));
        }
        let mut config = settings.load_for(then)?;
        for server in config.servers.values_mut().filter(|_| wait == Wait::UntilStarted) {
            server.list_seconds = server.list_seconds.max(server.connect_seconds);
        }
        let (mut server, mut telemetry) = (config.server.clone(), config.telemetry.clone());
        server.body_bytes_max = BODY_BYTES_MAX;
        server.json_elements_max = usize::MAX;
        telemetry.enabled = false;
        let local = Local::with(config, who, demo).await?;
        let keys = Keys::new(local.engine.store().clone(), crate::clock::system());
        let gate = Gate::open(keys, None, IpAddr::V4(Ipv4Addr::LOCALHOST)).await?;
        let (engine, servers) = (local.engine.clone(), local.servers.clone());
        let app = App::new(Setup { engine, gate, settings: server, servers, telemetry });
        let routes = http::in_process(&app);
        let base = Url::parse("http://localhost")
            .map_err(|error| Failure::new(error.to_string(), "this is a bug; please report it"))?;
        Ok(Self(Target::LocalApi(Box::new(LocalApi { local, app, routes, base }))))
    }

    /// Opens the API, runs `act` and closes it.
    pub(super) async fn during(
        settings: &Settings,
        who: &Identity,
        demo: Demo,
        then: IfAbsent,
        act: impl AsyncFnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let api = Self::open(settings, who, demo, then, Wait::UntilStarted).await?;
        let done = act(&api).await;
        api.close().await;
        done
    }

    /// Waits for cancelled turns and stops the MCP servers that were started.
    pub(super) async fn close(self) {
        self.settle().await;
        if let Target::LocalApi(here) = self.0 {
            here.local.close().await;
        }
    }

    /// Waits until cancelled turns are stored; a server does that itself.
    pub(super) async fn settle(&self) {
        if let Target::LocalApi(here) = &self.0 {
            here.app.turns().close();
            here.app.turns().wait().await;
            here.app.turns().reopen();
        }
    }

    /// URL of the web page.
    pub(super) fn page(&self) -> String {
        match &self.0 {
            Target::LocalApi(here) => format!("http://{}", here.app.settings().bind),
            Target::Elsewhere(remote) => remote.address().to_owned(),
        }
    }

    /// Work after a turn: resolving entities, indexing. A server does that itself.
    pub(super) fn follow_up(
        &self,
        session: &str,
    ) -> Option<impl Future<Output = ()> + Send + 'static> {
        let Target::LocalApi(here) = &self.0 else { return None };
        let id = super::local::session_id(session).ok()?;
        let (engine, key) = (here.local.engine.clone(), here.local.caller.session_key(&id));
        Some(async move {
            if let Err(error) = engine.background().work_on(&key).await {
                tracing::debug!(%error, "background work is postponed");
            }
        })
    }

    /// The response, whatever its status.
    async fn answer(&self, call: Call) -> Result<Response<Body>, Failure> {
        match &self.0 {
            Target::Elsewhere(remote) => remote.send(call).await,
            Target::LocalApi(here) => {
                let mut request = call.at(&here.base)?.map(Body::from);
                request.extensions_mut().insert(here.local.caller.clone());
                let Ok(response) = here.routes.clone().oneshot(request).await;
                Ok(response)
            }
        }
    }

    /// The response of a successful request.
    pub(super) async fn call(&self, call: Call) -> Result<Response<Body>, Failure> {
        let response = self.answer(call).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        Err(self.refusal(status, &body(response).await?))
    }

    /// The body of a successful request.
    pub(super) async fn bytes(&self, call: Call) -> Result<Bytes, Failure> {
        body(self.call(call).await?).await
    }

    /// The body of a successful request, as JSON.
    pub(super) async fn json(&self, call: Call) -> Result<Value, Failure> {
        let bytes = self.bytes(call).await?;
        serde_json::from_slice(&bytes).map_err(|_| self.stranger("the response is not JSON"))
    }

    /// The failure in an error response.
    fn refusal(&self, status: StatusCode, bytes: &[u8]) -> Failure {
        let problem: Value = serde_json::from_slice(bytes).unwrap_or_default();
        match (problem["detail"].as_str(), problem["code"].as_str()) {
            (Some(detail), Some(code)) => {
                let hint = problem["hint"].as_str().unwrap_or_default();
                let hint = match (status, code) {
                    (StatusCode::UNAUTHORIZED, _) => {
                        "set a key of that server with --key or THROUGHLINE_KEY"
                    }
                    (_, "session_inactive") => "restore it with throughline session extend",
                    _ => hint,
                };
                Failure::new(detail, hint).coded(code)
            }
            _ => self.stranger(&format!("the status is {status}")),
        }
    }

    fn stranger(&self, reason: &str) -> Failure {
        let address = match &self.0 {
            Target::LocalApi(_) => "this process",
            Target::Elsewhere(remote) => remote.address(),
        };
        let what =
            format!("{address} is not a Throughline server, or a proxy responds for it: {reason}");
        Failure::new(what, "check the address; throughline serve prints it when it starts")
            .coded("not_a_server")
    }
}

/// The complete body of a response.
async fn body(response: Response<Body>) -> Result<Bytes, Failure> {
    let collected = response.into_body().collect().await.map_err(|error| {
        let what = format!("the response was interrupted: {error}");
        Failure::new(what, "try again").coded("answer_broken")
    })?;
    Ok(collected.to_bytes())
}
