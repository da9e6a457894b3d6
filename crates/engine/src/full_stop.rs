//! Whether a full stop ends a sentence.
//!
//! It does not after an abbreviation ("Dr. Grey") or a German ordinal number ("15. Juni", "am 3. und 4."). Other marks
//! always end one.

use std::sync::LazyLock;

use regex::Regex;

static ABBREVIATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:\b(?:dr|mr|mrs|ms|prof|st|no|nr|vs|e\.g|i\.e|z\.b|d\.h|u\.a|ca|approx|inc|ltd|str)|\b[a-z])\.$")
        .expect("the pattern is valid")
});

/// A number of one or two digits with a full stop.
static ORDINAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[0-9]{1,2}\.$").expect("the pattern is valid"));

/// What follows an ordinal number in a sentence: the name of a month, or a word that begins no sentence.
static AFTER_ORDINAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s+(?:\p{Ll}|(?i:jan|feb|m[äa]r|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc]))")
        .expect("the pattern is valid")
});

/// Whether the sentence goes on after the mark at the end of `before`.
pub(crate) fn stop_goes_on(before: &str, after: &str) -> bool {
    let is_date = || ORDINAL.is_match(before) && AFTER_ORDINAL.is_match(after);
    before.ends_with('.') && (ABBREVIATION.is_match(before) || is_date())
}
