//! The tools, in the order listed, and what all calls share.
//!
//! Invariant: the list and its order are the same for everybody, so that clients can cache it.

mod chat;
mod contexts;
mod conversations;
mod facts;
mod memory;
mod presets;
mod query;
mod upstream;

use std::sync::LazyLock;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use throughline_engine::access::Caller;
use throughline_engine::error::{Error, Result};
use throughline_engine::schema::validate_here;
use throughline_engine::session::apply::RequestKey;

use super::{Mcp, Refused, schema};
use crate::request_key::request_key;

/// Longest idempotency key, in characters.
const KEY_CHARACTERS_MAX: usize = 255;

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    vec![
        contexts::tool(),
        presets::tool(),
        chat::tool(),
        conversations::tool(),
        query::tool(),
        memory::tool(),
        facts::remember_tool(),
        facts::recall_tool(),
        facts::forget_tool(),
        facts::list_tool(),
        upstream::search_tool(),
        upstream::call_tool(),
    ]
});

/// The product's own tools.
pub fn all() -> &'static [Tool] {
    &TOOLS
}

/// The tools to list to a client.
pub fn listed() -> Vec<Tool> {
    #[cfg(feature = "conformance-fixtures")]
    return TOOLS.iter().cloned().chain(super::fixtures::tools()).collect();
    #[cfg(not(feature = "conformance-fixtures"))]
    TOOLS.clone()
}

pub struct Call<'a> {
    pub mcp: &'a Mcp,
    pub caller: Caller,
    pub request: CallToolRequestParams,
    pub context: RequestContext<RoleServer>,
}

/// Runs the requested tool.
pub async fn call(call: Call<'_>) -> std::result::Result<CallToolResponse, ErrorData> {
    #[cfg(feature = "conformance-fixtures")]
    if let Some(answer) = super::fixtures::call(&call).await {
        return answer;
    }
    let name = call.request.name.clone();
    let outcome = match name.as_ref() {
        "context-manage" => contexts::run(&call).await.map(Into::into),
        "personality-preset-manage" => presets::run(&call).await.map(Into::into),
        "context-chat" => chat::run(&call).await,
        "conversation-manage" => conversations::run(&call).await.map(Into::into),
        "context-query" => query::run(&call).await.map(Into::into),
        "memory-search" => memory::run(&call).await.map(Into::into),
        "remember" => facts::remember(&call).await.map(Into::into),
        "recall" => facts::recall(&call).await.map(Into::into),
        "forget" => facts::forget(&call).await.map(Into::into),
        "list_memories" => facts::list(&call).await.map(Into::into),
        "tools-search" => upstream::search(&call).await.map(Into::into),
        "tools-call" => upstream::call(&call).await,
        unknown => {
            let names: Vec<&str> = all().iter().map(|tool| tool.name.as_ref()).collect();
            let message = format!("there is no tool {unknown}; known: {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(outcome.map_err(|error| in_arguments(&name, error)).unwrap_or_else(|error| {
        let parts = call.context.extensions.get::<axum::http::request::Parts>();
        if let Some(refused) = parts.and_then(|parts| parts.extensions.get::<Refused>()) {
            refused.note(&error);
        }
        failed(&name, &error).into()
    }))
}

impl Call<'_> {
    /// The arguments as `T`; an error names what is wrong and what is allowed.
    fn arguments<T: DeserializeOwned + JsonSchema>(&self) -> Result<T> {
        let value = Value::Object(self.request.arguments.clone().unwrap_or_default());
        serde_json::from_value(value.clone()).map_err(|error| {
            let schema = Value::Object(JsonObject::clone(&schema::of::<T>()));
            let error = error.to_string();
            if error.starts_with("unknown field") {
                return Error::invalid("arguments", error);
            }
            let reason = validate_here(&schema, &value).err().unwrap_or_else(|| error.clone());
            match reason.strip_prefix('/').and_then(|reason| reason.split_once(": ")) {
                // A schema's error is terse if there are many choices.
                Some((path, _)) if error.starts_with("unknown variant") => {
                    Error::invalid(path, error)
                }
                Some((path, reason)) => Error::invalid(path, reason),
                None => Error::invalid("arguments", reason),
            }
        })
    }

    /// The idempotency key of this call, bound to its tool and arguments.
    fn key(&self, key: Option<&String>) -> Result<Option<RequestKey>> {
        let Some(key) = key else { return Ok(None) };
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        if key.is_empty() || key.len() > KEY_CHARACTERS_MAX || !visible {
            let reason = format!("must have 1-{KEY_CHARACTERS_MAX} visible ASCII characters");
            return Err(Error::invalid("idempotencyKey", reason));
        }
        let mut arguments = self.request.arguments.clone().unwrap_or_default();
        arguments.remove("idempotencyKey");
        let body = serde_json::to_vec(&arguments).unwrap_or_default();
        let route = format!("mcp {}", self.request.name);
        Ok(Some(request_key(key, &route, &body)))
    }
}

/// Names the argument of `tool` in an error: the engine's `q` or `message` is `query` in most tools.
fn in_arguments(tool: &str, error: Error) -> Error {
    match error {
        Error::Invalid { field, reason }
            if matches!(field.as_str(), "q" | "message") && tool != "context-chat" =>
        {
            Error::Invalid { field: "query".into(), reason }
        }
        other => other,
    }
}

/// A tool with its schemas.
fn define<I: JsonSchema, O: JsonSchema>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    // Hints that equal the protocol's defaults are omitted.
    let unless = |hint: Option<bool>, default: bool| hint.filter(|hint| *hint != default);
    let mut annotations = annotations;
    annotations.read_only_hint = unless(annotations.read_only_hint, false);
    annotations.destructive_hint = unless(annotations.destructive_hint, true);
    annotations.idempotent_hint = unless(annotations.idempotent_hint, false);
    annotations.open_world_hint = unless(annotations.open_world_hint, true);
    Tool::new(name, description, schema::of::<I>())
        .with_title(title)
        .with_raw_output_schema(schema::of_answer::<O>())
        .with_annotations(annotations)
}

/// A result as JSON, and as text for clients without structured content.
fn answered<T: Serialize>(answer: &T, text: impl Into<String>) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text.into())]);
    result.structured_content = serde_json::to_value(answer).ok();
    result
}

/// An error for the model: what failed, and what to try.
fn failed(tool: &str, error: &Error) -> CallToolResult {
    let hint = hint(error);
    let text = format!("{error}\nhint: {hint}");
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    if matches!(tool, "context-manage" | "personality-preset-manage" | "conversation-manage") {
        let message = error.to_string();
        let answer =
            json!({"success": false, "message": message, "code": error.code(), "hint": hint});
        result.structured_content = Some(answer);
    }
    result
}

fn hint(error: &Error) -> String {
    match error {
        Error::Inactive { .. } => {
            "restore it with context-manage, action update, isActive true; that also extends it"
                .into()
        }
        Error::ToolNotApproved { .. } => {
            "a person approves it: through a client that offers elicitation, within a conversation on the page or \
             in throughline chat, or with throughline tools call --approve; a changed definition with \
             throughline tools approve"
                .into()
        }
        other => other.hint(),
    }
}
