//! The daily look at contexts: warned of, put aside, kept in a file, purged.
//!
//! What a sweep does is the engine's; here is only when, and where the copies go.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use throughline_engine::access::Caller;
use throughline_engine::engine::{BeforePurge, Engine, Export};
use throughline_engine::store::Key;
use tokio_util::sync::CancellationToken;

/// Between two sweeps.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Before the first one, so that a start is not slowed.
const FIRST: Duration = Duration::from_secs(60);

/// Sweeps once a day until `stop`.
pub async fn sweep_daily(engine: Arc<Engine>, folder: PathBuf, stop: CancellationToken) {
    let shelf = Shelf(folder);
    let mut wait = FIRST;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = EVERY;
        match engine.sweep_expired(&Caller::local(), &shelf).await {
            Ok(sweep) => {
                tracing::info!(
                    contexts = sweep.contexts,
                    warned = sweep.warned,
                    put_aside = sweep.put_aside,
                    purged = sweep.purged,
                    "looked for expired contexts"
                );
                for problem in sweep.problems {
                    tracing::warn!("a context was left as it is: {problem}");
                }
            }
            Err(error) => tracing::warn!(%error, "expired contexts could not be looked for"),
        }
    }
}

/// A folder with a file for each purged context, which `throughline session import` takes.
pub struct Shelf(pub PathBuf);

#[async_trait]
impl BeforePurge for Shelf {
    async fn keep(&self, key: &Key, export: &Export) -> Result<(), String> {
        let folder = self.0.join(key.scope.tenant.as_str()).join(key.scope.user.as_str());
        let file = folder.join(format!("{}.json", key.id));
        let bytes = serde_json::to_vec(export).map_err(|error| error.to_string())?;
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        tokio::task::spawn_blocking({
            let file = file.clone();
            move || write(&folder, &file, &bytes)
        })
        .await
        .map_err(|error| error.to_string())?
        .map_err(failed)
    }
}

/// Writes a file whole or not at all.
fn write(folder: &std::path::Path, file: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let part = file.with_extension("part");
    std::fs::write(&part, bytes)?;
    std::fs::File::open(&part)?.sync_all()?;
    std::fs::rename(&part, file)?;
    std::fs::File::open(folder)?.sync_all()
}
