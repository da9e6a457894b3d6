//! Completions: ids of contexts and presets, and arguments of prompts.

use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference};
use throughline_engine::access::Caller;
use throughline_engine::error::Result;

use super::Mcp;

/// Values of the argument that start with what was typed.
pub async fn complete(
    mcp: &Mcp,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompletionInfo> {
    let argument = request.argument.name.as_str();
    let known = match &request.r#ref {
        Reference::Resource(_) => match argument {
            "contextId" => ids(mcp.engine.context_names(caller).await?),
            "presetId" => presets(mcp, caller, |preset| preset.id.clone()).await?,
            _ => Vec::new(),
        },
        Reference::Prompt(_) => match argument {
            "contextName" => {
                mcp.engine.context_names(caller).await?.into_iter().map(|(_, name)| name).collect()
            }
            "role" => presets(mcp, caller, |preset| preset.name.clone()).await?,
            "personality" | "traits" => {
                presets(mcp, caller, |preset| preset.personality.clone()).await?
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let typed = request.argument.value.to_lowercase();
    let mut fitting: Vec<String> =
        known.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    fitting.sort();
    fitting.dedup();
    let total = u32::try_from(fitting.len()).ok();
    let more = fitting.len() > CompletionInfo::MAX_VALUES;
    fitting.truncate(CompletionInfo::MAX_VALUES);
    Ok(CompletionInfo::with_pagination(fitting, total, more).unwrap_or_default())
}

fn ids(names: Vec<(String, String)>) -> Vec<String> {
    names.into_iter().map(|(id, _)| id).collect()
}

async fn presets(
    mcp: &Mcp,
    caller: &Caller,
    value: impl Fn(&throughline_engine::preset::Preset) -> String,
) -> Result<Vec<String>> {
    Ok(mcp.engine.presets().list(caller, 1, 100, false).await?.presets.iter().map(value).collect())
}
