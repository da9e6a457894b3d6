//! The life of a turn, against a store in memory: receipts, approvals, fall-backs, keys, erasure.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod across;
mod approvals;
mod bench;
mod budgets;
mod copies;
mod doubles;
mod enrichment;
mod growing;
mod keys;
mod look_ups;
mod models;
mod offline;
mod provenance;
mod sessions;
mod summaries;
mod together;
mod usage;
mod writers;
