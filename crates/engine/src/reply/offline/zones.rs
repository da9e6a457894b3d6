//! Time zones by the places people name: "Reykjavik" is Atlantic/Reykjavik, "Japan" Asia/Tokyo.
//!
//! Not here: times. Where a place is in several zones, only its zone of that name is known.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Maximum words of a place.
const WORDS_MAX: usize = 4;

const ZONES: &str = include_str!("../../../lexicon/zones.txt");

/// Zones by place in lower case.
static PLACES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let mut places = HashMap::new();
    for line in ZONES.lines().filter(|line| !line.starts_with('#')) {
        let (zone, others) = line.split_once(':').unwrap_or((line, ""));
        let own = zone.rsplit('/').next().unwrap_or(zone).replace('_', " ").to_lowercase();
        let others = others.split(',').map(str::trim).filter(|place| !place.is_empty());
        places.extend(others.map(|place| (place.to_owned(), zone)).chain([(own, zone)]));
    }
    places
});

/// The zone of a place.
pub(super) fn zone_of(place: &str) -> Option<&'static str> {
    PLACES.get(place.to_lowercase().as_str()).copied()
}

/// How many of these words name a place with a zone: the most.
pub(super) fn place_at<'w>(words: impl Iterator<Item = &'w str> + Clone) -> Option<usize> {
    (1..=WORDS_MAX).rev().find(|count| {
        let said: Vec<&str> = words.clone().take(*count).collect();
        said.len() == *count && PLACES.contains_key(&said.join(" "))
    })
}

/// A time of day as tools take it: "9am" is 09:00, "2:30 pm" 14:30.
pub(super) fn clock(text: &str) -> Option<String> {
    let text = text.to_lowercase().replace([' ', '.'], "");
    let (digits, half) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        _ => (text.as_str(), None),
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "00"));
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let hours = match half {
        Some(half) if (1..=12).contains(&hours) => hours % 12 + half,
        Some(_) => return None,
        None => hours,
    };
    (hours < 24 && minutes < 60).then(|| format!("{hours:02}:{minutes:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_zone() {
        assert_eq!(zone_of("Reykjavik"), Some("Atlantic/Reykjavik"));
        assert_eq!(zone_of("New York"), Some("America/New_York"));
        assert_eq!(zone_of("japan"), Some("Asia/Tokyo"));
        assert_eq!(zone_of("rack"), None);
        assert_eq!(place_at(["new", "york", "please"].into_iter()), Some(2));
    }

    #[test]
    fn a_time_is_written_with_hours_and_minutes() {
        let written = ["9am", "2:30 pm", "12am", "12 pm", "14:30"].map(clock);
        let expected = ["09:00", "14:30", "00:00", "12:00", "14:30"];
        assert_eq!(written, expected.map(|time| Some(time.to_owned())));
        assert_eq!(clock("25:00"), None);
    }
}
