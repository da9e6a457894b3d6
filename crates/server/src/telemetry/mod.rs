//! What the server says about itself: its log, its metrics and figures of the last turns.
//!
//! Nothing is sent anywhere. Invariant: no prompt, reply, argument value or key is ever logged.

pub mod figures;
pub mod log;
pub mod metrics;

pub use figures::Figures;
