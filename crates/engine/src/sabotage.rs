//! Switches that break a guarantee on purpose, to prove that the attack on it notices.
//!
//! In a build with the feature `sabotage`, which no shipped build has, the server reads a switch from
//! `THROUGHLINE_SABOTAGE` at startup. `scripts/trust` runs every attack once with its switch and reports that the
//! broken guarantee was noticed.
//!
//! Invariant: without the feature [`is`] is the constant `false`, so no branch behind it is compiled in.

/// A guarantee that can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Every tool call runs without approval.
    EverythingRuns,
    /// Every API key may do everything within its tenant.
    IgnoreGrants,
    /// An import is stored without checks.
    TrustImports,
    /// No schema is refused for its cost.
    AnySchema,
    SkipSyncs,
    /// A restore removes the old store before the new one is in place.
    ReplaceInTwoSteps,
    /// Erasures are not recorded next to the backups.
    ForgetErasures,
    NoConnectionLimits,
    /// Libraries log message content.
    LogEverything,
    /// Revoked links still work.
    KeepShares,
    /// Other turns keep what was made of an erased one.
    KeepDerived,
}

#[cfg(feature = "sabotage")]
static CHOSEN: std::sync::OnceLock<Switch> = std::sync::OnceLock::new();

/// Breaks a guarantee for the rest of the process; only the first call has an effect.
#[cfg(feature = "sabotage")]
pub fn choose(switch: Switch) {
    CHOSEN.get_or_init(|| switch);
}

/// Whether this guarantee is broken.
#[cfg(feature = "sabotage")]
pub fn is(switch: Switch) -> bool {
    CHOSEN.get() == Some(&switch)
}

/// Always `false`: the feature is off.
#[cfg(not(feature = "sabotage"))]
pub const fn is(_: Switch) -> bool {
    false
}
