//! Forgetting a memory: no later request, note or search says it, whatever stays in the conversation.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use throughline_engine::engine::{HistoryQuery, Order, SourceTurns};
use throughline_engine::id::SessionId;
use throughline_engine::session::head::Settings;
use throughline_engine::store::{
    Change, CheckReport, Erased, Expected, Found, Key, Kind, ListedThread, Page, Result, Scope,
    Store, StoreFacts, Version,
};
use throughline_store::memory::Memory;

use crate::across::{exchange, open, say, searched, text};
use crate::bench::{Bench, Line, bench, session};

const SAID: &str = "Hi! I'm allergic to nuts. What is on the menu today?";
const QUESTION: &str = "What am I allergic to?";

/// The id of the one fact that is known.
async fn known(bench: &Bench) -> String {
    let known = bench.engine.facts().current(&bench.caller).await.unwrap();
    let [fact] = known.as_slice() else { panic!("one fact: {known:?}") };
    fact.id.clone()
}

async fn is_told(bench: &Bench, id: &SessionId) -> bool {
    text(&exchange(bench, id, QUESTION).await).contains("nuts")
}

async fn messages(bench: &Bench, id: &SessionId) -> Vec<(String, bool)> {
    let query = HistoryQuery { limit: 10, order: Order::Ascending, from: None };
    let page = bench.engine.history(&bench.caller, id, query).await.unwrap();
    let shown = |turn: u64| page.withheld.holds(turn);
    page.turns.iter().map(|turn| (turn.message.clone(), shown(turn.turn))).collect()
}

#[tokio::test]
async fn no_later_request_or_search_says_what_was_forgotten() {
    let bench = bench().indexed().await.start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, SAID).await;
    exchange(&bench, &spring, "Thanks, and a drink?").await;
    let autumn = open(&bench, caller, "autumn", Settings::default()).await;
    say(&bench, caller, &autumn, "The weather is fine.").await;
    say(&bench, caller, &autumn, "By the way, I'm allergic to nuts.").await;
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    assert!(is_told(&bench, &summer).await && is_told(&bench, &spring).await);
    assert!(!searched(&bench, "allergic").await.is_empty());

    let forgotten =
        bench.engine.forget_fact(caller, &known(&bench).await, SourceTurns::Withheld).await;
    let forgotten = forgotten.unwrap();
    assert_eq!(forgotten.forgotten.facts, 1);
    assert_eq!(
        forgotten.said_in,
        [(autumn.clone(), [2].into()), (spring.clone(), [1].into())].into()
    );

    assert_eq!(bench.engine.session(caller, &spring).await.unwrap().head.title, None);

    let again = crate::bench::bench().indexed().await.on(bench.store.clone()).start().await;
    for bench in [&bench, &again] {
        for id in ["spring", "autumn", "summer"] {
            let id = SessionId::new(id).unwrap();
            assert!(!is_told(bench, &id).await, "in {id}");
        }
        let found = searched(bench, "allergic nuts").await;
        assert!(!found.iter().any(|text| text.contains("nuts")), "{found:?}");
    }
    let winter = open(&bench, caller, "winter", Settings::default()).await;
    assert!(!is_told(&bench, &winter).await);
    let fork = bench.engine.fork(caller, &spring, None, None).await.unwrap();
    assert!(!is_told(&bench, &fork.head.id).await, "in a fork");
    assert!(bench.engine.facts().current(caller).await.unwrap().is_empty(), "gathered again");

    // A person still sees the words, and what is said again is new.
    assert_eq!(messages(&bench, &spring).await[0], (SAID.into(), true));
    assert_eq!(messages(&bench, &autumn).await[0], ("The weather is fine.".into(), false));
    say(&bench, caller, &winter, "I'm allergic to nuts.").await;
    assert!(is_told(&bench, &summer).await);
}

#[tokio::test]
async fn the_turn_is_erased_where_that_is_asked_for() {
    let bench = bench().start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "I'm allergic to nuts. My rack is R42.").await;
    let known = bench.engine.facts().current(caller).await.unwrap();
    let nuts = known.iter().find(|fact| fact.text.contains("nuts")).unwrap();
    let forgotten = bench.engine.forget_fact(caller, &nuts.id, SourceTurns::Erased).await.unwrap();
    assert_eq!(forgotten.forgotten.facts, 2, "what was gathered from the turn goes with it");
    assert_eq!(messages(&bench, &spring).await[0].0, "");
    assert!(bench.engine.facts().current(caller).await.unwrap().is_empty());

    say(&bench, caller, &spring, "I'm allergic to nuts.").await;
    let all = bench.engine.forget_all_facts(caller, SourceTurns::Withheld).await.unwrap();
    assert_eq!((all.forgotten.facts, all.said_in), (1, [(spring.clone(), [2].into())].into()));
    assert!(!is_told(&bench, &spring).await);
}

#[tokio::test]
async fn notes_on_older_turns_are_made_again_without_it() {
    let replies = [Line::Says("Fine."), Line::Says("Fine.")];
    let bench = bench().model(replies).limits(|limits| limits.window_turns = 15).start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, session().as_str(), Settings::default()).await;
    say(&bench, caller, &spring, "I'm severely allergic to nuts and cherry stones.").await;
    let notes = async || {
        let head = bench.engine.session(caller, &spring).await.unwrap().head.clone();
        head.summary.as_ref().map(|summary| summary.text.clone())
    };
    let talk = async || {
        for row in 1..=11 {
            say(&bench, caller, &spring, &format!("We planted row {row} of the beans.")).await;
        }
        bench.turn("What now?").await;
    };
    talk().await;
    assert!(notes().await.is_some_and(|notes| notes.contains("nuts")), "{:?}", notes().await);
    bench.engine.forget_fact(caller, &known(&bench).await, SourceTurns::Withheld).await.unwrap();
    assert_eq!(notes().await, None);
    talk().await;
    let notes = notes().await.expect("notes, made again");
    assert!(notes.contains("beans") && !notes.contains("nuts"), "{notes}");
}

#[tokio::test]
async fn what_a_forgotten_fact_had_superseded_is_forgotten_with_it() {
    let bench = bench().indexed().await.start().await;
    let caller = &bench.caller;
    let spring = open(&bench, caller, "spring", Settings::default()).await;
    say(&bench, caller, &spring, "My phone number is 555-0101.").await;
    say(&bench, caller, &spring, "My phone number is 555-0199.").await;
    let id = known(&bench).await;
    let forgotten = bench.engine.forget_fact(caller, &id, SourceTurns::Withheld).await.unwrap();
    assert_eq!(forgotten.forgotten.facts, 2);
    assert_eq!(forgotten.said_in, [(spring.clone(), [1, 2].into())].into());
    let summer = open(&bench, caller, "summer", Settings::default()).await;
    let told = text(&exchange(&bench, &summer, "What is my phone number?").await);
    assert!(!told.contains("555-01"), "{told}");
    assert!(searched(&bench, "0101").await.is_empty());
}

/// A store that notes the heads that were written with an entry.
#[derive(Default)]
struct Noting {
    memory: Memory,
    heads: Mutex<Vec<(Bytes, Bytes)>>,
}

#[async_trait]
impl Store for Noting {
    async fn head(&self, key: &Key, known: Option<Version>) -> Result<Found> {
        self.memory.head(key, known).await
    }

    async fn entries(&self, key: &Key, range: Range<u64>) -> Result<Vec<Bytes>> {
        self.memory.entries(key, range).await
    }

    async fn commit(&self, key: &Key, expected: Expected, change: Change) -> Result<Version> {
        if let (Kind::Session, Some(entry)) = (key.kind, change.append.first()) {
            self.heads.lock().unwrap().push((change.head.clone(), entry.clone()));
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

#[tokio::test]
async fn the_turn_that_asks_to_forget_is_never_stored_without_being_withheld() {
    let store = Arc::new(Noting::default());
    let bench = bench().on(store.clone()).start().await;
    bench.turn("I'm allergic to nuts.").await;
    bench.turn("Forget that I'm allergic to nuts.").await;
    let heads = store.heads.lock().unwrap();
    let withheld = heads.iter().map(|(head, entry)| {
        let head: Value = serde_json::from_slice(head).unwrap();
        let entry: Value = serde_json::from_slice(entry).unwrap();
        let turns = head["withheld"]["turns"].as_array().cloned().unwrap_or_default();
        (entry["message"].as_str().unwrap().to_owned(), turns.contains(&entry["turn"]))
    });
    let withheld: Vec<(String, bool)> = withheld.collect();
    let expected = [("I'm allergic to nuts.", false), ("Forget that I'm allergic to nuts.", true)];
    assert_eq!(withheld, expected.map(|(message, withheld)| (message.to_owned(), withheld)));
}
