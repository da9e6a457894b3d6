//! Converts the protocol's tools and results to the engine's.
//!
//! Invariant: an output contains at most the limit in bytes of text, and no JSON beyond it; media are bounded by the
//! message limit.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, Tool};
use serde_json::Value;
use throughline_engine::exact;
use throughline_engine::tool::{
    Media, MediaKind, ToolDefinition, ToolEffects, ToolName, ToolOutput,
};

/// Converts a tool definition.
pub(super) fn definition(server: &str, tool: Tool) -> ToolDefinition {
    let hints = tool.annotations.unwrap_or_default();
    ToolDefinition {
        tool: ToolName { server: server.to_owned(), name: tool.name.into_owned() },
        title: tool.title.or(hints.title),
        description: tool.description.unwrap_or_default().into_owned(),
        input_schema: Value::Object((*tool.input_schema).clone()),
        output_schema: tool.output_schema.map(|schema| Value::Object((*schema).clone())),
        effects: ToolEffects {
            read_only: hints.read_only_hint,
            destructive: hints.destructive_hint,
            idempotent: hints.idempotent_hint,
            open_world: hints.open_world_hint,
        },
    }
}

/// Converts a result, cut at `bytes_max`.
pub(super) fn output(result: CallToolResult, bytes_max: usize) -> ToolOutput {
    let blocks: Vec<String> = result.content.iter().map(text_of).collect();
    let mut text = blocks.join("\n");
    if text.is_empty()
        && let Some(value) = &result.structured_content
    {
        text = value.to_string();
    }
    let json = result.structured_content.or_else(|| parse_json(&text));
    let is_error = result.is_error.unwrap_or(false);
    let media = result.content.iter().filter_map(media).collect();
    ToolOutput { text, json, is_error, media, ..ToolOutput::default() }.cut(bytes_max)
}

/// Images and audio, unchanged. The message as a whole is bounded.
fn media(block: &ContentBlock) -> Option<Media> {
    let (kind, mime_type, data) = match block {
        ContentBlock::Image(image) => (MediaKind::Image, &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => (MediaKind::Audio, &audio.mime_type, &audio.data),
        _ => return None,
    };
    Some(Media { kind, mime_type: mime_type.clone(), data: data.clone() })
}

/// Text as it is; other content as a placeholder with type and size.
fn text_of(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => placeholder("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => placeholder("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::ResourceLink(link) => format!("[resource {}: {}]", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                placeholder("resource", uri, blob.len())
            }
            _ => "[resource]".to_owned(),
        },
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn placeholder(kind: &str, of: &str, base64_length: usize) -> String {
    format!("[{kind} {of}, about {} bytes]", base64_length / 4 * 3)
}

/// Parses the text as JSON if it is an object or array; a bare number or word is not meant as JSON.
fn parse_json(text: &str) -> Option<Value> {
    let start = text.trim_start().as_bytes().first()?;
    matches!(start, b'{' | b'[').then(|| serde_json::from_str(&exact::quoted(text)).ok())?
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ListToolsResult, ServerJsonRpcMessage};
    use throughline_testkit::fuzz;

    use super::*;

    /// Maximum size of a result's text.
    const BYTES_MAX: usize = 100;

    #[test]
    fn any_answer_of_a_server_is_read_or_refused() {
        let inputs = [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":1}"}],"isError":false}}"#,
            r#"{"content":[{"type":"text","text":"[1, 2"},{"type":"image","data":"AAAA","mimeType":"image/png"},
                {"type":"resource","resource":{"uri":"a:b","text":"é"}},{"type":"resource_link","uri":"a:b","name":"n"}],
                "structuredContent":{"a":[1,2]},"isError":true,"_meta":{}}"#,
            r#"{"tools":[{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"a":
                {"type":"string"}}},"annotations":{"readOnlyHint":true,"title":"x"}}],"nextCursor":"c","ttlMs":1}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"m","data":{}}}"#,
        ];
        fuzz::target_text(env!("CARGO_MANIFEST_DIR"), "mcp-answers", &inputs, |text| {
            let _ = serde_json::from_str::<ServerJsonRpcMessage>(text);
            if let Ok(result) = serde_json::from_str::<CallToolResult>(text) {
                let output = output(result, BYTES_MAX);
                assert!(output.text.len() <= BYTES_MAX, "{} bytes", output.text.len());
            }
            if let Ok(listed) = serde_json::from_str::<ListToolsResult>(text) {
                for tool in listed.tools {
                    let _ =
                        throughline_engine::schema::refusal(&definition("s", tool).input_schema);
                }
            }
        });
    }
}
