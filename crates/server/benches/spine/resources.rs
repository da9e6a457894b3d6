//! Memory, start, disk, and bytes written.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;
use throughline_testkit::peer;
use throughline_testkit::served::Served;
use tokio::runtime::Runtime;

use super::bench::{self, Bench, Size, exchange, fill, host_of};
use super::table::{Report, Times, megabytes, ms};
use super::wire::Wire;

/// Clients that fill the stores.
const CLIENTS: u64 = 8;

/// All of it.
pub(crate) fn measure(runtime: &Runtime, size: &Size, report: &mut Report) {
    let mut rows = vec![vec!["start to first answer, empty store, ms p50".into(), ms(start())]];
    let bench = Bench::start(runtime, &[]);
    rows.push(vec!["resident, idle, MB".into(), megabytes(resident(&bench.served))]);
    rows.push(vec!["bytes written an append, store and index".into(), written_an_append(&bench)]);
    rows.extend(many_sessions(runtime, size, bench));
    rows.extend(on_disk(runtime, size));
    report.say("Memory, start and disk:");
    report.table(&["", "figure"], &rows);
}

/// From the start of the process to the first answered request, in milliseconds.
fn start() -> f64 {
    let mut times = Times::default();
    for _ in 0..7 {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let launch = bench::launch(&folder, &[]);
        let port = peer::free_port(&[]);
        let begin = Instant::now();
        let mut child = Command::new(&launch.binary)
            .args(["serve", "--bind", &format!("127.0.0.1:{port}"), "--store", &launch.store])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        assert_eq!(Wire::to(&format!("127.0.0.1:{port}")).get("/api/v1/health").status, 200);
        times.add(begin.elapsed());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    times.percentile(50)
}

pub(crate) fn resident(served: &Served) -> u64 {
    figure(&format!("/proc/{}/status", served.pid()), "VmRSS:") * 1024
}

fn written(served: &Served) -> u64 {
    figure(&format!("/proc/{}/io", served.pid()), "write_bytes:")
}

fn figure(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Bytes that reach the disk for each of 500 appends of 1,000 characters, the index included.
fn written_an_append(bench: &Bench) -> String {
    let mut wire = bench.wire();
    fill(&mut wire, "written", 0, 100);
    let before = written(&bench.served);
    fill(&mut wire, "written", 100, 600);
    ((written(&bench.served) - before) / 500).to_string()
}

/// Memory with a large store, of which some sessions are in use, and the start on it.
fn many_sessions(runtime: &Runtime, size: &Size, bench: Bench) -> Vec<Vec<String>> {
    let turns = |session: u64| if session < size.active { 20 } else { 1 };
    spread(&bench, size.sessions, |wire, session| {
        fill(wire, &format!("many-{session}"), 0, turns(session));
    });
    let Bench { mut served, folder, .. } = bench;
    served.kill();
    let begin = Instant::now();
    let served = runtime.block_on(Served::start(&bench::launch(&folder, &[])));
    let started = begin.elapsed().as_secs_f64() * 1_000.0;
    let idle = resident(&served);
    let mut wire = Wire::to(&host_of(&served));
    for session in 0..size.active {
        let path = format!("/api/v1/conversations/many-{session}");
        wire.post(&format!("{path}/turns"), &exchange(session));
        wire.post(&format!("{path}/prepare"), &json!({ "message": "and the rack?" }));
    }
    let (sessions, active) = (size.sessions, size.active);
    vec![
        vec![format!("start on {sessions} sessions, ms"), ms(started)],
        vec![format!("resident then, MB, {sessions} sessions"), megabytes(idle)],
        vec![format!("resident with {active} of them in use, MB"), megabytes(resident(&served))],
    ]
}

/// The size of many conversations of 50 turns: the store, and what is derived from it.
fn on_disk(runtime: &Runtime, size: &Size) -> Vec<Vec<String>> {
    let bench = Bench::start(runtime, &[]);
    spread(&bench, size.stored, |wire, session| {
        fill(wire, &format!("stored-{session}"), 0, 50);
    });
    let (mut store, mut index) = (0, 0);
    for (name, bytes) in files(bench.folder.path()) {
        if name.contains("index") { index += bytes } else { store += bytes }
    }
    let what = format!("{} sessions x 50 turns of 1,000 characters", size.stored);
    vec![
        vec![format!("disk, {what}, the store, MB"), megabytes(store)],
        vec![format!("disk, {what}, the index, MB"), megabytes(index)],
    ]
}

/// Runs `work` for numbers below `count`, on several connections.
pub(crate) fn spread(bench: &Bench, count: u64, work: impl Fn(&mut Wire, u64) + Sync) {
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let work = &work;
            scope.spawn(move || {
                let mut wire = bench.wire();
                (client..count).step_by(CLIENTS as usize).for_each(|n| work(&mut wire, n));
            });
        }
    });
}

fn files(folder: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).unwrap().filter_map(Result::ok);
    entries
        .map(|e| {
            (e.file_name().to_string_lossy().into_owned(), e.metadata().map_or(0, |m| m.len()))
        })
        .collect()
}
