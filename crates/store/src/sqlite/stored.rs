//! How heads and entries are encoded in their columns: plain, compressed, or as a delta.
//!
//! A large head changes little from turn to turn. So `head_base` holds a complete head, written now and then, and
//! the thread's row holds the delta against it. Only turns write deltas: any other change may remove something from
//! the head, and then a new base is written, so that nothing of the old one remains.
//!
//! Invariant: checksums cover the original bytes, not the encoded ones.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::store::Change;

use super::apply::Failure;
use super::read::damaged;
use super::row::{checksum, count};
use crate::compress::{Base, Dictionary, compress, decompress, original_size};
use crate::limit::{ENTRY_BYTES_MAX, HEAD_BYTES_MAX};

/// Heads smaller than this are never stored as deltas.
const DELTA_HEAD_BYTES_MIN: usize = 1024;
/// A longer delta causes a new base. A larger limit means fewer complete heads, but more bytes written with each
/// turn.
const DELTA_BYTES_MAX: usize = 1536;

/// Maximum size of a zstd frame header, which states the uncompressed size.
pub(super) const FRAME_HEADER_BYTES: i64 = 18;

const PLAIN: i64 = 0;
/// Without a dictionary; written by schema version 2.
const COMPRESSED: i64 = 1;
const DELTA: i64 = 2;
const COMPRESSED_AS_RECORD: i64 = 3;

/// The content of a column and its encoding.
pub(super) struct Stored<'a> {
    pub form: i64,
    pub bytes: Cow<'a, [u8]>,
}

impl Stored<'_> {
    /// Encodes an entry, or a head without a base.
    pub(super) fn whole(bytes: &[u8]) -> Stored<'_> {
        match compress(bytes) {
            Some(compressed) => Stored { form: COMPRESSED_AS_RECORD, bytes: compressed.into() },
            None => Stored { form: PLAIN, bytes: bytes.into() },
        }
    }

    /// Encodes the head of `thread`, currently stored in the form `before`; updates or removes its base.
    pub(super) fn head<'a>(
        connection: &Connection,
        thread: i64,
        before: i64,
        change: &'a Change,
    ) -> Result<Stored<'a>, Failure> {
        let head = &change.head[..];
        let is_turn = !change.append.is_empty() && change.overwrite.is_empty();
        if before == DELTA && is_turn {
            let kept = delta_to_base(connection, thread, head)?;
            if let Some(bytes) = kept.filter(|bytes| bytes.len() <= DELTA_BYTES_MAX) {
                return Ok(Stored { form: DELTA, bytes: bytes.into() });
            }
        }
        let as_delta = || Base::new(head)?.delta(head);
        let kept = (head.len() >= DELTA_HEAD_BYTES_MIN).then(as_delta).flatten();
        if kept.is_some() {
            let base = Stored::whole(head);
            connection
                .prepare_cached(
                    "INSERT INTO head_base (thread, form, bytes) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET form = ?2, bytes = ?3",
                )?
                .execute(params![thread, base.form, &base.bytes[..]])?;
        } else if before == DELTA {
            connection
                .prepare_cached("DELETE FROM head_base WHERE thread = ?1")?
                .execute([thread])?;
        }
        Ok(match kept {
            Some(bytes) => Stored { form: DELTA, bytes: bytes.into() },
            None => Stored::whole(head),
        })
    }
}

/// Bases prepared by a writer; a full cache is emptied.
const BASES_MAX: usize = 32;

/// A base as stored, and prepared for deltas.
struct PreparedBase {
    stored: Vec<u8>,
    base: Option<Base>,
}

thread_local! {
    /// Prepared bases of this thread by thread id. Preparing one costs more than a delta.
    static BASES: RefCell<HashMap<i64, PreparedBase>> = RefCell::default();
}

/// Encodes `head` as a delta against the stored base of `thread`.
fn delta_to_base(
    connection: &Connection,
    thread: i64,
    head: &[u8],
) -> Result<Option<Vec<u8>>, Failure> {
    let unreadable = || damaged(format!("the head of thread {thread}"), "its base cannot be read");
    let delta = connection
        .prepare_cached("SELECT form, bytes FROM head_base WHERE thread = ?1")?
        .query_row([thread], |row| {
            let (form, stored) = (row.get(0)?, row.get_ref(1)?.as_blob()?);
            Ok(BASES.with_borrow_mut(|bases| {
                // Another process may have written another base.
                if bases.get(&thread).is_none_or(|known| known.stored != stored) {
                    if bases.len() >= BASES_MAX {
                        bases.clear();
                    }
                    let whole = restore(form, stored, None, HEAD_BYTES_MAX)?;
                    let base = Base::new(&whole);
                    bases.insert(thread, PreparedBase { stored: stored.to_vec(), base });
                }
                Some(bases.get(&thread)?.base.as_ref().and_then(|base| base.delta(head)))
            }))
        })
        .optional()?;
    delta.flatten().ok_or_else(unreadable)
}

/// Decodes the content of a column; `None` if it is damaged.
fn restore(form: i64, bytes: &[u8], base: Option<&[u8]>, limit: usize) -> Option<Vec<u8>> {
    match form {
        PLAIN => Some(bytes.to_vec()),
        COMPRESSED => decompress(Dictionary::None, bytes, limit),
        COMPRESSED_AS_RECORD => decompress(Dictionary::Records, bytes, limit),
        DELTA => decompress(Dictionary::Base(base?), bytes, limit),
        _ => None,
    }
}

/// The size of the original bytes. Reads the columns `form, length, start`, starting at `first`.
pub(super) fn original_bytes(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<u64> {
    let stored: u64 = count(row, first + 1)?;
    match row.get::<_, i64>(first)? {
        PLAIN => Ok(stored),
        _ => Ok(original_size(row.get_ref(first + 2)?.as_blob()?).unwrap_or(stored)),
    }
}

/// Reads an entry from the columns `form, sum, bytes`, starting at `first`; `None` if it is damaged.
pub(super) fn entry(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Option<Bytes>> {
    let (form, sum): (i64, i64) = (row.get(first)?, row.get(first + 1)?);
    let bytes = restore(form, row.get_ref(first + 2)?.as_blob()?, None, ENTRY_BYTES_MAX);
    Ok(bytes.filter(|bytes| checksum(bytes) == sum).map(Bytes::from))
}

/// Reads a head from the columns `form, sum, bytes, base form, base bytes`, starting at `first`; `None` if it is damaged.
pub(super) fn head(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Option<Bytes>> {
    let (form, sum): (i64, i64) = (row.get(first)?, row.get(first + 1)?);
    let base = match (row.get_ref(first + 3)?, row.get_ref(first + 4)?) {
        (ValueRef::Integer(form), ValueRef::Blob(bytes)) => {
            restore(form, bytes, None, HEAD_BYTES_MAX)
        }
        _ => None,
    };
    let bytes = row.get_ref(first + 2)?.as_blob()?;
    let whole = restore(form, bytes, base.as_deref(), HEAD_BYTES_MAX);
    Ok(whole.filter(|bytes| checksum(bytes) == sum).map(Bytes::from))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use throughline_engine::id::{TenantId, ThreadId, UserId};
    use throughline_engine::store::{Expected, Key, Kind, Scope, Version};

    use super::super::apply;
    use super::super::schema::{Purpose, connect};
    use super::*;

    struct Fixture {
        connection: Connection,
        key: Key,
        at: Version,
        _folder: tempfile::TempDir,
    }

    fn change(head: String, turn: bool, overwrite: bool) -> Change {
        Change {
            at: jiff::Timestamp::UNIX_EPOCH,
            head: head.into(),
            append: if turn { vec![Bytes::from("a turn")] } else { Vec::new() },
            overwrite: if overwrite { vec![(0, Bytes::from("erased"))] } else { Vec::new() },
            expires_at: None,
            write_id: uuid::Uuid::now_v7(),
        }
    }

    /// A large head that contains `secret`.
    fn head(secret: &str, turn: u32) -> String {
        let things: Vec<String> = (0..300).map(|n| format!("thing {}", n * 7_919 % 997)).collect();
        format!("turn {turn}; {}; about {secret}", things.join(", "))
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("stored.db");
            let connection = connect(&path, Purpose::Write, Duration::from_secs(1)).unwrap();
            let scope =
                Scope { tenant: TenantId::new("t").unwrap(), user: UserId::new("u").unwrap() };
            let key = Key { scope, kind: Kind::Session, id: ThreadId::new("s").unwrap() };
            let made = change("{}".into(), false, false);
            let at = apply::commit(&connection, &key, Expected::Absent, &made).unwrap();
            Self { connection, key, at, _folder: folder }
        }

        fn commit(&mut self, change: &Change) {
            let expected = Expected::At(self.at);
            self.at = apply::commit(&self.connection, &self.key, expected, change).unwrap();
        }

        /// The decoded base, and the size of the head's own column.
        fn stored(&self) -> (Option<String>, i64) {
            let asked = "SELECT length(head), head_base.form, head_base.bytes FROM thread
                         LEFT JOIN head_base ON head_base.thread = thread.id";
            self.connection
                .query_row(asked, [], |row| {
                    let base: Option<Vec<u8>> = row.get(2)?;
                    let form: Option<i64> = row.get(1)?;
                    let whole = base.zip(form).and_then(|(b, f)| restore(f, &b, None, 1 << 20));
                    Ok((whole.map(|bytes| String::from_utf8(bytes).unwrap()), row.get(0)?))
                })
                .unwrap()
        }
    }

    #[test]
    fn a_turn_writes_what_changed_and_the_whole_stays() {
        let mut fixture = Fixture::new();
        fixture.commit(&change(head("tulips", 1), true, false));
        fixture.commit(&change(head("tulips", 2), true, false));
        let (base, bytes) = fixture.stored();
        assert_eq!(base, Some(head("tulips", 1)));
        assert!(bytes < 100, "{bytes} bytes for a turn");
    }

    #[test]
    fn an_edit_or_an_erasure_leaves_nothing_of_the_old_head() {
        for erases in [false, true] {
            let mut fixture = Fixture::new();
            fixture.commit(&change(head("tulips", 1), true, false));
            fixture.commit(&change(head("nothing", 1), erases, erases));
            assert_eq!(fixture.stored().0, Some(head("nothing", 1)));
        }
    }

    #[test]
    fn a_head_that_became_small_has_no_base() {
        let mut fixture = Fixture::new();
        fixture.commit(&change(head("tulips", 1), true, false));
        fixture.commit(&change("{}".into(), false, false));
        assert_eq!(fixture.stored().0, None);
    }

    #[test]
    fn a_head_that_changed_much_is_the_new_base() {
        let mut fixture = Fixture::new();
        fixture.commit(&change(head("tulips", 1), true, false));
        let other: String = (0..2_000_u64).map(|n| format!("{:x}", n * n * 7_919)).collect();
        fixture.commit(&change(other.clone(), true, false));
        assert_eq!(fixture.stored().0, Some(other));
    }
}
