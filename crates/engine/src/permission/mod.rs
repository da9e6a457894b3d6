//! Decides whether a tool call may run, for every path by which a tool can be called.
//!
//! MCP's defaults apply: a tool without hints may be destructive. A call runs without approval only if it is
//! known to be read-only, or if somebody has allowed it and none of its values was named only by a tool. A
//! server's statement about its own tool is a claim: it counts unless the name, title, description, schema or
//! arguments contradict it.
//!
//! # Layout
//!
//! - [`policy`]: decisions of people ([`crate::rule`]). [`decisions`]: their storage.
//! - [`name`], [`prose`], [`words`]: evidence in names and descriptions. [`arguments`], [`schema`],
//!   [`statement`], [`shell`], [`steps`]: evidence in arguments.
//! - [`taint`], [`unheard`], [`named`], [`forms`], [`codes`], [`fold`]: where values come from. [`request`]: whether a message asks for a change.
//!
//! Invariant: [`permission`] is a pure function, and in doubt it asks.

mod arguments;
mod codes;
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
mod steps;
pub mod taint;
mod unheard;
mod words;

use serde_json::Value;

pub use named::Named;
pub use policy::{Policy, Ruling, Voucher};
pub(crate) use request::{Doubt, asks_plainly, doubt, negates};
pub use rules::Rules;
pub use taint::Taint;

use crate::sabotage::{self, Switch};
use crate::tool::ToolDefinition;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    Run(Effect),
    /// It needs approval, for this reason.
    Ask(String),
    /// It never runs, for this reason.
    Deny(String),
}

/// The effect of a call that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is known to be read-only.
    Reads,
    Changes,
}

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
        return Permission::Ask(format!("{by} requires approval"));
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

/// Whether a tool could be read-only, before there is a call to check. Cheap.
pub fn may_read(definition: &ToolDefinition, policy: &Policy) -> bool {
    let ruling = policy.of(definition);
    let held_back = ruling.deny.is_some() || ruling.ask.is_some();
    !held_back && (ruling.reads.is_some() || definition.effects.read_only == Some(true))
}

/// Why a call is not known to be read-only, if so.
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
            format!("it is known to be read-only, but its arguments change something: {said}")
        });
    }
    match (effects.read_only, destroys) {
        (_, true) => return Some("its server marks it as destructive".into()),
        (Some(true), false) => {}
        _ => return Some("nobody has said that it is read-only".into()),
    }
    against_claim(definition).or_else(|| {
        arguments::against(definition, arguments)
            .map(|said| format!("its server says that it is read-only, but {said}"))
    })
}

/// Evidence in the tool's own texts against its server's claim that it is read-only.
fn against_claim(definition: &ToolDefinition) -> Option<String> {
    let ToolDefinition { tool, title, description, input_schema, .. } = definition;
    let claim = "its server says that it is read-only, but";
    if fold::is_look_alike(&tool.name) {
        return Some(format!("{claim} its name imitates another one"));
    }
    let schema = schema::Schema::new(input_schema);
    let names = [Some(tool.name.as_str()), title.as_deref(), schema.title()];
    let named = names.into_iter().flatten().find_map(name::change_in_name);
    if let Some(word) = named {
        return Some(format!("{claim} its name says {word:?}"));
    }
    if names.into_iter().flatten().any(|name| name.chars().any(prose::is_of_unknown_script)) {
        return Some(format!("{claim} its name is in a language that cannot be checked"));
    }
    if let Some(act) = schema.parameters().into_iter().find_map(prose::purpose) {
        return Some(format!("{claim} the description of a parameter says {act:?}"));
    }
    let texts = [Some(description.as_str()), schema.description()];
    let found = texts.into_iter().flatten().find_map(|text| prose::against(text, &tool.name))?;
    Some(match found {
        prose::Finding::Changes(word) => format!("{claim} its description says {word:?}"),
        prose::Finding::Deceives => format!("{claim} its description has hidden characters"),
        prose::Finding::Unjudged => {
            format!("{claim} its description is in a language that cannot be checked")
        }
    })
}
