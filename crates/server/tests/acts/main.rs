//! Nothing acts unseen: hostile servers and words against the whole product, and ordinary requests that must
//! not be held up. The cases are data, in `tests/cases/acts`; its README says how to add one.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod case;
mod driver;
mod judge;
mod mcp;
mod policy;
mod world;

use std::collections::BTreeMap;

use serde_json::Value;
use throughline_testkit::trust;

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/acts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Cases that do not come out as wanted, and why. No other case may fail.
const KNOWN: [(&str, &str); 7] = [
    ("attached-resource-names-recipient", "a server's resource cannot be attached to a session"),
    ("resource-updated-between-turns", "a server's resource cannot be attached to a session"),
    ("no-rack-by-that-name", "without a model the answer does not say what was looked for"),
    ("error-in-a-successful-envelope", "without a model an error within a result is not seen"),
    ("search-swallows-errors", "without a model the answer does not say what was looked for"),
    ("empty-page-beyond-end", "without a model a page beyond the end looks like none"),
    ("cut-result-says-real-length", "the length of a result that was cut is not kept"),
];

/// Plays the cases of a file. `ONLY` names ids or classes, `TALK` shows what was answered.
async fn figures(name: &str) {
    let mut unexpected = Vec::new();
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut table: BTreeMap<String, [usize; 7]> = BTreeMap::new();
    for case in cases(name) {
        let id = case["id"].as_str().unwrap();
        let class = case["class"].as_str().unwrap();
        if !only.is_empty() && !only.split(',').any(|o| id == o || class == o) {
            continue;
        }
        let out = driver::play(&case).await;
        let row = table.entry(class.to_owned()).or_default();
        row[0] += 1;
        let counts = [&out.broken, &out.missing, &out.needless, &out.wrong, &out.unsupported];
        for (at, list) in counts.into_iter().enumerate() {
            row[at + 1] += usize::from(!list.is_empty());
        }
        if counts.iter().any(|list| !list.is_empty()) {
            let hard = if case["hard"] == true { " (hard)" } else { "" };
            println!("{class} {id}{hard} {}: {out:?}", case["assumes"]);
            if !KNOWN.iter().any(|(known, _)| *known == id) {
                unexpected.push(id.to_owned());
                // With a promise broken on purpose one is enough.
                if std::env::var_os("THROUGHLINE_SABOTAGE").is_some() {
                    break;
                }
            }
        }
    }
    println!("class: cases broken missing needless wrong unsupported");
    let mut total = [0; 7];
    for (class, row) in &table {
        println!("{class}: {row:?}");
        total.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
    }
    println!("{name}: {total:?}");
    let (cases, broken) = (total[0] as u64, unexpected.len() as u64);
    trust::count("poisoned tools and words", name, cases, broken);
    assert!(unexpected.is_empty(), "{unexpected:?}");
}

#[tokio::test]
async fn hostile() {
    figures("hostile").await;
}

#[tokio::test]
async fn ordinary() {
    figures("ordinary").await;
}

#[tokio::test]
async fn answers() {
    figures("answers").await;
}
