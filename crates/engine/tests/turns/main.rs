//! The life of a turn, against a store in memory: receipts, approvals, fall-backs, keys, erasure.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod across;
mod approvals;
mod bench;
mod budgets;
mod calls;
mod copies;
mod crashes;
mod doubles;
mod enrichment;
mod erased;
mod facts;
mod forget;
mod fuzz;
mod growing;
mod imports;
mod keys;
mod known;
mod layouts;
mod long_replies;
mod look_ups;
mod memory_files;
mod models;
mod offers;
mod offline;
mod permissions;
mod properties;
mod provenance;
mod sessions;
mod shares;
mod stored;
mod strangers;
mod summaries;
mod together;
mod told;
mod usage;
mod work;
mod writers;
