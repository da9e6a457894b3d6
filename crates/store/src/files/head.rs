//! `head.json`: the head, the extent of the log, and a checksum.
//!
//! Readable JSON. The second line is a checksum of everything after it, which detects truncation, mix-ups and
//! edits.
//!
//! Invariant: anything in the log past `entries` and `tail_bytes` was never committed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::store::{Key, Version};

use super::content::Content;
use super::layout::{HEAD, segment_name, segment_of};

/// The text before the checksum.
const BEFORE_CHECK: &str = "{\n  \"check\": \"";
/// The text between the checksum and what it covers.
const AFTER_CHECK: &str = "\",\n";
const CHECK_DIGITS: usize = 8;

/// A head and the extent of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadFile {
    pub(super) version: Version,
    pub(super) entries: u64,
    /// Committed size of the last segment.
    pub(super) tail_bytes: u64,
    pub(super) changed_at: Timestamp,
    pub(super) expires_at: Option<Timestamp>,
    /// Segments rewritten to erase something: first entry, and the version that did it.
    pub(super) rewritten: BTreeMap<u64, u64>,
    pub(super) bytes: Bytes,
}

#[derive(Serialize, Deserialize)]
struct HeadJson<'a> {
    key: String,
    version: u64,
    incarnation: u32,
    entries: u64,
    tail_bytes: u64,
    changed_at: Timestamp,
    expires_at: Option<Timestamp>,
    rewritten: BTreeMap<u64, u64>,
    #[serde(borrow)]
    head: Content<'a>,
}

/// Identifies a state of the file: every commit creates a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    file: u64,
    modified: (i64, i64),
    length: u64,
}

impl Stamp {
    pub(super) fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            file: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            length: metadata.len(),
        }
    }
}

/// Why a head could not be read.
#[derive(Debug)]
pub(super) enum HeadError {
    Missing,
    Damaged(String),
    Failed(std::io::Error),
}

impl HeadFile {
    /// The file name of the segment starting at entry `first`.
    pub(super) fn segment(&self, first: u64) -> String {
        segment_name(first, self.rewritten.get(&first).copied())
    }

    /// The first entry of the last segment; `None` if the log is empty.
    pub(super) fn tail(&self) -> Option<u64> {
        self.entries.checked_sub(1).map(segment_of)
    }

    pub(super) fn encode(&self, key: &Key) -> Vec<u8> {
        let written = HeadJson {
            key: key.to_string(),
            version: self.version.number,
            incarnation: self.version.incarnation,
            entries: self.entries,
            tail_bytes: self.tail_bytes,
            changed_at: self.changed_at,
            expires_at: self.expires_at,
            rewritten: self.rewritten.clone(),
            head: Content::of(&self.bytes),
        };
        let body = serde_json::to_string_pretty(&written).expect("a head is always JSON");
        let covered = format!("{}\n", body.trim_start_matches("{\n"));
        let check = crc32fast::hash(covered.as_bytes());
        format!("{BEFORE_CHECK}{check:08x}{AFTER_CHECK}{covered}").into_bytes()
    }

    pub(super) fn decode(file: &[u8], key: &Key) -> Result<Self, String> {
        let cut = "it is truncated or was not written by throughline";
        let rest = file.strip_prefix(BEFORE_CHECK.as_bytes()).ok_or(cut)?;
        let (check, rest) = rest.split_at_checked(CHECK_DIGITS).ok_or(cut)?;
        let covered = rest.strip_prefix(AFTER_CHECK.as_bytes()).ok_or(cut)?;
        if check != format!("{:08x}", crc32fast::hash(covered)).as_bytes() {
            return Err("checksum mismatch".into());
        }
        let written: HeadJson<'_> =
            serde_json::from_slice(file).map_err(|error| error.to_string())?;
        if written.key != key.to_string() {
            return Err(format!("it is the head of {}", written.key));
        }
        Ok(Self {
            version: Version { number: written.version, incarnation: written.incarnation },
            entries: written.entries,
            tail_bytes: written.tail_bytes,
            changed_at: written.changed_at,
            expires_at: written.expires_at,
            rewritten: written.rewritten,
            bytes: written.head.bytes()?,
        })
    }

    /// Reads the head in a thread's folder.
    pub(super) fn read(folder: &Path, key: &Key) -> Result<(Self, Stamp), HeadError> {
        let mut file = match File::open(folder.join(HEAD)) {
            Ok(file) => file,
            // A missing folder means no thread; a folder without a head is damaged.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(match folder.symlink_metadata() {
                    Ok(_) => HeadError::Damaged("it has no head.json".into()),
                    Err(error) if error.kind() == ErrorKind::NotFound => HeadError::Missing,
                    Err(error) => HeadError::Failed(error),
                });
            }
            Err(error) => return Err(HeadError::Failed(error)),
        };
        let stamp = Stamp::of(&file.metadata().map_err(HeadError::Failed)?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(HeadError::Failed)?;
        let head = Self::decode(&bytes, key)
            .map_err(|reason| HeadError::Damaged(format!("head.json: {reason}")))?;
        Ok((head, stamp))
    }
}

#[cfg(test)]
mod tests {
    use throughline_engine::access::Caller;
    use throughline_engine::id::SessionId;
    use throughline_testkit::fuzz;

    use super::*;

    #[test]
    fn any_head_is_read_or_refused() {
        let key = Caller::local().session_key(&SessionId::new("s").unwrap());
        let head = HeadFile {
            version: Version { number: 3, incarnation: 7 },
            entries: 5,
            tail_bytes: 100,
            changed_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            rewritten: [(0, 2)].into(),
            bytes: Bytes::from_static(b"{\"turns\":5}"),
        };
        let inputs = [head.encode(&key)];
        fuzz::target(env!("CARGO_MANIFEST_DIR"), "files-heads", &inputs, |file| {
            let _ = HeadFile::decode(file, &key);
            // The same with a matching checksum, which anyone who can write the file can compute.
            let start = BEFORE_CHECK.len() + CHECK_DIGITS + AFTER_CHECK.len();
            let covered = file.get(start..).unwrap_or_default();
            let check = format!("{BEFORE_CHECK}{:08x}{AFTER_CHECK}", crc32fast::hash(covered));
            if let Ok(found) = HeadFile::decode(&[check.as_bytes(), covered].concat(), &key) {
                let _ = (found.tail(), found.encode(&key));
            }
        });
    }
}
