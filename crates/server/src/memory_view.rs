//! The view of a memory that REST, MCP and the command line share.
//!
//! The API says "memory"; the engine says "fact".

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throughline_engine::engine::{ForgottenFacts, SourceTurns};
use throughline_engine::fact::stored::AddedFact;
use throughline_engine::fact::transfer::ImportedFacts;
use throughline_engine::fact::{Fact, FactHit, FactKind, Trust};
use utoipa::ToSchema;

/// What a memory is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// How the user wants to be answered.
    Instruction,
    /// Who the user is: a name, a place, a job.
    Profile,
    /// What the user likes or dislikes.
    Preference,
    /// Anything else.
    Fact,
}

impl From<MemoryKind> for FactKind {
    fn from(kind: MemoryKind) -> Self {
        match kind {
            MemoryKind::Instruction => Self::Instruction,
            MemoryKind::Profile => Self::Profile,
            MemoryKind::Preference => Self::Preference,
            MemoryKind::Fact => Self::Fact,
        }
    }
}

impl From<FactKind> for MemoryKind {
    fn from(kind: FactKind) -> Self {
        match kind {
            FactKind::Instruction => Self::Instruction,
            FactKind::Profile => Self::Profile,
            FactKind::Preference => Self::Preference,
            FactKind::Fact => Self::Fact,
        }
    }
}

impl MemoryKind {
    /// The name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Profile => "profile",
            Self::Preference => "preference",
            Self::Fact => "fact",
        }
    }
}

/// Origin of a memory; a memory of lower trust does not supersede one of higher trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryTrust {
    /// A person asked for it to be remembered.
    Told,
    /// The user stated it in a message.
    Said,
    /// A model derived it from the conversation.
    Model,
    /// It was imported.
    Imported,
}

impl From<Trust> for MemoryTrust {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Told => Self::Told,
            Trust::Said => Self::Said,
            Trust::Model => Self::Model,
            Trust::Imported => Self::Imported,
        }
    }
}

/// The sentence that a memory was extracted from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, ToSchema)]
pub struct MemorySource {
    /// Id of the session.
    pub session: String,
    /// The turn, from 1.
    pub turn: u64,
    /// The sentence as the user wrote it.
    pub sentence: String,
}

/// A statement about the user that outlives its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, ToSchema)]
pub struct Memory {
    /// Id of the memory.
    pub id: String,
    /// The statement, as a sentence.
    pub text: String,
    /// Subject; a newer memory about the same subject supersedes this one. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What the statement is about.
    pub kind: MemoryKind,
    /// Origin of the statement.
    pub trust: MemoryTrust,
    /// The sentence it was extracted from; absent if it was not extracted from a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<MemorySource>,
    /// When it was first stored.
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// When its text last changed.
    #[schemars(with = "String")]
    pub changed_at: Timestamp,
    /// When a request last included it, to the minute; absent if none did.
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Id of the newer memory that supersedes it; absent while it is current.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

impl From<Fact> for Memory {
    fn from(fact: Fact) -> Self {
        let source = fact.source.map(|source| MemorySource {
            session: source.session.to_string(),
            turn: source.turn,
            sentence: source.sentence,
        });
        Self {
            id: fact.id,
            text: fact.text,
            subject: fact.subject,
            kind: fact.kind.into(),
            trust: fact.trust.into(),
            source,
            created_at: fact.created_at,
            changed_at: fact.changed_at,
            last_used_at: fact.last_used_at,
            superseded_by: fact.superseded_by,
        }
    }
}

/// A memory that was added or changed, and its effect on other memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, ToSchema)]
pub struct KeptMemory {
    /// The memory as stored.
    #[serde(flatten)]
    pub memory: Memory,
    /// Older memories about the same subject that it supersedes.
    pub superseded: Vec<Memory>,
    /// Memories of higher trust about the same subject that say something else; both are kept.
    pub contradicts: Vec<Memory>,
}

impl From<AddedFact> for KeptMemory {
    fn from(added: AddedFact) -> Self {
        Self {
            memory: added.fact.into(),
            superseded: added.superseded.into_iter().map(Into::into).collect(),
            contradicts: added.contradicts.into_iter().map(Into::into).collect(),
        }
    }
}

/// A search hit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, ToSchema)]
pub struct FoundMemory {
    /// The memory that was found.
    #[serde(flatten)]
    pub memory: Memory,
    /// Relevance, 0–1.
    pub score: f32,
}

impl From<FactHit> for FoundMemory {
    fn from(hit: FactHit) -> Self {
        Self { memory: hit.fact.into(), score: hit.score }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, ToSchema)]
pub struct ForgottenMemories {
    /// Memories that were erased.
    pub memories: u64,
    /// Earlier versions that were erased.
    pub versions: u64,
    /// Stored records that were removed: files, objects, rows or keys.
    pub records: u64,
    /// Bytes that were removed.
    pub bytes: u64,
    /// Copies that the store could not remove.
    pub left: u64,
    /// Remarks on those copies and on the turns, one sentence each.
    pub notes: Vec<String>,
    /// Turns in which the memories were said.
    pub said_in: Vec<SaidIn>,
}

/// A turn in which a forgotten memory was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, ToSchema)]
pub struct SaidIn {
    /// Id of the session.
    pub session: String,
    /// Turn, from 1.
    pub turn: u64,
    /// Whether the turn was withheld or erased.
    pub became: SaidTurn,
}

/// What happens to the turns in which a memory was said.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SaidTurn {
    /// The turns stay in the conversation, but no request or search uses them.
    #[default]
    Withheld,
    /// The content of the turns is erased, and every memory extracted from them is forgotten.
    Erased,
}

impl From<SaidTurn> for SourceTurns {
    fn from(turns: SaidTurn) -> Self {
        match turns {
            SaidTurn::Withheld => Self::Withheld,
            SaidTurn::Erased => Self::Erased,
        }
    }
}

impl From<ForgottenFacts> for ForgottenMemories {
    fn from(ForgottenFacts { forgotten, said_in, turns }: ForgottenFacts) -> Self {
        let became = match turns {
            SourceTurns::Withheld => SaidTurn::Withheld,
            SourceTurns::Erased => SaidTurn::Erased,
        };
        let said_in: Vec<SaidIn> = said_in
            .iter()
            .flat_map(|(session, turns)| turns.iter().map(move |turn| (session, *turn)))
            .map(|(session, turn)| SaidIn { session: session.to_string(), turn, became })
            .collect();
        let mut notes = forgotten.stored.notes;
        notes.extend((!said_in.is_empty()).then(|| fate(became, &said_in)));
        Self {
            memories: forgotten.facts,
            versions: forgotten.stored.entries,
            records: forgotten.stored.records,
            bytes: forgotten.stored.bytes,
            left: forgotten.stored.left,
            notes,
            said_in,
        }
    }
}

/// A sentence about what happened to the turns.
fn fate(became: SaidTurn, said_in: &[SaidIn]) -> String {
    let place = match said_in {
        [one] => format!("turn {} of session {}", one.turn, one.session),
        several => format!("{} turns", several.len()),
    };
    match became {
        SaidTurn::Withheld => format!(
            "It was said in {place}. The words stay in the conversation, but no request or search uses them any \
             more; erase the turn to remove them, too."
        ),
        SaidTurn::Erased => format!("It was said in {place}, which is erased, too."),
    }
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ImportedMemories {
    /// Number of new memories.
    pub imported: usize,
    /// Number of memories that already existed.
    pub known: usize,
    /// Number of existing memories that are now superseded.
    pub superseded: usize,
    /// Number of memories that contradict one of higher trust; both are kept.
    pub contradicting: usize,
    /// The first hundred of them, each with the memories that it contradicts.
    pub contradictions: Vec<KeptMemory>,
    /// Number of memories left out because the user had forgotten them.
    pub forgotten: usize,
}

impl From<ImportedFacts> for ImportedMemories {
    fn from(report: ImportedFacts) -> Self {
        let ImportedFacts { imported, known, superseded, contradicting, .. } = report;
        let contradictions = report.contradictions.into_iter().map(Into::into).collect();
        let forgotten = report.forgotten;
        Self { imported, known, superseded, contradicting, contradictions, forgotten }
    }
}
