//! How large a pack may be. Going over one of these is a [`super::PackProblem`] that names it.

/// The longest pack file, in bytes.
pub const PACK_BYTES_MAX: usize = 256 * 1024;
/// The most packs in one set.
pub const PACKS_MAX: usize = 32;
/// The most types in one pack.
pub const PACK_TYPES_MAX: usize = 64;
/// The most words in a list of one pack.
pub const PACK_WORDS_MAX: usize = 256;
/// The most cue words of one type, singular and plural together.
pub const TYPE_CUES_MAX: usize = 48;
/// The most words in one cue.
pub const CUE_WORDS_MAX: usize = 4;
/// The most patterns of one type.
pub const TYPE_PATTERNS_MAX: usize = 16;
/// The longest pattern, in characters.
pub const PATTERN_CHARACTERS_MAX: usize = 400;
/// The largest compiled form of one pattern, in bytes.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;
/// The most alias rules of one type.
pub const TYPE_ALIASES_MAX: usize = 16;
/// The most ways to resolve one type.
pub const TYPE_RESOLVERS_MAX: usize = 16;
/// The most entries in any other list of a type.
pub const TYPE_LIST_MAX: usize = 32;
/// The most pieces of guidance in one pack.
pub const PACK_GUIDANCE_MAX: usize = 64;
/// The longest guidance text, in characters.
pub const GUIDANCE_CHARACTERS_MAX: usize = 600;
/// The longest word or name in a pack, in characters.
pub const PACK_WORD_CHARACTERS_MAX: usize = 64;
/// Tools that one pack knows to read.
pub const PACK_READERS_MAX: usize = 200;
