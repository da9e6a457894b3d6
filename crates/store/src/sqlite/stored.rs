//! How heads and entries stand in their columns: as they are, compressed, or as a difference.
//!
//! A head of some size changes little with a turn. So the whole of it is in `head_base`, written now and then, and
//! its row has the difference to that. Only turns write differences: whatever else changes a head may take something
//! out of it, and then the whole is written anew, so that nothing of the old one stays.
//!
//! Invariant: checksums are of the bytes that the engine gave, not of what stands in the column.

use std::borrow::Cow;

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};
use throughline_engine::store::Change;

use super::apply::Refusal;
use super::read::damaged;
use super::row::{checksum, count};
use crate::compress::{compress, decompress, difference, plain_bytes};
use crate::limit::{ENTRY_BYTES_MAX, HEAD_BYTES_MAX};

/// Heads below this size are written whole.
const WHOLE_BYTES: usize = 1024;
/// A longer difference makes a new base. The larger it may be, the seldomer the whole is written, and the more is
/// written with each turn.
const DIFFERENCE_BYTES_MAX: usize = 1536;

/// Bytes at the start of compressed ones that tell how many there were.
pub(super) const FRAME_HEADER_BYTES: i64 = 18;

const PLAIN: i64 = 0;
const COMPRESSED: i64 = 1;
const DIFFERENCE: i64 = 2;

/// A column's bytes and its form.
pub(super) struct Stored<'a> {
    pub form: i64,
    pub bytes: Cow<'a, [u8]>,
}

impl Stored<'_> {
    /// An entry, or a head without a base.
    pub(super) fn whole(bytes: &[u8]) -> Stored<'_> {
        match compress(bytes) {
            Some(compressed) => Stored { form: COMPRESSED, bytes: compressed.into() },
            None => Stored { form: PLAIN, bytes: bytes.into() },
        }
    }

    /// The head of `thread`, which is stored in the form `before`; writes or removes its base where that is due.
    pub(super) fn head<'a>(
        connection: &Connection,
        thread: i64,
        before: i64,
        change: &'a Change,
    ) -> Result<Stored<'a>, Refusal> {
        let head = &change.head[..];
        let as_difference = |base: &[u8]| {
            difference(base, head).map(|bytes| Stored { form: DIFFERENCE, bytes: bytes.into() })
        };
        let is_turn = !change.append.is_empty() && change.overwrite.is_empty();
        if before == DIFFERENCE && is_turn {
            let kept = as_difference(&base_of(connection, thread)?);
            if let Some(kept) = kept.filter(|kept| kept.bytes.len() <= DIFFERENCE_BYTES_MAX) {
                return Ok(kept);
            }
        }
        let kept = (head.len() >= WHOLE_BYTES).then(|| as_difference(head)).flatten();
        if kept.is_some() {
            let base = Stored::whole(head);
            connection
                .prepare_cached(
                    "INSERT INTO head_base (thread, form, bytes) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET form = ?2, bytes = ?3",
                )?
                .execute(params![thread, base.form, &base.bytes[..]])?;
        } else if before == DIFFERENCE {
            connection
                .prepare_cached("DELETE FROM head_base WHERE thread = ?1")?
                .execute([thread])?;
        }
        Ok(kept.unwrap_or_else(|| Stored::whole(head)))
    }
}

fn base_of(connection: &Connection, thread: i64) -> Result<Vec<u8>, Refusal> {
    let base: Option<(i64, Vec<u8>)> = connection
        .prepare_cached("SELECT form, bytes FROM head_base WHERE thread = ?1")?
        .query_row([thread], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let whole = base.and_then(|(form, bytes)| restore(form, &bytes, None, HEAD_BYTES_MAX));
    whole.ok_or_else(|| damaged(format!("the head of thread {thread}"), "its base cannot be read"))
}

/// The bytes that were stored; none where they cannot be restored.
fn restore(form: i64, bytes: &[u8], base: Option<&[u8]>, limit: usize) -> Option<Vec<u8>> {
    match form {
        PLAIN => Some(bytes.to_vec()),
        COMPRESSED => decompress(None, bytes, limit).ok(),
        DIFFERENCE => decompress(Some(base?), bytes, limit).ok(),
        _ => None,
    }
}

/// How many bytes the engine gave, from the columns `form, length, start` from `first` on.
pub(super) fn given_bytes(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<u64> {
    let stored: u64 = count(row, first + 1)?;
    match row.get::<_, i64>(first)? {
        PLAIN => Ok(stored),
        _ => Ok(plain_bytes(row.get_ref(first + 2)?.as_blob()?).unwrap_or(stored)),
    }
}

/// An entry from the columns `form, sum, bytes` from `first` on; none where it is damaged.
pub(super) fn entry(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Option<Bytes>> {
    let (form, sum): (i64, i64) = (row.get(first)?, row.get(first + 1)?);
    let bytes = restore(form, row.get_ref(first + 2)?.as_blob()?, None, ENTRY_BYTES_MAX);
    Ok(bytes.filter(|bytes| checksum(bytes) == sum).map(Bytes::from))
}

/// A head from the columns `form, sum, bytes, base's form, base's bytes` from `first` on; none where it is damaged.
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

    struct Place {
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

    /// A head of some size that names `secret`.
    fn head(secret: &str, turn: u32) -> String {
        let things: Vec<String> = (0..300).map(|n| format!("thing {}", n * 7_919 % 997)).collect();
        format!("turn {turn}; {}; about {secret}", things.join(", "))
    }

    impl Place {
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

        /// The base, and the bytes in the head's own column.
        fn kept(&self) -> (Option<String>, i64) {
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
        let mut place = Place::new();
        place.commit(&change(head("tulips", 1), true, false));
        place.commit(&change(head("tulips", 2), true, false));
        let (base, bytes) = place.kept();
        assert_eq!(base, Some(head("tulips", 1)));
        assert!(bytes < 100, "{bytes} bytes for a turn");
    }

    #[test]
    fn an_edit_or_an_erasure_leaves_nothing_of_the_old_head() {
        for erases in [false, true] {
            let mut place = Place::new();
            place.commit(&change(head("tulips", 1), true, false));
            place.commit(&change(head("nothing", 1), erases, erases));
            assert_eq!(place.kept().0, Some(head("nothing", 1)));
        }
    }

    #[test]
    fn a_head_that_became_small_has_no_base() {
        let mut place = Place::new();
        place.commit(&change(head("tulips", 1), true, false));
        place.commit(&change("{}".into(), false, false));
        assert_eq!(place.kept().0, None);
    }

    #[test]
    fn a_head_that_changed_much_is_the_new_base() {
        let mut place = Place::new();
        place.commit(&change(head("tulips", 1), true, false));
        let other: String = (0..2_000_u64).map(|n| format!("{:x}", n * n * 7_919)).collect();
        place.commit(&change(other.clone(), true, false));
        assert_eq!(place.kept().0, Some(other));
    }
}
