//! Two copies of the engine on one store: what one has looked up, and what a change does to it.
//!
//! On SQLite, and with a real Redis where it is installed (`scripts/setup/stores.sh`).

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use throughline_engine::access::{Caller, Grants};
use throughline_engine::creation::NewSession;
use throughline_engine::engine::ToolRequest;
use throughline_engine::id::UserId;
use throughline_engine::request::TurnInput;
use throughline_engine::shared::SharedCache;
use throughline_engine::store::Store;
use throughline_engine::tool::ToolName;
use throughline_engine::turn::{ReceiptId, RecordedTurn};
use throughline_store::memory::Memory;
use throughline_store::redis::{RedisOptions, RedisShared, RedisStore};
use throughline_store::sqlite::Sqlite;
use throughline_testkit::{peer, redis_server::RedisServer};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, bench, session};

/// Two copies. Their clocks differ a little, as clocks do; so do the ids that they draw.
struct Copies([Bench; 2]);

impl Copies {
    async fn on(store: Arc<dyn Store>, shared: Option<Arc<dyn SharedCache>>) -> Self {
        let start = async |milliseconds: u64| {
            let bench = bench().tools().model([]).on(store.clone());
            let bench = match &shared {
                Some(shared) => bench.sharing(shared.clone()),
                None => bench,
            };
            let bench = bench.start().await;
            bench.clock.advance(Duration::from_millis(milliseconds));
            bench
        };
        Self([start(1).await, start(2).await])
    }

    async fn on_redis(server: &RedisServer) -> Self {
        let options = RedisOptions::from_url(&server.url()).unwrap();
        let store = RedisStore::open(options.clone()).await.unwrap();
        let shared = RedisShared::open(options).await.unwrap();
        Self::on(Arc::new(store), Some(Arc::new(shared))).await
    }

    /// A user with a session.
    async fn user(&self, name: &str) -> Caller {
        let mut caller = Caller::local();
        caller.scope.user = UserId::new(name).unwrap();
        let new = NewSession { id: Some(session()), ..NewSession::default() };
        self.0[0].engine.create_session(&caller, new).await.unwrap();
        caller
    }

    /// Prepares the same question on a copy. Answers what it is told, and how often both have looked.
    async fn ask(&self, copy: usize, caller: &Caller) -> (&'static str, usize) {
        let message = "How is device sw1 doing?".to_owned();
        let input = TurnInput { message, ..TurnInput::default() };
        let prepared = self.0[copy].engine.prepare(caller, &session(), &input).await.unwrap();
        let told = format!("{:?}", prepared.request);
        let status = ["active", "offline"].into_iter().find(|status| told.contains(status));
        let looked = self.0.iter().flat_map(|bench| bench.tools.names());
        (status.unwrap_or("nothing"), looked.filter(|name| name == "get_device").count())
    }

    /// Changes the device through a copy; both see the same inventory.
    async fn change(&self, copy: usize, caller: &Caller) {
        for bench in &self.0 {
            let now = json!({"id": 7, "name": "sw1", "status": "offline"});
            bench.tools.answers.lock().unwrap().insert("get_device", now);
        }
        let called = self.0[copy].engine.call_tool(caller, update(), CancellationToken::new());
        called.await.unwrap();
    }
}

fn update() -> ToolRequest {
    ToolRequest {
        session: None,
        agent: None,
        by_hand: false,
        tool: ToolName { server: "inventory".into(), name: "update_device".into() },
        arguments: json!({"device": "sw1", "status": "offline"}),
        key: None,
        approved: true,
    }
}

pub(crate) async fn sqlite() -> (Arc<Sqlite>, impl Drop) {
    let folder = peer::folder();
    let path = folder.path().join("copies.db");
    (Arc::new(Sqlite::open(&path, Duration::from_secs(5)).await.unwrap()), folder)
}

#[tokio::test]
async fn what_one_copy_looked_up_spares_the_other_until_something_changes() {
    let Some(server) = RedisServer::start().await else { return };
    let copies = Copies::on_redis(&server).await;
    let (ann, bob) = (copies.user("ann").await, copies.user("bob").await);
    assert_eq!(copies.ask(0, &ann).await, ("active", 1));
    assert_eq!(copies.ask(1, &ann).await, ("active", 1), "the second copy is spared");
    assert_eq!(copies.0[1].engine.look_up_statistics().shared, 1);
    assert_eq!(copies.ask(1, &bob).await, ("active", 2), "another user is not");
    copies.change(0, &bob).await;
    assert_eq!(copies.ask(1, &ann).await, ("offline", 3), "somebody changed it, elsewhere");
    assert_eq!(copies.ask(0, &ann).await, ("offline", 3), "and the first is spared now");
    assert_eq!(copies.0[0].engine.look_up_statistics().shared, 1);
    assert_eq!(copies.0[0].engine.look_up_statistics().shared_failed, 0);
}

#[tokio::test]
async fn copies_that_share_only_the_store_tell_nothing_as_it_was_before_a_change() {
    let (store, _folder) = sqlite().await;
    let copies = Copies::on(store, None).await;
    let ann = copies.user("ann").await;
    assert_eq!(copies.ask(0, &ann).await, ("active", 1));
    assert_eq!(copies.ask(1, &ann).await, ("active", 2));
    assert_eq!(copies.ask(1, &ann).await, ("active", 2), "each has it in memory");
    copies.change(0, &ann).await;
    assert_eq!(copies.ask(1, &ann).await, ("offline", 3));
}

#[tokio::test]
async fn a_change_whose_caller_went_away_may_have_been_made() {
    let (store, _folder) = sqlite().await;
    let copies = Copies::on(store, None).await;
    let ann = copies.user("ann").await;
    assert_eq!(copies.ask(0, &ann).await, ("active", 1));
    *copies.0[0].tools.hangs.lock().unwrap() = Some("update_device");
    let mut change = Box::pin(copies.change(0, &ann));
    tokio::time::timeout(Duration::from_millis(200), &mut change).await.expect_err("it hangs");
    assert_eq!(copies.ask(1, &ann).await, ("offline", 2), "looked up during the call");
    drop(change);
    assert_eq!(copies.ask(0, &ann).await, ("offline", 3), "the call may have ended since");
    assert_eq!(copies.ask(1, &ann).await, ("offline", 4), "the other copy knows that, too");
}

#[tokio::test]
async fn without_the_shared_cache_everything_is_looked_up_and_nothing_fails() {
    let Some(mut server) = RedisServer::start().await else { return };
    let (store, _folder) = sqlite().await;
    let options = RedisOptions::from_url(&server.url()).unwrap();
    let shared: Arc<dyn SharedCache> = Arc::new(RedisShared::open(options).await.unwrap());
    let copies = Copies::on(store, Some(shared)).await;
    let (ann, bob) = (copies.user("ann").await, copies.user("bob").await);
    server.peer.kill();
    assert_eq!(copies.ask(0, &ann).await, ("active", 1));
    assert_eq!(copies.ask(1, &ann).await, ("active", 2));
    assert_eq!(copies.0[1].engine.look_up_statistics().shared_failed, 2, "asked and told in vain");
    server.restart().await;
    assert_eq!(copies.ask(0, &bob).await, ("active", 3));
    assert_eq!(copies.ask(1, &bob).await, ("active", 3), "it is shared again");
}

#[tokio::test]
async fn what_was_looked_up_for_a_user_goes_with_an_erased_session() {
    let Some(server) = RedisServer::start().await else { return };
    let copies = Copies::on_redis(&server).await;
    let ann = copies.user("ann").await;
    assert_eq!(copies.ask(0, &ann).await, ("active", 1));
    copies.0[0].engine.erase(&ann, &session()).await.unwrap();
    let ann = copies.user("ann").await;
    assert_eq!(copies.ask(0, &ann).await, ("active", 2), "nothing is left in memory");
    copies.0[0].engine.erase(&ann, &session()).await.unwrap();
    let ann = copies.user("ann").await;
    assert_eq!(copies.ask(1, &ann).await, ("active", 3), "nor in the cache");
}

#[tokio::test]
async fn a_copy_that_is_far_behind_says_so_until_everything_can_be_found() {
    const SESSIONS: usize = 700;
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let writer = bench().on(store.clone()).start().await;
    let reader = bench().on(store).indexed().await.start().await;
    for number in 0..SESSIONS {
        let title = Some(format!("okapi{number}"));
        let new = NewSession { title, ..NewSession::default() };
        writer.engine.create_session(&writer.caller, new).await.unwrap();
        writer.clock.advance(Duration::from_secs(1));
    }
    let search = async |words: &str| {
        let found = reader.engine.search(&reader.caller, words, 10, 0).await.unwrap();
        (found.hits.len(), found.sessions_behind)
    };
    assert_eq!(search("okapi0").await, (0, 200), "the oldest is not there yet");
    assert_eq!(search("okapi0").await, (1, 0));
    // One that comes with an earlier time than the newest: clocks differ.
    let late = bench().on(writer.store.clone()).start().await;
    late.clock.advance(Duration::from_secs(SESSIONS as u64 - 100));
    let new = NewSession { title: Some("late".into()), ..NewSession::default() };
    late.engine.create_session(&late.caller, new).await.unwrap();
    assert_eq!(search("late").await, (1, 0));
}

#[tokio::test]
async fn a_tool_that_changed_before_a_copy_first_saw_it_is_not_taken_as_it_is() {
    let (store, _folder) = sqlite().await;
    let copies = Copies::on(store, None).await;
    let ann = copies.user("ann").await;
    assert_eq!(copies.ask(0, &ann).await, ("active", 1), "the first copy pins the tool");
    let changed = "Shows one device, with all of its ports.";
    *copies.0[1].tools.description.lock().unwrap() = changed.into();
    assert_eq!(copies.ask(1, &ann).await, ("nothing", 1), "the second sees another definition");
    *copies.0[0].tools.description.lock().unwrap() = changed.into();
    let tool = ToolName { server: "inventory".into(), name: "get_device".into() };
    let admin = Caller { grants: Grants::Admin, ..ann.clone() };
    copies.0[0].engine.approve_tool(&admin, &tool).await.unwrap();
    let bob = copies.user("bob").await;
    assert_eq!(copies.ask(1, &bob).await, ("active", 2), "an approval holds in every copy");
}

#[tokio::test]
async fn what_one_copy_prepared_another_can_record() {
    let copies = Copies::on(Arc::new(Memory::new()), None).await;
    let caller = copies.user("anna").await;
    let exchange = async |number: usize, budget_tokens: Option<u32>, said: &str| {
        let [one, other] = [number % 2, (number + 1) % 2].map(|copy| &copies.0[copy].engine);
        let message = format!("Message {number} is about birds.");
        let input = TurnInput { message, budget_tokens, ..TurnInput::default() };
        let prepared = one.prepare(&caller, &session(), &input).await.unwrap();
        let receipt = ReceiptId::of(&prepared.receipt).to_string();
        let message = format!("Message {number} is about {said}.");
        let turn = RecordedTurn { message, receipt: Some(receipt), ..RecordedTurn::default() };
        let (_, kept) = other.record(&caller, &session(), turn).await.unwrap();
        (prepared.receipt.broken_by.clone(), kept)
    };
    for (number, budget) in [None, Some(4_000), Some(3_000), None].into_iter().enumerate() {
        assert_eq!(exchange(number, budget, "birds").await, (None, Some(true)), "{number}");
    }
    // Another message is not what was prepared.
    assert_eq!(exchange(4, None, "cats").await, (None, Some(false)));
}
