//! Which rules, references and tools go with a message.
//!
//! All items of the session, plus the agent's `agent` items that rank best against the message. Items
//! that were considered and left out are reported too, with their scores, so that the receipt can say
//! why.
//!
//! Invariant: every item of the session is in the result, sent or with the reason why not.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::agent::{Agent, Document};
use crate::catalog::KnownTool;
use crate::embed::Embedder;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::id::AgentName;
use crate::item::{ItemName, SessionItem};
use crate::limits::Limits;
use crate::model::ToolSpec;
use crate::piece::{IncludeMode, Piece, Place, Rank, Source};
use crate::receipt::DropReason;
use crate::search::{Calibration, ItemHit, ItemIndex, Steering, tool_text};
use crate::tool::{ToolDefinition, ToolName};

/// What was selected.
#[derive(Debug, Default)]
pub struct Selected {
    /// Pieces for the budget.
    pub pieces: Vec<Piece>,
    /// Pieces that are left out already, with the reason.
    pub left_out: Vec<(Piece, DropReason)>,
    /// The tools among `pieces`.
    pub tools: Vec<ToolDefinition>,
}

/// Ranks items and tools; vectors are kept by content.
pub struct Selector {
    embedder: Arc<dyn Embedder>,
    calibration: Calibration,
    items: Mutex<HashMap<AgentName, ItemIndex>>,
    tools: Mutex<ItemIndex>,
}

impl Selector {
    /// A selector with an empty index.
    pub fn new(embedder: Arc<dyn Embedder>, calibration: Calibration) -> Self {
        Self {
            embedder,
            calibration,
            items: Mutex::default(),
            tools: Mutex::new(ItemIndex::new(calibration)),
        }
    }

    /// The items for a message.
    pub async fn select(
        &self,
        agent: &Agent,
        session: &[SessionItem],
        tools: &[KnownTool],
        message: (&str, &[f32]),
        limits: &Limits,
    ) -> Result<Selected> {
        let mut selected = Selected::default();
        for item in session {
            selected.add(agent, tools, &item.item, item.mode, None);
        }
        let in_session: BTreeSet<&ItemName> = session.iter().map(|item| &item.item).collect();
        let ranked = self.rank_agent_items(agent, tools, &in_session, message, limits).await?;
        let mut kept = 0;
        for (item, score) in ranked {
            let fits = score >= limits.score_min && kept < limits.candidates_kept;
            kept += usize::from(fits);
            if fits {
                selected.add(agent, tools, &item, IncludeMode::Agent, Some(score));
            } else {
                selected.leave_out(agent, tools, &item, score);
            }
        }
        Ok(selected)
    }

    async fn rank_agent_items(
        &self,
        agent: &Agent,
        tools: &[KnownTool],
        in_session: &BTreeSet<&ItemName>,
        (message, vector): (&str, &[f32]),
        limits: &Limits,
    ) -> Result<Vec<(ItemName, f32)>> {
        let wanted = agent_items(agent, tools);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut indexes = self.items.lock().await;
        let index =
            indexes.entry(agent.name.clone()).or_insert_with(|| ItemIndex::new(self.calibration));
        self.bring_up_to_date(index, wanted.iter().map(|(id, _, text)| (id, text))).await;
        let candidates = limits.candidates + in_session.len();
        let hits = index.rank(message, vector, candidates, &[]);
        let by_id: HashMap<&String, &ItemName> =
            wanted.iter().map(|(id, item, _)| (id, item)).collect();
        Ok(hits
            .into_iter()
            .filter_map(|hit| by_id.get(&hit.id).map(|item| ((*item).clone(), hit.score)))
            .filter(|(item, _)| !in_session.contains(item))
            .take(limits.candidates)
            .collect())
    }

    /// All tools ranked against a message, best first.
    pub async fn rank_tools(
        &self,
        tools: &[ToolDefinition],
        message: &str,
        candidates: usize,
        steering: &[Steering],
    ) -> Result<Vec<(ToolName, ItemHit)>> {
        let texts: Vec<(String, String)> =
            tools.iter().map(|t| (tool_id(&t.tool), text_of_tool(t))).collect();
        let vector = self.embed(message).await?;
        let mut index = self.tools.lock().await;
        self.bring_up_to_date(&mut index, texts.iter().map(|(id, text)| (id, text))).await;
        let hits = index.rank(message, &vector, candidates, steering);
        drop(index);
        let by_id: HashMap<String, &ToolName> =
            tools.iter().map(|tool| (tool_id(&tool.tool), &tool.tool)).collect();
        Ok(hits
            .into_iter()
            .filter_map(|hit| by_id.get(&hit.id).map(|tool| ((*tool).clone(), hit)))
            .collect())
    }

    /// The vector of a text.
    pub async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        match self.embedder.embed(&[text]).await {
            Ok(vectors) => Ok(vectors.into_iter().next().unwrap_or_default()),
            Err(error) => {
                tracing::warn!(%error, "the message is searched by its words only");
                Ok(Vec::new())
            }
        }
    }

    /// Adds what is new, replaces what changed, removes what is gone.
    async fn bring_up_to_date<'a>(
        &self,
        index: &mut ItemIndex,
        items: impl Iterator<Item = (&'a String, &'a String)> + Clone,
    ) {
        let ids: BTreeSet<&str> = items.clone().map(|(id, _)| id.as_str()).collect();
        let gone: Vec<String> =
            index.ids().filter(|id| !ids.contains(id)).map(str::to_owned).collect();
        for id in gone {
            index.remove(&id);
        }
        let stale: Vec<(&String, &String, ContentHash)> = items
            .map(|(id, text)| (id, text, ContentHash::of(text)))
            .filter(|(id, _, hash)| !index.holds(id, hash.as_str()))
            .collect();
        if stale.is_empty() {
            return;
        }
        let texts: Vec<&str> = stale.iter().map(|(_, text, _)| text.as_str()).collect();
        match self.embedder.embed(&texts).await {
            Ok(vectors) => {
                for ((id, text, hash), vector) in stale.into_iter().zip(vectors) {
                    index.upsert(id, text, &vector, hash.as_str());
                }
            }
            Err(error) => {
                tracing::warn!(%error, "items are searched by their words only");
                // Without a hash they count as not held, and are embedded with the next message.
                for (id, text, _) in stale {
                    index.upsert(id, text, &[], "");
                }
            }
        }
    }
}

impl Selected {
    fn add(
        &mut self,
        agent: &Agent,
        tools: &[KnownTool],
        item: &ItemName,
        mode: IncludeMode,
        score: Option<f32>,
    ) {
        let Some(found) = find(agent, tools, item) else {
            self.left_out.push((missing_piece(item, mode), DropReason::Missing));
            return;
        };
        let why = match mode {
            IncludeMode::Always => "in every session of this agent",
            IncludeMode::Manual => "added to the session by hand",
            IncludeMode::Agent => "fits the message",
        };
        let mut piece = piece_of(&found, mode, why);
        piece.score = score;
        match found {
            FoundItem::Tool(known) if known.pin.refusal().is_some() => {
                self.left_out.push((piece, DropReason::NotApproved));
            }
            FoundItem::Tool(known) => {
                self.tools.push(known.definition.clone());
                self.pieces.push(piece);
            }
            FoundItem::Rule(_) | FoundItem::Reference(_) => self.pieces.push(piece),
        }
    }

    fn leave_out(&mut self, agent: &Agent, tools: &[KnownTool], item: &ItemName, score: f32) {
        if let Some(found) = find(agent, tools, item) {
            let piece = piece_of(&found, IncludeMode::Agent, "considered for the message");
            self.left_out.push((piece.scored(score), DropReason::NotRelevant));
        }
    }
}

enum FoundItem<'a> {
    Rule(&'a Document),
    Reference(&'a Document),
    Tool(&'a KnownTool),
}

fn find<'a>(agent: &'a Agent, tools: &'a [KnownTool], item: &ItemName) -> Option<FoundItem<'a>> {
    match item {
        ItemName::Rule { name } => {
            agent.rules.iter().find(|rule| rule.name == *name).map(FoundItem::Rule)
        }
        ItemName::Reference { name } => agent
            .references
            .iter()
            .find(|reference| reference.name == *name)
            .map(FoundItem::Reference),
        ItemName::Tool { server, name } => tools
            .iter()
            .find(|t| t.definition.tool.server == *server && t.definition.tool.name == *name)
            .map(FoundItem::Tool),
    }
}

/// Rules and references of the session stand in the system; those for one request beside the message.
fn piece_of(found: &FoundItem<'_>, mode: IncludeMode, why: &str) -> Piece {
    let (place, rank) = match mode {
        IncludeMode::Agent => (Place::Aside, Rank::AgentItem),
        IncludeMode::Always | IncludeMode::Manual => (Place::System, Rank::SessionItem),
    };
    match found {
        FoundItem::Rule(rule) => Piece::new(
            Source::Rule { name: rule.name.clone(), mode },
            why,
            place,
            rank,
            rule_text(rule),
        ),
        FoundItem::Reference(reference) => Piece::new(
            Source::Reference { name: reference.name.clone(), mode },
            why,
            place,
            rank,
            reference_text(reference),
        ),
        FoundItem::Tool(known) => {
            let ToolName { server, name } = known.definition.tool.clone();
            let spec = serde_json::to_string(&spec_of(&known.definition)).unwrap_or_default();
            Piece::new(Source::Tool { server, name, mode }, why, Place::Tools, rank, spec)
        }
    }
}

/// A rule as a model is shown it.
pub fn rule_text(rule: &Document) -> String {
    format!("Rule \"{}\":\n{}", rule.name, rule.text.trim())
}

/// A reference as a model is shown it.
pub fn reference_text(reference: &Document) -> String {
    format!("Reference \"{}\":\n{}", reference.name, reference.text.trim())
}

fn missing_piece(item: &ItemName, mode: IncludeMode) -> Piece {
    let source = match item.clone() {
        ItemName::Rule { name } => Source::Rule { name, mode },
        ItemName::Reference { name } => Source::Reference { name, mode },
        ItemName::Tool { server, name } => Source::Tool { server, name, mode },
    };
    Piece::new(
        source,
        "in the session, but it no longer exists",
        Place::System,
        Rank::SessionItem,
        "",
    )
}

/// Items with the mode `agent`: id, name and the text that is searched.
fn agent_items(agent: &Agent, tools: &[KnownTool]) -> Vec<(String, ItemName, String)> {
    let document = |kind: &str, document: &Document, item: ItemName| {
        let text = format!("{}. {}. {}", document.name, document.description, document.text);
        (format!("{kind}/{}", document.name), item, text)
    };
    let rules = agent.rules.iter().filter(|rule| rule.include == IncludeMode::Agent);
    let references = agent.references.iter().filter(|r| r.include == IncludeMode::Agent);
    let tools = tools
        .iter()
        .map(|known| &known.definition)
        .filter(|definition| agent.tool_mode(&definition.tool) == Some(IncludeMode::Agent));
    rules
        .map(|rule| document("rule", rule, ItemName::Rule { name: rule.name.clone() }))
        .chain(references.map(|reference| {
            let item = ItemName::Reference { name: reference.name.clone() };
            document("reference", reference, item)
        }))
        .chain(tools.map(|d| (tool_id(&d.tool), ItemName::tool(&d.tool), text_of_tool(d))))
        .collect()
}

fn tool_id(tool: &ToolName) -> String {
    format!("tool/{}/{}", tool.server, tool.name)
}

fn text_of_tool(definition: &ToolDefinition) -> String {
    let ToolDefinition { tool, description, input_schema, .. } = definition;
    tool_text(&tool.server, &tool.name, description, input_schema)
}

/// The longest tool name that model providers accept.
const SPEC_NAME_MAX: usize = 64;

/// A tool as a model is shown it: `server__tool`, with a hash where that is too long or could be another
/// tool's, too.
pub fn spec_of(definition: &ToolDefinition) -> ToolSpec {
    ToolSpec {
        name: spec_name(&definition.tool),
        description: definition.description.clone(),
        input_schema: definition.input_schema.clone(),
    }
}

/// The name under which a model calls a tool.
pub fn spec_name(tool: &ToolName) -> String {
    let named = match tool.server.as_str() {
        "" => tool.name.clone(),
        server => format!("{server}__{}", tool.name),
    };
    let full: String = named
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    // `a` + `b__c` and `a__b` + `c` are two tools, and so are `x.y` and `x_y`.
    let split = tool.server.contains("__") || tool.server.ends_with('_');
    if full.len() <= SPEC_NAME_MAX && full == named && !split {
        return full;
    }
    let hash = ContentHash::of(&format!("{}\n{}", tool.server, tool.name));
    let most = SPEC_NAME_MAX - 9;
    format!("{}_{}", &full[..most.min(full.len())], &hash.as_str()[..8])
}
