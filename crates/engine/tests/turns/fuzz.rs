//! Fuzz targets of what the engine reads: heads and turns of a store, imports, packs, messages.
//!
//! See `throughline_testkit::fuzz` for how they run, for longer ones and for the kept corpus.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use throughline_engine::access::Caller;
use throughline_engine::chats::{self, ChatFormat};
use throughline_engine::engine::Export;
use throughline_engine::entity::{Entities, KnownEntities, notice};
use throughline_engine::id::SessionId;
use throughline_engine::pack::PackSet;
use throughline_engine::rebuild;
use throughline_engine::session::Sessions;
use throughline_engine::store::{Change, Expected, Found, Store};
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;
use throughline_testkit::fuzz::{target, target_text};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::bench::{Bench, Line, bench, session};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn talked() -> Bench {
    let lines = [
        Line::Says("Berlin."),
        Line::Calls("inventory__get_device", serde_json::json!({"device": "sw1"})),
        Line::Says("It is there."),
    ];
    let bench = bench().tools().model(lines).start().await;
    bench.turn("Where is device sw1 in rack R12?").await;
    bench.ask("show device sw1").await;
    bench
}

/// The stored head and turns of a session, a line each.
async fn stored(bench: &Bench) -> Vec<u8> {
    let key = bench.caller.session_key(&session());
    let Found::Head(head) = bench.store.head(&key, None).await.unwrap() else { panic!("no head") };
    let log = bench.store.entries(&key, 0..u64::MAX).await.unwrap();
    std::iter::once(head.bytes).chain(log).collect::<Vec<Bytes>>().join(&b'\n')
}

/// A session is read from these bytes, with every turn and every request that can be made again.
async fn read_stored(bytes: &[u8]) {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let key = Caller::local().session_key(&session());
    let mut lines = bytes.split(|byte| *byte == b'\n').map(Bytes::copy_from_slice);
    let head = lines.next().unwrap_or_default();
    let mut change = Change::of_head(head, Timestamp::UNIX_EPOCH, Uuid::nil());
    change.append = lines.take(16).collect();
    store.commit(&key, Expected::Absent, change).await.unwrap();
    let clock = Arc::new(FixedClock::at(Timestamp::UNIX_EPOCH));
    let sessions = Sessions::new(store, clock, 1 << 20, Duration::from_secs(300), 1);
    let Ok(loaded) = sessions.load(&key).await else { return };
    let Ok(turns) = sessions.turns(&loaded, 0..loaded.head.turns).await else { return };
    for turn in turns {
        // An error is an answer.
        let _ = rebuild::request(&sessions, &loaded, &turn).await;
    }
}

#[test]
fn any_stored_session_is_read_or_refused() {
    let runtime = runtime();
    let input = runtime.block_on(async { stored(&talked().await).await });
    target(HERE, "stored-sessions", &[input], |bytes| runtime.block_on(read_stored(bytes)));
}

#[test]
fn any_export_is_taken_or_refused() {
    let runtime = runtime();
    let (bench, input) = runtime.block_on(async {
        let bench = talked().await;
        let export = bench.engine.export(&bench.caller, &session()).await.unwrap();
        (bench, serde_json::to_vec(&export).unwrap())
    });
    let imported = AtomicU64::new(0);
    target(HERE, "exports", &[input], |bytes| {
        let Ok(export) = serde_json::from_slice::<Export>(bytes) else { return };
        let number = imported.fetch_add(1, Ordering::Relaxed);
        let id = SessionId::new(format!("import-{number}")).unwrap();
        runtime.block_on(async {
            let import = bench.engine.import(&bench.caller, export, Some(id.clone())).await;
            if import.is_ok() {
                bench.engine.export(&bench.caller, &id).await.unwrap();
            }
        });
    });
}

#[test]
fn any_memories_are_taken_or_refused() {
    let runtime = runtime();
    let bench = runtime.block_on(bench().start());
    let input = r#"{"format":"throughline.memories/1","memories":[{"id":"01a1e346-e8e0-742a-8fb6-018a263625a5",
        "text":"My rack is R41","subject":"my rack","kind":"fact","trust":"told","created_at":"2026-11-16T07:33:56Z"}]}"#;
    target_text(HERE, "memories", &[input, "My rack is R41\n\n- My dog is Rex"], |text| {
        let _ = runtime.block_on(bench.engine.facts().import(
            &bench.caller,
            text,
            throughline_engine::fact::ForgottenOnes::LeftOut,
        ));
    });
}

#[test]
fn any_chats_of_other_products_are_read_or_refused() {
    let chatgpt = r#"[{"title":"T","create_time":1.5,"current_node":"b","mapping":{"a":{"id":"a","parent":null,
        "children":["b"],"message":{"author":{"role":"user"},"create_time":1.0,"content":{"content_type":"text",
        "parts":["Hi"]}}},"b":{"id":"b","parent":"a","children":[],"message":{"author":{"role":"assistant"},
        "content":{"content_type":"text","parts":["Hello"]}}}}}]"#;
    let claude = r#"[{"uuid":"u","name":"N","created_at":"2026-01-01T00:00:00Z","chat_messages":[{"uuid":"m",
        "sender":"human","text":"Hi","created_at":"2026-01-01T00:00:00Z"},{"sender":"assistant","text":"Hello",
        "content":[{"type":"text","text":"Hello"}]}]}]"#;
    let markdown = "# Title\n\n**User:** Hi\n\n**Assistant:** Hello\n\n## User\n\nMore\n";
    target_text(HERE, "chats", &[chatgpt, claude, markdown], |text| {
        let _ = ChatFormat::detect(text);
        for format in [ChatFormat::ChatGpt, ChatFormat::Claude, ChatFormat::Markdown] {
            let _ = chats::read(text, format);
        }
    });
}

#[test]
fn any_pack_is_loaded_or_its_problems_are_named() {
    let inputs =
        [include_str!("../../packs/workflow.toml"), "name = \"x\"\n[[type]]\nname = \"device\"\n"];
    let entities = (Entities::default(), KnownEntities::default());
    target_text(HERE, "packs", &inputs, |text| {
        let (packs, _) = PackSet::load(vec![("mine.toml".into(), text.into())]);
        notice(
            "show the device core-sw-01 and my Task workflow, not that one",
            &entities.0,
            &entities.1,
            &packs,
        );
    });
}

#[test]
fn any_message_is_understood_or_left_alone() {
    let packs = PackSet::builtin();
    let (entities, known) = (Entities::default(), KnownEntities::default());
    let inputs = [
        "Show device core-sw-01 in rack R12 at site \"Berlin\", and its interfaces; no, I meant the second one",
        "What is 10.0.0.1/24 (VLAN 12)? e.g. the device's address – 设备 sw1、机架 R12",
    ];
    target_text(HERE, "messages", &inputs, |text| {
        let noticed = notice(text, &entities, &known, &packs);
        for mention in &noticed.mentions {
            assert!(text.get(mention.span.start..mention.span.end).is_some());
        }
    });
}
