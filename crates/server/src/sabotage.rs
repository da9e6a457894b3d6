//! `THROUGHLINE_SABOTAGE`: breaks one guarantee on purpose, to test the tests.
//!
//! Only with the feature `sabotage`, which no released build has; see `scripts/trust`.

use std::time::Duration;

use throughline_engine::sabotage::{Switch, choose};
use throughline_store::sabotage::Sabotage;

use crate::config::Environment;
use crate::failure::Failure;

/// The environment variable.
const VARIABLE: &str = "THROUGHLINE_SABOTAGE";
/// How long commits are delayed: longer than any test.
const HELD_BACK: Duration = Duration::from_secs(600);

/// Guarantees of the store, by name.
const OF_STORES: [(&str, Sabotage); 5] = [
    ("hold-back", Sabotage::HoldBack(HELD_BACK)),
    ("ignore-versions", Sabotage::IgnoreVersions),
    ("ignore-scopes", Sabotage::IgnoreScopes),
    ("keep-erased", Sabotage::KeepErased),
    ("claim-success", Sabotage::ClaimSuccess),
];
/// All other guarantees.
const OTHERS: [(&str, Switch); 11] = [
    ("everything-runs", Switch::EverythingRuns),
    ("ignore-grants", Switch::IgnoreGrants),
    ("trust-imports", Switch::TrustImports),
    ("any-schema", Switch::AnySchema),
    ("skip-syncs", Switch::SkipSyncs),
    ("replace-in-two-steps", Switch::ReplaceInTwoSteps),
    ("forget-erasures", Switch::ForgetErasures),
    ("no-connection-limits", Switch::NoConnectionLimits),
    ("log-everything", Switch::LogEverything),
    ("keep-shares", Switch::KeepShares),
    ("keep-derived", Switch::KeepDerived),
];

/// Breaks the guarantee named in the variable; one of the store is returned for the caller to break.
pub fn chosen(environment: &Environment) -> Result<Option<Sabotage>, Failure> {
    let Some(name) = environment.get(VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    if let Some((_, switch)) = OTHERS.iter().find(|(known, _)| *known == name) {
        choose(*switch);
        return Ok(None);
    }
    match OF_STORES.iter().find(|(known, _)| *known == name) {
        Some((_, sabotage)) => Ok(Some(*sabotage)),
        None => {
            let known =
                OF_STORES.map(|(name, _)| name).into_iter().chain(OTHERS.map(|(name, _)| name));
            let known: Vec<&str> = known.collect();
            Err(Failure::wrong_use(
                format!("{VARIABLE} is {name:?}"),
                format!("use one of {}", known.join(", ")),
            ))
        }
    }
}
