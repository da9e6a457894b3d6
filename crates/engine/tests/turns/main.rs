//! The life of a turn, against a store in memory: receipts, approvals, fall-backs, keys, erasure.

mod approvals;
mod bench;
mod budgets;
mod keys;
mod models;
mod sessions;
mod summaries;
