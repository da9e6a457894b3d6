//! Judging calls by their arguments.

use super::*;
use crate::tool::{ToolEffects, ToolName};
use serde_json::json;

fn tool(name: &str, properties: Value) -> ToolDefinition {
    ToolDefinition {
        tool: ToolName { server: "s".into(), name: name.into() },
        input_schema: json!({"type": "object", "properties": properties}),
        effects: ToolEffects { read_only: Some(true), ..ToolEffects::default() },
        ..ToolDefinition::default()
    }
}

#[track_caller]
fn check(name: &str, properties: Value, arguments: Value, expected: bool) {
    let said = against(&tool(name, properties), &arguments);
    assert_eq!(said.is_some(), expected, "{name} {arguments}: {said:?}");
}

#[test]
fn parameters_that_act_speak() {
    let any = || json!({});
    check("http", any(), json!({"url": "https://a.example/1", "method": "put"}), true);
    check("http", any(), json!({"headers": {"X-HTTP-Method-Override": "DELETE"}}), true);
    check("http", any(), json!({"url": "https://a.example/4?_method=delete&confirm=1"}), true);
    check("queue", any(), json!({"action": "purge"}), true);
    check("plan", any(), json!({"dry_run": false}), true);
    let rewrites = json!({"fix": {"type": "boolean", "description": "rewrite the file in place"}});
    check("lint", rewrites, json!({"fix": true}), true);
    check("file", json!({"mode": {"enum": ["r", "w", "a"]}}), json!({"mode": "w"}), true);
    check(
        "document",
        any(),
        json!({"patch": "[{\"op\": \"remove\", \"path\": \"/owner\"}]"}),
        true,
    );
    check("batch", any(), json!({"requests": [{"method": "GET"}, {"method": "DELETE"}]}), true);
    check("redis_command", any(), json!({"args": ["FLUSHALL"]}), true);
    check("aggregate", any(), json!({"pipeline": [{"$out": "customers"}]}), true);
    check("es", any(), json!({"path": "/weblogs/_delete_by_query"}), true);
    check("evaluate", any(), json!({"expression": "__import__('os').remove('/d') or 1"}), true);
    check(
        "items",
        json!({"mode": {"enum": ["view", "delete"], "default": "delete"}}),
        json!({}),
        true,
    );
    check("voicemail", json!({"delete_after_read": {}}), json!({"delete_after_read": true}), true);
    let code = json!({"op": {"description": "0 = read, 1 = write the last value"}});
    check("plc", code.clone(), json!({"op": 1}), true);
    check("plc", code, json!({"op": 0}), false);
    check("booking", any(), json!({"request": {"cancel": "K7"}}), true);
    check("search_pages", json!({"q": {}}), json!({"q": "a", "__op": "delete_matches"}), true);
    check("fetch", any(), json!({"url": "https://admin.example/%64%65%6c%65%74%65?id=all"}), true);
    check("rpc", any(), json!({"payload": "{\"method\": \"\\u0064eleteAll\"}"}), true);
    check("lua", any(), json!({"hex": "72656469732e63616c6c2827464c555348414c4c2729"}), true);
    check("sh", any(), json!({"cmd": "ls; rm -rf x"}), true);
}

#[test]
fn texts_that_are_only_looked_for_do_not() {
    check("search_tickets", json!({"text": {}}), json!({"text": "delete account"}), false);
    check("search_docs", json!({"query": {}}), json!({"query": "rm -rf"}), false);
    check("grep", json!({"pattern": {}}), json!({"pattern": "DROP TABLE"}), false);
    check("list_audit_events", json!({"action": {}}), json!({"action": "delete"}), false);
    check("search_access_logs", json!({"method": {}}), json!({"method": "DELETE"}), false);
    check("read_file", json!({"path": {}}), json!({"path": "scripts/delete_old.sh"}), false);
    check("kubectl_get", json!({"namespace": {}}), json!({"namespace": "drop-zone"}), false);
    check("list_files", json!({"include_deleted": {}}), json!({"include_deleted": true}), false);
    check("get_rates", json!({"refresh": {}}), json!({"refresh": true}), false);
    check(
        "http",
        json!({"method": {}}),
        json!({"method": "GET", "url": "https://a.example/health"}),
        false,
    );
    check("plan", json!({"dry_run": {}}), json!({"dry_run": true}), false);
    check("calculate", json!({"expression": {}}), json!({"expression": "17*23"}), false);
    check(
        "query",
        json!({"sql": {}}),
        json!({"sql": "SELECT replace(name, '-', '') FROM ships"}),
        false,
    );
    check("list_events", json!({"cursor": {}}), json!({"cursor": "eyJwIjoyfQ=="}), false);
    check("list_issues", json!({"state": {}}), json!({"state": "merged"}), false);
    check("web_search", json!({"q": {}}), json!({"q": "how to drop table postgres"}), false);
}

#[test]
fn where_somebody_vouches_only_a_plain_statement_counts() {
    let tool = tool("netbox_get_changelogs", json!({"filters": {"type": "object"}}));
    assert_eq!(plainly_against(&tool, &json!({"filters": {"action": "delete"}})), None);
    assert!(plainly_against(&tool, &json!({"sql": "DROP TABLE pier"})).is_some());
}
