//! What recall derives of a session is stored once it rests, loaded by the next server, and erased with what it
//! was made of.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use throughline_engine::creation::NewSession;
use throughline_engine::engine::Engine;
use throughline_engine::id::SessionId;
use throughline_engine::request::TurnInput;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreFacts, Version,
};
use throughline_engine::turn::RecordedTurn;
use throughline_store::memory::Memory;

use crate::bench::{Bench, bench};
use crate::doubles::WordEmbedder;

const REST: Duration = Duration::from_secs(60);
const QUESTION: &str = "Which plant did we put beside turn number 7?";
/// More than one segment, and turns after it.
const TURNS: u64 = 150;

async fn open(bench: &Bench, id: &str) -> SessionId {
    let id = SessionId::new(id).unwrap();
    let new = NewSession { id: Some(id.clone()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    id
}

async fn say(bench: &Bench, id: &SessionId, turns: Range<u64>) {
    for turn in turns {
        let plants = ["tulip", "fern", "oak", "rose", "cactus"];
        let plant = plants[turn as usize % plants.len()];
        let message = format!("Beside number {turn} we put a {plant}, near device sw-core-{turn}.");
        let turn = RecordedTurn { message, reply: "Noted.".into(), ..RecordedTurn::default() };
        bench.engine.record(&bench.caller, id, turn).await.unwrap();
    }
}

/// What a question brings in, and how many texts were embedded for it.
async fn asked(bench: &Bench, embedder: &WordEmbedder, id: &SessionId) -> (String, usize) {
    let before = embedder.embedded.load(Ordering::Relaxed);
    let input = TurnInput { message: QUESTION.into(), ..TurnInput::default() };
    let request = bench.engine.prepare(&bench.caller, id, &input).await.unwrap();
    let shown = format!("{:?}", request.request.messages);
    (shown, embedder.embedded.load(Ordering::Relaxed) - before)
}

async fn work(bench: &Bench, id: &SessionId) {
    let key = bench.caller.session_key(id);
    bench.engine.background().work_on(&key).await.unwrap();
}

async fn is_stored(bench: &Bench, id: &SessionId) -> bool {
    let key = bench.caller.session_key(id).derived();
    bench.store.head(&key, None).await.unwrap() != Found::Missing
}

/// A server that is started on the store of another.
async fn next(before: &Bench, name: &'static str) -> (Bench, Arc<WordEmbedder>) {
    let embedder = Arc::new(WordEmbedder { name, ..WordEmbedder::default() });
    let started = bench().on(before.store.clone()).later(2 * REST).embedder(embedder.clone());
    (started.start().await, embedder)
}

/// A server with one session that was stored.
async fn stored() -> (Bench, SessionId) {
    let bench = bench().start().await;
    let id = open(&bench, "spring").await;
    say(&bench, &id, 0..TURNS).await;
    bench.clock.advance(REST);
    work(&bench, &id).await;
    assert!(is_stored(&bench, &id).await);
    (bench, id)
}

#[tokio::test]
async fn what_was_stored_is_loaded_and_finds_the_same() {
    let (first, spring) = stored().await;
    let summer = open(&first, "summer").await;
    let own = WordEmbedder::default();
    let expected = [asked(&first, &own, &spring).await.0, asked(&first, &own, &summer).await.0];
    assert!(expected.iter().all(|shown| shown.contains("number 7")), "{expected:?}");

    for _ in 0..2 {
        let (second, embedder) = next(&first, "words").await;
        // One text each time: the question.
        let found =
            [asked(&second, &embedder, &spring).await, asked(&second, &embedder, &summer).await];
        assert_eq!(found, expected.clone().map(|shown| (shown, 1)));
    }
}

#[tokio::test]
async fn only_turns_after_what_was_stored_are_embedded() {
    let (first, spring) = stored().await;
    say(&first, &spring, TURNS..TURNS + 2).await;
    for turns in [2, 0] {
        let (second, embedder) = next(&first, "words").await;
        let summer = open(&second, &format!("summer-{turns}")).await;
        // Message and reply of each, for the session's own index, then for the user's; and the question.
        assert_eq!(asked(&second, &embedder, &spring).await.1, 2 * turns + 1);
        assert_eq!(asked(&second, &embedder, &summer).await.1, 2 * turns + 1);
        first.clock.advance(REST);
        work(&first, &spring).await;
    }
}

#[tokio::test]
async fn an_index_of_another_embedder_or_a_damaged_one_is_made_anew() {
    let (first, spring) = stored().await;
    let all = 2 * TURNS as usize + 1;
    let (second, embedder) = next(&first, "other words").await;
    assert_eq!(asked(&second, &embedder, &spring).await.1, all);
    work(&second, &spring).await;
    let (third, embedder) = next(&first, "other words").await;
    assert_eq!(asked(&third, &embedder, &spring).await.1, 1);

    let key = first.caller.session_key(&spring).derived();
    for damage in [&b""[..], b"\x05\0\0\0{}", &[0xff; 64]] {
        let Found::Head(head) = first.store.head(&key, None).await.unwrap() else { panic!() };
        let mut bytes = damage.to_vec();
        if damage.len() == 64 {
            // One byte of a vector is not as it was.
            bytes = head.bytes.to_vec();
            let last = bytes.len() - 10;
            bytes[last] ^= 1;
        }
        let change = Change::of_head(bytes, first.engine.now(), first.engine.new_id());
        first.store.commit(&key, Expected::At(head.version), change).await.unwrap();
        let (fourth, embedder) = next(&first, "other words").await;
        let (shown, embedded) = asked(&fourth, &embedder, &spring).await;
        assert!(shown.contains("number 7") && embedded == all, "{damage:?}: {embedded}");
        work(&fourth, &spring).await;
        let (fifth, embedder) = next(&first, "other words").await;
        assert_eq!(asked(&fifth, &embedder, &spring).await.1, 1, "{damage:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_goes_on_is_stored_only_now_and_then() {
    let bench = bench().start().await;
    let id = open(&bench, "spring").await;
    say(&bench, &id, 0..3).await;
    work(&bench, &id).await;
    assert!(!is_stored(&bench, &id).await);
    assert_eq!(bench.engine.background().find_due().await.unwrap(), 0, "it does not rest yet");
    say(&bench, &id, 3..512).await;
    work(&bench, &id).await;
    assert!(is_stored(&bench, &id).await);
    bench.clock.advance(REST);
    say(&bench, &id, 512..513).await;
    bench.clock.advance(REST);
    assert_eq!(bench.engine.background().find_due().await.unwrap(), 1, "one turn is not stored");
    work(&bench, &id).await;
    assert_eq!(bench.engine.background().find_due().await.unwrap(), 0);
}

#[tokio::test]
async fn it_goes_with_the_turn_and_with_the_session() {
    let (first, spring) = stored().await;
    first.engine.erase_turns(&first.caller, &spring, &BTreeSet::from([8])).await.unwrap();
    assert!(!is_stored(&first, &spring).await);
    work(&first, &spring).await;
    let (second, embedder) = next(&first, "words").await;
    let (shown, embedded) = asked(&second, &embedder, &spring).await;
    assert!(!shown.contains("number 7 "), "{shown}");
    assert_eq!(embedded, 1);

    let key = first.caller.session_key(&spring);
    let derived = first.store.head(&key.derived(), None).await.unwrap();
    let Found::Head(derived) = derived else { panic!("it was stored again") };
    let erased = first.engine.erase(&first.caller, &spring).await.unwrap().stored;
    assert!(erased.heads == 1 && erased.bytes > derived.bytes.len() as u64, "{erased:?}");
    assert!(!is_stored(&first, &spring).await);
}

#[tokio::test]
async fn forgetting_a_thing_removes_what_was_stored_of_it() {
    let (first, spring) = stored().await;
    let known = first.engine.entities(&first.caller, &spring).await.unwrap();
    let Some(thing) = known.entities.first() else { panic!("nothing is tracked") };
    let (kind, name) = (thing.entity.entity.kind.to_string(), thing.entity.entity.name.clone());
    first.engine.forget_entity(&first.caller, &spring, &kind, &name).await.unwrap();
    assert!(!is_stored(&first, &spring).await);
}

#[tokio::test]
async fn things_of_a_long_session_are_loaded_too() {
    let first = bench().start().await;
    let spring = open(&first, "spring").await;
    say(&first, &spring, 0..300).await;
    first.clock.advance(REST);
    work(&first, &spring).await;
    let (second, _) = next(&first, "words").await;
    let mut known = Vec::new();
    for place in [&first, &second] {
        let listed = place.engine.entities(&place.caller, &spring).await.unwrap();
        let listed_names = listed.entities.iter().map(|thing| thing.entity.entity.to_string());
        known.push((listed_names.collect::<Vec<_>>(), listed.more_known));
    }
    assert!(known[0].0.len() + known[0].1 >= 300, "{known:?}");
    assert_eq!(known[0], known[1]);
}

#[tokio::test]
async fn what_is_left_of_a_session_that_is_gone_is_found_and_erased() {
    let (first, spring) = stored().await;
    let key = first.caller.session_key(&spring);
    first.store.erase(&key).await.unwrap();
    assert_eq!(first.engine.background().find_due().await.unwrap(), 0);
    assert!(!is_stored(&first, &spring).await);
}

#[tokio::test]
async fn a_turn_that_is_erased_while_its_index_is_written_is_not_in_it() {
    for whole in [false, true] {
        let store = Arc::new(Meanwhile::default());
        let bench = Arc::new(bench().on(store.clone()).start().await);
        let id = open(&bench, "spring").await;
        say(&bench, &id, 0..5).await;
        bench.clock.advance(REST);
        let (place, erased) = (bench.clone(), id.clone());
        let _ = store.before.set(Box::new(move || {
            let (place, erased) = (place.clone(), erased.clone());
            Box::pin(async move { erase(&place.engine, &place, &erased, whole).await })
        }));
        work(&bench, &id).await;
        assert!(!is_stored(&bench, &id).await, "whole session: {whole}");
    }
}

async fn erase(engine: &Engine, bench: &Bench, id: &SessionId, whole: bool) {
    if whole {
        engine.erase(&bench.caller, id).await.unwrap();
    } else {
        engine.erase_turns(&bench.caller, id, &BTreeSet::from([2])).await.unwrap();
    }
}

type Hook = Box<dyn Fn() -> futures::future::BoxFuture<'static, ()> + Send + Sync>;

/// A store where something happens right before an index is written.
#[derive(Default)]
struct Meanwhile {
    memory: Memory,
    before: OnceLock<Hook>,
}

#[async_trait]
impl Store for Meanwhile {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.memory.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.memory.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        if let Some(hook) = self.before.get().filter(|_| key.kind == Kind::TurnIndex) {
            hook().await;
        }
        self.memory.commit(key, expected, change).await
    }

    async fn list(&self, scope: &Scope, kind: Kind, page: Page) -> Result<Vec<ListedThread>> {
        self.memory.list(scope, kind, page).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<ListedThread>> {
        self.memory.scan(after, limit).await
    }

    async fn erase(&self, key: &Key) -> Result<Erased> {
        self.memory.erase(key).await
    }

    fn facts(&self) -> StoreFacts {
        self.memory.facts()
    }

    async fn ping(&self) -> Result<()> {
        self.memory.ping().await
    }

    async fn check(&self) -> Result<CheckReport> {
        self.memory.check().await
    }
}
