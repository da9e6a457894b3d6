//! What a call needs to run. The one place that decides, for every path by which a tool can be called.
//!
//! MCP's defaults count: a tool of which nothing is said may destroy. A call runs unasked only if it is known
//! to read, or if somebody has allowed it and each of its values was named by somebody else than a tool. What
//! a server says of its own tool is a claim: it counts where nothing in name, title, description, schema or
//! arguments speaks against it.
//!
//! # Layout
//!
//! - [`policy`]: what people have decided ([`crate::rule`]). [`decisions`]: where that is kept.
//! - [`name`], [`prose`], [`words`]: what names and descriptions say. [`arguments`], [`schema`], [`statement`],
//!   [`shell`]: what arguments say.
//! - [`taint`], [`named`], [`forms`], [`fold`]: where values come from. [`request`]: whether a message asks for a change.
//!
//! Invariant: [`permission`] is a pure function, and doubt asks.

mod arguments;
pub mod decisions;
pub(crate) mod fold;
mod forms;
mod name;
mod named;
pub mod policy;
mod prose;
mod request;
pub mod rules;
mod schema;
mod shell;
mod statement;
pub mod taint;
mod words;

use serde_json::Value;

pub use named::Named;
pub use policy::{Policy, Ruling, Voucher};
pub(crate) use request::asks_plainly;
pub use rules::Rules;
pub use taint::Taint;

use crate::sabotage::{self, Switch};
use crate::tool::ToolDefinition;

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It runs.
    Run(Effect),
    /// Somebody has to approve it, for this reason.
    Ask(String),
    /// It never runs, for this reason.
    Deny(String),
}

/// What a call that runs does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is known to read.
    Reads,
    /// It may change something.
    Changes,
}

/// Decides whether a call may run.
pub fn permission(
    definition: &ToolDefinition,
    arguments: &Value,
    policy: &Policy,
    taint: &Taint,
) -> Permission {
    if sabotage::is(Switch::EverythingRuns) {
        return Permission::Run(Effect::Reads);
    }
    let ruling = policy.of(definition);
    if let Some(by) = ruling.deny {
        return Permission::Deny(format!("{by} forbids it"));
    }
    if let Some(by) = ruling.ask {
        return Permission::Ask(format!("{by} wants to be asked"));
    }
    match against_reading(definition, arguments, ruling.reads.as_ref()) {
        None => match taint.of_reading(definition, arguments) {
            Some(reason) => Permission::Ask(reason),
            None => Permission::Run(Effect::Reads),
        },
        Some(reason) if ruling.allow.is_none() => Permission::Ask(reason),
        Some(_) => match taint.of_change(definition, arguments) {
            Some(reason) => Permission::Ask(reason),
            None => Permission::Run(Effect::Changes),
        },
    }
}

/// Whether a tool could be known to read, before a call of it is there to be judged. Cheap.
pub fn may_read(definition: &ToolDefinition, policy: &Policy) -> bool {
    let ruling = policy.of(definition);
    let held_back = ruling.deny.is_some() || ruling.ask.is_some();
    !held_back && (ruling.reads.is_some() || definition.effects.read_only == Some(true))
}

/// Why a call is not known to read, if it is not.
fn against_reading(
    definition: &ToolDefinition,
    arguments: &Value,
    voucher: Option<&Voucher>,
) -> Option<String> {
    let effects = definition.effects;
    let destroys = effects.destructive == Some(true);
    if let Some(voucher) = voucher {
        if destroys && *voucher == Voucher::OfServer {
            return Some("its server marks it as destructive".into());
        }
        return arguments::plainly_against(definition, arguments).map(|said| {
            format!("it is known to read, but its arguments change something: {said}")
        });
    }
    match (effects.read_only, destroys) {
        (_, true) => return Some("its server marks it as destructive".into()),
        (Some(true), false) => {}
        _ => return Some("nobody has said that it only reads".into()),
    }
    against_claim(definition).or_else(|| {
        arguments::against(definition, arguments)
            .map(|said| format!("its server says that it only reads, but {said}"))
    })
}

/// What a tool's own words say against its server's claim that it only reads.
fn against_claim(definition: &ToolDefinition) -> Option<String> {
    let ToolDefinition { tool, title, description, input_schema, .. } = definition;
    let claim = "its server says that it only reads, but";
    if fold::is_look_alike(&tool.name) {
        return Some(format!("{claim} its name is written to look like another one"));
    }
    let schema = schema::Schema::new(input_schema);
    let names = [Some(tool.name.as_str()), title.as_deref(), schema.title()];
    let named = names.into_iter().flatten().find_map(name::change_in_name);
    if let Some(word) = named {
        return Some(format!("{claim} its name says {word:?}"));
    }
    let texts = [Some(description.as_str()), schema.description()];
    let found = texts.into_iter().flatten().find_map(|text| prose::against(text, &tool.name))?;
    Some(match found {
        prose::Finding::Changes(word) => format!("{claim} its description says {word:?}"),
        prose::Finding::Deceives => format!("{claim} its description hides what it says"),
        prose::Finding::Unjudged => {
            format!("{claim} its description is in a language that cannot be judged")
        }
    })
}
