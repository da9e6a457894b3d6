//! Selects the rules, references and tools for a message.
//!
//! All items of the session, plus the agent's `agent` items that best match the message. Items that were
//! considered but not selected are reported with their scores, for the receipt. [`crate::tool_choice`] decides
//! which tools are declared and which can only be found.
//!
//! Invariant: every item of the session is in the result: sent, dropped with a reason, or listed by the tool
//! search.

mod found;
mod indexed;
mod listing;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::agent::{Agent, Document};
use crate::budget;
use crate::catalog::KnownTool;
use crate::embed::Embedder;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::id::AgentName;
use crate::item::{ItemName, SessionItem};
use crate::limits::Limits;
use crate::piece::{IncludeMode, Piece};
use crate::receipt::DropReason;
use crate::search::{Calibration, ItemHit, Steering, tool_text};
use crate::tool::{ToolDefinition, ToolName};
use crate::tool_choice::{self, Candidate, ToolOffer};
use crate::tool_spec::spec_name;

use found::{Found, brief_piece, missing_piece, piece_of};
pub use found::{reference_text, rule_text};
use indexed::Indexed;
use listing::ToolList;

/// Items ranked for a message: tools that only need naming are cheap.
const RANKED: usize = 100;

#[derive(Debug, Default)]
pub struct Selected {
    /// Pieces for the budget.
    pub pieces: Vec<Piece>,
    /// Pieces dropped already, with the reason.
    pub left_out: Vec<(Piece, DropReason)>,
    /// The tools among `pieces`.
    pub tools: Vec<ToolDefinition>,
}

/// Ranks items and tools; vectors are cached by content.
pub struct Selector {
    embedder: Arc<dyn Embedder>,
    calibration: Calibration,
    items: Mutex<HashMap<AgentName, Indexed>>,
    tools: Mutex<Indexed>,
}

impl Selector {
    pub fn new(embedder: Arc<dyn Embedder>, calibration: Calibration) -> Self {
        Self {
            embedder,
            calibration,
            items: Mutex::default(),
            tools: Mutex::new(Indexed::new(calibration)),
        }
    }

    pub async fn select(
        &self,
        agent: &Agent,
        session: &[SessionItem],
        tools: &[KnownTool],
        message: (&str, &[f32]),
        (limits, offer): (&Limits, &ToolOffer),
    ) -> Result<Selected> {
        let mut selected = Selected::default();
        let own: Vec<(&SessionItem, Option<Found<'_>>)> =
            session.iter().map(|item| (item, Found::of(agent, tools, &item.item))).collect();
        let searched = searched_servers(&own, offer.tokens);
        let is_searched = |item: &SessionItem| {
            item.mode == IncludeMode::Always
                && matches!(&item.item, ItemName::Tool { server, .. } if searched.contains(server))
        };
        let (to_search, own): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|(item, _)| is_searched(item));
        let in_session: BTreeSet<&ItemName> = own.iter().map(|(item, _)| &item.item).collect();
        for (item, found) in &own {
            selected.add(*found, &item.item, item.mode);
        }
        let mut pool: Vec<&KnownTool> =
            to_search.into_iter().filter_map(|(_, found)| found?.tool()).collect();
        pool.extend(agent_tools(agent, tools).filter(|known| {
            let item = ItemName::tool(&known.definition.tool);
            !in_session.contains(&item) && !searched.contains(&known.definition.tool.server)
        }));
        let ranked = self.rank_items(agent, &pool, &in_session, message, limits).await?;
        selected.add_documents(agent, &ranked, limits);
        selected.add_tools(&pool, &ranked, (limits, offer));
        Ok(selected)
    }

    /// The agent's `agent` documents and the tools of `pool` that best match the message.
    async fn rank_items(
        &self,
        agent: &Agent,
        pool: &[&KnownTool],
        in_session: &BTreeSet<&ItemName>,
        (message, vector): (&str, &[f32]),
        limits: &Limits,
    ) -> Result<Vec<(ItemName, f32)>> {
        let documents = agent_documents(agent);
        if documents.is_empty() && pool.is_empty() {
            return Ok(Vec::new());
        }
        let mut indexes = self.items.lock().await;
        let indexed =
            indexes.entry(agent.name.clone()).or_insert_with(|| Indexed::new(self.calibration));
        let texts = documents.iter().map(|(id, _, text)| (id, text));
        let definitions = pool.iter().map(|known| &known.definition);
        self.bring_up_to_date(indexed, texts, definitions).await;
        let candidates = limits.candidates.max(RANKED) + in_session.len();
        let hits = indexed.index.rank(message, vector, candidates, &[]);
        let of_tool = |known: &&KnownTool| {
            let tool = &known.definition.tool;
            (tool_id(tool), ItemName::tool(tool))
        };
        let by_id: HashMap<String, ItemName> = documents
            .into_iter()
            .map(|(id, item, _)| (id, item))
            .chain(pool.iter().map(of_tool))
            .collect();
        Ok(hits
            .into_iter()
            .filter_map(|hit| by_id.get(&hit.id).map(|item| (item.clone(), hit.score)))
            .filter(|(item, _)| !in_session.contains(item))
            .collect())
    }

    /// How well each document matches a message, 0–1, by the hash of its text.
    pub async fn score_documents(
        &self,
        documents: &[&Document],
        message: &str,
    ) -> HashMap<ContentHash, f32> {
        if documents.is_empty() {
            return HashMap::new();
        }
        let texts: Vec<(String, String)> =
            documents.iter().map(|d| (d.hash.to_string(), text_of_document(d))).collect();
        let mut indexed = Indexed::new(self.calibration);
        let texts = texts.iter().map(|(id, text)| (id, text));
        self.bring_up_to_date(&mut indexed, texts, std::iter::empty()).await;
        let vector = self.embed(message).await.unwrap_or_default();
        let hits = indexed.index.rank(message, &vector, documents.len(), &[]);
        let by_hash = |hit: &ItemHit| documents.iter().find(|d| d.hash.as_str() == hit.id);
        hits.iter().filter_map(|hit| Some((by_hash(hit)?.hash, hit.score))).collect()
    }

    /// All tools ranked against a message, best first.
    pub async fn rank_tools(
        &self,
        tools: &[ToolDefinition],
        message: &str,
        candidates: usize,
        steering: &[Steering],
    ) -> Result<Vec<(ToolName, ItemHit)>> {
        let vector = self.embed(message).await?;
        let mut indexed = self.tools.lock().await;
        self.bring_up_to_date(&mut indexed, std::iter::empty(), tools.iter()).await;
        let hits = indexed.index.rank(message, &vector, candidates, steering);
        drop(indexed);
        let by_id: HashMap<String, &ToolName> =
            tools.iter().map(|tool| (tool_id(&tool.tool), &tool.tool)).collect();
        Ok(hits
            .into_iter()
            .filter_map(|hit| by_id.get(&hit.id).map(|tool| ((*tool).clone(), hit)))
            .collect())
    }

    /// The tools that a model looks for: those it names, then those that match its words.
    pub async fn find_tools<'a>(
        &self,
        tools: &'a [ToolDefinition],
        query: &str,
        most: usize,
    ) -> Vec<&'a ToolDefinition> {
        let named = |tool: &ToolDefinition| {
            query
                .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
                .any(|word| word == tool.tool.name || word == spec_name(&tool.tool))
        };
        let mut found: Vec<&ToolDefinition> = tools.iter().filter(|tool| named(tool)).collect();
        let ranked = self.rank_tools(tools, query, most, &[]).await;
        for (name, _) in ranked.unwrap_or_default() {
            if let Some(tool) = tools.iter().find(|tool| tool.tool == name)
                && !found.contains(&tool)
            {
                found.push(tool);
            }
        }
        found.truncate(most);
        found
    }

    pub async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        match self.embedder.embed(&[text]).await {
            Ok(vectors) => Ok(vectors.into_iter().next().unwrap_or_default()),
            Err(error) => {
                tracing::warn!(%error, "embedding failed; the message is searched by words only");
                Ok(Vec::new())
            }
        }
    }

    /// Adds new items, replaces changed ones and removes the rest.
    async fn bring_up_to_date<'a>(
        &self,
        indexed: &mut Indexed,
        documents: impl Iterator<Item = (&'a String, &'a String)> + Clone,
        tools: impl Iterator<Item = &'a ToolDefinition> + Clone,
    ) {
        let mut ids: BTreeSet<String> = documents.clone().map(|(id, _)| id.clone()).collect();
        ids.extend(tools.clone().map(|definition| tool_id(&definition.tool)));
        indexed.keep_only(&ids);
        let documents = documents.filter(|(id, text)| !indexed.holds(id, text));
        let mut stale: Vec<(String, String)> =
            documents.map(|(id, text)| (id.clone(), text.clone())).collect();
        let changed: Vec<&ToolDefinition> = tools
            .filter(|definition| indexed.tools.get(&definition.tool) != Some(definition))
            .collect();
        stale.extend(changed.iter().map(|tool| (tool_id(&tool.tool), text_of_tool(tool))));
        if stale.is_empty() {
            return;
        }
        let texts: Vec<&str> = stale.iter().map(|(_, text)| text.as_str()).collect();
        match self.embedder.embed(&texts).await {
            Ok(vectors) => {
                for ((id, text), vector) in stale.iter().zip(vectors) {
                    indexed.index.upsert(id, text, &vector, ContentHash::of(text).as_str());
                }
                let known = changed.into_iter().map(|tool| (tool.tool.clone(), tool.clone()));
                indexed.tools.extend(known);
            }
            Err(error) => {
                tracing::warn!(%error, "embedding failed; items are searched by words only");
                // Without a hash they count as missing and are embedded with the next message.
                for (id, text) in &stale {
                    indexed.index.upsert(id, text, &[], "");
                }
            }
        }
    }
}

impl Selected {
    fn add(&mut self, found: Option<Found<'_>>, item: &ItemName, mode: IncludeMode) {
        let Some(found) = found else {
            self.left_out.push((missing_piece(item, mode), DropReason::Missing));
            return;
        };
        let why = match mode {
            IncludeMode::Always => "in every session of this agent",
            IncludeMode::Manual => "added to the session by hand",
            IncludeMode::Agent => "fits the message",
        };
        self.put(found, piece_of(&found, mode, why));
    }

    fn put(&mut self, found: Found<'_>, piece: Piece) {
        match found {
            Found::Tool(known) if known.pin.refusal().is_some() => {
                self.left_out.push((piece, DropReason::NotApproved));
            }
            Found::Tool(known) => {
                self.tools.push(known.definition.clone());
                self.pieces.push(piece);
            }
            Found::Rule(_) | Found::Reference(_) => self.pieces.push(piece),
        }
    }

    /// Adds the rules and references that match the message.
    fn add_documents(&mut self, agent: &Agent, ranked: &[(ItemName, f32)], limits: &Limits) {
        let mut kept = 0;
        for (item, score) in ranked.iter().take(limits.candidates) {
            let Some(found) = Found::of(agent, &[], item) else { continue };
            let fits = *score >= limits.score_min && kept < limits.candidates_kept;
            kept += usize::from(fits);
            match fits {
                true => {
                    let piece = piece_of(&found, IncludeMode::Agent, "fits the message");
                    self.put(found, piece.scored(*score));
                }
                false => self.leave_out(&found, *score),
            }
        }
    }

    /// Declares the tools of `pool` that the message needs, and the search for the rest.
    fn add_tools(
        &mut self,
        pool: &[&KnownTool],
        ranked: &[(ItemName, f32)],
        (limits, offer): (&Limits, &ToolOffer),
    ) {
        let is_large = is_large(pool, limits.tools_tokens);
        let tool_tokens = if is_large { limits.tool_tokens } else { 0 };
        let piece = |tool: &ToolName| {
            let known = pool.iter().find(|known| known.definition.tool == *tool)?;
            let why = match offer.declared.contains(tool) {
                true => "declared earlier in this session",
                false => "fits the message",
            };
            Some((Found::Tool(known), brief_piece(known, tool_tokens, why)))
        };
        let scores = ranked.iter().filter_map(|(item, score)| match item {
            ItemName::Tool { server, name } => {
                Some((ToolName { server: server.clone(), name: name.clone() }, *score))
            }
            ItemName::Rule { .. } | ItemName::Reference { .. } => None,
        });
        let ranked: Vec<(ToolName, f32)> = scores.collect();
        let scores = &ranked[..ranked.len().min(limits.candidates)];
        let wanted: BTreeSet<&ToolName> =
            scores.iter().map(|(tool, _)| tool).chain(&offer.declared).collect();
        let mut pieces: HashMap<&ToolName, (Found<'_>, Piece)> =
            wanted.into_iter().filter_map(|tool| Some((tool, piece(tool)?))).collect();
        let usable = |(tool, (found, piece)): (&&ToolName, &(Found<'_>, Piece))| {
            let known = found.tool()?;
            known.pin.refusal().is_none().then(|| ((*tool).clone(), budget::cost(piece)))
        };
        let known: Vec<(ToolName, u32)> = pieces.iter().filter_map(usable).collect();
        let cost =
            |tool: &ToolName| known.iter().find(|(name, _)| name == tool).map(|(_, cost)| *cost);
        let candidates: Vec<Candidate> = scores
            .iter()
            .filter_map(|(tool, score)| {
                Some(Candidate { tool: tool.clone(), score: *score, tokens: cost(tool)? })
            })
            .collect();
        let listed = match offer.search && is_large {
            true => listing::list(pool, &ranked, (offer, limits), (&candidates, &known)),
            false => ToolList {
                declared: tool_choice::declared(offer, &candidates, &known, limits),
                ..ToolList::default()
            },
        };
        self.pieces.extend(listed.search);
        self.pieces.extend(listed.beside);
        let score_of =
            |tool: &ToolName| scores.iter().find(|(name, _)| name == tool).map(|(_, s)| *s);
        for tool in listed.declared {
            let Some((found, mut piece)) = pieces.remove(&tool) else { continue };
            piece.score = score_of(&tool);
            self.put(found, piece);
        }
        for (tool, score) in scores {
            match pieces.remove(tool) {
                Some((found, piece)) if found.tool().is_some_and(|t| t.pin.refusal().is_some()) => {
                    self.put(found, piece.scored(*score));
                }
                Some(_) if listed.named.contains(tool) => {}
                Some((found, _)) => self.leave_out(&found, *score),
                None => {}
            }
        }
    }

    fn leave_out(&mut self, found: &Found<'_>, score: f32) {
        let piece = piece_of(found, IncludeMode::Agent, "considered for the message");
        self.left_out.push((piece.scored(score), DropReason::NotRelevant));
    }
}

/// Whether these tools take more tokens than are declared for a message.
fn is_large(pool: &[&KnownTool], tokens: u32) -> bool {
    let costs = pool
        .iter()
        .map(|known| budget::cost(&piece_of(&Found::Tool(known), IncludeMode::Agent, "")));
    let mut total = 0;
    costs.into_iter().any(|cost| {
        total += cost;
        total > tokens
    })
}

/// Servers with too many `always` tools to declare.
fn searched_servers(own: &[(&SessionItem, Option<Found<'_>>)], tokens: u32) -> BTreeSet<String> {
    let always = own.iter().filter(|(item, _)| item.mode == IncludeMode::Always);
    let costs = always.filter_map(|(_, found)| {
        let found = (*found)?;
        let server = found.tool()?.definition.tool.server.as_str();
        Some((server, budget::cost(&piece_of(&found, IncludeMode::Always, ""))))
    });
    tool_choice::searched_servers(costs, tokens)
}

/// Documents with mode `agent`: id, name and searchable text.
fn agent_documents(agent: &Agent) -> Vec<(String, ItemName, String)> {
    let document = |kind: &str, document: &Document, item: ItemName| {
        (format!("{kind}/{}", document.name), item, text_of_document(document))
    };
    let rules = agent.rules.iter().filter(|rule| rule.include == IncludeMode::Agent);
    let references = agent.references.iter().filter(|r| r.include == IncludeMode::Agent);
    rules
        .map(|rule| document("rule", rule, ItemName::Rule { name: rule.name.clone() }))
        .chain(references.map(|reference| {
            let item = ItemName::Reference { name: reference.name.clone() };
            document("reference", reference, item)
        }))
        .collect()
}

/// Tools with mode `agent`.
fn agent_tools<'a>(agent: &Agent, tools: &'a [KnownTool]) -> impl Iterator<Item = &'a KnownTool> {
    tools.iter().filter(|known| agent.tool_mode(&known.definition.tool) == Some(IncludeMode::Agent))
}

fn text_of_document(document: &Document) -> String {
    format!("{}. {}. {}", document.name, document.description, document.text)
}

fn tool_id(tool: &ToolName) -> String {
    format!("tool/{}/{}", tool.server, tool.name)
}

fn text_of_tool(definition: &ToolDefinition) -> String {
    let ToolDefinition { tool, description, input_schema, .. } = definition;
    tool_text(&tool.server, &tool.name, description, input_schema)
}
