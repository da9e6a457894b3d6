//! A board of items whose types and states only its descriptions name, a folder of notes, and branches that one tool
//! manages by a mode.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, reading, writing};

/// The board, the notes and the branches.
pub(crate) fn board() -> Vec<Server> {
    let text = || json!({"type": "string"});
    let items = vec![
        reading(
            "list_items",
            "List items with optional type/status filters.",
            json!({"item_type": text(), "status": text()}),
            json!([]),
        ),
        reading("get_active_items", "Get items in 'in_progress' status.", json!({}), json!([])),
        reading(
            "get_todos",
            "Get items in 'backlog' status - the todo queue.",
            json!({}),
            json!([]),
        ),
        writing(
            "new_item",
            "Create a new issue, todo, epic, or diary entry.",
            json!({"item_type": text(), "title": text()}),
            json!(["item_type", "title"]),
        ),
        writing(
            "add_update",
            "Add a progress update.",
            json!({"content": text()}),
            json!(["content"]),
        ),
        reading(
            "run_query",
            "Execute a query on the database",
            json!({"query": {"type": "string", "description": "SQL query to execute"}}),
            json!(["query"]),
        ),
    ];
    vec![Server { name: "desk", reads_only: false, reads: Vec::new(), tools: items, answer }]
}

/// A folder of notes, with spaces in their names.
pub(crate) fn notes() -> Vec<Server> {
    let paths = json!({"paths": {"type": "array", "items": {"type": "string"}}});
    let query = json!({"query": {"type": "string"}});
    let tools = vec![
        reading("read_notes", "Read the contents of multiple notes.", paths, json!(["paths"])),
        reading(
            "search_notes",
            "Searches for a note by its name. Returns paths.",
            query,
            json!(["query"]),
        ),
    ];
    vec![Server { name: "vault", reads_only: true, reads: Vec::new(), tools, answer }]
}

/// Branches and commits.
pub(crate) fn branches() -> Vec<Server> {
    let mode = json!({"type": "string", "enum": ["list", "create", "delete", "rename"], "default": "list"});
    let text = || json!({"type": "string"});
    let tools = vec![
        reading(
            "git_log",
            "View commit history, optionally by author.",
            json!({"author": text()}),
            json!([]),
        ),
        reading("git_status", "Show the working tree status.", json!({}), json!([])),
        writing(
            "git_commit",
            "Create a new commit with staged changes.",
            json!({"message": text()}),
            json!(["message"]),
        ),
        writing(
            "git_branch",
            "Manage branches: list all branches, create, delete or rename a branch.",
            json!({"mode": mode, "branchName": text(), "newBranchName": text(), "all": {"type": "boolean"}}),
            json!([]),
        ),
    ];
    vec![Server { name: "git", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let item = |id: u64, title: &str, kind: &str, status: &str| json!({"id": id, "title": title, "item_type": kind, "status": status});
    let items = [
        item(1, "Boathouse roof", "epic", "backlog"),
        item(3, "Leaking gutter", "issue", "in_progress"),
        item(4, "Order varnish", "todo", "backlog"),
    ];
    let fits = |row: &&Value| {
        let given = arguments.as_object().into_iter().flatten();
        given.clone().all(|(key, value)| row[key] == *value)
    };
    let status = |status: &str| -> Value {
        items.iter().filter(|row| row["status"] == status).cloned().collect()
    };
    match tool {
        "list_items" => Ok(items.iter().filter(fits).cloned().collect()),
        "get_active_items" => Ok(status("in_progress")),
        "get_todos" => Ok(status("backlog")),
        "run_query" => Ok("Database error: column \"colour\" not found in FROM clause".into()),
        "search_notes" => {
            let all = ["/Work/Standup 11-02.md", "/Work/Standup 11-09.md", "/Food/Lentil Soup.md"];
            let query = arguments["query"].as_str().unwrap_or_default().to_lowercase();
            let found = all.iter().filter(|path| path.to_lowercase().contains(&query));
            Ok(found.copied().collect::<Vec<_>>().join("\n").into())
        }
        "read_notes" => {
            let one = |path: &Value| {
                let path = path.as_str().unwrap_or_default();
                match path.trim_start_matches('/') {
                    "Work/Standup 11-02.md" => format!("{path}:\nThe winch jams."),
                    "Work/Standup 11-09.md" => format!("{path}:\nThe gangway is repaired."),
                    "Food/Lentil Soup.md" => format!("{path}:\nred lentils"),
                    _ => {
                        format!("{path}: Error - ENOENT: no such file or directory, open '{path}'")
                    }
                }
            };
            let paths = arguments["paths"].as_array().into_iter().flatten();
            Ok(paths.map(one).collect::<Vec<_>>().join("\n---\n").into())
        }
        "git_log" => Ok(json!([{"hash": "aa", "author": "Piet Haak", "subject": "Add tides"}])),
        "git_branch" if arguments["mode"] == "list" => Ok(json!([{"name": "main"}])),
        _ => Ok(json!({"done": true})),
    }
}
