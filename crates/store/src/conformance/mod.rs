//! What every backend promises, one function a promise.
//!
//! A backend's whole test is [`check_all`]. Each promise works in a tenant of its own, so the suite may
//! run against a store that others use. It knows nothing of any backend.
//!
//! Invariant: a promise that is kept leaves nothing behind that another promise could trip over.

mod bytes;
mod erase;
mod ground;
mod listing;
mod race;
mod version;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use throughline_engine::store::{Store, StoreError};

pub use ground::Ground;

/// What was seen instead of what was promised.
#[derive(Debug)]
pub struct Broken(String);

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self(format!("the store failed: {error}"))
    }
}

/// The outcome of one promise.
pub type PromiseResult = Result<(), Broken>;

/// One promise by its name.
pub struct Promise {
    /// The promise as a sentence.
    pub name: &'static str,
    check: fn(Ground) -> BoxFuture<'static, PromiseResult>,
}

/// Ends the promise as broken unless the two are equal.
macro_rules! same {
    ($seen:expr, $promised:expr, $($what:tt)+) => {{
        let (seen, promised) = (&$seen, &$promised);
        if seen != promised {
            return Err($crate::conformance::Broken(format!(
                "{}: saw {:?}, promised {:?}", format!($($what)+), seen, promised
            )));
        }
    }};
}
pub(crate) use same;

macro_rules! promises {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        /// Every promise of the contract.
        pub const PROMISES: &[Promise] = &[
            $(Promise { name: stringify!($name), check: |ground| $module::$name(ground).boxed() }),+
        ];
    };
}

promises![
    version::a_thread_that_is_not_there_is_missing,
    version::a_head_and_its_entries_appear_together,
    version::a_stale_version_is_refused_and_changes_nothing,
    version::creating_what_exists_is_refused,
    version::changing_what_does_not_exist_is_refused,
    version::versions_count_from_one_without_gaps,
    version::a_known_version_is_answered_as_unchanged_or_in_full,
    version::one_key_is_not_another,
    version::an_expiry_is_accepted,
    race::one_of_many_creators_wins,
    race::no_entry_of_sixty_four_writers_is_lost_or_doubled,
    race::a_reader_never_sees_half_a_commit,
    race::writers_of_different_threads_do_not_disturb_each_other,
    bytes::ranges_answer_what_there_is,
    bytes::single_entries_come_in_the_order_asked,
    bytes::empty_entries_and_heads_are_kept,
    bytes::any_bytes_come_back_as_they_were,
    bytes::a_large_head_comes_back_whatever_changed_it,
    bytes::entries_of_a_mebibyte_are_kept,
    bytes::many_entries_in_one_change_keep_their_order,
    bytes::an_overwrite_replaces_only_what_it_names,
    bytes::an_overwrite_past_the_end_is_refused_and_changes_nothing,
    bytes::a_change_over_the_limit_is_refused_and_changes_nothing,
    listing::the_most_recently_changed_comes_first,
    listing::pages_have_no_gap_and_no_repeat,
    listing::equal_times_are_ordered_by_id,
    listing::a_listing_stays_in_its_scope_and_kind,
    listing::a_page_of_nothing_is_empty,
    listing::a_scan_meets_every_thread_once_in_key_order,
    erase::erasing_counts_and_removes_everything,
    erase::erasing_again_finds_nothing,
    erase::erasing_one_thread_leaves_the_others,
    erase::a_thread_made_anew_is_not_the_old_one,
    erase::check_finds_a_sound_store_sound,
];

/// The promises that `store` does not keep, each with what was seen.
pub async fn broken_promises(store: Arc<dyn Store>) -> Vec<String> {
    let mut broken = Vec::new();
    for promise in PROMISES {
        if let Err(Broken(seen)) = (promise.check)(Ground::new(Arc::clone(&store))).await {
            broken.push(format!("{}: {seen}", promise.name));
        }
    }
    broken
}

/// Checks every promise.
///
/// # Panics
///
/// With the list of broken promises, if there is one.
pub async fn check_all(store: Arc<dyn Store>) {
    let broken = broken_promises(store).await;
    assert!(broken.is_empty(), "broken promises:\n- {}", broken.join("\n- "));
}
