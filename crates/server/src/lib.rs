//! x
pub mod demo;
