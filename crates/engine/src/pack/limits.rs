//! Limits of packs. Exceeding one is a [`super::PackProblem`] that names it.

pub const PACK_BYTES_MAX: usize = 256 * 1024;
pub const PACKS_MAX: usize = 32;
pub const PACK_TYPES_MAX: usize = 64;
/// Words per list of a pack.
pub const PACK_WORDS_MAX: usize = 256;
/// Singular and plural together.
pub const TYPE_CUES_MAX: usize = 48;
pub const CUE_WORDS_MAX: usize = 4;
pub const TYPE_PATTERNS_MAX: usize = 16;
pub const PATTERN_CHARACTERS_MAX: usize = 400;
pub const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;
pub const TYPE_ALIASES_MAX: usize = 16;
pub const TYPE_RESOLVERS_MAX: usize = 16;
/// Entries in any other list of a type.
pub const TYPE_LIST_MAX: usize = 32;
pub const PACK_GUIDANCE_MAX: usize = 64;
pub const GUIDANCE_CHARACTERS_MAX: usize = 600;
pub const PACK_WORD_CHARACTERS_MAX: usize = 64;
/// Tools a pack knows to be read-only.
pub const PACK_READERS_MAX: usize = 200;
