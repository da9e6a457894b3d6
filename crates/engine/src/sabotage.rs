//! Promises broken on purpose, so that the attack on each can be seen to notice.
//!
//! The server chooses a switch from `THROUGHLINE_SABOTAGE` at its start, in a build with the feature `sabotage`, which no
//! shipped build has. The trust program (`scripts/trust`) runs every attack once with its switch and reports that it failed.
//!
//! Invariant: without the feature [`is`] is the constant `false`, so no branch behind it is compiled in.

/// A promise that can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Every tool call runs unasked.
    EverythingRuns,
    /// Every key may do everything within its tenant.
    IgnoreGrants,
    /// An import is stored as it came.
    TrustImports,
    /// No schema is refused, whatever it costs.
    AnySchema,
    /// Files are not synced.
    SkipSyncs,
    /// A restore removes the store before the new one is in its place.
    ReplaceInTwoSteps,
    /// Erasures are not noted beside the backups.
    ForgetErasures,
    /// There is no limit to connections.
    NoConnectionLimits,
    /// Libraries log what they carry.
    LogEverything,
    /// Revoked links still open.
    KeepShares,
}

#[cfg(feature = "sabotage")]
static CHOSEN: std::sync::OnceLock<Switch> = std::sync::OnceLock::new();

/// Breaks a promise for the rest of the process; the first choice holds.
#[cfg(feature = "sabotage")]
pub fn choose(switch: Switch) {
    CHOSEN.get_or_init(|| switch);
}

/// Whether this promise is broken.
#[cfg(feature = "sabotage")]
pub fn is(switch: Switch) -> bool {
    CHOSEN.get() == Some(&switch)
}

/// Whether this promise is broken.
#[cfg(not(feature = "sabotage"))]
pub const fn is(_: Switch) -> bool {
    false
}
