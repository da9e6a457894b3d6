//! The head object: a thread's head, the open tail of its log and the roots of the sealed part.
//!
//! It is the only object that is ever replaced, and always conditionally, so it alone defines the thread's state.
//! It contains the last [`WRITE_IDS_KEPT`] write ids: a writer whose condition failed can tell whether its own
//! earlier attempt succeeded.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use throughline_engine::store::{Head, Key, ListedThread, Version};
use uuid::Uuid;

use super::frame;
use super::node::Node;
use super::options::Compression;

/// How many commits back a write id is recognised.
pub(super) const WRITE_IDS_KEPT: usize = 64;
/// The format written; newer ones are refused.
const FORMAT: u32 = 1;

/// A decoded head object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadObject {
    pub version: Version,
    pub changed_at: Timestamp,
    pub head: Bytes,
    /// The last entries of the log, not sealed yet.
    pub tail: Vec<Bytes>,
    /// The sealed entries before them.
    pub roots: Vec<Node>,
    /// Write ids, oldest first; the last one created this version.
    pub writes: Vec<Uuid>,
    /// Objects replaced by an erasure that are still to be removed.
    pub garbage: Vec<String>,
}

/// The fields that a listing needs, at the start of the object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    format: u32,
    version: u64,
    incarnation: u32,
    entries: u64,
    changed_at: Timestamp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roots: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    garbage: Vec<String>,
}

impl Summary {
    /// The row of a listing.
    pub(super) fn listed(&self, key: Key) -> ListedThread {
        let version = Version { number: self.version, incarnation: self.incarnation };
        ListedThread { key, version, entries: self.entries, changed_at: self.changed_at }
    }
}

impl HeadObject {
    /// Number of entries in sealed objects.
    pub(super) fn sealed(&self) -> u64 {
        self.roots.last().map_or(0, |node| node.range.end)
    }

    /// Total number of entries.
    pub(super) fn entries(&self) -> u64 {
        self.sealed().saturating_add(self.tail.len() as u64)
    }

    /// Size of the open tail.
    pub(super) fn tail_bytes(&self) -> usize {
        self.tail.iter().map(Bytes::len).sum()
    }

    pub(super) fn to_head(&self) -> Head {
        Head { version: self.version, entries: self.entries(), bytes: self.head.clone() }
    }

    /// The version created by `write`, if it is among the recent ones.
    pub(super) fn version_made_by(&self, write: Uuid) -> Option<Version> {
        let back = self.writes.iter().rev().position(|id| *id == write)? as u64;
        Some(Version { number: self.version.number.checked_sub(back)?, ..self.version })
    }

    pub(super) fn encode(&self, compression: Compression) -> Bytes {
        let summary = Summary {
            format: FORMAT,
            version: self.version.number,
            incarnation: self.version.incarnation,
            entries: self.entries(),
            changed_at: self.changed_at,
            roots: self.roots.iter().map(|node| node.name.clone()).collect(),
            garbage: self.garbage.clone(),
        };
        let writes: Vec<u8> = self.writes.iter().flat_map(|id| *id.as_bytes()).collect();
        let mut parts = vec![Bytes::from(writes), self.head.clone()];
        parts.extend(self.tail.iter().cloned());
        frame::encode(&summary, &parts, compression)
    }

    /// Decodes an object; the error says what is wrong with it.
    pub(super) fn decode(object: &Bytes) -> Result<Self, String> {
        let (summary, parts): (Summary, _) = frame::decode(object)?;
        if summary.format > FORMAT {
            return Err(format!("its format {} is newer than this build supports", summary.format));
        }
        let mut parts = parts.into_iter();
        let writes = parts.next().ok_or("it has no write ids")?;
        let head = parts.next().ok_or("it has no head")?;
        let roots = summary.roots.iter().map(|name| Node::parse(name)).collect::<Option<Vec<_>>>();
        let found = Self {
            version: Version { number: summary.version, incarnation: summary.incarnation },
            changed_at: summary.changed_at,
            head,
            tail: parts.collect(),
            roots: roots.ok_or("a segment's name cannot be read")?,
            writes: writes
                .chunks_exact(16)
                .map(|id| Uuid::from_slice(id).expect("a chunk has the sixteen bytes of an id"))
                .collect(),
            garbage: summary.garbage,
        };
        let mut next = 0;
        for node in &found.roots {
            if node.range.start != next {
                return Err(format!("entries {next} to {} are missing", node.range.start));
            }
            next = node.range.end;
        }
        if found.entries() != summary.entries {
            return Err(format!(
                "it records {} entries but has {}",
                summary.entries,
                found.entries()
            ));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use throughline_testkit::fuzz;

    use super::*;

    fn sample() -> HeadObject {
        HeadObject {
            version: Version { number: 9, incarnation: 7 },
            changed_at: Timestamp::from_second(1_700_000_000).unwrap(),
            head: Bytes::from_static(b"head"),
            tail: vec![Bytes::from_static(b"three"), Bytes::new()],
            roots: vec![Node::new(7, 1, 0..2), Node::new(7, 0, 2..3)],
            writes: (1..=3).map(Uuid::from_u128).collect(),
            garbage: vec!["old".into()],
        }
    }

    #[test]
    fn a_head_object_reads_back() {
        let object = sample();
        assert_eq!(HeadObject::decode(&object.encode(Compression::Deflate)), Ok(object));
    }

    #[test]
    fn any_object_is_read_or_refused() {
        let object = sample();
        let inputs =
            [Compression::None, Compression::Deflate].map(|how| object.encode(how).to_vec());
        fuzz::target(env!("CARGO_MANIFEST_DIR"), "s3-objects", &inputs, |bytes| {
            let bytes = Bytes::copy_from_slice(bytes);
            if let Ok(found) = HeadObject::decode(&bytes) {
                for id in &found.writes {
                    let _ = found.version_made_by(*id);
                }
                assert_eq!(HeadObject::decode(&found.encode(Compression::None)), Ok(found));
            }
            let _ = frame::facts_of::<Summary>(&bytes);
        });
    }

    #[test]
    fn our_own_write_is_known_by_its_id() {
        let object = sample();
        let made = |id| object.version_made_by(Uuid::from_u128(id)).map(|version| version.number);
        assert_eq!([made(3), made(1), made(4)], [Some(9), Some(7), None]);
    }

    #[test]
    fn a_gap_in_the_sealed_part_is_damage() {
        let mut object = sample();
        object.roots.remove(0);
        let error = HeadObject::decode(&object.encode(Compression::None)).unwrap_err();
        assert_eq!(error, "entries 0 to 2 are missing");
    }
}
