//! JSON Schemas of tools: cost limits, and validation of arguments.
//!
//! A few kilobytes of schema can require unbounded work: references that fan out, recursion, patterns that
//! backtrack. So a schema is measured before it is compiled ([`cost`], at pinning), and a validation is measured
//! on its arguments before it is run ([`steps`]). Both measurements are bounded. Only what both admit is passed
//! to the validator, and not on a runtime thread.
//!
//! The validator itself is `jsonschema`.
//!
//! Invariant: no schema that [`refusal`] refuses is compiled, and no validation of more than [`STEPS_MAX`] steps
//! is run.

mod cost;
mod parts;
mod pattern;
mod steps;

use std::sync::{Arc, LazyLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use moka::sync::Cache;
use serde_json::Value;

use crate::hash::ContentHash;
use crate::sabotage::{self, Switch};

/// Maximum subschemas a schema applies, with references expanded.
pub const SUBSCHEMAS_MAX: u64 = 10_000;
/// Maximum subschemas a validation applies to its arguments.
pub const STEPS_MAX: u64 = 100_000;
/// Maximum nesting of subschemas, with references expanded.
pub const DEPTH_MAX: usize = 100;
/// Maximum schema, as JSON.
pub const BYTES_MAX: usize = 256 * 1024;
/// Maximum patterns per schema.
pub const PATTERNS_MAX: usize = 128;
/// Maximum size of a pattern with its repetitions expanded.
pub const PATTERN_SIZE_MAX: u64 = 5_000;

const COMPILED_PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Maximum backtracks of a pattern with look-around or back-references.
const BACKTRACKS_MAX: usize = 10_000;
/// Maximum total subschemas of the compiled schemas in the cache.
const COMPILED_SUBSCHEMAS_MAX: u64 = 100_000;
/// Maximum reasons reported for invalid arguments.
const REASONS_MAX: usize = 3;

static COMPILED: LazyLock<Cache<ContentHash, Arc<Compiled>>> = LazyLock::new(|| {
    let weigh = |_: &ContentHash, compiled: &Arc<Compiled>| compiled.subschemas;
    Cache::builder().weigher(weigh).max_capacity(COMPILED_SUBSCHEMAS_MAX).build()
});

struct Compiled {
    validator: Validator,
    subschemas: u32,
}

/// Why a schema is too expensive, if it is.
pub fn refusal(schema: &Value) -> Option<String> {
    cost::check(schema).err().filter(|_| !sabotage::is(Switch::AnySchema))
}

/// Validates `arguments` on a thread that may block. Dropping the future does not wait.
pub async fn validate(schema: &Value, arguments: &Value) -> Result<(), String> {
    let (schema, arguments) = (schema.clone(), arguments.clone());
    let validating = tokio::task::spawn_blocking(move || validate_here(&schema, &arguments));
    validating.await.unwrap_or_else(|_| Err("its validation failed".into()))
}

/// [`validate`] on this thread, for our own schemas.
pub fn validate_here(schema: &Value, arguments: &Value) -> Result<(), String> {
    let compiled = compiled(schema)?;
    steps::check(schema, arguments)?;
    let errors = compiled.validator.iter_errors(arguments).take(REASONS_MAX);
    let reasons: Vec<String> = errors.map(|error| reason(schema, &error)).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) }
}

/// What is wrong, and where; a missing argument with the values that it can have.
fn reason(schema: &Value, error: &ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    if !path.is_empty() {
        return format!("{path}: {error}");
    }
    let ValidationErrorKind::Required { property } = error.kind() else { return error.to_string() };
    let known = property.as_str().map(|name| &schema["properties"][name]["enum"]);
    match known.and_then(Value::as_array) {
        Some(values) => {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            format!("{error}: one of {}", values.join(", "))
        }
        None => error.to_string(),
    }
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
