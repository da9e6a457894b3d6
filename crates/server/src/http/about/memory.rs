//! `GET /memory/stats`: cache and memory statistics.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use throughline_engine::access::{Action, authorize};
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;

/// Cache and memory statistics.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MemoryStats {
    /// Sessions in the cache.
    pub cached_sessions: u64,
    /// Approximate size of the cached sessions, in bytes.
    pub cached_bytes: u64,
    /// Loads answered from the cache, after confirming the version.
    pub hits: u64,
    /// Loads that read the store.
    pub misses: u64,
    /// Share of loads answered from the cache, 0–1.
    pub hit_rate: f64,
    /// Messages whose enrichment was cached for the same version of the session.
    pub enrichment_hits: u64,
    /// Messages that were enriched anew.
    pub enrichment_misses: u64,
    /// Tool calls that looked up entities, since the start.
    pub look_ups_made: u64,
    /// Of those, calls that failed or timed out.
    pub look_ups_failed: u64,
    /// Look-ups answered from the cache, including the one shared between servers.
    pub look_ups_spared: u64,
    /// Of those, answers that another server had stored.
    pub look_ups_shared: u64,
    /// Failed requests to the shared cache; each counts as a miss.
    pub shared_cache_failures: u64,
    /// Turns in progress.
    pub turns_under_way: usize,
    /// Sessions waiting for background work: indexing, summaries, look-ups.
    pub jobs_waiting: u64,
    /// Sessions whose background work was done since the start.
    pub jobs_done: u64,
    /// Failed attempts at background work since the start.
    pub jobs_failed: u64,
    /// Resident memory of the process, in bytes; null if the system does not report it.
    pub resident_bytes: Option<u64>,
}

/// Returns cache and memory statistics.
#[utoipa::path(get, path = "/memory/stats", tag = "server",
    responses((status = 200, body = MemoryStats)))]
pub(super) async fn stats(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<MemoryStats>, Problem> {
    authorize(&caller, Action::Read)?;
    let cache = app.engine().cache_statistics();
    let enrichments = app.engine().enrichment_statistics();
    let look_ups = app.engine().look_up_statistics();
    let work = app.engine().work_statistics();
    Ok(Json(MemoryStats {
        cached_sessions: cache.sessions,
        cached_bytes: cache.bytes,
        hits: cache.hits,
        misses: cache.misses,
        hit_rate: cache.hit_rate,
        enrichment_hits: enrichments.hits,
        enrichment_misses: enrichments.misses,
        look_ups_made: look_ups.made,
        look_ups_failed: look_ups.failed,
        look_ups_spared: look_ups.spared,
        look_ups_shared: look_ups.shared,
        shared_cache_failures: look_ups.shared_failed,
        turns_under_way: app.turns().len(),
        jobs_waiting: work.waiting,
        jobs_done: work.done,
        jobs_failed: work.failed,
        resident_bytes: resident_bytes(),
    }))
}

/// Resident memory from `/proc`; `None` on systems without it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
