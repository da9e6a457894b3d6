//! Validates a pack and builds its types.
//!
//! Every problem has its position in the text. One wrong line refuses the whole pack: half a pack would fail in
//! ways nobody sees.

use std::ops::Range;

use regex::RegexBuilder;
use toml::Spanned;

use super::Kind;
use super::alias;
use super::file::{
    Action, Generic, MatchMeans, NumberMeans, PackFile, PatternFile, ResolveFile, TypeFile,
};
use super::limits::*;
use super::reader::KnownReader;
use super::steering::Guidance;
use super::types::{Cue, EntityType, Grammar, Objects, Pattern, Resolver};
use super::words_of_identifier;

/// A reason and its position.
pub(super) type Refusal = (Option<Range<usize>>, String);

#[derive(Debug, Clone)]
pub(super) struct Pack {
    pub name: String,
    pub description: String,
    pub types: Vec<EntityType>,
    /// The position of each type's name in the text.
    pub places: Vec<Range<usize>>,
    pub guidance: Vec<Guidance>,
    /// Tools known to be read-only.
    pub reads: Vec<KnownReader>,
    pub compounds: Vec<String>,
    pub units: Vec<String>,
    pub verbs: Vec<String>,
    pub generic: Option<Generic>,
}

/// Parses and validates a pack.
pub(super) fn read(text: &str) -> Result<Pack, Refusal> {
    if text.len() > PACK_BYTES_MAX {
        return Err((None, format!("the pack is longer than {PACK_BYTES_MAX} bytes")));
    }
    let file: PackFile =
        toml::from_str(text).map_err(|error| (error.span(), error.message().to_owned()))?;
    let name = identifier(&file.name)?;
    at_most(file.types.len(), PACK_TYPES_MAX, "types in a pack", None)?;
    at_most(file.guidance.len(), PACK_GUIDANCE_MAX, "pieces of guidance in a pack", None)?;
    let types = file.types.iter().map(|entry| entity_type(&name, &file, entry));
    let guidance = file.guidance.iter().map(|entry| {
        let span = Some(entry.span());
        let entry = entry.get_ref();
        if entry.text.chars().count() > GUIDANCE_CHARACTERS_MAX {
            let reason = format!("the text is longer than {GUIDANCE_CHARACTERS_MAX} characters");
            return Err((span, reason));
        }
        let lists = [&entry.when, &entry.unless, &entry.prefer, &entry.avoid];
        for list in lists {
            at_most(list.len(), TYPE_LIST_MAX, "words in a list of guidance", span.clone())?;
        }
        Ok(Guidance {
            pack: name.clone(),
            when: lower(&entry.when),
            unless: lower(&entry.unless),
            prefer: lower(&entry.prefer),
            avoid: lower(&entry.avoid),
            text: entry.text.trim().to_owned(),
        })
    });
    let (types, guidance) = (types.collect::<Result<_, _>>()?, guidance.collect::<Result<_, _>>()?);
    let places = file.types.iter().map(|entry| entry.get_ref().name.span()).collect();
    at_most(file.reads.len(), PACK_READERS_MAX, "tools that are known to read", None)?;
    at_most(file.compounds.len(), PACK_WORDS_MAX, "compounds in a pack", None)?;
    at_most(file.units.len(), PACK_WORDS_MAX, "units in a pack", None)?;
    at_most(file.verbs.len(), PACK_WORDS_MAX, "verbs in a pack", None)?;
    let (compounds, units) = (lower(&file.compounds), lower(&file.units));
    let verbs = lower(&file.verbs);
    let (description, reads) = (file.description.clone(), file.reads.clone());
    let generic = file.generic.clone();
    Ok(Pack { name, description, types, places, guidance, reads, compounds, units, verbs, generic })
}

fn entity_type(
    pack: &str,
    file: &PackFile,
    entry: &Spanned<TypeFile>,
) -> Result<EntityType, Refusal> {
    let (span, entry) = (entry.span(), entry.get_ref());
    let count =
        |count: usize, max: usize, what: &str| at_most(count, max, what, Some(span.clone()));
    count(entry.singular.len() + entry.plural.len(), TYPE_CUES_MAX, "cue words of a type")?;
    count(entry.pattern.len(), TYPE_PATTERNS_MAX, "patterns of a type")?;
    count(entry.aliases.len(), TYPE_ALIASES_MAX, "alias rules of a type")?;
    count(entry.resolve.len(), TYPE_RESOLVERS_MAX, "ways to resolve a type")?;
    let lists = [
        &entry.keys,
        &entry.urls,
        &entry.shape,
        &entry.id,
        &entry.label,
        &entry.fields,
        &entry.asked_by,
    ];
    for list in lists.into_iter().chain(entry.choices.values()).chain(entry.narrows.values()) {
        count(list.len(), TYPE_LIST_MAX, "entries in a list of a type")?;
    }
    count(entry.parents.len(), TYPE_LIST_MAX, "parents of a type")?;
    if entry.singular.is_empty() || entry.plural.is_empty() {
        let reason = "a type needs at least one singular and one plural cue word".to_owned();
        return Err((Some(span), reason));
    }
    if !(0.0..=10.0).contains(&entry.bonus) {
        return Err((Some(span), "bonus must be between 0 and 10".to_owned()));
    }
    let singular = entry.singular.iter().map(|word| cue(word, Grammar::Singular));
    let plural = entry.plural.iter().map(|word| cue(word, Grammar::Plural));
    let or = |paths: &[String], default: &[&str]| match paths {
        [] => default.iter().map(|path| (*path).to_owned()).collect(),
        paths => paths.to_vec(),
    };
    Ok(EntityType {
        kind: Kind::new(identifier(&entry.name)?),
        pack: pack.to_owned(),
        cues: singular.chain(plural).collect::<Result<_, _>>()?,
        bonus: entry.bonus,
        describes: entry.describes,
        number: entry.number,
        named_before: entry.named_before,
        everyday: entry.everyday.clone(),
        parents: entry
            .parents
            .iter()
            .map(|parent| identifier(parent).map(Kind::new))
            .collect::<Result<_, _>>()?,
        within: entry.within.as_ref().map(identifier).transpose()?.map(Kind::new),
        aliases: alias::rules_of(entry).map_err(|(span, reason)| (Some(span), reason))?,
        keys: entry.keys.clone(),
        urls: entry.urls.clone(),
        shape: entry.shape.clone(),
        id: or(&entry.id, &["id"]),
        label: or(&entry.label, &["name", "display", "label", "title"]),
        slug: or(&entry.slug, &["slug"]),
        url: or(&entry.url, &["display_url", "url"]),
        parameters: entry.parameters.clone(),
        tools: entry.tools.clone(),
        latest: entry.latest.clone(),
        patterns: entry.pattern.iter().map(pattern).collect::<Result<_, _>>()?,
        resolvers: entry
            .resolve
            .iter()
            .map(|entry| resolver(file, entry))
            .collect::<Result<_, _>>()?,
        actions: file.actions.clone(),
        objects: Objects {
            object: entry.object.clone(),
            list_tool: entry.list_tool.clone(),
            fields: entry.fields.clone(),
            name_filter: entry.name_filter.clone(),
            number_filter: entry.number_filter.clone(),
            filters: entry.filters.clone(),
            choices: entry.choices.clone(),
            flags: entry.flags.clone(),
            means: entry.means.clone(),
        },
        narrowed_by: entry.narrowed_by.as_ref().map(identifier).transpose()?.map(Kind::new),
        narrows: entry.narrows.clone(),
        asked_by: entry.asked_by.clone(),
        place: entry.place,
        attributes: entry.attributes.clone(),
        instead: entry.instead.iter().map(|(of, is)| (Kind::new(of), Kind::new(is))).collect(),
    })
}

fn cue(word: &Spanned<String>, grammar: Grammar) -> Result<Cue, Refusal> {
    let text = word.get_ref().to_lowercase();
    let words = text.split_whitespace().count();
    let reason = match words {
        0 => "a cue word is empty".to_owned(),
        1..=CUE_WORDS_MAX if text.chars().count() <= PACK_WORD_CHARACTERS_MAX => {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            return Ok(Cue { text, grammar });
        }
        _ => format!(
            "the cue {text:?} has more than {CUE_WORDS_MAX} words or \
             {PACK_WORD_CHARACTERS_MAX} characters"
        ),
    };
    Err((Some(word.span()), reason))
}

fn pattern(entry: &PatternFile) -> Result<Pattern, Refusal> {
    let span = Some(entry.regex.span());
    let source = entry.regex.get_ref();
    if source.chars().count() > PATTERN_CHARACTERS_MAX {
        let reason = format!("the pattern is longer than {PATTERN_CHARACTERS_MAX} characters");
        return Err((span, reason));
    }
    if !(1..=2).contains(&entry.words) || !(0.0..=1.0).contains(&entry.confidence) {
        let reason = "words must be 1 or 2 and confidence between 0 and 1".to_owned();
        return Err((span, reason));
    }
    let regex = RegexBuilder::new(&format!("^(?:{source})$"))
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .nest_limit(32)
        .build()
        .map_err(|error| (span.clone(), format!("the pattern does not compile: {error}")))?;
    if regex.is_match("") {
        return Err((span, "the pattern matches the empty text".to_owned()));
    }
    let means = match entry.means {
        MatchMeans::Id => NumberMeans::Id,
        MatchMeans::Name => NumberMeans::Name,
    };
    let (words, confidence) = (entry.words, entry.confidence);
    Ok(Pattern { regex, words, confidence, check: entry.check, means })
}

/// A resolver must be read-only: a tool whose verb the pack itself lists as a change is refused.
fn resolver(file: &PackFile, entry: &ResolveFile) -> Result<Resolver, Refusal> {
    let tool = entry.tool.get_ref();
    let span = Some(entry.tool.span());
    let words = words_of_identifier(tool);
    let changing = file.actions.iter().filter(|(action, _)| **action != Action::Discussed);
    if let Some(verb) = changing.flat_map(|(_, verbs)| verbs).find(|verb| words.contains(verb)) {
        let reason = format!("the tool {tool:?} cannot resolve a type: {verb:?} changes something");
        return Err((span, reason));
    }
    let filled = entry.arguments.values().any(|value| {
        let text = value.to_string();
        ["{name}", "{id}", "{slug}"].iter().any(|word| text.contains(word))
    });
    if tool.is_empty() || !filled {
        let reason = "a resolver needs a tool and an argument with {name}, {id} or {slug}";
        return Err((span, reason.to_owned()));
    }
    Ok(Resolver { tool: tool.clone(), arguments: entry.arguments.clone() })
}

/// A name in a pack: lower-case letters, digits and underscores.
fn identifier(name: &Spanned<String>) -> Result<String, Refusal> {
    let text = name.get_ref();
    let fits = !text.is_empty() && text.len() <= PACK_WORD_CHARACTERS_MAX;
    let spelt = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if fits && text.bytes().all(spelt) {
        return Ok(text.clone());
    }
    let reason =
        format!("the name {text:?} must be 1-{PACK_WORD_CHARACTERS_MAX} characters of a-z 0-9 _");
    Err((Some(name.span()), reason))
}

fn at_most(
    count: usize,
    max: usize,
    what: &str,
    span: Option<Range<usize>>,
) -> Result<(), Refusal> {
    if count <= max { Ok(()) } else { Err((span, format!("{count} {what}; at most {max}"))) }
}

fn lower(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.to_lowercase()).collect()
}
