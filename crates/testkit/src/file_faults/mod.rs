//! Ends our binary at any single call that changes a file or sends to a socket, or lets that call fail.
//!
//! It also moves the clock that the binary sees. A small library is preloaded into the process and counts its calls (`shim.c`); the binary itself is the
//! one that ships, with no switch in it. Linux only, and it needs a C compiler, as the build does.
//!
//! Invariant: the same command on the same files counts the same calls, as long as one thread changes files.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const SOURCE: &str = include_str!("shim.c");

/// Which calls count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Those that change files.
    Files,
    /// Those, and those that send to a socket.
    FilesAndSockets,
}

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed before the call is made.
    Kill,
    /// The call is not made and fails with this error number.
    Error(i32),
}

/// No space left on the device.
pub const ENOSPC: i32 = 28;
/// Reading or writing failed.
pub const EIO: i32 = 5;
/// Too many files are open.
pub const EMFILE: i32 = 24;
/// The file system is read-only.
pub const EROFS: i32 = 30;

/// The built library.
#[derive(Debug)]
pub struct FileFaults {
    folder: TempDir,
    counted: Counted,
}

impl FileFaults {
    /// Builds the library.
    pub fn build(counted: Counted) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        build_library(folder.path(), SOURCE);
        Self { folder, counted }
    }

    /// Lets `command` note its calls; [`FileFaults::calls`] tells them once it has ended.
    pub fn watch(&self, command: &mut Command) {
        let log = self.log();
        // Calls of one command at a time.
        let _ = std::fs::remove_file(&log);
        command.env("LD_PRELOAD", library(self.folder.path())).env("FILE_FAULTS_LOG", log);
        if self.counted == Counted::FilesAndSockets {
            command.env("FILE_FAULTS_SOCKETS", "1");
        }
    }

    /// The calls of the command that was watched last: a name and, where there is one, a path.
    pub fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Lets `fault` happen at call number `at` of `command`, counted from 1.
    pub fn strike(&self, command: &mut Command, at: usize, fault: Fault) {
        let what = match fault {
            Fault::Kill => "kill".to_owned(),
            Fault::Error(number) => number.to_string(),
        };
        self.watch(command);
        command.env("FILE_FAULTS_AT", at.to_string()).env("FILE_FAULTS_DO", what);
    }

    /// Lets every call of `command` fail from [`FileFaults::begin`] to [`FileFaults::end`].
    pub fn fail_while(&self, command: &mut Command, error: i32) {
        self.end();
        self.watch(command);
        command.env("FILE_FAULTS_WHILE", self.trigger()).env("FILE_FAULTS_DO", error.to_string());
    }

    /// From now on they fail.
    pub fn begin(&self) {
        std::fs::write(self.trigger(), "").expect("the trigger is written");
    }

    /// From now on they do not.
    pub fn end(&self) {
        // It may not be there.
        let _ = std::fs::remove_file(self.trigger());
    }

    /// Lets `command` see a clock that is so many seconds ahead, or behind.
    pub fn move_clock(&self, command: &mut Command, seconds: i64) {
        self.watch(command);
        command.env("CLOCK_AHEAD_SECONDS", seconds.to_string());
    }

    fn trigger(&self) -> PathBuf {
        self.folder.path().join("failing")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("calls")
    }
}

/// Builds a library to preload, in `folder`.
pub(crate) fn build_library(folder: &Path, text: &str) {
    let source = folder.join("shim.c");
    std::fs::write(&source, text).expect("the source is written");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(library(folder));
    let status = compiler.arg(&source).arg("-ldl").status().expect("a C compiler runs");
    assert!(status.success(), "the library is built");
}

/// Where [`build_library`] puts it.
pub(crate) fn library(folder: &Path) -> PathBuf {
    folder.join("shim.so")
}
