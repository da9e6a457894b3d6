//! The cost of a regular expression: its size with all repetitions expanded.
//!
//! An estimate, not a parser: it handles groups, classes, escapes and counts, which can make a short pattern
//! large (`((a{99}){99}){99}`). The limits of the compiled pattern catch what it misjudges.

use super::PATTERN_SIZE_MAX;

const BYTES_MAX: usize = 2_000;
/// Maximum nesting of groups.
const GROUPS_MAX: usize = 50;

/// Measures `pattern`; the error says which limit is exceeded.
pub(super) fn check(pattern: &str) -> Result<(), String> {
    if pattern.len() > BYTES_MAX {
        return Err(format!("a pattern in its schema is longer than {BYTES_MAX} bytes"));
    }
    let size = size(pattern).filter(|size| *size <= PATTERN_SIZE_MAX);
    match size {
        Some(_) => Ok(()),
        None => {
            let shown: String = pattern.chars().take(60).collect();
            Err(format!("the pattern {shown} in its schema is larger than {PATTERN_SIZE_MAX}"))
        }
    }
}

/// The number of atoms, each counted as often as it is repeated; `None` if groups are nested too deeply.
fn size(pattern: &str) -> Option<u64> {
    // The size of each open group, and of its last atom, which a repetition multiplies.
    let mut groups = vec![(0_u64, 0_u64)];
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let is_inside = groups.len() > 1;
        let (total, last) = groups.last_mut()?;
        match character {
            '(' => {
                groups.push((0, 0));
                if groups.len() > GROUPS_MAX {
                    return None;
                }
            }
            ')' if is_inside => {
                let (inner, _) = groups.pop()?;
                let (total, last) = groups.last_mut()?;
                *last = inner.max(1);
                *total = total.saturating_add(*last);
            }
            '{' => {
                let inside: String = characters.by_ref().take_while(|c| *c != '}').collect();
                let counts = inside.split(',').filter_map(|count| count.trim().parse::<u64>().ok());
                let times = counts.max().unwrap_or(1).max(1);
                let repeated = last.saturating_mul(times);
                *total = total.saturating_add(repeated - *last);
                *last = repeated;
            }
            '*' | '+' | '?' | '|' => {}
            _ => {
                match character {
                    '\\' => drop(characters.next()),
                    '[' => skip_class(&mut characters),
                    _ => {}
                }
                *last = 1;
                *total = total.saturating_add(1);
            }
        }
    }
    Some(groups.iter().fold(0, |sum: u64, (total, _)| sum.saturating_add(*total)))
}

fn skip_class(characters: &mut impl Iterator<Item = char>) {
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            ']' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_multiply() {
        for (pattern, expected) in [
            ("", 0),
            ("abc", 3),
            ("a{3}b", 4),
            ("(ab){5}", 10),
            ("((a{10}){10}){10}", 1_000),
            ("[a-z(]{2,63}", 63),
            (r"\(\{{4}", 5),
            ("a|b*c+", 3),
            ("^[0-9]{4}-[0-9]{2}$", 9),
            ("x{a}", 1),
        ] {
            assert_eq!(size(pattern), Some(expected), "{pattern}");
        }
    }
}
