//! `throughline demo-inventory` through the proxy, as `serve --demo` uses it.

use std::time::Duration;

use serde_json::json;
use throughline_engine::tool::{ToolName, Tools};
use throughline_upstream::mcp::{McpProxy, ServerConfig, ServerState};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn the_demo_inventory_is_listed_called_and_ended() {
    let program = env!("CARGO_BIN_EXE_throughline");
    let mut config = ServerConfig::stdio("inventory", program, ["demo-inventory"]);
    let ample = Duration::from_secs(60);
    (config.list_timeout, config.connect_timeout, config.probe_timeout) = (ample, ample, ample);
    let proxy = McpProxy::new(vec![config]).unwrap();

    let listing = proxy.list().await;
    assert_eq!((listing.tools.len(), listing.unavailable), (19, vec![]));
    let destructive: Vec<&str> = (listing.tools.iter())
        .filter(|tool| tool.effects.destructive == Some(true))
        .map(|tool| tool.tool.name.as_str())
        .collect();
    assert_eq!(destructive, ["delete_device", "reset_inventory"]);
    let status = proxy.status().await.remove(0);
    assert_eq!(status.state, ServerState::Connected { protocol_version: "2026-07-28".into() });

    let call = async |name: &str, arguments| {
        let tool = ToolName { server: "inventory".into(), name: name.into() };
        proxy.call(&tool, &arguments, CancellationToken::new()).await.unwrap()
    };
    let arguments = json!({"project_id": 123, "answers": ["C++", "Python"]});
    let added = call("add_survey_answers", arguments).await.json.unwrap();
    let gone: Vec<&str> = (added["deselected"].as_array().unwrap().iter())
        .map(|answer| answer["id"].as_str().unwrap())
        .collect();
    assert_eq!((added["added_count"].as_u64(), gone), (Some(8), vec!["A2297", "A2298", "A2304"]));
    let refused = call("get_device", json!({"device": "nowhere"})).await;
    assert!(refused.is_error && refused.text.starts_with("there is no device"), "{}", refused.text);
    proxy.shutdown().await;
}
