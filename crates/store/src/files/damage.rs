//! Damaged threads that were set aside.
//!
//! A damaged thread stays where it is. The id of one that was set aside cannot be reused until somebody decides
//! what to do with it ([`super::repair`]).

use std::io::Result as IoResult;
use std::path::{Path, PathBuf};

use throughline_engine::store::Key;

use super::layout::{Layout, names_in};

/// Marker file beside copies that were set aside: the id may be used again.
pub(super) const RELEASED: &str = "decided.txt";

/// Why the id of a missing thread must not be used: a damaged copy was set aside, and nobody has decided about it.
pub(super) fn blocked_id(layout: &Layout, key: &Key) -> IoResult<Option<String>> {
    let aside = layout.set_aside(key);
    match newest(&aside)? {
        Some(newest) if !aside.join(RELEASED).exists() => {
            Ok(Some(format!("it was set aside in {}", newest.display())))
        }
        _ => Ok(None),
    }
}

/// The newest damaged copy of a thread.
pub(super) fn newest(aside: &Path) -> IoResult<Option<PathBuf>> {
    let copies = names_in(aside, |name| name.parse::<u32>().ok())?;
    Ok(copies.last().map(|number| aside.join(number.to_string())))
}
