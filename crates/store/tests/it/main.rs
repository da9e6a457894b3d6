//! The store crate's tests, in one binary: one module a subject.

mod conformance;
mod index;
