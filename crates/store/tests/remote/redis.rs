//! Redis on real servers, single and as a cluster.

use std::sync::Arc;

use bytes::Bytes;
use jiff::{Timestamp, ToSpan as _};
use throughline_engine::store::{
    Change, Durability, Erased, Expected, Found, Kind, Page, PageMark, Store, StoreError,
};
use throughline_store::conformance;
use throughline_store::redis::{RedisOptions, RedisStore};
use throughline_testkit::fault_proxy::{Fault, FaultPlan, FaultProxy, Speaks};
use throughline_testkit::redis_server::{Authority, RedisCluster, RedisServer};

use super::copy::{change, key};

pub(crate) async fn open(url: &str) -> Result<RedisStore, StoreError> {
    RedisStore::open(RedisOptions::from_url(url).expect("a test's URL is well formed")).await
}

#[tokio::test]
async fn redis_conforms() {
    let Some(server) = RedisServer::start().await else { return };
    let store = open(&server.url()).await.unwrap();
    assert_eq!(store.facts().durability, Durability::Fsync);
    let store = Arc::new(store);
    conformance::check_all(store.clone()).await;
    sessions_expire_and_leave_the_listing(&store, server.port).await;
}

pub(crate) async fn ask<T: redis::FromRedisValue>(port: u16, words: &[&str]) -> T {
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]).query_async(&mut connection).await.unwrap()
}

/// A day by default for sessions, otherwise what the change says; other kinds never expire.
async fn sessions_expire_and_leave_the_listing(store: &RedisStore, port: u16) {
    let (usual, soon) = (key("expiry", "usual"), key("expiry", "soon"));
    store.commit(&usual, Expected::Absent, change(0, "", &["x"])).await.unwrap();
    let day = 24 * 60 * 60 * 1000;
    for suffix in ["", ":log"] {
        let left: i64 = ask(port, &["PTTL", &format!("session:{{{usual}}}{suffix}")]).await;
        assert!((day - 60_000..=day).contains(&left), "a day is left, not {left} ms");
    }
    let preset = throughline_engine::store::Key { kind: Kind::Preset, ..usual.clone() };
    store.commit(&preset, Expected::Absent, change(0, "", &[])).await.unwrap();
    let left: i64 = ask(port, &["PTTL", &format!("preset:{{{preset}}}")]).await;
    assert_eq!(left, -1, "a preset does not expire");

    // The server drops an expired thread at once; its id is removed by the next listing.
    let expires_at = Some(Timestamp::now() - 1.hours());
    let gone = Change { expires_at, ..change(1, "", &["x"]) };
    store.commit(&soon, Expected::Absent, gone).await.unwrap();
    assert_eq!(store.head(&soon, None).await.unwrap(), Found::Missing);
    let set = "user_sessions:{t/expiry}";
    assert_eq!(ask::<i64>(port, &["ZCARD", set]).await, 2);
    let listed = store.list(&usual.scope, Kind::Session, Page { limit: 9, after: None }).await;
    assert_eq!(listed.unwrap().len(), 1);
    assert_eq!(ask::<i64>(port, &["ZCARD", set]).await, 1, "the listing healed the set");
}

#[tokio::test]
async fn a_redis_cluster_conforms() {
    let Some(cluster) = RedisCluster::start().await else { return };
    let store = Arc::new(open(&cluster.url()).await.unwrap());
    conformance::check_all(store.clone()).await;
    a_name_without_a_thread_does_no_harm(&store, &cluster).await;
    many_threads_are_listed_in_pages_and_scanned_in_order(&store).await;
}

/// More than one page, spread over three servers.
async fn many_threads_are_listed_in_pages_and_scanned_in_order(store: &RedisStore) {
    const THREADS: i64 = 600;
    let scope = key("many", "x").scope;
    for number in 0..THREADS {
        let session = key("many", &format!("s{number:03}"));
        store.commit(&session, Expected::Absent, change(number, "", &[])).await.unwrap();
    }
    let mut ids = Vec::new();
    let mut after = None;
    loop {
        let page = Page { limit: 250, after: after.take() };
        let rows = store.list(&scope, Kind::Session, page).await.unwrap();
        let Some(last) = rows.last() else { break };
        let (changed_at, id) = (last.changed_at, last.key.id.clone());
        after = Some(PageMark { changed_at, id });
        ids.extend(rows.into_iter().map(|row| row.key.id.as_str().to_owned()));
    }
    let newest_first: Vec<String> = (0..THREADS).rev().map(|n| format!("s{n:03}")).collect();
    assert_eq!(ids, newest_first);
    let (mut scanned, mut after) = (Vec::new(), None);
    loop {
        let rows = store.scan(after.as_ref(), 250).await.unwrap();
        let Some(last) = rows.last() else { break };
        after = Some(last.key.clone());
        scanned.extend(rows.into_iter().map(|row| row.key).filter(|key| key.scope == scope));
    }
    assert_eq!(scanned.len() as i64, THREADS);
    assert!(scanned.is_sorted());
}

/// What a writer leaves behind if it dies between announcing a thread and creating it.
async fn a_name_without_a_thread_does_no_harm(store: &RedisStore, cluster: &RedisCluster) {
    let real = key("announced", "real");
    let made = store.commit(&real, Expected::Absent, change(5, "", &["x"])).await.unwrap();
    let client = redis::cluster::ClusterClient::new([format!(
        "redis://127.0.0.1:{}",
        cluster.nodes[0].port
    )]);
    let mut connection = client.unwrap().get_async_connection().await.unwrap();
    let mut add = redis::cmd("ZADD");
    add.arg("user_sessions:{t/announced}").arg(i64::MAX / 4096).arg("never-made");
    add.arg(i64::MAX / 8192).arg("real");
    let _: i64 = add.query_async(&mut connection).await.unwrap();
    let older = key("announced", "older");
    store.commit(&older, Expected::Absent, change(1, "", &[])).await.unwrap();
    store.commit(&key("announced", "newest"), Expected::Absent, change(9, "", &[])).await.unwrap();
    // The score of the real one is far too late; its own time determines its position.
    let listed =
        store.list(&real.scope, Kind::Session, Page { limit: 2, after: None }).await.unwrap();
    let ids: Vec<&str> = listed.iter().map(|row| row.key.id.as_str()).collect();
    assert_eq!(ids, ["newest", "real"]);
    assert_eq!(listed[1].version, made);
    let report = store.check().await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

#[tokio::test]
async fn an_evicting_server_is_refused_and_durability_is_what_the_server_is_set_to() {
    let off = ["--appendonly", "no"];
    let Some(server) = RedisServer::start_with(&off).await else { return };
    let durability = async || open(&server.url()).await.unwrap().facts().durability;
    assert_eq!(durability().await, Durability::Memory);
    let set = async |name: &str, value: &str| {
        let _: String = ask(server.port, &["CONFIG", "SET", name, value]).await;
    };
    set("appendonly", "yes").await;
    set("appendfsync", "everysec").await;
    assert_eq!(durability().await, Durability::BufferedSecond);
    set("appendfsync", "no").await;
    assert_eq!(durability().await, Durability::Buffered);
    for policy in ["allkeys-lru", "volatile-ttl"] {
        set("maxmemory-policy", policy).await;
        let Err(StoreError::Refused { reason, .. }) = open(&server.url()).await else {
            panic!("an evicting server was accepted");
        };
        assert!(reason.contains(policy), "{reason}");
    }
}

#[tokio::test]
async fn a_restarted_server_is_found_again_with_everything_acknowledged() {
    let Some(mut server) = RedisServer::start().await else { return };
    let store = open(&server.url()).await.unwrap();
    let session = key("restart", "s");
    let mut version =
        store.commit(&session, Expected::Absent, change(0, "0", &["0"])).await.unwrap();
    for number in 1..10 {
        if number % 4 == 0 {
            server.restart().await;
        }
        let text = number.to_string();
        let next = change(number, &text, &[&text]);
        version = store.commit(&session, Expected::At(version), next).await.unwrap();
    }
    assert_eq!(store.entries(&session, 0..99).await.unwrap().len(), 10);
}

/// The client library's own manager never reconnected after a truncated handshake.
#[tokio::test]
async fn a_greeting_that_was_cut_short_is_no_end_of_the_connection() {
    let Some(server) = RedisServer::start().await else { return };
    let proxy = FaultProxy::start(server.port, Speaks::Tcp).await;
    let store = open(&format!("redis://127.0.0.1:{}?retries=2", proxy.port)).await.unwrap();
    let session = key("greeting", "s");
    store.commit(&session, Expected::Absent, change(0, "", &["x"])).await.unwrap();
    let cut = vec![Fault::CutReply(2)];
    proxy.set(FaultPlan { seed: 1, permille: 1000, faults: cut });
    let Err(StoreError::Unavailable { .. }) = store.head(&session, None).await else {
        panic!("a reply of two bytes was taken for an answer");
    };
    proxy.calm();
    assert!(matches!(store.head(&session, None).await.unwrap(), Found::Head(_)));
}

#[tokio::test]
async fn a_server_with_tls_is_used_if_its_certificate_is_trusted_and_refused_if_not() {
    let (Some(authority), Some(stranger)) = (Authority::make(), Authority::make()) else { return };
    let Some((server, port)) = RedisServer::start_tls(&authority).await else { return };
    let url = format!("rediss://localhost:{port}?retries=1&{}", authority.parameters());
    let store = Arc::new(open(&url).await.unwrap());
    assert_eq!(store.facts().durability, Durability::Fsync);
    conformance::check_all(store.clone()).await;
    let refused = async |parameters: &str| {
        let url = format!("rediss://localhost:{port}?retries=1&{parameters}");
        match open(&url).await {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{parameters} was enough"),
        }
    };
    let said = refused(&stranger.parameters()).await;
    assert!(said.contains("invalid peer certificate"), "{said}");
    let said = refused("timeout_ms=1000").await;
    assert!(said.contains("UnknownIssuer"), "the system does not know it: {said}");
    // The server requires a client certificate, too.
    refused(&format!("ca={}/ca.pem", authority.folder.path().display())).await;
    let plain = open(&format!("redis://127.0.0.1:{port}?retries=1")).await;
    assert!(plain.is_err(), "a TLS port was spoken to in the clear");
    let missing = refused("ca=/no/such/file.pem").await;
    assert!(missing.contains("/no/such/file.pem"), "{missing}");
    drop(server);
}

/// Whether the first replica has caught up with its primary.
fn replica_has_everything(info: &str) -> bool {
    let value = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        line.split_once("offset=").or(line.split_once(':')).map(|(_, rest)| rest.to_owned())
    };
    let (replica, primary) = (value("slave0:"), value("master_repl_offset:"));
    match (replica, primary) {
        (Some(replica), Some(primary)) => replica.split(',').next() == Some(primary.trim()),
        _ => false,
    }
}

#[tokio::test]
async fn a_replica_takes_over_for_a_node_that_fails() {
    let Some(mut cluster) = RedisCluster::start_with_replicas(1).await else { return };
    let store = open(&cluster.url()).await.unwrap();
    let sessions: Vec<_> = (0..12).map(|number| key("failover", &format!("s{number}"))).collect();
    let mut versions = Vec::new();
    for session in &sessions {
        let made = store.commit(session, Expected::Absent, change(0, "", &["before"])).await;
        versions.push(made.unwrap());
    }
    // Redis may acknowledge before it replicates, so wait for the replica.
    let first = cluster.nodes[0].port;
    while !replica_has_everything(&ask::<String>(first, &["INFO", "replication"]).await) {
        tokio::task::yield_now().await;
    }
    cluster.nodes[0].peer.kill();
    for (session, version) in sessions.iter().zip(versions) {
        let next = change(1, "", &["after"]);
        store.commit(session, Expected::At(version), next).await.unwrap();
    }
    for session in &sessions {
        let log = store.entries(session, 0..9).await.unwrap();
        assert_eq!(log, [Bytes::from("before"), Bytes::from("after")], "{session}");
    }
    let listed =
        store.list(&sessions[0].scope, Kind::Session, Page { limit: 99, after: None }).await;
    assert_eq!(listed.unwrap().len(), sessions.len());
}

#[tokio::test]
async fn a_password_is_not_shown_when_the_server_is_not_there() {
    let url = "redis://user:hunter2@127.0.0.1:1?retries=0";
    let Err(error) = open(url).await else { panic!("nothing listens there") };
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
}

/// Whether a file below `folder` contains `text`.
fn holds(folder: &std::path::Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| match entry.path() {
        path if path.is_dir() => holds(&path, text),
        // A file may just have been replaced.
        path => {
            std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
        }
    })
}

#[tokio::test]
async fn an_erasure_tells_of_the_append_only_file_and_lets_it_be_written_anew() {
    let Some(server) = RedisServer::start().await else { return };
    let store = open(&server.url()).await.unwrap();
    let folder = server.peer.folder.path();
    for text in ["Zanzibar-4711", "Samarkand-0815"] {
        let change = change(0, "head", &[text]);
        store.commit(&key("u", text), Expected::Absent, change).await.unwrap();
        assert!(holds(folder, text));
        let erased = store.erase(&key("u", text)).await.unwrap();
        assert_eq!((erased.left, erased.notes.len()), (1, 1), "{erased:?}");
        assert!(
            erased.notes[0].contains("erased data stays in the append-only file"),
            "{erased:?}"
        );
    }
    let began = std::time::Instant::now();
    while holds(folder, "Zanzibar-4711") || holds(folder, "Samarkand-0815") {
        assert!(began.elapsed().as_secs() < 60, "it is never rewritten");
        store.ping().await.unwrap();
    }
    assert_eq!(store.erase(&key("u", "Zanzibar-4711")).await.unwrap(), Erased::default());

    let quiet = open(&format!("{}?rewrite_on_erase=false", server.url())).await.unwrap();
    quiet.commit(&key("u", "one"), Expected::Absent, change(0, "head", &[])).await.unwrap();
    let notes = quiet.erase(&key("u", "one")).await.unwrap().notes;
    assert!(notes[0].contains("rewrite_on_erase is off"), "{notes:?}");

    let rules = ["ACL", "SETUSER", "limited", "on", ">word", "~*", "&*", "+@all", "-bgrewriteaof"];
    let _: String = ask(server.port, &rules).await;
    let limited = open(&format!("redis://limited:word@127.0.0.1:{}", server.port)).await.unwrap();
    limited.commit(&key("u", "one"), Expected::Absent, change(0, "head", &[])).await.unwrap();
    let notes = limited.erase(&key("u", "one")).await.unwrap().notes;
    assert!(notes[0].contains("could not be requested"), "{notes:?}");
}
