//! Real S3 servers for tests: SeaweedFS, which honours conditional writes, and rclone, which ignores them.

use std::process::Command;

use crate::peer::{self, Peer};

/// The access key that both servers accept.
pub const ACCESS_KEY: &str = "testkey";
pub const SECRET_KEY: &str = "testsecret";
/// Attempts to start; another process may take a port between choosing and binding.
const STARTS_MAX: usize = 4;
/// Offset of a server's internal port.
const INNER: u16 = 10_000;

/// A running S3 server.
#[derive(Debug)]
pub struct S3Server {
    pub peer: Peer,
    pub port: u16,
}

impl S3Server {
    /// Starts SeaweedFS; `None` if it is not installed.
    pub async fn weed() -> Option<Self> {
        let weed = peer::program("THROUGHLINE_TEST_WEED", "weed")?;
        for _ in 0..STARTS_MAX {
            let folder = peer::folder();
            let identities = format!(
                r#"{{"identities":[{{"name":"t","credentials":[{{"accessKey":"{ACCESS_KEY}","secretKey":"{SECRET_KEY}"}}],"actions":["Admin","Read","Write","List","Tagging"]}}]}}"#
            );
            let config = peer::write(folder.path(), "s3.json", &identities);
            let port = peer::free_port(&[INNER]);
            let mut command = Command::new(&weed);
            command
                .args(["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"])
                .args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false", "-volume.max=40"])
                .arg(format!("-dir={}", folder.path().display()))
                .arg(format!("-s3.config={}", config.display()))
                .arg(format!("-s3.port={port}"));
            for role in ["master", "volume", "filer"] {
                command.arg(format!("-{role}.port={}", peer::free_port(&[INNER])));
            }
            let mut peer = Peer::spawn(folder, &mut command).expect("the server's program can run");
            let healthy = || async move {
                let url = format!("http://127.0.0.1:{port}/healthz");
                reqwest::get(url).await.is_ok_and(|reply| reply.status().is_success())
            };
            if peer.ready(healthy).await {
                return Some(Self { peer, port });
            }
            eprintln!("SeaweedFS did not start: {}", peer.log_end());
        }
        panic!("SeaweedFS did not start {STARTS_MAX} times");
    }

    /// Starts `rclone serve s3`; `None` if it is not installed.
    pub async fn rclone() -> Option<Self> {
        let rclone = peer::program("THROUGHLINE_TEST_RCLONE", "rclone")?;
        for _ in 0..STARTS_MAX {
            let folder = peer::folder();
            let data = folder.path().join("data");
            std::fs::create_dir(&data).expect("a fresh folder can be written to");
            let port = peer::free_port(&[]);
            let mut command = Command::new(&rclone);
            command
                .args(["serve", "s3", "--config", "/dev/null", "--vfs-cache-mode", "off"])
                .args(["--addr", &format!("127.0.0.1:{port}")])
                .args(["--auth-key", &format!("{ACCESS_KEY},{SECRET_KEY}")])
                .arg(&data);
            let mut peer = Peer::spawn(folder, &mut command).expect("the server's program can run");
            if peer.ready(|| peer::listens(port)).await {
                return Some(Self { peer, port });
            }
            eprintln!("rclone did not start: {}", peer.log_end());
        }
        panic!("rclone did not start {STARTS_MAX} times");
    }

    /// The store URL of `bucket` below `prefix`.
    pub fn url(&self, bucket: &str, prefix: &str) -> String {
        url_at(self.port, bucket, prefix)
    }
}

/// The store URL of a bucket behind `port`, which may be a proxy's.
pub fn url_at(port: u16, bucket: &str, prefix: &str) -> String {
    format!("s3://{bucket}?endpoint=http://127.0.0.1:{port}&path_style=true&prefix={prefix}")
}

/// The environment variables with the credentials.
pub fn environment() -> [(String, String); 2] {
    [
        ("AWS_ACCESS_KEY_ID".into(), ACCESS_KEY.into()),
        ("AWS_SECRET_ACCESS_KEY".into(), SECRET_KEY.into()),
    ]
}
