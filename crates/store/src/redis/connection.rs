//! Commands to one server or a cluster, with bounded retries and honest failures.
//!
//! Connections are made again by [`SingleServer`], in a cluster by the client library. Whether a command may be
//! sent again is decided by the caller: everything here is a read, or a script that knows its own
//! earlier run.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult,
    ServerErrorKind, Value,
};
use throughline_engine::store::{Result, StoreError};

use super::options::RedisOptions;
use super::single::SingleServer;

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The first and the longest pause between two tries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

/// One server, or a cluster of them.
#[derive(Clone)]
pub(super) struct Connection {
    link: Link,
    location: String,
    retries_max: usize,
}

#[derive(Clone)]
enum Link {
    One(Arc<SingleServer>),
    Cluster(ClusterConnection),
}

/// A script, sent by its hash and in full only to a server that does not know it.
pub(super) struct Script {
    code: &'static str,
    hash: String,
}

impl Script {
    pub(super) fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }

    /// The command that runs it.
    pub(super) fn call(&self, keys: &[String]) -> Call {
        Call {
            code: self.code,
            hash: self.hash.clone(),
            arguments: Vec::new(),
            keys: keys.to_vec(),
        }
    }
}

/// A script with its keys and arguments.
pub(super) struct Call {
    code: &'static str,
    hash: String,
    keys: Vec<String>,
    arguments: Vec<Vec<u8>>,
}

impl Call {
    pub(super) fn arg(mut self, argument: impl AsRef<[u8]>) -> Self {
        self.arguments.push(argument.as_ref().to_vec());
        self
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(self.keys.len()).arg(&self.keys).arg(&self.arguments);
        command
    }
}

/// A failure, and whether the command may have been carried out all the same.
pub(super) struct Failed {
    pub error: StoreError,
    pub unclear: bool,
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

/// An answer, and whether an earlier try of the same command may have been carried out.
pub(super) struct Answer<T> {
    pub value: T,
    pub unclear: bool,
}

impl Connection {
    pub(super) async fn open(options: &RedisOptions) -> Result<Self> {
        let location = options.location().to_owned();
        let certificates = options.certificates()?;
        let wrong = |error: RedisError| wrong_use(&location, &error);
        let link = if options.cluster {
            let mut builder = ClusterClientBuilder::new(options.nodes.clone())
                .connection_timeout(CONNECT_TIMEOUT)
                .response_timeout(options.timeout);
            if let Some(certificates) = certificates {
                builder = builder.certs(certificates);
            }
            let client = builder.build().map_err(wrong)?;
            client.get_async_connection().await.map(Link::Cluster)
        } else {
            let address = options.nodes[0].as_str();
            let client = match certificates {
                Some(certificates) => Client::build_with_tls(address, certificates),
                None => Client::open(address),
            };
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(CONNECT_TIMEOUT))
                .set_response_timeout(Some(options.timeout));
            let single = SingleServer::open(client.map_err(wrong)?, config).await;
            single.map(|single| Link::One(Arc::new(single)))
        };
        let link = link.map_err(|error| failure(&location, &error))?;
        Ok(Self { link, location, retries_max: options.retries_max })
    }

    /// Whether the keys are spread over several servers.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.link, Link::Cluster(_))
    }

    /// Sends a command that may be sent again.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        self.read(self.repeated(|| self.once(command)).await?.value)
    }

    /// Runs a script that may be run again.
    pub(super) async fn run<T: FromRedisValue>(&self, call: &Call) -> Result<Answer<T>, Failed> {
        let Answer { value, unclear } = self
            .repeated(|| async {
                match self.once(&call.command("EVALSHA", &call.hash)).await {
                    Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                        self.once(&call.command("EVAL", call.code)).await
                    }
                    done => done,
                }
            })
            .await?;
        let value = self.read(value).map_err(|error| Failed { error, unclear: true })?;
        Ok(Answer { value, unclear })
    }

    /// Sends a command to one node of a cluster, or to the only server.
    pub(super) async fn ask_node<T: FromRedisValue>(
        &self,
        node: Option<&(String, u16)>,
        command: &Cmd,
    ) -> Result<T> {
        let (Link::Cluster(link), Some((host, port))) = (&self.link, node) else {
            return self.ask(command).await;
        };
        let place = SingleNodeRoutingInfo::ByAddress { host: host.clone(), port: *port };
        let routing = RoutingInfo::SingleNode(place);
        let send = || {
            let (mut link, command, routing) = (link.clone(), command.clone(), routing.clone());
            async move { link.route_command(command, routing).await }
        };
        self.read(self.repeated(send).await?.value)
    }

    /// The primaries of a cluster; for one server, a single `None`.
    pub(super) async fn primaries(&self) -> Result<Vec<Option<(String, u16)>>> {
        if !self.is_cluster() {
            return Ok(vec![None]);
        }
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let slots: Vec<Vec<Value>> = self.ask(&command).await?;
        let mut nodes: Vec<Option<(String, u16)>> = Vec::new();
        for slot in slots {
            let Some(primary) = slot.into_iter().nth(2) else { continue };
            let parts: Vec<Value> = self.read(primary)?;
            let mut parts = parts.into_iter();
            let (Some(host), Some(port)) = (parts.next(), parts.next()) else { continue };
            let node = Some((self.read(host)?, self.read(port)?));
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        Ok(nodes)
    }

    async fn once(&self, command: &Cmd) -> RedisResult<Value> {
        match &self.link {
            Link::One(single) => single.send(command, breaks).await,
            Link::Cluster(link) => command.query_async(&mut link.clone()).await,
        }
    }

    async fn repeated<F, W>(&self, mut send: F) -> Result<Answer<Value>, Failed>
    where
        F: FnMut() -> W,
        W: Future<Output = RedisResult<Value>>,
    {
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(PAUSES.0)
            .with_max_delay(PAUSES.1)
            .with_max_times(self.retries_max)
            .with_jitter()
            .build();
        let mut unclear = false;
        loop {
            let error = match send().await {
                Ok(value) => return Ok(Answer { value, unclear }),
                Err(error) => error,
            };
            unclear |= is_unclear(&error);
            let pause = if passes(&error) { pauses.next() } else { None };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(Failed { error: failure(&self.location, &error), unclear }),
            }
        }
    }

    fn read<T: FromRedisValue>(&self, value: Value) -> Result<T> {
        redis::from_redis_value(value).map_err(|error| StoreError::Damaged {
            what: self.location.clone(),
            reason: format!("an answer has another type than expected: {error}"),
        })
    }

    pub(super) fn location(&self) -> &str {
        &self.location
    }
}

/// Whether the command may have been carried out: no answer came.
fn is_unclear(error: &RedisError) -> bool {
    let broken = error.kind() == ErrorKind::Parse;
    broken || error.is_io_error() || error.is_timeout() || error.is_connection_dropped()
}

/// Whether a connection is of no more use. After a fail-over a name may lead to another server, so one
/// that has become a replica is left as well.
fn breaks(error: &RedisError) -> bool {
    is_unclear(error) || error.is_unrecoverable_error() || error.code() == Some("READONLY")
}

/// Whether the failure may pass: the network, a restart, a fail-over, a slot on the move.
fn passes(error: &RedisError) -> bool {
    is_unclear(error)
        || error.is_cluster_error()
        || error.kind() == ErrorKind::ClusterConnectionNotFound
        || matches!(error.code(), Some("LOADING" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN"))
        || matches!(error.code(), Some("READONLY" | "BUSY"))
}

fn wrong_use(location: &str, error: &RedisError) -> StoreError {
    StoreError::Refused {
        what: location.to_owned(),
        reason: error.category().to_owned(),
        hint: "check the store's URL".into(),
    }
}

/// The library's messages hold no credentials: only the server's words and the system's.
fn failure(location: &str, error: &RedisError) -> StoreError {
    let denied = matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"));
    if denied || error.kind() == ErrorKind::AuthenticationFailed {
        return StoreError::Refused {
            what: location.to_owned(),
            reason: error.to_string(),
            hint: "check user and password in the store's URL, and what that user may do".into(),
        };
    }
    StoreError::Unavailable {
        what: location.to_owned(),
        reason: error.to_string(),
        outcome_unknown: false,
    }
}
