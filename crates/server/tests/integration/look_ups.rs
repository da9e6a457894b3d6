//! Two servers on one Redis: what one looked up through a tool spares the other the call, until something
//! is changed.

use serde_json::{Value, json};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::served::{Launch, Served};

use crate::mcp::PROGRAM;

const NEWER: &str = "2026-07-28";

struct Servers {
    two: [Served; 2],
    http: reqwest::Client,
}

impl Servers {
    /// Prepares a question on a server; answers how many look-ups each has made, and how many were shared.
    async fn ask(&self, server: usize, session: &str) -> [(u64, u64); 2] {
        let url = self.two[server].url(&format!("/conversations/{session}/prepare"));
        let body = json!({"message": "How is device ams1-core-01 doing?"});
        let reply = self.http.post(url).json(&body).send().await.expect("an answer");
        assert!(reply.status().is_success(), "{}", reply.text().await.expect("text"));
        let mut figures = [(0, 0); 2];
        for (figures, server) in figures.iter_mut().zip(&self.two) {
            let told = server.get(&self.http, "/memory/stats").await;
            let count = |name: &str| told[name].as_u64().expect("a count");
            *figures = (count("look_ups_made"), count("look_ups_shared"));
        }
        figures
    }

    /// Changes a device through a server's proxy, outside any conversation.
    async fn change(&self, server: usize) {
        let permission = self.two[server].url("/tools/inventory/update_device/permission");
        let allowed = self.http.put(permission).json(&json!({"rule": "allow"})).send().await;
        assert_eq!(allowed.expect("an answer").status(), 200);
        let url = self.two[server].url("").replace("/api/v1", "/mcp");
        let arguments = json!({
            "server": "inventory", "name": "update_device",
            "arguments": {"device": "ams1-core-01", "status": "offline"},
        });
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": NEWER,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "tools-call", "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = self.http.post(url).json(&body);
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", NEWER);
        let request = request.header("mcp-method", "tools/call").header("mcp-name", "tools-call");
        let said = request.send().await.expect("an answer").text().await.expect("text");
        let data = said.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&said);
        let told: Value = serde_json::from_str(data).unwrap_or_else(|_| panic!("{said}"));
        assert_eq!(told["result"]["structuredContent"]["success"], true, "{told}");
    }
}

#[tokio::test]
async fn a_look_up_of_one_server_spares_the_other_until_something_is_changed() {
    let Some(redis) = RedisServer::start().await else { return };
    let launch = Launch::new(PROGRAM, redis.url()).flag("--demo");
    let two = [Served::start(&launch).await, Served::start(&launch).await];
    let servers = Servers { two, http: reqwest::Client::new() };
    for session in ["one", "two", "three"] {
        servers.two[0].create(&servers.http, session).await;
    }
    assert_eq!(servers.ask(0, "one").await, [(1, 0), (0, 0)]);
    assert_eq!(servers.ask(1, "two").await, [(1, 0), (0, 1)], "the second is spared");
    servers.change(0).await;
    assert_eq!(servers.ask(1, "two").await, [(1, 0), (1, 1)], "it was changed since");
    assert_eq!(servers.ask(0, "three").await, [(1, 1), (1, 1)], "now the first is spared");
}
