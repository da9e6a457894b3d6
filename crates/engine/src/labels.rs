//! Bounds the number of metric label values that come from outside.
//!
//! Every label value creates a series that lives as long as the process, so tool and model names, which servers
//! and clients choose, are counted by name only up to a limit. Later ones count as `other`.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Maximum values counted by name, per label.
pub const VALUES_MAX: usize = 200;

static KNOWN: LazyLock<Mutex<HashMap<&'static str, HashSet<String>>>> =
    LazyLock::new(Mutex::default);

/// `value`, or `other` once the label has [`VALUES_MAX`] values.
pub fn bounded(label: &'static str, value: &str) -> String {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let values = known.entry(label).or_default();
    if values.contains(value) {
        return value.to_owned();
    }
    if values.len() >= VALUES_MAX {
        return "other".to_owned();
    }
    values.insert(value.to_owned());
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_a_bounded_number_of_values() {
        let values: HashSet<String> =
            (0..VALUES_MAX * 2).map(|number| bounded("test", &number.to_string())).collect();
        assert_eq!(values.len(), VALUES_MAX + 1);
        assert!(values.contains("other"));
        assert_eq!(bounded("test", "7"), "7", "what is known stays known");
    }
}
