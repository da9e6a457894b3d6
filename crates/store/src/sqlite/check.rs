//! Integrity check: reads the whole file and reports problems. Repairs nothing.
//!
//! Detects inconsistent pages and indexes (`integrity_check`), dangling references, checksum mismatches in
//! heads and entries, gaps in logs, and wrong counts.

use rusqlite::Connection;
use throughline_engine::store::CheckReport;

use super::apply::Failure;
use super::row::count;
use super::{schema, stored};

/// Maximum number of reported problems.
const PROBLEMS_MAX: usize = 1000;

pub(crate) fn check(connection: &Connection) -> Result<CheckReport, Failure> {
    let mut report = CheckReport::default();
    // One snapshot for all queries, whatever is written meanwhile.
    let snapshot = connection.unchecked_transaction()?;
    let steps: [fn(&Connection, &mut CheckReport) -> rusqlite::Result<()>; 4] =
        [structure, owners, threads, entries];
    for step in steps {
        // A step stopped by damage is reported, and the next one still runs.
        if let Err(error) = step(&snapshot, &mut report) {
            report.problems.push(format!("the rest of the file cannot be read: {error}"));
        }
    }
    report.problems.truncate(PROBLEMS_MAX);
    Ok(report)
}

fn structure(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let sentence: String = row.get(0)?;
        if sentence != "ok" {
            report.problems.push(format!("SQLite: {sentence}"));
        }
    }
    Ok(())
}

fn owners(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, id): (String, i64) = (row.get(0)?, row.get(1)?);
        report.problems.push(format!("row {id} of table {table} refers to a missing row"));
    }
    Ok(())
}

fn threads(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    let (head, join) = match schema::has_forms(connection)? {
        true => (
            "head_form, head_sum, head, head_base.form, head_base.bytes",
            "LEFT JOIN head_base ON head_base.thread = thread.id",
        ),
        false => ("0, head_sum, head, NULL, NULL", ""),
    };
    let mut statement = connection.prepare(&format!(
        "SELECT tenant || '/' || user || '/' || kind || '/' || name, entries,
                (SELECT count(*) FROM entry WHERE entry.thread = thread.id),
                (SELECT coalesce(max(number) + 1, 0) FROM entry WHERE entry.thread = thread.id),
                {head}
         FROM thread JOIN place ON place.id = thread.place {join}
         ORDER BY tenant, user, kind, name",
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        report.threads += 1;
        let key: String = row.get(0)?;
        if stored::head(row, 4)?.is_none() {
            report.problems.push(format!("the head of {key}: checksum mismatch"));
        }
        let (counted, present, end) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
        if counted != present {
            let sentence =
                format!("{key}: the head counts {counted} entries, the log has {present}");
            report.problems.push(sentence);
        }
        if end != present {
            report.problems.push(format!("{key}: missing entries: {}", end.abs_diff(present)));
        }
    }
    Ok(())
}

fn entries(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    let form = if schema::has_forms(connection)? { "entry.form" } else { "0" };
    let mut statement = connection.prepare(&format!(
        "SELECT entry.number, {form}, entry.sum, entry.bytes,
                tenant || '/' || user || '/' || kind || '/' || name
         FROM entry LEFT JOIN thread ON thread.id = entry.thread
                    LEFT JOIN place ON place.id = thread.place ORDER BY entry.id",
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        report.entries += 1;
        if stored::entry(row, 1)?.is_none() {
            let key: Option<String> = row.get(4)?;
            let key = key.as_deref().unwrap_or("a missing thread");
            let number = count(row, 0)?;
            report.problems.push(format!("entry {number} of {key}: checksum mismatch"));
        }
    }
    Ok(())
}
