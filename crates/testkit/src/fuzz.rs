//! Fuzz targets on the stable toolchain: mutated inputs from a kept corpus, and any panic is a finding.
//!
//! A target is a test that calls [`target`] with a name, some inputs that are right, and the code that reads them. The
//! usual run takes 4,000 cases or two seconds, whichever comes first; `THROUGHLINE_FUZZ_SECONDS=60` asks for a time instead. An input
//! that makes the code panic is written to the corpus, `corpus/NAME/` beside the crate's `Cargo.toml`, and tried first from then on.
//!
//! There is no feedback from coverage: that takes a nightly compiler. Mutations know numbers, strings and
//! brackets instead, since nearly everything that is read here is JSON, TOML or text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::seeded::Seeded;
use crate::trust;

/// Names the seconds that each target runs.
const SECONDS: &str = "THROUGHLINE_FUZZ_SECONDS";
/// Cases of a usual run, and the seconds after which it ends all the same.
const CASES: u64 = 4_000;
const SECONDS_USUAL: u64 = 2;
/// Inputs never grow beyond this.
const BYTES_MAX: usize = 64 * 1024;
/// Any number will do.
const SEED: u64 = 20_261_116;

/// Numbers at which code breaks.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "16",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "0.1",
];
/// Pieces of the formats that are read here, and characters at which text breaks.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "\"\"",
    "\n",
    "\r\n",
    "\0",
    "---\n",
    "```",
    "\\u0000",
    "\\ud800",
    "\\",
    "\u{feff}",
    "é",
    "e\u{301}",
    "设备",
    "🙂",
    "\u{202e}",
    "İ",
    "ß",
    "ﬁ",
    "*",
    "AND",
    "NEAR(",
    "'",
    "%",
    "$ref",
    "<script>",
    "../",
    "[[[[[[[[",
    "1970-01-01T00:00:00Z",
];

/// Runs `read` on `inputs`, the corpus of `name` below `folder` (the crate's), and on mutations of both.
///
/// # Panics
///
/// With the path of the kept input, when `read` panics on one.
pub fn target(folder: &str, name: &str, inputs: &[Vec<u8>], read: impl Fn(&[u8])) {
    let corpus = Path::new(folder).join("corpus").join(name);
    let mut known: Vec<Vec<u8>> = kept(&corpus);
    known.extend(inputs.iter().cloned());
    assert!(!known.is_empty(), "{name} has nothing to begin with");
    let mut cases = 0;
    let mut run = |input: &[u8]| {
        cases += 1;
        if catch_unwind(AssertUnwindSafe(|| read(input))).is_err() {
            trust::count("fuzz", name, cases, 1);
            panic!("{name} panics on {}", keep(&corpus, input).display());
        }
    };
    for input in &known {
        run(input);
    }
    let mut seeded = Seeded::new(trust::seed(SEED));
    let asked = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(asked.unwrap_or(SECONDS_USUAL));
    let mut mutated = 0;
    while Instant::now() < end && (asked.is_some() || mutated < CASES) {
        mutated += 1;
        run(&mutation(&known, &mut seeded));
    }
    trust::count("fuzz", name, cases, 0);
}

/// [`target`] for code that reads text; bytes that are none are replaced.
///
/// # Panics
///
/// As [`target`].
pub fn target_text(folder: &str, name: &str, inputs: &[&str], read: impl Fn(&str)) {
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    target(folder, name, &inputs, |bytes| read(&String::from_utf8_lossy(bytes)));
}

fn kept(corpus: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(corpus)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("the corpus can be read")).collect()
}

fn keep(corpus: &Path, input: &[u8]) -> PathBuf {
    std::fs::create_dir_all(corpus).expect("the corpus can be made");
    let mixed =
        input.iter().fold(0_u64, |sum, byte| Seeded::new(sum ^ u64::from(*byte)).next_u64());
    let path = corpus.join(format!("found-{mixed:016x}"));
    std::fs::write(&path, input).expect("the corpus can be written");
    path
}

/// One of the inputs, changed in one to eight places.
fn mutation(known: &[Vec<u8>], seeded: &mut Seeded) -> Vec<u8> {
    let mut input = seeded.one_of(known).clone();
    for _ in 0..=seeded.below(8) {
        change(&mut input, known, seeded);
    }
    input.truncate(BYTES_MAX);
    input
}

fn change(input: &mut Vec<u8>, known: &[Vec<u8>], seeded: &mut Seeded) {
    let at = seeded.below(input.len() as u64 + 1) as usize;
    let end = (at + seeded.below(24) as usize).min(input.len());
    match seeded.below(10) {
        0 if at < input.len() => input[at] ^= 1 << seeded.below(8),
        1 if at < input.len() => input[at] = seeded.below(256) as u8,
        2 => drop(input.drain(at..end)),
        3 => input.truncate(at),
        4 => {
            let copied = input[at..end].to_vec();
            let copies = copied.repeat(1 + seeded.below(40) as usize);
            input.splice(at..at, copies);
        }
        5 => {
            let other = seeded.one_of(known);
            let from = seeded.below(other.len() as u64 + 1) as usize;
            let to = (from + seeded.below(200) as usize).min(other.len());
            input.splice(at..end, other[from..to].iter().copied());
        }
        6 | 7 => replace_number(input, at, seeded),
        _ => drop(input.splice(at..at, seeded.one_of(&PIECES).bytes())),
    }
}

/// Replaces the first number behind `at`.
fn replace_number(input: &mut Vec<u8>, at: usize, seeded: &mut Seeded) {
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit) else { return };
    let start = at + start;
    let digits = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    input.splice(start..start + digits, seeded.one_of(&NUMBERS).bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_found_kept_and_tried_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().to_str().expect("a path");
        let run = || {
            let inputs = [br#"{"length":12}"#.to_vec()];
            let found = catch_unwind(|| {
                target(place, "t", &inputs, |input| {
                    let text = String::from_utf8_lossy(input);
                    assert!(!text.contains("18446744073709551615"));
                });
            });
            let error = found.expect_err("the number is tried");
            error.downcast_ref::<String>().expect("a sentence").clone()
        };
        let (first, second) = (run(), run());
        assert!(first.contains("t panics on") && first.contains("corpus/t/found-"), "{first}");
        assert_eq!(first, second);
        assert_eq!(kept(&folder.path().join("corpus/t")).len(), 1);
    }
}
