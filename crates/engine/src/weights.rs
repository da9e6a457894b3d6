//! Weights and thresholds of understanding without a model, in one table.
//!
//! Confidences are between 0 and 1; from [`crate::entity::Mention::SURE`] on they may be acted on.

// --- cues of the lexicon (crate::lexicon::Cues)

/// Decides alone.
pub const CUE_SURE: f32 = 0.9;
/// Decides unless something contradicts it.
pub const CUE_LIKELY: f32 = 0.6;
/// Two of them decide.
pub const CUE_HINT: f32 = 0.3;
/// Cancels a likely cue, not a sure one.
pub const CUE_AGAINST: f32 = -0.5;
/// A statement asks for nothing, unless it clearly does.
pub const CUE_TELLS: f32 = -0.9;
/// Threshold for a question about something earlier, heat, or a mode.
pub const CUE_MIN: f32 = 0.5;
/// Minimum lead of a mode over the next one.
pub const MODE_LEAD_MIN: f32 = 0.2;
/// Everyday words that only add to strong ones.
pub const HEAT_HINT: f32 = 0.15;
/// Added for shouting in capitals.
pub const HEAT_CAPITALS: f32 = 0.4;
/// Added for "!!" or "?!": little, because joy has them too.
pub const HEAT_MARKS: f32 = 0.2;
/// Minimum letters before capitals mean anything.
pub const SHOUTED_LETTERS_MIN: usize = 12;

// --- mentions in a message (crate::entity)

/// A known name, spelt exactly.
pub const NAME_KNOWN: f32 = 0.95;
/// An alias of a known entity.
pub const NAME_ALIAS: f32 = 0.85;
/// A name in quotation marks, with digits, or a number beside a word for its type.
pub const NAME_MARKED: f32 = 0.9;
/// A capitalised name after a word for its type.
pub const NAME_CAPITALISED: f32 = 0.85;
/// The same if nothing is asked and nothing is known: it may be anybody's name.
pub const NAME_TOLD: f32 = 0.65;
/// A capitalised name before such a word, or one that begins with an ordinary word.
pub const NAME_BEFORE: f32 = 0.8;
/// A lower-case name with hyphens after such a word.
pub const NAME_COMPOUND: f32 = 0.75;
/// A plain word after such a word, in a name's place: "in site berlin".
pub const NAME_PLAIN: f32 = 0.7;
/// A name after "in" or "at" whose type the pack determines.
pub const NAME_PLACE: f32 = 0.75;
/// A name similar to a known one: never enough to act on.
pub const NAME_MISSPELT: f32 = 0.6;
/// A pattern of another type this sure beats the type word next to the name.
pub const PATTERN_WINS: f32 = 0.85;
/// A reference with a type: "that device".
pub const REFERENCE_TYPED: f32 = 0.85;
/// A reference without one: "it".
pub const REFERENCE_BARE: f32 = 0.8;
/// Factor if the session, not the message, decided between several entities.
pub const CONTEXT_DECIDED: f32 = 0.85;
/// A name found by a look-up.
pub const NAME_FOUND: f32 = 0.75;
/// Minimum similarity of a name suggested for one that was not found.
pub const ALIKE_MIN: f64 = 0.8;

// --- ranking of earlier turns (crate::search)
//
// Fitted as a linear model on dialogues, rounded, and validated on other dialogues: docs/benchmarks.md.

/// Word overlap with the message, relative to the best turn.
pub const RECALL_WORDS: f32 = 0.5;
/// Similarity of meaning, relative to the best turn.
pub const RECALL_MEANING: f32 = 0.5;
/// Said by somebody the message names: more than common words, less than the right ones.
pub const RECALL_SPEAKER: f32 = 0.25;
/// Share of the best turn of the same sitting: what surrounds a strong hit often belongs to it.
pub const RECALL_SITTING: f32 = 0.3;
/// Ends in a question, which seldom contains an answer.
pub const RECALL_QUESTION: f32 = -0.08;
/// Said by the assistant at length, if the message does not speak to it.
pub const RECALL_ASSISTANT: f32 = -0.4;
/// Match of any turn by a named speaker, if the message asks only what they said.
pub const RECALL_SAID_FIT: f32 = 0.6;

// --- offline replies (crate::reply::offline)

/// Minimum similarity, besides a small edit distance, of a name suggested for one that was not found.
pub const NEAR_MIN: f64 = 0.85;
/// The tool's name or parameters contain the exact verb of the message.
pub const TOOL_VERB_EXACT: f32 = 2.0;
/// The tool's verb means the same kind of action as the message's.
pub const TOOL_VERB: f32 = 1.5;
/// The tool's verb means a similar kind of action.
pub const TOOL_VERB_NEAR: f32 = 0.3;
/// Both only read, but one several things and the other a single one.
pub const TOOL_VERB_OTHER: f32 = -0.5;
/// The message contains a noun of the tool's name or a value the tool takes, or is about an entity the tool
/// handles.
pub const TOOL_NOUN: f32 = 1.0;
/// Penalty for a noun of the tool's name that is not mentioned: prefers the plainer of two tools.
pub const TOOL_NOUN_UNSAID: f32 = 0.2;
/// The message names a parameter.
pub const TOOL_SLOT: f32 = 0.7;
/// A word of the message is in the tool's description.
pub const TOOL_DESCRIBED: f32 = 0.3;
/// Minimum score of a tool that was meant.
pub const TOOL_MIN: f32 = 1.2;
