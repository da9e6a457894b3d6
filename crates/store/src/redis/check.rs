//! Reads every thread and names what is wrong. Repairs nothing.

use throughline_engine::store::{CheckReport, Key, Result, Store as _, StoreError};

use super::RedisStore;

/// Threads that are checked at a time.
const STRETCH: usize = 500;

impl RedisStore {
    pub(super) async fn check_all(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let mut after: Option<Key> = None;
        loop {
            let rows = match self.scan_in_order(after.as_ref(), STRETCH).await {
                Err(error @ StoreError::Damaged { .. }) => {
                    // One damaged thread hides the stretch behind it; say so rather than skip it.
                    report.problems.push(format!("{error}; threads after it were not read"));
                    return Ok(report);
                }
                rows => rows?,
            };
            let Some(last) = rows.last() else { return Ok(report) };
            after = Some(last.key.clone());
            for row in rows {
                report.threads += 1;
                self.check_thread(&row.key, row.entries, &mut report).await?;
            }
        }
    }

    async fn check_thread(&self, key: &Key, entries: u64, report: &mut CheckReport) -> Result<()> {
        let found = self.entries(key, 0..u64::MAX).await?.len() as u64;
        report.entries += found;
        let now = self.row(key.clone()).await?;
        // A writer may have been at work, or the thread may have expired, between the two reads.
        let settled = now.is_some_and(|row| row.entries == entries);
        if settled && found != entries {
            report.problems.push(format!("{key} says {entries} entries and has {found}"));
        }
        let mut command = redis::cmd("ZSCORE");
        command.arg(self.keys.set(&key.scope, key.kind)).arg(key.id.as_str());
        let score: Option<f64> = self.connection.ask(&command).await?;
        if settled && score.is_none() {
            report.problems.push(format!("{key} is not in its user's listing"));
        }
        Ok(())
    }
}
