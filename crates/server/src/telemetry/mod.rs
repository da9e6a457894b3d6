//! What the server says about itself: its log, its metrics and figures of the last turns.
//!
//! Nothing is sent anywhere, except spans to a collector that the operator names. Invariant: no prompt,
//! reply, argument value or key is ever logged or sent.

pub mod figures;
pub mod joined;
pub mod log;
pub mod metrics;
pub mod traces;

pub use figures::Figures;
