//! `GET /memory/stats`: cache and memory figures.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use throughline_engine::access::{Action, authorize};
use utoipa::ToSchema;

use crate::http::App;
use crate::http::caller::Authenticated;
use crate::http::problem::Problem;

/// Cache and memory figures.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryStats {
    /// Sessions in memory.
    pub cached_sessions: u64,
    /// Their approximate size.
    pub cached_bytes: u64,
    /// Loads answered from memory, after the version was confirmed.
    pub hits: u64,
    /// Loads that read the store.
    pub misses: u64,
    /// `hits` of all loads.
    pub hit_rate: f64,
    /// Messages whose enrichment was in memory, for the same version of their session.
    pub enrichment_hits: u64,
    /// Messages that were enriched anew.
    pub enrichment_misses: u64,
    /// Look-ups of things through tools since the start.
    pub look_ups_made: u64,
    /// Of those, look-ups that failed or took too long.
    pub look_ups_failed: u64,
    /// Look-ups answered from memory, or by what another copy of the server had found.
    pub look_ups_spared: u64,
    /// Of those, the ones that another copy had made.
    pub look_ups_shared: u64,
    /// Questions to the cache that copies share which failed; each was a miss.
    pub shared_cache_failures: u64,
    /// Turns under way.
    pub turns_under_way: usize,
    /// Sessions that wait for background work: indexing, summaries, look-ups.
    pub jobs_waiting: u64,
    /// Sessions whose background work was done since the start.
    pub jobs_done: u64,
    /// Attempts at background work that failed since the start.
    pub jobs_failed: u64,
    /// Memory of the process, in bytes; null where the system does not tell.
    pub resident_bytes: Option<u64>,
}

/// Reports cache and memory statistics.
#[utoipa::path(get, path = "/memory/stats", tag = "server",
    responses((status = 200, body = MemoryStats)))]
pub async fn stats(
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

/// What the kernel says this process holds in memory.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
