//! Integrity check: reads every thread and reports problems. Repairs nothing.
//!
//! A thread that changes while it is checked is not reported.

use throughline_engine::store::{CheckReport, Key, Result, Store as _, StoreError};

use super::RedisStore;

/// Threads checked at a time.
const BATCH_THREADS: usize = 500;

impl RedisStore {
    pub(super) async fn check_all(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let mut after: Option<Key> = None;
        loop {
            let rows = match self.scan_in_order(after.as_ref(), BATCH_THREADS).await {
                Err(error @ StoreError::Damaged { .. }) => {
                    // The scan cannot continue past a damaged thread; report that instead of skipping the rest.
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
        // Between the two reads the thread may have been written to or have expired.
        let settled = now.is_some_and(|row| row.entries == entries);
        if settled && found != entries {
            report.problems.push(format!("{key} records {entries} entries but has {found}"));
        }
        let mut command = redis::cmd("ZSCORE");
        command.arg(self.keys.set(&key.scope, key.kind)).arg(key.id.as_str());
        let score: Option<f64> = self.connection.query(&command).await?;
        if settled && score.is_none() {
            report.problems.push(format!("{key} is not in its user's listing"));
        }
        Ok(())
    }
}
