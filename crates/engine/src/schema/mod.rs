//! JSON Schemas that tool servers send: what one may cost, and whether arguments fit it.
//!
//! A few kilobytes of schema can ask for more work than there is time in the universe: references that fan out,
//! recursion, patterns that backtrack. So a schema is measured before it is compiled ([`cost`], at pinning), and
//! a validation is measured on its arguments before it is run ([`steps`]). Neither measurement can take long
//! itself. Only what both admit is handed to the validator, and that not on a runtime thread.
//!
//! It is not a validator; `jsonschema` is.
//!
//! Invariant: no schema is compiled that [`refusal`] refuses, and no validation is run beyond [`STEPS_MAX`].

mod cost;
mod parts;
mod pattern;
mod steps;

use std::sync::{Arc, LazyLock};

use jsonschema::{PatternOptions, Validator};
use moka::sync::Cache;
use serde_json::Value;

use crate::hash::ContentHash;
use crate::sabotage::{self, Switch};

/// Subschemas that one schema may apply, references expanded.
pub const SUBSCHEMAS_MAX: u64 = 10_000;
/// Subschemas that one validation may apply to its arguments.
pub const STEPS_MAX: u64 = 100_000;
/// How deep subschemas may stand within each other, references expanded.
pub const DEPTH_MAX: usize = 100;
/// The longest schema, in bytes of JSON.
pub const BYTES_MAX: usize = 256 * 1024;
/// Patterns in one schema.
pub const PATTERNS_MAX: usize = 128;
/// The size of one pattern, with its repetitions written out.
pub const PATTERN_SIZE_MAX: u64 = 5_000;

/// The largest compiled pattern, in bytes.
const COMPILED_PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// How often a pattern with look-around or back-references may backtrack.
const BACKTRACKS_MAX: usize = 10_000;
/// Compiled schemas that are kept, by their subschemas.
const COMPILED_SUBSCHEMAS_MAX: u64 = 100_000;
/// Reasons that are given when arguments do not fit.
const REASONS_MAX: usize = 3;

static COMPILED: LazyLock<Cache<ContentHash, Arc<Compiled>>> = LazyLock::new(|| {
    let weigh = |_: &ContentHash, compiled: &Arc<Compiled>| compiled.subschemas;
    Cache::builder().weigher(weigh).max_capacity(COMPILED_SUBSCHEMAS_MAX).build()
});

struct Compiled {
    validator: Validator,
    subschemas: u32,
}

/// Why a schema is too expensive to be used, if it is.
pub fn refusal(schema: &Value) -> Option<String> {
    cost::check(schema).err().filter(|_| !sabotage::is(Switch::AnySchema))
}

/// Whether `arguments` fit `schema`, decided on a thread that may block. Dropping the future does not wait.
pub async fn validate(schema: &Value, arguments: &Value) -> Result<(), String> {
    let (schema, arguments) = (schema.clone(), arguments.clone());
    let validating = tokio::task::spawn_blocking(move || validate_here(&schema, &arguments));
    validating.await.unwrap_or_else(|_| Err("its validation failed".into()))
}

/// [`validate`] on this thread: for schemas of our own.
pub fn validate_here(schema: &Value, arguments: &Value) -> Result<(), String> {
    let compiled = compiled(schema)?;
    steps::check(schema, arguments)?;
    let errors = compiled.validator.iter_errors(arguments).take(REASONS_MAX);
    let reasons: Vec<String> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
}

fn compiled(schema: &Value) -> Result<Arc<Compiled>, String> {
    let hash = ContentHash::of(&schema.to_string());
    if let Some(compiled) = COMPILED.get(&hash) {
        return Ok(compiled);
    }
    let subschemas = u32::try_from(cost::check(schema)?).unwrap_or(u32::MAX);
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACKS_MAX)
        .size_limit(COMPILED_PATTERN_BYTES_MAX);
    let options = jsonschema::options().with_pattern_options(patterns);
    let validator =
        options.build(schema).map_err(|error| format!("its schema is not valid: {error}"))?;
    let compiled = Arc::new(Compiled { validator, subschemas });
    COMPILED.insert(hash, compiled.clone());
    Ok(compiled)
}

#[cfg(test)]
mod tests;
