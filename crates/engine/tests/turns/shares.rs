//! Read-only links: what they show, until when, and what ends them.

use std::collections::BTreeSet;
use std::time::Duration;

use throughline_engine::access::{Caller, Grants, system_scope};
use throughline_engine::engine::{HistoryQuery, Order, SessionPatch};
use throughline_engine::error::{Error, Result};
use throughline_engine::id::SessionId;
use throughline_engine::session::head::Settings;
use throughline_engine::share::ShareToken;
use throughline_engine::store::{Kind, Page};
use throughline_engine::turn::RecordedTurn;

use crate::bench::{Bench, bench, session};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn token(number: u8) -> ShareToken {
    ShareToken::new([number; 32])
}

async fn started(turns: &[&str]) -> Bench {
    let bench = bench().start().await;
    for message in turns {
        say(&bench, message).await;
    }
    bench
}

async fn say(bench: &Bench, message: &str) {
    let message = message.to_owned();
    let turn = RecordedTurn { message, reply: "ok".into(), ..RecordedTurn::default() };
    let made = bench.engine.session(&bench.caller, &session()).await.is_ok();
    if !made {
        let new =
            throughline_engine::creation::NewSession { id: Some(session()), ..Default::default() };
        bench.engine.create_session(&bench.caller, new).await.unwrap();
    }
    bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
}

async fn share(bench: &Bench, number: u8, days: Option<u32>) -> Result<String> {
    let made = bench.engine.share(&bench.caller, &session(), &token(number), days).await?;
    Ok(made.id.to_string())
}

/// What a link shows: its title, and what was said; nothing where it does not open.
async fn seen(bench: &Bench, number: u8) -> Option<(Option<String>, Vec<String>)> {
    let query = HistoryQuery { limit: 100, order: Order::Ascending, from: None };
    match bench.engine.shared(&token(number), query).await {
        Ok(page) => {
            let said = page.turns.iter().map(|turn| turn.message.clone()).collect();
            Some((page.share.title, said))
        }
        Err(Error::NoShare) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn said(bench: &Bench, number: u8) -> Vec<String> {
    seen(bench, number).await.unwrap().1
}

async fn records(bench: &Bench) -> usize {
    let page = Page { limit: 100, after: None };
    bench.store.list(&system_scope(), Kind::Share, page).await.unwrap().len()
}

async fn change(bench: &Bench, patch: SessionPatch) {
    bench.engine.change_session(&bench.caller, &session(), patch, None).await.unwrap();
}

#[tokio::test]
async fn a_link_shows_what_was_said_until_it_was_made_and_nothing_later() {
    let bench = started(&["one", "two"]).await;
    share(&bench, 1, None).await.unwrap();
    say(&bench, "three").await;
    let title = SessionPatch { title: Some(Some("later".into())), ..SessionPatch::default() };
    change(&bench, title).await;
    let (title, said) = seen(&bench, 1).await.unwrap();
    assert_eq!((title.as_deref(), said), (Some("one"), vec!["one".to_owned(), "two".into()]));
    for (order, from, expected, next) in [
        (Order::Ascending, None, "one", Some(2)),
        (Order::Ascending, Some(2), "two", None),
        (Order::Descending, None, "two", Some(1)),
        (Order::Descending, Some(3), "two", Some(1)),
    ] {
        let query = HistoryQuery { limit: 1, order, from };
        let page = bench.engine.shared(&token(1), query).await.unwrap();
        assert_eq!((page.turns[0].message.as_str(), page.next), (expected, next));
    }
    assert_eq!(seen(&bench, 2).await, None);
}

#[tokio::test]
async fn what_was_erased_or_forgotten_is_in_no_link_nor_is_a_title_made_of_it() {
    let bench = started(&["my secret is 4711", "two", "I live in Bern."]).await;
    share(&bench, 1, None).await.unwrap();
    assert_eq!(seen(&bench, 1).await.unwrap().0.as_deref(), Some("my secret is 4711"));
    let turns = BTreeSet::from([1]);
    bench.engine.erase_turns(&bench.caller, &session(), &turns).await.unwrap();
    let (title, left) = seen(&bench, 1).await.unwrap();
    assert_eq!((title, left), (None, vec!["two".to_owned(), "I live in Bern.".into()]));
    let key = bench.caller.session_key(&session());
    let sessions = throughline_engine::session::Sessions::new(
        bench.store.clone(),
        bench.clock.clone(),
        0,
        Duration::ZERO,
        5,
    );
    throughline_engine::session::erase::withhold_turns(&sessions, &key, &BTreeSet::from([3]))
        .await
        .unwrap();
    assert_eq!(said(&bench, 1).await, ["two"]);
}

#[tokio::test]
async fn a_link_expires_by_the_clock_and_its_record_is_swept() {
    let bench = started(&["one"]).await;
    share(&bench, 1, None).await.unwrap();
    share(&bench, 2, Some(90)).await.unwrap();
    bench.clock.advance(DAY * 7 - Duration::from_secs(1));
    assert!(seen(&bench, 1).await.is_some());
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!((seen(&bench, 1).await, said(&bench, 2).await.len()), (None, 1));
    let listed = bench.engine.shares(&bench.caller, &session()).await.unwrap();
    assert_eq!(listed.iter().map(|share| share.id).collect::<Vec<_>>(), [token(2).id()]);
    let sweep = bench.engine.sweep_expired(&bench.caller, &NoCopies).await.unwrap();
    assert_eq!((sweep.shares, records(&bench).await), (1, 1));
    // A record that no session lists goes, too.
    bench.store.erase(&bench.caller.session_key(&session())).await.unwrap();
    let sweep = bench.engine.sweep_expired(&bench.caller, &NoCopies).await.unwrap();
    assert_eq!((sweep.shares, records(&bench).await), (1, 0));
}

struct NoCopies;

#[async_trait::async_trait]
impl throughline_engine::engine::BeforePurge for NoCopies {
    async fn keep(
        &self,
        _: &throughline_engine::store::Key,
        _: &throughline_engine::engine::Export,
    ) -> std::result::Result<(), String> {
        Ok(())
    }
}

#[tokio::test]
async fn a_revoked_link_opens_nothing_at_once_and_leaves_a_tombstone() {
    let bench = started(&["one"]).await;
    let id = share(&bench, 1, None).await.unwrap();
    share(&bench, 2, None).await.unwrap();
    let left = bench.engine.revoke_share(&bench.caller, &session(), &id).await.unwrap();
    assert_eq!(left.into_iter().map(|share| share.id).collect::<Vec<_>>(), [token(2).id()]);
    assert_eq!((seen(&bench, 1).await, said(&bench, 2).await.len()), (None, 1));
    assert_eq!(records(&bench).await, 1);
    let tombstone = throughline_engine::tombstone::tombstone_of(
        &throughline_engine::share::place(&token(1).id()).unwrap(),
    );
    let page = Page { limit: 10, after: None };
    let tombstones = bench.store.list(&system_scope(), Kind::Tombstone, page).await.unwrap();
    assert_eq!(tombstones.len(), 1);
    assert_eq!(tombstones[0].key.id.as_str(), tombstone.as_str());
    let again = bench.engine.revoke_share(&bench.caller, &session(), &id).await.unwrap_err();
    assert_eq!(again.code(), "missing");
}

#[tokio::test]
async fn a_session_that_is_put_aside_expires_or_becomes_private_loses_its_links_for_good() {
    let aside = SessionPatch { active: Some(false), ..SessionPatch::default() };
    let settings = Settings { private: true, ..Settings::default() };
    let private = SessionPatch { settings: Some(settings), ..SessionPatch::default() };
    for (what, patch) in [("put aside", aside), ("private", private)] {
        let bench = started(&["one"]).await;
        share(&bench, 1, None).await.unwrap();
        change(&bench, patch).await;
        assert_eq!((seen(&bench, 1).await, records(&bench).await), (None, 0), "{what}");
        let back = SessionPatch {
            active: Some(true),
            settings: Some(Settings::default()),
            ..SessionPatch::default()
        };
        change(&bench, back).await;
        assert_eq!(seen(&bench, 1).await, None, "{what}, and back");
        share(&bench, 2, None).await.unwrap();
        assert_eq!(said(&bench, 2).await, ["one"]);
    }
    let bench = started(&["one"]).await;
    let persona = serde_json::json!({"name": "Tutor", "system_prompt": "You explain things step by step.",
        "temperature": 0.5, "reply_tokens_max": 500, "history_tokens_max": 5000, "expiry_days": 3});
    let persona = serde_json::from_value(persona).unwrap();
    change(&bench, SessionPatch { persona: Some(persona), ..SessionPatch::default() }).await;
    share(&bench, 1, None).await.unwrap();
    bench.clock.advance(DAY * 3);
    assert_eq!(seen(&bench, 1).await, None, "the session has expired");
    change(&bench, SessionPatch { extend_days: Some(3), ..SessionPatch::default() }).await;
    assert_eq!((seen(&bench, 1).await, records(&bench).await), (None, 0));
}

#[tokio::test]
async fn an_erased_session_or_user_takes_its_links_along_and_a_new_one_has_none() {
    let bench = started(&["one"]).await;
    share(&bench, 1, None).await.unwrap();
    bench.engine.erase(&bench.caller, &session()).await.unwrap();
    say(&bench, "another session of that name").await;
    assert_eq!((seen(&bench, 1).await, records(&bench).await), (None, 0));
    share(&bench, 2, None).await.unwrap();
    bench.engine.erase_user(&bench.caller, &bench.caller.scope.user).await.unwrap();
    assert_eq!((seen(&bench, 2).await, records(&bench).await), (None, 0));
}

#[tokio::test]
async fn forks_and_imports_have_no_links() {
    let bench = started(&["one"]).await;
    share(&bench, 1, None).await.unwrap();
    let export = bench.engine.export(&bench.caller, &session()).await.unwrap();
    assert!(export.head.shares.is_empty());
    let mut forged = export.clone();
    forged.head.shares = bench.engine.shares(&bench.caller, &session()).await.unwrap();
    for id in ["imported", "forked"] {
        let id = SessionId::new(id).unwrap();
        let made = match id.as_str() {
            "imported" => bench.engine.import(&bench.caller, forged.clone(), Some(id)).await,
            _ => bench.engine.fork(&bench.caller, &session(), None, Some(id)).await,
        };
        assert!(made.unwrap().head.shares.is_empty());
    }
}

#[tokio::test]
async fn only_its_owner_shares_a_session_and_only_one_that_may_be() {
    let bench = bench().limits(|limits| limits.shares_max = 2).start().await;
    say(&bench, "one").await;
    let reader = Caller { grants: Grants::Read, ..bench.caller.clone() };
    let refused = bench.engine.share(&reader, &session(), &token(1), None).await.unwrap_err();
    assert_eq!(refused.code(), "forbidden");
    for days in [0, 91] {
        let refused = share(&bench, 1, Some(days)).await.unwrap_err();
        assert!(refused.to_string().contains("outside 1-90"), "{refused}");
    }
    share(&bench, 1, Some(1)).await.unwrap();
    share(&bench, 2, None).await.unwrap();
    let full = share(&bench, 3, None).await.unwrap_err();
    assert_eq!((full.code(), records(&bench).await), ("over_limit", 2), "{full}");
    bench.clock.advance(DAY);
    share(&bench, 3, None).await.unwrap();
    let settings = Settings { private: true, ..Settings::default() };
    change(&bench, SessionPatch { settings: Some(settings), ..SessionPatch::default() }).await;
    let private = share(&bench, 4, None).await.unwrap_err();
    assert_eq!(private.to_string(), "session s cannot be shared: it is private");
    let off = crate::bench::bench().limits(|limits| limits.shares_max = 0).start().await;
    say(&off, "one").await;
    assert_eq!(share(&off, 1, None).await.unwrap_err().code(), "not_shareable");
}
