//! Measures how often the tools that a task needs are found among many, by ranker, and how long that takes.
//!
//! `cargo run --release -p throughline-upstream --example tool_choice -- TOOLS.json`
//!
//! The file is `{tools: [{server, name, description, inputSchema}], tasks: [{query, tools: [name]}]}`, made from
//! LiveMCPBench. A task's recall is the share of its tools among the first k. A right tool is *given* if its definition is
//! declared, whole or shortened as a request has it; tools of the same name count as one.

mod measure;

use measure::{Times, mean, percent, row};
use serde::Deserialize;
use serde_json::Value;
use throughline_engine::limits::Limits;
use throughline_engine::search::bm25::WordIndex;
use throughline_engine::search::hybrid::Span;
use throughline_engine::search::words::stems;
use throughline_engine::search::{ItemIndex, tool_text};
use throughline_engine::tokens;
use throughline_engine::tool::{ToolDefinition, ToolName};
use throughline_engine::tool_choice::{self, Candidate, ToolOffer};
use throughline_engine::tool_spec::{brief_of, spec_of};
use throughline_upstream::embed::Embedded;

const CUTS: [usize; 6] = [1, 2, 3, 5, 10, 20];
const SIZES: [usize; 3] = [100, 1_000, 10_000];
const CANDIDATES: usize = 20;
const KEPT: usize = 5;
const THRESHOLD: f32 = 0.7;

#[derive(Deserialize)]
struct Data {
    tools: Vec<Tool>,
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    server: String,
    name: String,
    description: Option<String>,
    #[serde(default)]
    input_schema: Value,
}

#[derive(Deserialize)]
struct Task {
    query: String,
    tools: Vec<String>,
}

impl Tool {
    fn text(&self) -> String {
        let description = self.description.as_deref().unwrap_or_default();
        tool_text(&self.server, &self.name, description, &self.input_schema)
    }

    fn id(&self) -> ToolName {
        ToolName { server: self.server.clone(), name: self.name.clone() }
    }

    /// The cost of declaring it in `tokens_max` tokens, or whole (0).
    fn tokens(&self, tokens_max: u32) -> u32 {
        let definition = ToolDefinition {
            tool: self.id(),
            description: self.description.clone().unwrap_or_default(),
            input_schema: self.input_schema.clone(),
            ..ToolDefinition::default()
        };
        let spec = match tokens_max {
            0 => spec_of(&definition),
            _ => brief_of(&definition, tokens_max),
        };
        tokens::count(&serde_json::to_string(&spec).expect("a definition is JSON")) + 1
    }
}

struct Prepared {
    words: WordIndex,
    vectors: Vec<Vec<f32>>,
    ours: ItemIndex,
}

impl Prepared {
    fn new(tools: &[Tool]) -> Self {
        let mut prepared =
            Self { words: WordIndex::new(0.3), vectors: Vec::new(), ours: ItemIndex::default() };
        for (place, tool) in tools.iter().enumerate() {
            let text = tool.text();
            let vector = Embedded.vector(&text);
            prepared.words.set(place as u32, &stems(&text));
            let id = format!("tool/{}/{place}", tool.server);
            prepared.ours.upsert(&id, &text, &vector, "");
            prepared.vectors.push(vector);
        }
        prepared
    }

    fn rank(&self, ranker: &str, query: &str) -> Vec<usize> {
        let vector = Embedded.vector(query);
        let words =
            || self.words.score(&self.words.weigh_exactly(&stems(query)), self.vectors.len());
        let cosines = || -> Vec<f32> { self.vectors.iter().map(|v| dot(v, &vector)).collect() };
        let scores = match ranker {
            "BM25" => words(),
            "embedding" => cosines(),
            "formula" => {
                let (words, cosines) = (words(), cosines());
                let (word_span, cosine_span) =
                    (Span::of(words.iter().copied()), Span::of(cosines.iter().copied()));
                words
                    .iter()
                    .zip(&cosines)
                    .map(|(w, c)| 0.5 * word_span.place(*w) + 0.5 * cosine_span.place(*c))
                    .collect()
            }
            _ => {
                let hits = self.ours.rank(query, &vector, self.vectors.len(), &[]);
                let place = |id: &str| id.rsplit('/').next().and_then(|place| place.parse().ok());
                return hits.iter().filter_map(|hit| place(&hit.id)).collect();
            }
        };
        let mut places: Vec<usize> = (0..scores.len()).collect();
        places.sort_by(|left, right| scores[*right].total_cmp(&scores[*left]));
        places
    }
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn main() {
    let Some((hash, data)) = measure::read_data("a file of tools and tasks") else { return };
    let data: Data = serde_json::from_value(data).expect("tools and tasks as documented");
    let prepared = Prepared::new(&data.tools);
    println!("dataset SHA-256 {hash}; {} tools, {} tasks", data.tools.len(), data.tasks.len());
    println!("{}", row("ranker", CUTS.map(|cut| format!("R@{cut}"))));
    println!("{}", row("---", CUTS.map(|_| "---:".into())));
    for ranker in ["BM25", "embedding", "formula", "ours"] {
        let found: Vec<[f64; CUTS.len()]> = data
            .tasks
            .iter()
            .map(|task| recall(&data.tools, task, &prepared.rank(ranker, &task.query)))
            .collect();
        let cells = (0..CUTS.len()).map(|cut| percent(mean(found.iter().map(|found| found[cut]))));
        println!("{}", row(ranker, cells));
    }
    print_cuts(&data, &prepared);
    for tool_tokens in [0, 120, 80, Limits::default().tool_tokens, 40] {
        print_given(&data, &prepared, tool_tokens);
    }
    for size in SIZES {
        print_selection(&data, size);
    }
}

fn recall(tools: &[Tool], task: &Task, ranked: &[usize]) -> [f64; CUTS.len()] {
    let first = |wanted: &str| ranked.iter().position(|place| tools[*place].name == wanted);
    let found: Vec<usize> = task.tools.iter().filter_map(|wanted| first(wanted)).collect();
    CUTS.map(|cut| mean(found.iter().map(|place| f64::from(u8::from(*place < cut)))))
}

/// How many tasks have a right tool among the first k, and what declaring these costs.
fn print_cuts(data: &Data, prepared: &Prepared) {
    let brief = Limits::default().tool_tokens;
    let costs: Vec<[u32; 2]> =
        data.tools.iter().map(|tool| [tool.tokens(0), tool.tokens(brief)]).collect();
    println!(
        "\n{}",
        row("first k", ["a right tool", "tokens, whole", "tokens, shortened"].map(Into::into))
    );
    let ranked: Vec<Vec<usize>> =
        data.tasks.iter().map(|task| prepared.rank("ours", &task.query)).collect();
    for cut in CUTS.into_iter().chain([30, 50]) {
        let given = data.tasks.iter().zip(&ranked).map(|(task, ranked)| {
            let is_right = |place: &usize| task.tools.contains(&data.tools[*place].name);
            f64::from(u8::from(ranked.iter().take(cut).any(is_right)))
        });
        let tokens = |form: usize| {
            let cost = |place: &usize| f64::from(costs[*place][form]);
            let tokens = mean(ranked.iter().map(|ranked| ranked.iter().take(cut).map(cost).sum()));
            format!("{tokens:.0}")
        };
        println!("{}", row(&cut.to_string(), [percent(mean(given)), tokens(0), tokens(1)]));
    }
}

/// What the engine declares for a task of this file, and for an unrelated text.
fn print_given(data: &Data, prepared: &Prepared, tool_tokens: u32) {
    let limits = Limits::default();
    let known: Vec<(ToolName, u32)> =
        data.tools.iter().map(|tool| (tool.id(), tool.tokens(tool_tokens))).collect();
    let offer = ToolOffer { tokens: u32::MAX, ..ToolOffer::default() };
    let given = |query: &str| {
        let hits = prepared.ours.rank(query, &Embedded.vector(query), limits.candidates, &[]);
        let candidates = hits.iter().filter_map(|hit| {
            let place: usize = hit.id.rsplit('/').next()?.parse().ok()?;
            let (tool, tokens) = known[place].clone();
            Some(Candidate { tool, score: hit.score, tokens })
        });
        tool_choice::declared(&offer, &candidates.collect::<Vec<_>>(), &known, &limits)
    };
    let (mut any, mut all, mut none, mut count, mut tokens) = (0, 0, 0, 0, 0);
    let mut by_size = [(0, 0); 4];
    for task in &data.tasks {
        let given = given(&task.query);
        let has = |wanted: &String| given.iter().any(|tool| tool.name == *wanted);
        let is_given = usize::from(task.tools.iter().any(has));
        any += is_given;
        let (right, tasks) = &mut by_size[task.tools.len().clamp(1, 4) - 1];
        (*right, *tasks) = (*right + is_given, *tasks + 1);
        all += usize::from(task.tools.iter().all(has));
        none += usize::from(given.is_empty());
        count += given.len();
        let cost =
            |tool: &ToolName| known.iter().find(|(name, _)| name == tool).map(|(_, cost)| *cost);
        tokens += given.iter().filter_map(cost).sum::<u32>() as usize;
    }
    let tasks = data.tasks.len();
    println!(
        "\ndeclared in {tool_tokens} tokens each (0: whole), for {tasks} tasks: a right tool {any} (1, 2, 3, more tools in the task: {by_size:?}), all of them {all}, no tool {none}; {:.1} tools and {} tokens a task",
        count as f64 / tasks as f64,
        tokens / tasks,
    );
    let small_talk =
        ["Thanks, that was lovely!", "Good morning, how are you?", "I am a little tired today."];
    let idle: Vec<usize> = small_talk.iter().map(|query| given(query).len()).collect();
    println!("for small talk: {idle:?}");
}

fn print_selection(data: &Data, size: usize) {
    let mut index = ItemIndex::default();
    for (place, tool) in data.tools.iter().cycle().take(size).enumerate() {
        let text = format!("{} {}", tool.text(), place / 11);
        let id = format!("tool/{}-{}/{}", tool.server, place / data.tools.len(), tool.name);
        index.upsert(&id, &text, &Embedded.vector(&text), "");
    }
    let (mut embed, mut select) = (Times::default(), Times::default());
    for task in data.tasks.iter().cycle().take(400) {
        let vector = embed.time(|| Embedded.vector(&task.query));
        select.time(|| index.search(&task.query, &vector, CANDIDATES, KEPT, THRESHOLD));
    }
    println!(
        "selection over {size} items: {}; {} bytes an item; embedding of the message: {}",
        select.summary(),
        index.bytes() / size,
        embed.summary()
    );
}
