//! Two copies of the server on one store, each with what it saw last at hand.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use throughline_engine::access::Caller;
use throughline_engine::error::{Error, Result};
use throughline_engine::id::SessionId;
use throughline_engine::session::Sessions;
use throughline_engine::session::head::SessionHead;
use throughline_engine::session::sessions::Step;
use throughline_engine::store::{Key, Store};
use throughline_store::memory::Memory;
use throughline_testkit::fixed_clock::FixedClock;

struct Copies {
    here: Sessions,
    there: Sessions,
    key: Key,
}

/// Both copies have seen the session as it was created; then the other one gave it a title.
async fn after_a_change_elsewhere() -> Copies {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let clock = Arc::new(FixedClock::at(Timestamp::UNIX_EPOCH));
    let copy = || Sessions::new(store.clone(), clock.clone(), 1 << 20, Duration::from_secs(300), 5);
    let id = SessionId::new("shared").unwrap();
    let key = Caller::local().session_key(&id);
    let copies = Copies { here: copy(), there: copy(), key: key.clone() };
    let head = SessionHead::new(id, Timestamp::UNIX_EPOCH);
    copies.here.create(&key, head, Vec::new()).await.unwrap();
    copies.here.load(&key).await.unwrap();
    copies.there.update(&key, |head, _| titled(head, "from elsewhere")).await.unwrap();
    copies
}

fn titled(head: &mut SessionHead, title: &str) -> Result<Step<()>> {
    head.title = Some(title.into());
    Ok(Step::Commit(None, ()))
}

#[tokio::test]
async fn a_change_on_an_old_head_is_made_again_on_the_new_one() {
    let Copies { here, there, key } = after_a_change_elsewhere().await;
    let tagged = |head: &mut SessionHead| {
        head.tags.push("ours".into());
        Ok(Step::Commit(None, ()))
    };
    here.update(&key, |head, _| tagged(head)).await.unwrap();
    let head = there.load(&key).await.unwrap().head;
    assert_eq!(
        (head.title.as_deref(), head.tags.as_slice()),
        (Some("from elsewhere"), &["ours".to_owned()][..])
    );
}

#[tokio::test]
async fn an_old_head_settles_nothing() {
    let Copies { here, key, .. } = after_a_change_elsewhere().await;
    let (_, seen) = here.update(&key, |head, _| Ok(Step::Leave(head.title.clone()))).await.unwrap();
    assert_eq!(seen.as_deref(), Some("from elsewhere"));
}

#[tokio::test]
async fn an_old_head_refuses_nothing() {
    let Copies { here, key, .. } = after_a_change_elsewhere().await;
    let untitled_is_refused = |head: &mut SessionHead| match head.title {
        None => Err(Error::invalid("title", "there is none")),
        Some(_) => titled(head, "from here"),
    };
    here.update(&key, |head, _| untitled_is_refused(head)).await.unwrap();
}

#[tokio::test]
async fn a_session_that_was_erased_elsewhere_is_gone() {
    let Copies { here, there, key } = after_a_change_elsewhere().await;
    there.erase(&key).await.unwrap();
    let outcome = here.update(&key, |head, _| titled(head, "too late")).await;
    assert!(matches!(outcome, Err(Error::NoSession(_))));
}
