//! Sorting and paging of listings, for backends that do it in memory.
//!
//! Invariant: the order is that of [`throughline_engine::store::Store::list`].

use throughline_engine::store::{ListedThread, Page};

use crate::limit::PAGE_THREADS_MAX;

/// Returns the requested page: most recently changed first, then by id.
pub(crate) fn page_of(mut found: Vec<ListedThread>, page: &Page) -> Vec<ListedThread> {
    if let Some(mark) = &page.after {
        found.retain(|listed| {
            listed.changed_at < mark.changed_at
                || (listed.changed_at == mark.changed_at && listed.key.id > mark.id)
        });
    }
    found.sort_by(|a, b| b.changed_at.cmp(&a.changed_at).then_with(|| a.key.id.cmp(&b.key.id)));
    found.truncate(page.limit.min(PAGE_THREADS_MAX));
    found
}
