//! How much of anything is looked at or kept.

/// Entities kept in a session's head.
pub const HEAD_ENTITIES_MAX: usize = 20;
/// How much of a message is looked at, in bytes; what follows is not, and [`super::Noticed::cut`]
/// says so.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Mentions taken from one message.
pub const MENTIONS_MAX: usize = 200;
/// Candidates named in one question back.
pub const CANDIDATES_MAX: usize = 8;
/// Words in one name.
pub const NAME_WORDS_MAX: usize = 8;
/// The longest name, id, slug or address that is kept, in characters.
pub const NAME_CHARACTERS_MAX: usize = 160;
/// Mention contexts kept for an entity.
pub const CONTEXTS_MAX: usize = 3;
/// The longest mention context, in characters.
pub const CONTEXT_CHARACTERS_MAX: usize = 120;
/// Relations kept for an entity.
pub const RELATIONS_MAX: usize = 24;
/// Actions kept for an entity.
pub const ACTIONS_MAX: usize = 8;
/// Fields of cached data kept for an entity.
pub const DATA_FIELDS_MAX: usize = 12;
/// The longest value of cached data, in characters.
pub const DATA_CHARACTERS_MAX: usize = 120;
/// How long cached data holds, in seconds.
pub const DATA_SECONDS: i64 = 3600;
/// Entities taken from one tool result.
pub const HARVEST_ENTITIES_MAX: usize = 500;
/// JSON values visited in one tool result.
pub const HARVEST_VALUES_MAX: usize = 50_000;
/// How deep a tool result is followed.
pub const HARVEST_DEPTH_MAX: usize = 12;
/// Entities of the last list that can be counted off ("the second one").
pub const LISTED_MAX: usize = 100;
/// Turns whose mentions are remembered in order.
pub const FOCUS_TURNS_MAX: usize = 6;
/// Mentions remembered in order for one turn.
pub const FOCUS_REFS_MAX: usize = 12;
/// Entities in one index.
pub const KNOWN_ENTITIES_MAX: usize = 50_000;
/// Things that one session was asked to forget.
pub const FORGOTTEN_MAX: usize = 200;
