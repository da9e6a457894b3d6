//! A small CRM: contacts, deals and what was logged.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, reading, writing};

/// The CRM as a server that says which tools read.
pub(crate) fn deals() -> Vec<Server> {
    let id = |name: &str| json!({name: {"type": "integer"}});
    let text = || json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let stage = json!({"enum": ["lead", "proposal", "won"], "type": "string"});
    let contact = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "email": text(), "company": text(),
        "tags": {"type": "array", "items": {"type": "string"}}}});
    let patch = json!({"type": "object", "properties": {"title": text(), "owner": text(),
        "amount": {"anyOf": [{"type": "number"}, {"type": "null"}]}}});
    let tools = vec![
        reading(
            "find_contacts",
            "Find contacts by a part of their name, by company or by tag.",
            json!({"query": text(), "company": text(), "tag": text(), "limit": {"type": "integer", "default": 20}}),
            json!([]),
        ),
        reading("get_contact", "Show one contact.", id("contact_id"), json!(["contact_id"])),
        reading(
            "list_deals",
            "List deals, newest first.",
            json!({"stage": {"anyOf": [stage, {"type": "null"}]}, "owner": text(), "company": text(),
                "min_amount": {"anyOf": [{"type": "number"}, {"type": "null"}]}}),
            json!([]),
        ),
        reading(
            "list_activities",
            "List logged calls, emails and meetings.",
            json!({"contact_id": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}),
            json!([]),
        ),
        writing(
            "create_contact",
            "Create a contact.",
            json!({"contact": contact}),
            json!(["contact"]),
        ),
        writing(
            "update_deal",
            "Change fields of a deal.",
            json!({"deal_id": {"type": "integer"}, "patch": patch}),
            json!(["deal_id", "patch"]),
        ),
        writing("delete_contact", "Delete a contact.", id("contact_id"), json!(["contact_id"])),
        writing(
            "log_activity",
            "Log a call, an email or a meeting with a contact.",
            json!({"contact_id": {"type": "integer"}, "note": {"type": "string"},
                "kind": {"type": "string", "enum": ["call", "email", "meeting"]}}),
            json!(["contact_id", "kind", "note"]),
        ),
        writing(
            "tag_contacts",
            "Add tags to several contacts.",
            json!({"contact_ids": {"type": "array", "items": {"type": "integer"}},
                "tags": {"type": "array", "items": {"type": "string"}}}),
            json!(["contact_ids", "tags"]),
        ),
    ];
    vec![Server { name: "crm", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let contacts = [
        json!({"id": 1, "name": "Marta Okoye", "company": "Fjordline Ferries"}),
        json!({"id": 3, "name": "Ulla Berg", "company": "Fjordline Ferries"}),
        json!({"id": 4, "name": "Dev Anand", "company": "Kiln & Co"}),
        json!({"id": 8, "name": "Marta Lindqvist", "company": "Kiln & Co"}),
    ];
    let deals = [
        json!({"id": 101, "title": "Ferry Wi-Fi", "company": "Fjordline Ferries", "amount": 48000, "stage": "proposal"}),
        json!({"id": 103, "title": "Dashboards", "company": "Kiln & Co", "amount": 9900, "stage": "lead"}),
        json!({"id": 106, "title": "Crew app", "company": "Fjordline Ferries", "amount": 22000, "stage": "lead"}),
    ];
    let company = arguments["company"].as_str().unwrap_or_default().to_lowercase();
    let query = arguments["query"].as_str().unwrap_or_default().to_lowercase();
    let lower = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
    let fits = |row: &&Value| {
        let stage = &arguments["stage"];
        let least = arguments["min_amount"].as_f64().unwrap_or_default();
        lower(&row["company"]).contains(&company)
            && lower(&row["name"]).contains(&query)
            && (stage.is_null() || row["stage"] == *stage)
            && row["amount"].as_f64().is_none_or(|amount| amount >= least)
    };
    match tool {
        "find_contacts" => Ok(contacts.iter().filter(fits).cloned().collect()),
        "list_deals" => Ok(deals.iter().filter(fits).cloned().collect()),
        "list_activities" => Ok(json!([])),
        "get_contact" => contacts
            .into_iter()
            .find(|row| row["id"] == arguments["contact_id"])
            .ok_or_else(|| "no contact".into()),
        _ => Ok(json!({"done": true})),
    }
}
