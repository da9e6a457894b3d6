//! A disk without room: the server starts, reads and erases, and says why it does not write.
//!
//! The disk is a small file system in memory that only the server sees. Where none can be mounted without being root,
//! the test says so and ends.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::place::{Place, Server, binary};

const DISK: &str = "size=12m";

/// A process that holds a small disk, mounted on a folder of its own.
struct SmallDisk {
    holder: Child,
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts it on `folder`; `None` where that is not possible.
    fn on(folder: &Path) -> Option<Self> {
        let script = format!("mount -t tmpfs -o {DISK} tmpfs \"$1\" && echo there && exec cat");
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut holder = command.spawn().ok()?;
        let mut said = [0; 5];
        let told = holder.stdout.as_mut().expect("its output");
        if std::io::Read::read_exact(told, &mut said).is_err() {
            eprintln!("no file system can be mounted here; nothing was tested");
            let _ = holder.wait();
            return None;
        }
        Some(Self { holder, folder: folder.to_owned() })
    }

    /// A command of `place` that sees the disk.
    fn command(&self, place: &Place, arguments: &[&str]) -> Command {
        let pid = self.holder.id().to_string();
        let mut command = Command::new("nsenter");
        command.args(["--preserve-credentials", "--user", "--mount", "--target", &pid, "--"]);
        command.arg("env").arg("--chdir").arg(place.folder()).arg(binary()).args(arguments);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.env("XDG_DATA_HOME", place.folder());
        command
    }

    fn serve(&self, place: &Place, store: &str) -> Server {
        let arguments = ["serve", "--bind", "127.0.0.1:0", "--store", store];
        Place::started(self.command(place, &arguments)).0
    }

    /// A path on the disk, as it is seen from outside.
    fn path(&self, name: &str) -> PathBuf {
        let folder = self.folder.strip_prefix("/").expect("a whole path");
        Path::new("/proc").join(self.holder.id().to_string()).join("root").join(folder).join(name)
    }

    /// Fills it to the last byte.
    fn fill(&self, name: &str) {
        let mut filler = File::create(self.path(name)).expect("an empty file");
        for bytes in [vec![0_u8; 4096], vec![0]] {
            while filler.write_all(&bytes).is_ok() {}
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // It ends with its input, and the disk with it.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

fn say(server: &Server, session: &str, text: &str) -> (u16, serde_json::Value) {
    let body = json!({"session_id": session, "query": text}).to_string();
    server.post("/api/v1/query", &body)
}

/// On a full disk the server on `store` starts, reads and erases.
fn works_on_a_full_disk(store: &str) {
    let place = Place::empty();
    let folder = place.path("disk");
    std::fs::create_dir(&folder).expect("a folder");
    let Some(disk) = SmallDisk::on(&folder) else { return };
    let server = disk.serve(&place, store);
    assert_eq!(say(&server, "trip", "My locker is in Zanzibar").0, 200);
    assert_eq!(say(&server, "other", "The boat leaves from Mombasa").0, 200);
    server.end();
    disk.fill("filler");

    let server = disk.serve(&place, store);
    // What the start did not need of its room.
    disk.fill("filler-2");
    let (status, ready) = server.ask("/api/v1/health/ready");
    let reason = ready["reasons"].to_string();
    assert_eq!(status, 503, "{store}: {ready}");
    assert!(reason.contains("cannot be written: the disk is full"), "{store}: {reason}");
    let turns = server.get("/api/v1/conversations/trip/history");
    assert!(turns.to_string().contains("Zanzibar"), "{store}: {turns}");
    let found = server.get("/api/v1/search?q=Mombasa");
    assert!(found["hits"].to_string().contains("Mombasa"), "{store}: {found}");
    let (status, problem) = say(&server, "trip", "And where is the key?");
    assert_eq!((status, problem["code"].as_str()), (503, Some("store_full")), "{store}: {problem}");

    server.delete("/api/v1/conversations/trip/permanent");
    server.delete("/api/v1/conversations/other/turns/1?confirm=1");
    for word in ["Zanzibar", "Mombasa"] {
        let left = crate::erasures::bytes_of(&disk.path(""));
        assert!(!left.contains(word), "{store}: {word}");
    }
    assert_eq!(server.ask("/api/v1/conversations/trip").0, 404, "{store}");
    server.end();
    let server = disk.serve(&place, store);
    assert_eq!(server.ask("/api/v1/conversations/trip").0, 404, "{store}");

    std::fs::remove_file(disk.path("filler")).expect("removed");
    assert_eq!(say(&server, "trip", "A new beginning").0, 200, "{store}");
    server.end();
}

#[test]
fn on_a_full_disk_the_server_starts_reads_and_erases() {
    works_on_a_full_disk("sqlite:disk/t.db");
    works_on_a_full_disk("files:disk/conversations");
}
