//! Fits the weights by which `fact::gather` decides about clauses that have no form.
//!
//! `cargo run -p throughline-engine --example fit_facts` reads the labelled messages of `tests/data/facts*.jsonl`, prints
//! precision and recall of each set with weights fitted to all the others, and writes `lexicon/facts/weights-*.tsv`.
//! `-- --check MESSAGES` instead counts the statements in a JSON array of messages that were not fitted to.
//!
//! Invariant: the same data gives the same files; nothing is random.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use throughline_engine::fact::gather::{Candidate, candidates, stated};

/// Sets of labelled messages. The last one is only fitted to, and never counted: its author wrote the code.
const SETS: [&str; 7] = [
    "facts",
    "facts-further",
    "facts-blind",
    "facts-third",
    "facts-fourth",
    "facts-fifth",
    "facts-training",
];
/// Languages with weights, by their position in the list of languages.
const LANGUAGES: [(&str, usize); 2] = [("en", 0), ("de", 1)];
/// The precision that the weights alone must have on sets they were not fitted to: with the forms, which also err, it is
/// 0.95.
const PRECISION_MIN: f64 = 0.965;
/// A clue must have been seen in so many clauses.
const CLAUSES_MIN: usize = 2;
/// Weights nearer to zero are not written.
const WEIGHT_MIN: f64 = 0.4;
const EPOCHS: usize = 60;
/// How strongly weights are drawn to zero.
const DECAY: f64 = 1.0;
/// How much the clues of a clause weigh together.
const SCALE: f64 = 5.0;

#[derive(Deserialize)]
struct Row {
    text: String,
    lang: String,
    #[serde(default)]
    facts: Vec<Label>,
    #[serde(default)]
    doubtful: bool,
}

#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    says: String,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    optional: bool,
}

/// A labelled message with its clauses.
struct Message {
    set: usize,
    row: Row,
    /// What was asked to be remembered, which needs no weights.
    explicit: Vec<String>,
    clauses: Vec<(Candidate, bool)>,
}

/// Weights of clues; the empty one is added to every clause.
#[derive(Default)]
struct Model(HashMap<String, f64>);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file] = arguments.as_slice()
        && flag == "--check"
    {
        return count(Path::new(file));
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for (code, language) in LANGUAGES {
        let messages = messages(&folder, code, language);
        let models: Vec<Model> =
            (0..SETS.len()).map(|left_out| fit(&messages, Some(left_out))).collect();
        let threshold = report(code, &messages, &models);
        let path = folder.join(format!("lexicon/facts/weights-{code}.tsv"));
        let text = written(&fit(&messages, None), threshold);
        std::fs::write(&path, text).expect("the folder can be written");
        println!("{}", path.display());
    }
}

fn count(file: &Path) {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let messages: Vec<String> = serde_json::from_str(&text).expect("the file is a list of texts");
    let found = messages.iter().flat_map(|message| stated(message));
    let found: Vec<String> = found.map(|it| format!("{:?} {}", it.kind, it.text)).collect();
    println!("{}\n{} in {} messages", found.join("\n"), found.len(), messages.len());
}

fn messages(folder: &Path, code: &str, language: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    for (set, name) in SETS.iter().enumerate() {
        let path = folder.join(format!("tests/data/{name}.jsonl"));
        let text = std::fs::read_to_string(path).expect("the set is in the repository");
        let rows = text.lines().map(|line| serde_json::from_str::<Row>(line).expect("a row"));
        for row in rows.filter(|row| row.lang == code && !row.doubtful) {
            let explicit = stated(&row.text).into_iter().filter(|it| it.explicit);
            let explicit = explicit.map(|it| it.text).collect();
            let clauses = candidates(&row.text, language).into_iter();
            let clauses = clauses.map(|clause| {
                let is_fact = row.facts.iter().any(|label| overlaps(&clause.text, label));
                (clause, is_fact)
            });
            messages.push(Message { set, explicit, clauses: clauses.collect(), row });
        }
    }
    messages
}

/// As in `tests/facts.rs`.
fn overlaps(text: &str, label: &Label) -> bool {
    let text = text.to_lowercase();
    let says = label.says.to_lowercase();
    let says = says.trim_end_matches(['.', '!']);
    match label.words.is_empty() {
        true => text.contains(says) || says.contains(&text),
        false => label.words.iter().all(|word| text.contains(&word.to_lowercase())),
    }
}

/// Logistic regression, fitted with steps that get smaller for clues seen often.
fn fit(messages: &[Message], left_out: Option<usize>) -> Model {
    let clauses = messages.iter().filter(|it| Some(it.set) != left_out);
    let clauses: Vec<&(Candidate, bool)> = clauses.flat_map(|it| &it.clauses).collect();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for clue in clauses.iter().flat_map(|(clause, _)| &clause.clues) {
        *seen.entry(clue).or_default() += 1;
    }
    let mut numbers: HashMap<&str, usize> = HashMap::from([("", 0)]);
    let mut rows: Vec<(Vec<usize>, f64, f64)> = Vec::new();
    for (clause, is_fact) in clauses {
        let known = clause.clues.iter().filter(|clue| seen[clue.as_str()] >= CLAUSES_MIN);
        let clues = known.map(|clue| {
            let next = numbers.len();
            *numbers.entry(clue).or_insert(next)
        });
        rows.push((clues.collect(), size(clause), f64::from(u8::from(*is_fact))));
    }
    let (mut weights, mut steps) = (vec![0.0; numbers.len()], vec![1e-6; numbers.len()]);
    // A clue is drawn to zero once per round, however rare it is.
    let mut decay = vec![0.0; numbers.len()];
    for (clue, number) in &numbers {
        decay[*number] = seen.get(clue).map_or(0.0, |count| DECAY / *count as f64);
    }
    for epoch in 0..EPOCHS {
        for turn in 0..rows.len() {
            // A fixed order that mixes the sets.
            let (clues, size, is_fact) = &rows[(turn * 7_919 + epoch * 31) % rows.len()];
            let sum: f64 = clues.iter().map(|clue| weights[*clue]).sum();
            let error = 1.0 / (1.0 + (-(weights[0] + sum * size)).exp()) - is_fact;
            for (clue, gradient) in
                clues.iter().map(|clue| (*clue, error * size)).chain([(0, error)])
            {
                let gradient = gradient + decay[clue] * weights[clue];
                steps[clue] += gradient * gradient;
                weights[clue] -= 0.2 * gradient / f64::sqrt(steps[clue]);
            }
        }
    }
    Model(numbers.into_iter().map(|(clue, number)| (clue.to_owned(), weights[number])).collect())
}

/// What a clue counts in a clause: the more there are, the less.
fn size(clause: &Candidate) -> f64 {
    SCALE / f64::sqrt(clause.clues.len().max(1) as f64)
}

impl Model {
    /// The logarithm of the odds.
    fn weight(&self, clause: &Candidate) -> f64 {
        let kept = |weight: &&f64| weight.abs() * SCALE >= WEIGHT_MIN;
        let known = clause.clues.iter().filter_map(|clue| self.0.get(clue).filter(kept));
        self.0.get("").copied().unwrap_or_default() + known.sum::<f64>() * size(clause)
    }
}

/// Prints how each set fares with the weights that were fitted to the others, and answers the lowest threshold with
/// enough precision.
fn report(code: &str, messages: &[Message], models: &[Model]) -> f64 {
    let counted = || messages.iter().filter(|it| it.set + 1 < SETS.len());
    let mut chosen = f64::INFINITY;
    for step in (0..=40).rev() {
        let threshold = f64::from(step) / 10.0;
        let mut tallies: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
        for message in counted() {
            let open = message.clauses.iter().filter(|(clause, _)| {
                clause.is_open && models[message.set].weight(clause) >= threshold
            });
            let open = open.map(|(clause, _)| clause.text.clone());
            let found: Vec<String> = message.explicit.iter().cloned().chain(open).collect();
            let labels = &message.row.facts;
            let wanted = labels.iter().filter(|label| !label.optional);
            let is_found = |label: &&Label| found.iter().any(|it| overlaps(it, label));
            let is_right = |it: &&String| labels.iter().any(|label| overlaps(it, label));
            let tally = [
                found.len(),
                found.iter().filter(is_right).count(),
                wanted.clone().count(),
                wanted.filter(is_found).count(),
            ];
            for key in [SETS[message.set], "all"] {
                let sums = tallies.entry(key).or_default();
                sums.iter_mut().zip(tally).for_each(|(sum, count)| *sum += count);
            }
        }
        let share = |[found, right, wanted, recalled]: [usize; 4]| {
            let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
            (share(right, found), share(recalled, wanted))
        };
        let (precision, recall) = share(tallies["all"]);
        let shown = tallies.iter().map(|(set, tally)| {
            let (precision, recall) = share(*tally);
            format!("{set} {precision:.3}/{recall:.3}")
        });
        if step % 5 == 0 {
            println!("{code} {threshold:.1}: {}", shown.collect::<Vec<_>>().join(", "));
        }
        if precision >= PRECISION_MIN {
            chosen = threshold;
        }
        if precision < PRECISION_MIN - 0.05 && recall > 0.5 {
            break;
        }
    }
    println!("{code}: threshold {chosen:.1}");
    chosen
}

fn written(model: &Model, threshold: f64) -> String {
    let thousandths = |weight: f64| (weight * 1_000.0).round() as i64;
    let mut lines: Vec<(&str, i64)> = model
        .0
        .iter()
        .filter(|(clue, weight)| !clue.is_empty() && weight.abs() * SCALE >= WEIGHT_MIN)
        .map(|(clue, weight)| (clue.as_str(), thousandths(weight * SCALE)))
        .collect();
    lines.sort_unstable();
    let head = format!(
        "# Fitted by `cargo run -p throughline-engine --example fit_facts`; do not edit. A weight in thousandths, a tab, a clue.\n{}\tbias\n{}\tthreshold\n",
        thousandths(model.0.get("").copied().unwrap_or_default()),
        thousandths(threshold),
    );
    let lines = lines.into_iter().map(|(clue, weight)| format!("{weight}\t{clue}\n"));
    head + &lines.collect::<String>()
}
