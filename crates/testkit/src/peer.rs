//! Real servers as child processes of a test: found, started on free loopback ports, killed by pid.
//!
//! If a server is not installed, the test is skipped with a message; with `THROUGHLINE_TEST_REQUIRE=1` it fails
//! instead, so that a full run cannot pass by skipping.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// How long a server may take to become ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Interval between readiness checks.
const ASK_EVERY: Duration = Duration::from_millis(25);

/// A running server and its folder; dropping it kills the one and removes the other.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The folder with its data and log.
    pub folder: TempDir,
}

impl Peer {
    /// Starts `command` in a fresh folder, with its output in the file `log` there.
    pub fn spawn(folder: TempDir, command: &mut Command) -> std::io::Result<Self> {
        let child = start(folder.path(), command)?;
        let program = PathBuf::from(command.get_program());
        let arguments = command.get_args().map(OsString::from).collect();
        Ok(Self { child, program, arguments, folder })
    }

    /// Kills the process and starts it again on the same data.
    pub fn restart(&mut self) -> std::io::Result<()> {
        self.kill();
        let mut command = Command::new(&self.program);
        self.child = start(self.folder.path(), command.args(&self.arguments))?;
        Ok(())
    }

    /// Waits until `answers` succeeds or the process has ended; returns whether it is ready.
    pub async fn ready<W: Future<Output = bool>>(&mut self, answers: impl Fn() -> W) -> bool {
        let asking = async {
            loop {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return false;
                }
                if answers().await {
                    return true;
                }
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        tokio::time::timeout(READY_WITHIN, asking).await.unwrap_or(false)
    }

    /// Kills the process, as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The server's output.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The end of the output, for a failing test.
    pub fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn start(folder: &Path, command: &mut Command) -> std::io::Result<Child> {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log"))?;
    let output = log.try_clone()?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(output).stderr(log).spawn()
}

/// Finds the program named by `variable`, or `default` on the PATH. Prints a message and returns `None` if there is
/// none; panics if the run requires it.
pub fn program(variable: &str, default: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found = match &named {
        Some(path) => path.is_file().then(|| path.clone()),
        None => on_path(default),
    };
    if found.is_none() {
        let missing = format!("{default} is not installed (set {variable} to its path)");
        assert!(std::env::var_os("THROUGHLINE_TEST_REQUIRE").is_none_or(|v| v != "1"), "{missing}");
        eprintln!("skipped: {missing}");
    }
    found
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A free loopback port whose neighbours at `offsets` are free as well.
pub fn free_port(offsets: &[u16]) -> u16 {
    loop {
        let first = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = first.local_addr().expect("a bound listener has an address").port();
        let free = |offset: &u16| {
            port.checked_add(*offset)
                .is_some_and(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())
        };
        if offsets.iter().all(free) {
            return port;
        }
    }
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

pub async fn listens(port: u16) -> bool {
    tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
}

/// Writes a file into a server's folder.
pub fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a fresh folder can be written to");
    path
}
