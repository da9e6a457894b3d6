//! Maps ids of other programs to valid names.
//!
//! Clients choose ids freely, such as `user@x/1` or a path. A valid name is unchanged; any other id keeps its
//! plain characters and gets a hash, so that it always maps to the same name, and to no other id's.

use sha2::{Digest, Sha256};
use throughline_engine::id::NAME_CHARACTERS_MAX;

/// Characters of an id that are kept.
const SHOWN_CHARACTERS: usize = 40;
/// Length of the hash.
const HASH_BYTES: usize = 8;

/// The name of an id; `None` if empty.
pub fn name_of(id: &[u8]) -> Option<String> {
    let id = id.trim_ascii();
    if id.is_empty() {
        return None;
    }
    if id.iter().all(is_plain) && id[0] != b'.' && id.len() <= NAME_CHARACTERS_MAX {
        return Some(id.iter().map(|byte| char::from(*byte)).collect());
    }
    Some(hashed(id))
}

/// Like [`name_of`], for ids that somebody may choose to impersonate others: one that looks like a hashed name
/// is hashed itself.
pub fn distinct_name_of(id: &[u8]) -> Option<String> {
    let name = name_of(id)?;
    let end = name.rsplit('-').next().unwrap_or_default();
    let looks_hashed = end.len() == 2 * HASH_BYTES && end.bytes().all(|b| b.is_ascii_hexdigit());
    Some(if looks_hashed { hashed(id.trim_ascii()) } else { name })
}

fn hashed(id: &[u8]) -> String {
    let shown = id.iter().map(|byte| if is_plain(byte) { char::from(*byte) } else { '-' });
    let shown: String = shown.take(SHOWN_CHARACTERS).collect();
    let hash: String =
        Sha256::digest(id)[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", shown.trim_matches(['-', '.'])).trim_start_matches('-').to_owned()
}

fn is_plain(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use throughline_engine::id::SessionId;

    use super::*;

    #[test]
    fn every_id_has_a_valid_name_of_its_own() {
        assert_eq!(name_of(b"ada-1").as_deref(), Some("ada-1"));
        assert_eq!(name_of(b" "), None);
        let odd: [&[u8]; 7] = [
            b"user@x/1",
            b"user@x-1",
            b".hidden",
            b"..",
            b"\xff\xfe",
            "sеssion".as_bytes(),
            &[b'x'; 300],
        ];
        let names: Vec<String> = odd.iter().filter_map(|id| name_of(id)).collect();
        for (at, name) in names.iter().enumerate() {
            SessionId::new(name.clone()).expect("a valid name");
            assert!(!names[..at].contains(name), "{names:?}");
        }
        assert!(names[0].starts_with("user-x-1-"), "{names:?}");
    }

    #[test]
    fn a_chosen_id_never_gets_the_name_of_another() {
        let victim = distinct_name_of(b"ann@example.com").unwrap();
        assert_eq!(name_of(victim.as_bytes()).as_deref(), Some(victim.as_str()));
        assert_ne!(distinct_name_of(victim.as_bytes()).unwrap(), victim);
        assert_eq!(distinct_name_of(b"ann").as_deref(), Some("ann"));
        assert_eq!(distinct_name_of(b""), None);
    }
}
