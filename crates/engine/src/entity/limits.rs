//! Limits of entity tracking.

/// Entities in a session's head.
pub const HEAD_ENTITIES_MAX: usize = 20;
/// Bytes of a message that are read; [`super::Noticed::cut`] is set if there are more.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Mentions per message.
pub const MENTIONS_MAX: usize = 200;
/// Candidates listed in a question to the user.
pub const CANDIDATES_MAX: usize = 8;
pub const NAME_WORDS_MAX: usize = 8;
/// Name, id, slug or address.
pub const NAME_CHARACTERS_MAX: usize = 160;
/// Mention contexts per entity.
pub const CONTEXTS_MAX: usize = 3;
pub const CONTEXT_CHARACTERS_MAX: usize = 120;
/// Relations per entity.
pub const RELATIONS_MAX: usize = 24;
/// Actions per entity.
pub const ACTIONS_MAX: usize = 8;
/// Fields of cached data per entity.
pub const DATA_FIELDS_MAX: usize = 12;
/// Value of cached data.
pub const DATA_CHARACTERS_MAX: usize = 120;
/// How long cached data is valid.
pub const DATA_SECONDS: i64 = 3600;
/// Entities per tool result.
pub const HARVEST_ENTITIES_MAX: usize = 500;
/// JSON values visited per tool result.
pub const HARVEST_VALUES_MAX: usize = 50_000;
/// Nesting depth of a tool result.
pub const HARVEST_DEPTH_MAX: usize = 12;
/// Entities of the last list that can be referred to by position ("the second one").
pub const LISTED_MAX: usize = 100;
pub const FOCUS_TURNS_MAX: usize = 6;
/// Mentions per turn in focus.
pub const FOCUS_REFS_MAX: usize = 12;
pub const KNOWN_ENTITIES_MAX: usize = 50_000;
/// Entities a session was asked to forget.
pub const FORGOTTEN_MAX: usize = 200;
