//! Reads the whole file and names what is wrong.
//!
//! Found: pages and indexes that contradict each other (`integrity_check`), rows without their owner,
//! heads and entries whose checksum does not fit, gaps, and counts that do not match. Repairs nothing.

use rusqlite::Connection;
use throughline_engine::store::CheckReport;

use super::apply::Refusal;
use super::row::count;
use super::{schema, stored};

/// At most this many sentences; a file this broken needs no more.
const PROBLEMS_MAX: usize = 1000;

pub(crate) fn check(connection: &Connection) -> Result<CheckReport, Refusal> {
    let mut report = CheckReport::default();
    // One snapshot for all questions, whatever is written meanwhile.
    let snapshot = connection.unchecked_transaction()?;
    let steps: [fn(&Connection, &mut CheckReport) -> rusqlite::Result<()>; 4] =
        [structure, owners, threads, entries];
    for step in steps {
        // A step that cannot go on for damage has its reason named, and the next is still tried.
        if let Err(error) = step(&snapshot, &mut report) {
            report.problems.push(format!("the file cannot be read further: {error}"));
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
        report.problems.push(format!("row {id} of table {table} has no owner"));
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
            report.problems.push(format!("the head of {key}: its checksum does not fit"));
        }
        let (said, there, end) = (count(row, 1)?, count(row, 2)?, count(row, 3)?);
        if said != there {
            let sentence = format!("{key}: the head counts {said} entries and the log has {there}");
            report.problems.push(sentence);
        }
        if end != there {
            report.problems.push(format!("{key}: {} entries are missing", end.abs_diff(there)));
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
            let key = key.as_deref().unwrap_or("a thread that is not there");
            let number = count(row, 0)?;
            report.problems.push(format!("entry {number} of {key}: its checksum does not fit"));
        }
    }
    Ok(())
}
