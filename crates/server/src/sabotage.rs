//! Which promise of the store is broken on purpose: `THROUGHLINE_SABOTAGE`.
//!
//! Compiled only with the feature `sabotage`, which no shipped build has; see `scripts/sabotage`.

use std::time::Duration;

use throughline_store::sabotage::Sabotage;

use crate::config::Environment;
use crate::failure::Failure;

/// The variable.
const VARIABLE: &str = "THROUGHLINE_SABOTAGE";
/// How long commits are held back: longer than any test runs.
const HELD_BACK: Duration = Duration::from_secs(600);

/// The promise that the variable names, if it is set.
pub fn chosen(environment: &Environment) -> Result<Option<Sabotage>, Failure> {
    match environment.get(VARIABLE) {
        None => Ok(None),
        Some("hold-back") => Ok(Some(Sabotage::HoldBack(HELD_BACK))),
        Some("ignore-versions") => Ok(Some(Sabotage::IgnoreVersions)),
        Some(other) => Err(Failure::wrong_use(
            format!("{VARIABLE} is {other:?}"),
            "it takes hold-back or ignore-versions",
        )),
    }
}
