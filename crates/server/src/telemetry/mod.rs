//! Log, metrics, and statistics of the last turns.
//!
//! Nothing is sent anywhere, except spans to a configured collector. Invariant: no prompt, reply, argument
//! value or key is logged or sent.

pub mod figures;
pub mod joined;
pub mod log;
pub mod metrics;
pub mod traces;

pub use figures::Figures;
