//! The test suite that every backend must pass, one function per guarantee.
//!
//! [`check_all`] is a backend's whole test. Each check uses its own tenant, so the suite may run against a store
//! that others use. It is independent of any backend.
//!
//! Invariant: no check leaves data behind that affects another check.

mod bytes;
mod erase;
mod fixture;
mod listing;
mod race;
mod version;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use throughline_engine::store::{Store, StoreError};

pub use fixture::Fixture;

/// What was seen instead of what the contract guarantees.
#[derive(Debug)]
pub struct Broken(String);

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self(format!("the store failed: {error}"))
    }
}

/// The outcome of one check.
pub type CheckResult = Result<(), Broken>;

/// A guarantee with its check.
pub struct Guarantee {
    /// The guarantee as a sentence.
    pub name: &'static str,
    check: fn(Fixture) -> BoxFuture<'static, CheckResult>,
}

/// Returns from a check with [`Broken`] unless the two are equal.
macro_rules! same {
    ($seen:expr, $expected:expr, $($what:tt)+) => {{
        let (seen, expected) = (&$seen, &$expected);
        if seen != expected {
            return Err($crate::conformance::Broken(format!(
                "{}: saw {:?}, expected {:?}", format!($($what)+), seen, expected
            )));
        }
    }};
}
pub(crate) use same;

macro_rules! guarantees {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        /// All guarantees of the contract.
        pub const GUARANTEES: &[Guarantee] = &[
            $(Guarantee { name: stringify!($name), check: |fixture| $module::$name(fixture).boxed() }),+
        ];
    };
}

guarantees![
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
    listing::a_scan_returns_every_thread_once_in_key_order,
    erase::erasing_counts_and_removes_everything,
    erase::erasing_again_finds_nothing,
    erase::erasing_one_thread_leaves_the_others,
    erase::a_recreated_thread_is_not_the_old_one,
    erase::check_finds_a_sound_store_sound,
];

/// Returns the guarantees that `store` breaks, each with what was seen.
pub async fn broken_guarantees(store: Arc<dyn Store>) -> Vec<String> {
    let mut broken = Vec::new();
    for guarantee in GUARANTEES {
        if let Err(Broken(seen)) = (guarantee.check)(Fixture::new(Arc::clone(&store))).await {
            broken.push(format!("{}: {seen}", guarantee.name));
        }
    }
    broken
}

/// Checks every guarantee.
///
/// # Panics
///
/// With the list of broken guarantees, if there are any.
pub async fn check_all(store: Arc<dyn Store>) {
    let broken = broken_guarantees(store).await;
    assert!(broken.is_empty(), "broken guarantees:\n- {}", broken.join("\n- "));
}
