//! Log entries as lines.
//!
//! `{"turn":1,"sum":"89abcdef","entry":{"json":…}}`; turns are numbered from 1.
//!
//! Invariant: a line contains no line break, and the checksum covers the entry's bytes.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::content::Content;

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    turn: u64,
    sum: &'a str,
    #[serde(borrow)]
    entry: Content<'a>,
}

/// Appends entry `number` (from 0) to `log`.
pub(super) fn write(log: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    let sum = format!("{:08x}", crc32fast::hash(bytes));
    let line = Line { turn: number + 1, sum: &sum, entry: Content::of(bytes) };
    serde_json::to_writer(&mut *log, &line).expect("a line is always JSON");
    log.push(b'\n');
}

/// Parses the entry number of a line, even if the rest is damaged.
pub(super) fn number(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct TurnNumber {
        turn: u64,
    }
    serde_json::from_slice::<TurnNumber>(line).ok()?.turn.checked_sub(1)
}

/// Parses a line that must have the given entry number.
pub(super) fn read(line: &[u8], number: u64) -> Result<Bytes, String> {
    let line: Line<'_> =
        serde_json::from_slice(line).map_err(|error| format!("it is not a log line: {error}"))?;
    if line.turn != number + 1 {
        return Err(format!("it is numbered as turn {}", line.turn));
    }
    let bytes = line.entry.bytes()?;
    if line.sum != format!("{:08x}", crc32fast::hash(&bytes)) {
        return Err("checksum mismatch".into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use throughline_testkit::fuzz;

    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        let mut log = Vec::new();
        write(&mut log, 6, bytes);
        let line = log.strip_suffix(b"\n").unwrap();
        assert_eq!(String::from_utf8_lossy(line), expected);
        assert_eq!(read(line, 6).unwrap(), bytes);
    }

    #[test]
    fn a_line_is_readable_and_exact() {
        check(br#"{"a": 1}"#, r#"{"turn":7,"sum":"fba18e97","entry":{"json":{"a": 1}}}"#);
        check(b"two\nlines", r#"{"turn":7,"sum":"b8957a1f","entry":{"text":"two\nlines"}}"#);
        check(b" 1", r#"{"turn":7,"sum":"85833667","entry":{"text":" 1"}}"#);
        check(b"", r#"{"turn":7,"sum":"00000000","entry":{"text":""}}"#);
        check(&[255, 0], r#"{"turn":7,"sum":"d2fdef8d","entry":{"base64":"/wA="}}"#);
    }

    #[test]
    fn any_line_is_read_or_refused() {
        let inputs = [&b"{\"a\": 1}"[..], b"two\nlines", &[255, 0]].map(|bytes| {
            let mut log = Vec::new();
            write(&mut log, 6, bytes);
            log
        });
        fuzz::target(env!("CARGO_MANIFEST_DIR"), "files-lines", &inputs, |line| {
            for number in number(line).into_iter().chain([6]) {
                let _ = read(line, number);
            }
        });
    }

    #[test]
    fn a_line_that_was_tampered_with_is_named() {
        let mut log = Vec::new();
        write(&mut log, 0, b"{\"a\":1}");
        let line = String::from_utf8(log).unwrap();
        let check = |line: &str, number: u64, reason: &str| {
            let error = read(line.as_bytes(), number).unwrap_err();
            assert!(error.contains(reason), "{error}");
        };
        check(&line.replace("\"a\":1", "\"a\":2"), 0, "checksum");
        check(&line, 1, "it is numbered as turn 1");
        check(&line[..20], 0, "not a log line");
        check(&line.replace("json", "jsan"), 0, "no content");
    }
}
