//! The real binary on real stores: killed at any moment, and several copies of it on one store.
//!
//! SQLite and files always; Redis and S3 where they are installed (`scripts/setup/stores.sh`), and
//! without excuse when `THROUGHLINE_TEST_REQUIRE=1`. With the feature `sabotage` every test here must
//! fail: `scripts/trust`.

#![expect(clippy::unwrap_used, reason = "the whole crate is a test")]

mod copies;
mod kills;
mod stores;
