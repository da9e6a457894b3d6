//! Real Redis servers for tests: single, or a cluster of three.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::peer::{self, Peer};

/// Attempts to start; another process may take a port between choosing and binding.
const STARTS_MAX: usize = 4;
/// Offset of a cluster node's bus port.
const INNER: u16 = 10_000;

/// A running Redis.
#[derive(Debug)]
pub struct RedisServer {
    pub peer: Peer,
    pub port: u16,
}

impl RedisServer {
    /// Starts Redis with an fsync before every reply; `None` if it is not installed.
    pub async fn start() -> Option<Self> {
        Self::start_with(&["--appendonly", "yes", "--appendfsync", "always"]).await
    }

    /// Starts Redis with these settings.
    pub async fn start_with(settings: &[&str]) -> Option<Self> {
        let redis = peer::program("THROUGHLINE_TEST_REDIS_SERVER", "redis-server")?;
        for _ in 0..STARTS_MAX {
            let port = peer::free_port(&[INNER]);
            let mut server = Self { peer: spawn(&redis, port, settings), port };
            if server.peer.ready(|| answers_ping(port)).await {
                return Some(server);
            }
            eprintln!("Redis did not start: {}", server.peer.log_end());
        }
        panic!("Redis did not start {STARTS_MAX} times");
    }

    /// Starts Redis with a TLS port for clients with a certificate of `authority`; returns that port as well.
    pub async fn start_tls(authority: &Authority) -> Option<(Self, u16)> {
        let port = peer::free_port(&[]);
        let file = |name: &str| authority.folder.path().join(name).display().to_string();
        let tls = port.to_string();
        let settings = ["--tls-port", &tls, "--tls-ca-cert-file", &file("ca.pem")];
        let own = ["--tls-cert-file", &file("server.pem"), "--tls-key-file", &file("server.key")];
        let durable = ["--appendonly", "yes", "--appendfsync", "always"];
        Some((Self::start_with(&[settings, own, durable].concat()).await?, port))
    }

    /// The store's URL.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Removes all stored data.
    pub fn flush(&self) {
        let address = ("127.0.0.1", self.port);
        let mut stream = std::net::TcpStream::connect(address).expect("Redis listens");
        stream.write_all(b"FLUSHALL\r\n").expect("it reads");
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).expect("it answers");
        assert_eq!(&answer, b"+OK\r\n");
    }

    /// Kills the process and starts another one on the same port and data.
    pub async fn restart(&mut self) {
        self.peer.restart().expect("the program that ran before is still there");
        let port = self.port;
        assert!(self.peer.ready(|| answers_ping(port)).await, "Redis starts again on its port");
    }
}

/// A private certificate authority with a server's and a client's certificate in its folder: `ca.pem`,
/// `server.pem`, `server.key`, `client.pem`, `client.key`.
#[derive(Debug)]
pub struct Authority {
    /// The folder of the files.
    pub folder: tempfile::TempDir,
}

impl Authority {
    /// Creates one with `openssl`; `None` if that is not installed.
    pub fn make() -> Option<Self> {
        let openssl = peer::program("THROUGHLINE_TEST_OPENSSL", "openssl")?;
        let folder = peer::folder();
        let run = |arguments: &str| {
            let mut command = Command::new(&openssl);
            command.args(arguments.split(' ')).current_dir(folder.path());
            let made = command.output().expect("openssl can run");
            let said = String::from_utf8_lossy(&made.stderr).into_owned();
            assert!(made.status.success(), "openssl {arguments}: {said}");
        };
        let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        run(&format!(
            "req -x509 {new} -keyout ca.key -out ca.pem -days 2 -subj /CN=test-authority"
        ));
        peer::write(folder.path(), "names", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
        for name in ["server", "client"] {
            run(&format!("req {new} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
            let signed = "-CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names";
            run(&format!("x509 -req -in {name}.csr -out {name}.pem {signed}"));
        }
        Some(Self { folder })
    }

    /// The parameters of a store URL that trust it and present its client certificate.
    pub fn parameters(&self) -> String {
        let folder = self.folder.path().display();
        format!("ca={folder}/ca.pem&client_cert={folder}/client.pem&client_key={folder}/client.key")
    }
}

/// Three Redis servers that share the slots.
#[derive(Debug)]
pub struct RedisCluster {
    /// The nodes; kill one to simulate a failed node.
    pub nodes: Vec<RedisServer>,
}

impl RedisCluster {
    /// Starts a cluster of three; `None` if Redis is not installed.
    pub async fn start() -> Option<Self> {
        Self::start_with_replicas(0).await
    }

    /// Starts three primaries with so many replicas each.
    pub async fn start_with_replicas(replicas: usize) -> Option<Self> {
        let cli = peer::program("THROUGHLINE_TEST_REDIS_CLI", "redis-cli")?;
        let mut nodes = Vec::new();
        for _ in 0..3 * (1 + replicas) {
            let settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"];
            let durable = ["--appendonly", "yes", "--appendfsync", "always"];
            nodes.push(RedisServer::start_with(&[settings, durable].concat()).await?);
        }
        let mut command = Command::new(cli);
        command.args(["--cluster", "create"]);
        command.args(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)));
        command.args(["--cluster-replicas", &replicas.to_string()]);
        let made = command.arg("--cluster-yes").output().expect("redis-cli can run");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        for node in &mut nodes {
            let port = node.port;
            assert!(node.peer.ready(|| cluster_is_ok(port)).await, "the cluster comes up");
        }
        Some(Self { nodes })
    }

    /// The store's URL with every node.
    pub fn url(&self) -> String {
        let nodes: Vec<_> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis://{}?cluster=true", nodes.join(","))
    }
}

fn spawn(redis: &Path, port: u16, settings: &[&str]) -> Peer {
    let folder = peer::folder();
    let mut command = Command::new(redis);
    command.args(arguments(port, folder.path())).args(settings);
    Peer::spawn(folder, &mut command).expect("the server's program can run")
}

fn arguments(port: u16, folder: &Path) -> [String; 8] {
    let folder = folder.display().to_string();
    let port = port.to_string();
    ["--port", &port, "--bind", "127.0.0.1", "--dir", &folder, "--save", ""].map(str::to_owned)
}

async fn answers_ping(port: u16) -> bool {
    ask(port, "PING\r\n", "+PONG").await
}

async fn cluster_is_ok(port: u16) -> bool {
    ask(port, "CLUSTER INFO\r\n", "cluster_state:ok").await
}

async fn ask(port: u16, command: &str, expected: &str) -> bool {
    let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else {
        return false;
    };
    let mut reply = vec![0; 4096];
    if stream.write_all(command.as_bytes()).await.is_err() {
        return false;
    }
    match stream.read(&mut reply).await {
        Ok(count) => String::from_utf8_lossy(&reply[..count]).contains(expected),
        Err(_) => false,
    }
}
