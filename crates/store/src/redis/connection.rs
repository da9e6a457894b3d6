//! Sends commands to a single server or a cluster, with bounded retries.
//!
//! [`SingleServer`] or the cluster client reconnects. Commands may be retried: each is a read, idempotent, or a
//! script that recognises its own earlier run.
//!
//! Invariant: [`Failed`] and [`Answer`] say whether an attempt without a reply may have been executed.

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
/// The first and the longest delay between retries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

/// A connection to a single server or a cluster.
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

/// A Lua script, sent by hash, and in full only to a server that does not have it cached.
pub(super) struct Script {
    code: &'static str,
    hash: String,
}

impl Script {
    pub(super) fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }

    pub(super) fn call(&self, keys: &[String]) -> Call {
        Call {
            code: self.code,
            hash: self.hash.clone(),
            arguments: Vec::new(),
            keys: keys.to_vec(),
        }
    }
}

/// A script with its keys and arguments, ready to run.
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

/// A failure, and whether the command may have been executed nevertheless.
pub(super) struct Failed {
    pub error: StoreError,
    pub maybe_executed: bool,
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

/// A reply, and whether an earlier attempt may have been executed.
pub(super) struct Answer<T> {
    pub value: T,
    pub maybe_executed: bool,
}

impl Connection {
    pub(super) async fn open(options: &RedisOptions) -> Result<Self> {
        let location = options.location().to_owned();
        let certificates = options.certificates()?;
        let wrong = |error: RedisError| refused(&location, &error);
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
        let link = link.map_err(|error| translate(&location, &error))?;
        Ok(Self { link, location, retries_max: options.retries_max })
    }

    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.link, Link::Cluster(_))
    }

    /// Sends a retryable command.
    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        self.read(self.with_retries(|| self.once(command)).await?.value)
    }

    /// Runs a retryable script.
    pub(super) async fn run<T: FromRedisValue>(&self, call: &Call) -> Result<Answer<T>, Failed> {
        let Answer { value, maybe_executed } = self
            .with_retries(|| async {
                match self.once(&call.command("EVALSHA", &call.hash)).await {
                    Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                        self.once(&call.command("EVAL", call.code)).await
                    }
                    done => done,
                }
            })
            .await?;
        let value = self.read(value).map_err(|error| Failed { error, maybe_executed: true })?;
        Ok(Answer { value, maybe_executed })
    }

    /// Sends a retryable command to one node of a cluster, or to the single server.
    pub(super) async fn query_node<T: FromRedisValue>(
        &self,
        node: Option<&(String, u16)>,
        command: &Cmd,
    ) -> Result<T> {
        let (Link::Cluster(link), Some((host, port))) = (&self.link, node) else {
            return self.query(command).await;
        };
        let place = SingleNodeRoutingInfo::ByAddress { host: host.clone(), port: *port };
        let routing = RoutingInfo::SingleNode(place);
        let send = || {
            let (mut link, command, routing) = (link.clone(), command.clone(), routing.clone());
            async move { link.route_command(command, routing).await }
        };
        self.read(self.with_retries(send).await?.value)
    }

    /// The primary nodes of a cluster; a single `None` for a single server.
    pub(super) async fn primaries(&self) -> Result<Vec<Option<(String, u16)>>> {
        if !self.is_cluster() {
            return Ok(vec![None]);
        }
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let slots: Vec<Vec<Value>> = self.query(&command).await?;
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
            Link::One(single) => single.send(command, breaks_connection).await,
            Link::Cluster(link) => command.query_async(&mut link.clone()).await,
        }
    }

    async fn with_retries<F, W>(&self, mut send: F) -> Result<Answer<Value>, Failed>
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
        let mut maybe_executed = false;
        loop {
            let error = match send().await {
                Ok(value) => return Ok(Answer { value, maybe_executed }),
                Err(error) => error,
            };
            maybe_executed |= may_have_run(&error);
            let pause = if is_transient(&error) { pauses.next() } else { None };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => {
                    return Err(Failed {
                        error: translate(&self.location, &error),
                        maybe_executed,
                    });
                }
            }
        }
    }

    fn read<T: FromRedisValue>(&self, value: Value) -> Result<T> {
        redis::from_redis_value(value).map_err(|error| StoreError::Damaged {
            what: self.location.clone(),
            reason: format!("unexpected type of reply: {error}"),
        })
    }

    pub(super) fn location(&self) -> &str {
        &self.location
    }
}

/// Whether the command may have been executed because no complete reply arrived.
fn may_have_run(error: &RedisError) -> bool {
    let broken = error.kind() == ErrorKind::Parse;
    broken || error.is_io_error() || error.is_timeout() || error.is_connection_dropped()
}

/// Whether the connection must be replaced. That includes a server that has become a replica: after a
/// fail-over the host name may resolve to another server.
fn breaks_connection(error: &RedisError) -> bool {
    may_have_run(error) || error.is_unrecoverable_error() || error.code() == Some("READONLY")
}

/// Whether the failure is transient: network, restart, fail-over, a slot being moved.
fn is_transient(error: &RedisError) -> bool {
    may_have_run(error)
        || error.is_cluster_error()
        || error.kind() == ErrorKind::ClusterConnectionNotFound
        || matches!(error.code(), Some("LOADING" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN"))
        || matches!(error.code(), Some("READONLY" | "BUSY"))
}

fn refused(location: &str, error: &RedisError) -> StoreError {
    StoreError::Refused {
        what: location.to_owned(),
        reason: error.category().to_owned(),
        hint: "check the store's URL".into(),
    }
}

/// The client library's messages contain no credentials, only errors of the server and the system.
fn translate(location: &str, error: &RedisError) -> StoreError {
    let denied = matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM"));
    if denied || error.kind() == ErrorKind::AuthenticationFailed {
        return StoreError::Refused {
            what: location.to_owned(),
            reason: error.to_string(),
            hint: "check user, password and permissions in the store's URL".into(),
        };
    }
    StoreError::Unavailable {
        what: location.to_owned(),
        reason: error.to_string(),
        outcome_unknown: false,
    }
}
