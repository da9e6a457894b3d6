//! Weights and thresholds of understanding without a model, in one table.
//!
//! Confidences are between 0 and 1; [`crate::entity::Mention::SURE`] is where something may rest on one.

// --- cues of the lexicon (crate::lexicon::Cues)

/// A sure cue decides alone.
pub const CUE_SURE: f32 = 0.9;
/// A likely cue decides unless something speaks against it.
pub const CUE_LIKELY: f32 = 0.6;
/// Two hints decide together.
pub const CUE_HINT: f32 = 0.3;
/// Takes back a likely cue, not a sure one.
pub const CUE_AGAINST: f32 = -0.5;
/// What only tells something asks for nothing, unless it says so plainly.
pub const CUE_TELLS: f32 = -0.9;
/// From here on a message asks back, is heated, or is of a mode.
pub const CUE_MIN: f32 = 0.5;
/// A mode must lead the next one by this much, or the message is of neither.
pub const MODE_LEAD_MIN: f32 = 0.2;
/// A hint of heat: everyday words that only add to strong ones.
pub const HEAT_HINT: f32 = 0.15;
/// What shouting in capitals adds to the heat of words.
pub const HEAT_CAPITALS: f32 = 0.4;
/// What "!!" or "?!" adds to it: little, since joy has them too.
pub const HEAT_MARKS: f32 = 0.2;
/// Letters a message needs before capitals mean anything.
pub const SHOUTED_LETTERS_MIN: usize = 12;

// --- mentions in a message (crate::entity)

/// A known name, written as it is.
pub const NAME_KNOWN: f32 = 0.95;
/// A further name of a known thing.
pub const NAME_ALIAS: f32 = 0.85;
/// A name in quotation marks, with digits, or a number beside a word for its type.
pub const NAME_MARKED: f32 = 0.9;
/// A capitalised name after a word for its type.
pub const NAME_CAPITALISED: f32 = 0.85;
/// The same where nothing is asked for and nothing is known: it may be anybody's name.
pub const NAME_TOLD: f32 = 0.65;
/// A capitalised name before such a word, or one that begins with an ordinary word.
pub const NAME_BEFORE: f32 = 0.8;
/// A name of small letters with hyphens after such a word.
pub const NAME_COMPOUND: f32 = 0.75;
/// A plain word after such a word, where a name belongs: "in site berlin".
pub const NAME_PLAIN: f32 = 0.7;
/// A name after "in" or "at" whose type the pack tells.
pub const NAME_PLACE: f32 = 0.75;
/// A name nearly like a known one: never enough to act on.
pub const NAME_MISSPELT: f32 = 0.6;
/// A shape of another type this sure wins over the word beside the name.
pub const PATTERN_WINS: f32 = 0.85;
/// A reference that says the type: "that device".
pub const REFERENCE_TYPED: f32 = 0.85;
/// A reference that does not: "it".
pub const REFERENCE_BARE: f32 = 0.8;
/// What remains of the confidence where the conversation, not the message, decided between several.
pub const CONTEXT_DECIDED: f32 = 0.85;
/// A name that a look-up found.
pub const NAME_FOUND: f32 = 0.75;
/// How alike a name must be that is offered instead of one that was not found.
pub const ALIKE_MIN: f64 = 0.8;

// --- ranking of earlier turns (crate::search)
//
// Fitted as a linear model on dialogues, rounded, and checked on dialogues it was not fitted on: docs/benchmarks.md.

/// The words that a turn shares with the message, best turn 1: as much as meaning.
pub const RECALL_WORDS: f32 = 0.5;
/// The nearness of its meaning, best turn 1.
pub const RECALL_MEANING: f32 = 0.5;
/// It was said by somebody whom the message names: more than common words, less than the right ones.
pub const RECALL_SPEAKER: f32 = 0.25;
/// Share of the best turn of the same sitting: what was said around a strong hit often belongs to it.
pub const RECALL_SITTING: f32 = 0.3;
/// It ends in a question, which seldom holds an answer.
pub const RECALL_QUESTION: f32 = -0.08;
/// How well anything of a named speaker fits a message that asks for what they said and nothing more.
pub const RECALL_SAID_FIT: f32 = 0.6;

// --- the way without a model (crate::reply)

/// How alike a name must be, besides being few letters away, to be offered for one that was not found.
pub const NEAR_MIN: f64 = 0.85;
/// A tool has the very verb of the message in its name, or among its parameters.
pub const TOOL_VERB_EXACT: f32 = 2.0;
/// A tool's verb asks for the same kind of act as the message's.
pub const TOOL_VERB: f32 = 1.5;
/// A tool's verb asks for a similar kind of act.
pub const TOOL_VERB_NEAR: f32 = 0.3;
/// Both only look, but one at several things and the other at one.
pub const TOOL_VERB_OTHER: f32 = -0.5;
/// A noun of the tool's name is said, a value that it takes is there, or the thing spoken of is its own.
pub const TOOL_NOUN: f32 = 1.0;
/// A noun of the tool's name is not said: of two tools, the plainer one.
pub const TOOL_NOUN_UNSAID: f32 = 0.2;
/// A parameter is named.
pub const TOOL_SLOT: f32 = 0.7;
/// A word of the message stands in the tool's description.
pub const TOOL_DESCRIBED: f32 = 0.3;
/// A tool below this is not what was meant.
pub const TOOL_MIN: f32 = 1.2;
