//! Sessions as a whole: forks, exports, erasure, items, isolation.

use std::collections::BTreeSet;

use throughline_engine::access::{Caller, Grants};
use throughline_engine::agent::{Agent, AgentBook};
use throughline_engine::creation::NewSession;
use throughline_engine::engine::SessionPatch;
use throughline_engine::error::Error;
use throughline_engine::id::{AgentName, SessionId, UserId};
use throughline_engine::item::{ItemName, SessionItem};
use throughline_engine::piece::IncludeMode;
use throughline_engine::session::record::TurnStatus;
use throughline_engine::store::{Found, Kind, Page};
use throughline_engine::turn::RecordedTurn;

use crate::bench::{Line, bench, rule, session};

fn said(message: &str) -> RecordedTurn {
    RecordedTurn { message: message.into(), reply: "ok".into(), ..RecordedTurn::default() }
}

#[tokio::test]
async fn an_export_comes_back_byte_for_byte() {
    let bench = bench().tools().rule(rule("r", IncludeMode::Always, "Rule.")).start().await;
    bench.turn("show device sw1").await;
    bench.turn("and its status?").await;
    let export = bench.engine.export(&bench.caller, &session()).await.unwrap();
    let bytes = serde_json::to_vec(&export).unwrap();
    bench.engine.erase(&bench.caller, &session()).await.unwrap();
    let parsed = serde_json::from_slice(&bytes).unwrap();
    bench.engine.import(&bench.caller, parsed, None).await.unwrap();
    let again = bench.engine.export(&bench.caller, &session()).await.unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), bytes);
}

#[tokio::test]
async fn a_fork_has_the_turns_so_far_and_goes_its_own_way() {
    let bench = bench().model([Line::Says("a"), Line::Says("b"), Line::Says("c")]).start().await;
    for message in ["one", "two", "three"] {
        bench.turn(message).await;
    }
    let id = SessionId::new("fork").unwrap();
    let fork =
        bench.engine.fork(&bench.caller, &session(), Some(2), Some(id.clone())).await.unwrap();
    assert_eq!(fork.head.turns, 2);
    bench.engine.record(&bench.caller, &id, said("another three")).await.unwrap();
    let (_, third) = bench.engine.turn(&bench.caller, &id, 3).await.unwrap();
    assert_eq!(third.message, "another three");
    let (_, original) = bench.engine.turn(&bench.caller, &session(), 3).await.unwrap();
    assert_eq!(original.message, "three");
    assert!(bench.engine.request(&bench.caller, &id, 2).await.is_ok());
}

#[tokio::test]
async fn a_session_that_changes_its_agent_gets_that_agents_items() {
    let bench = bench().tools().rule(rule("home", IncludeMode::Always, "Home.")).start().await;
    let home = bench.engine.agents().get(None).unwrap().as_ref().clone();
    let shop = Agent {
        name: AgentName::new("shop").unwrap(),
        rules: vec![
            rule("brief", IncludeMode::Always, "Be brief."),
            rule("polite", IncludeMode::Manual, "Be polite."),
        ],
        servers: Vec::new(),
        ..home.clone()
    };
    let (here, there) = (home.name.clone(), shop.name.clone());
    bench.engine.replace_agents(AgentBook::new(home.name.clone(), [home, shop]));
    let change = async |agent: &AgentName| {
        let patch = SessionPatch { agent: Some(agent.clone()), ..SessionPatch::default() };
        let changed = bench.engine.change_session(&bench.caller, &session(), patch, None).await;
        changed.unwrap().head.items.clone()
    };
    bench.turn("hello").await;
    let at_home = bench.engine.session(&bench.caller, &session()).await.unwrap().head.items.clone();
    let named = |items: &[SessionItem]| -> Vec<String> {
        items.iter().map(|item| item.item.to_string()).collect()
    };
    assert_eq!(named(&change(&there).await), ["rule brief"]);
    bench.turn("hello again").await;
    let sent = bench.engine.request(&bench.caller, &session(), 2).await.unwrap();
    assert!(format!("{sent:?}").contains("Be brief."));
    let polite = ItemName::Rule { name: "polite".into() };
    bench.engine.add_item(&bench.caller, &session(), polite, None).await.unwrap();
    assert_eq!(named(&change(&there).await), ["rule brief", "rule polite"]);
    let back = named(&change(&here).await);
    assert_eq!(back, [vec!["rule polite".to_owned()], named(&at_home)].concat());
}

#[tokio::test]
async fn an_erased_session_leaves_only_its_tombstone() {
    let bench = bench().start().await;
    bench.turn("my secret is 4711").await;
    let key = bench.caller.session_key(&session());
    let receipt = bench.engine.erase(&bench.caller, &session()).await.unwrap();
    assert_eq!((receipt.stored.heads, receipt.stored.entries), (1, 1));
    assert_eq!(bench.store.head(&key, None).await.unwrap(), Found::Missing);
    let scope = throughline_engine::access::system_scope();
    let page = Page { limit: 10, after: None };
    let tombstones = bench.store.list(&scope, Kind::Tombstone, page).await.unwrap();
    assert_eq!(tombstones.len(), 1);
    assert!(matches!(
        bench.engine.session(&bench.caller, &session()).await,
        Err(Error::NoSession(_))
    ));
}

#[tokio::test]
async fn an_erased_turn_keeps_its_number_and_nothing_else() {
    let bench = bench().start().await;
    bench.turn("keep this").await;
    bench.turn("my secret is 4711").await;
    let turns = BTreeSet::from([2]);
    assert_eq!(bench.engine.erase_turns(&bench.caller, &session(), &turns).await.unwrap().turns, 1);
    let (_, erased) = bench.engine.turn(&bench.caller, &session(), 2).await.unwrap();
    assert_eq!((erased.status, erased.message.as_str()), (TurnStatus::Erased, ""));
    let export = bench.engine.export(&bench.caller, &session()).await.unwrap();
    assert!(!serde_json::to_string(&export).unwrap().contains("4711"));
    assert_eq!(bench.engine.erase_turns(&bench.caller, &session(), &turns).await.unwrap().turns, 0);
}

/// What was gathered from a turn goes with it; what other turns named stays.
#[tokio::test]
async fn things_that_only_an_erased_turn_named_leave_the_head() {
    let bench = bench().start().await;
    bench.turn("Where is device kept-sw1 in rack R12?").await;
    bench.turn("Is device secret-sw7 next to device kept-sw1 in rack R13?").await;
    bench.turn("Is it up?").await;
    let head = async || {
        let loaded = bench.engine.session(&bench.caller, &session()).await.unwrap();
        serde_json::to_string(&*loaded.head).unwrap()
    };
    assert!(head().await.contains("secret-sw7"));
    let turns = BTreeSet::from([2]);
    bench.engine.erase_turns(&bench.caller, &session(), &turns).await.unwrap();
    let head = head().await;
    assert!(!head.contains("secret-sw7") && !head.contains("R13"), "{head}");
    assert!(head.contains("kept-sw1") && head.contains("R12"), "{head}");
    let (_, later) = bench.engine.turn(&bench.caller, &session(), 3).await.unwrap();
    assert!(later.entities.iter().all(|one| one.name != "secret-sw7"), "{:?}", later.entities);
}

#[tokio::test]
async fn another_users_session_looks_like_one_that_never_was() {
    let bench = bench().start().await;
    bench.turn("mine").await;
    let mut other = Caller { grants: Grants::Admin, ..bench.caller.clone() };
    other.scope.user = UserId::new("other").unwrap();
    let foreign = bench.engine.session(&other, &session()).await.unwrap_err();
    let unknown = SessionId::new("s").unwrap();
    assert_eq!(foreign.to_string(), Error::NoSession(unknown).to_string());
}

#[tokio::test]
async fn items_are_added_once_and_a_vanished_one_is_shown_as_missing() {
    let bench = bench().rule(rule("extra", IncludeMode::Manual, "Extra.")).start().await;
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    let item = ItemName::Rule { name: "extra".into() };
    for _ in 0..2 {
        bench.engine.add_item(&bench.caller, &session(), item.clone(), None).await.unwrap();
    }
    bench.reload(Vec::new(), false);
    let (_, items) = bench.engine.session_items(&bench.caller, &session()).await.unwrap();
    assert_eq!(items.len(), 1);
    assert!(items[0].missing);
    let unknown = ItemName::Rule { name: "nothing".into() };
    let refused = bench.engine.add_item(&bench.caller, &session(), unknown, None).await;
    assert!(matches!(refused, Err(Error::Missing { .. })));
}

#[tokio::test]
async fn a_session_put_aside_takes_no_turns_until_it_is_restored() {
    let bench = bench().start().await;
    bench.turn("hello").await;
    bench.engine.put_aside(&bench.caller, &session()).await.unwrap();
    let refused = bench.engine.record(&bench.caller, &session(), said("more")).await;
    assert!(matches!(refused, Err(Error::Inactive { state: "deleted", .. })));
}

#[tokio::test]
async fn an_export_to_read_has_no_control_characters() {
    let bench = bench().start().await;
    let new = NewSession { id: Some(session()), ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
    let turn = RecordedTurn {
        message: "a\u{1b}[31mred\u{7}\tb".into(),
        reply: "c\u{202e}d\u{9b}2J\ne".into(),
        ..RecordedTurn::default()
    };
    bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    let text = bench.engine.export_markdown(&bench.caller, &session()).await.unwrap();
    assert!(text.contains("> a[31mred\tb\n\ncd2J\ne\n"), "{text:?}");
}
