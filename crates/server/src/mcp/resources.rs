//! Resources: contexts, presets and templates, readable without a tool.
//!
//! URIs are `throughline://…`; `mcp-llm-generator://…` is an alias.
//!
//! Invariant: a user's own data is marked private for caches.

use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use throughline_engine::access::Caller;
use throughline_engine::engine::Order;
use throughline_engine::error::{Error, Fault, Result};
use throughline_engine::preset::{review, template};

use super::Mcp;
use crate::persona_view::{ContextView, ConversationView, PresetView, ReviewView};

const SCHEME: &str = "throughline://";
const SEED_SCHEME: &str = "mcp-llm-generator://";
/// How long a list may be cached, in milliseconds.
pub const LIST_TTL_MS: u64 = 5_000;
/// Resources per page.
const PAGE_SIZE: usize = 50;
/// Messages shown with a context.
const RECENT_MESSAGES: usize = 20;

/// A URI without its scheme.
pub fn path_of(uri: &str) -> Option<&str> {
    uri.strip_prefix(SCHEME).or_else(|| uri.strip_prefix(SEED_SCHEME))
}

fn json_resource(path: &str, name: &str, title: &str, description: &str) -> Resource {
    Resource::new(format!("{SCHEME}{path}"), name)
        .with_title(title)
        .with_description(description)
        .with_mime_type("application/json")
}

fn fixed() -> Vec<Resource> {
    vec![
        json_resource(
            "contexts",
            "context-list",
            "Contexts",
            "All active contexts with a summary of their personality",
        ),
        json_resource(
            "personality-templates",
            "personality-templates",
            "Context templates",
            "Starting points for common uses, with a first message to fill in",
        ),
        json_resource(
            "personality-presets",
            "personality-presets",
            "Personality presets",
            "Presets to create contexts from",
        ),
    ]
}

/// The caller's resources by page: the fixed ones, then contexts, then presets.
pub async fn list(mcp: &Mcp, caller: &Caller, cursor: Option<&str>) -> Result<ListResourcesResult> {
    let mut all = fixed();
    #[cfg(feature = "conformance-fixtures")]
    all.extend(super::fixtures::resources());
    for (id, name) in mcp.engine.context_names(caller).await? {
        all.push(json_resource(
            &format!("context/{id}"),
            &format!("context-{id}"),
            &name,
            "A context with its recent conversation",
        ));
    }
    for preset in mcp.engine.presets().list(caller, 1, 100, false).await?.presets {
        let path = format!("preset/{}", preset.id);
        all.push(json_resource(&path, &preset.id, &preset.name, &preset.description));
    }
    let start = start_of(cursor, all.len())?;
    let next = (start + PAGE_SIZE < all.len()).then(|| (start + PAGE_SIZE).to_string());
    let page = all.into_iter().skip(start).take(PAGE_SIZE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next;
    Ok(result.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
}

/// Start of a page.
pub fn start_of(cursor: Option<&str>, all: usize) -> Result<usize> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.parse().ok().filter(|start| *start <= all).ok_or_else(|| {
        let shown: String = cursor.chars().take(40).collect();
        Error::invalid("cursor", format!("{shown:?} was not given by this server"))
    })
}

/// URI templates.
pub fn templates() -> ListResourceTemplatesResult {
    let template = |path: &str, name: &str, title: &str, description: &str| {
        ResourceTemplate::new(format!("{SCHEME}{path}"), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type("application/json")
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(
            "context/{contextId}",
            "context-detail",
            "Context",
            "A context with its personality, figures and recent conversation",
        ),
        template(
            "preset/{presetId}",
            "preset-detail",
            "Preset",
            "A preset with its settings and a review of its prompt",
        ),
        #[cfg(feature = "conformance-fixtures")]
        super::fixtures::template(),
    ])
    .with_ttl_ms(3_600_000)
    .with_cache_scope(CacheScope::Public)
}

/// Reads a resource.
pub async fn read(
    mcp: &Mcp,
    caller: &Caller,
    uri: &str,
) -> std::result::Result<ReadResourceResult, ErrorData> {
    #[cfg(feature = "conformance-fixtures")]
    if let Some(result) = super::fixtures::read(uri) {
        return Ok(result);
    }
    let Some(path) = path_of(uri) else { return Err(not_found(uri, "unknown scheme")) };
    let value = match path.split_once('/') {
        None => whole(mcp, caller, path).await,
        Some(("context", id)) => context(mcp, caller, id).await.map(Some),
        Some(("preset", id)) => preset(mcp, caller, id).await.map(Some),
        Some(_) => Ok(None),
    };
    match value {
        Ok(Some(value)) => {
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
            let scope = match path {
                "personality-templates" => CacheScope::Public,
                _ => CacheScope::Private,
            };
            Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(scope))
        }
        Ok(None) => Err(not_found(uri, "there is no such resource")),
        Err(error) if error.fault() == Fault::Missing => {
            Err(not_found(uri, &format!("{error}; {}", error.hint())))
        }
        Err(error) => Err(super::handler::protocol_error(&error)),
    }
}

fn not_found(uri: &str, reason: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found(format!("{shown}: {reason}"), Some(json!({"uri": shown})))
}

async fn whole(mcp: &Mcp, caller: &Caller, path: &str) -> Result<Option<Value>> {
    let value = match path {
        "contexts" => {
            let list = mcp.engine.list_contexts(caller, 1, 100, false).await?;
            let now = mcp.engine.now();
            let contexts: Vec<ContextView> =
                list.contexts.iter().filter_map(|loaded| ContextView::of(loaded, now)).collect();
            json!({"contexts": contexts, "totalCount": list.total})
        }
        "personality-templates" => json!({"templates": template::all()}),
        "personality-presets" => {
            let list = mcp.engine.presets().list(caller, 1, 100, false).await?;
            let presets: Vec<PresetView> = list.presets.into_iter().map(Into::into).collect();
            json!({"presets": presets, "totalCount": list.total})
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

async fn context(mcp: &Mcp, caller: &Caller, id: &str) -> Result<Value> {
    let loaded = mcp.engine.context(caller, id).await?;
    let id = &loaded.head.id;
    let page = mcp.engine.messages(caller, id, 1, RECENT_MESSAGES, Order::Descending).await?;
    let mut recent: Vec<ConversationView> =
        page.messages.into_iter().map(|said| ConversationView::of(id.as_str(), said)).collect();
    recent.reverse();
    let statistics = mcp.engine.statistics(caller, id).await?;
    Ok(json!({
        "context": ContextView::of(&loaded, mcp.engine.now()),
        "recentConversations": recent,
        "totalConversations": page.total,
        "statistics": statistics,
    }))
}

async fn preset(mcp: &Mcp, caller: &Caller, id: &str) -> Result<Value> {
    let preset = mcp.engine.presets().get(caller, id).await?;
    let review = ReviewView::from(review::review(&preset.system_prompt, &preset.personality));
    Ok(json!({"preset": PresetView::from(preset), "review": review}))
}
