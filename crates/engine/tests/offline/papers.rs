//! A folder of files, a graph and a database together, with the tools of the public servers.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, recorded};

/// Files, a graph and a database.
pub(crate) fn papers() -> Vec<Server> {
    let server = |name, recorded_as, answer| {
        let (tools, reads) = recorded(recorded_as);
        Server { name, reads_only: false, reads, tools, answer }
    };
    vec![
        server("files", "files", files),
        server("graph", "graph", graph),
        server("database", "bees", database),
        server("git", "git", repository),
    ]
}

fn files(tool: &str, arguments: &Value) -> Answer {
    let path = arguments["path"].as_str().unwrap_or_default();
    match (tool, path) {
        ("read_text_file", "ideas.txt" | "notes/ideas.txt") => Ok("a tidal clock".into()),
        ("list_directory", "notes") => Ok("[FILE] ideas.txt\n[FILE] plan.md".into()),
        ("get_file_info", "budget.csv") => Ok("size: 43".into()),
        ("create_directory", _) => Ok("Successfully created directory".into()),
        ("move_file", _) => Ok("Successfully moved".into()),
        ("list_allowed_directories", _) => Ok("Allowed directories:\n/data".into()),
        ("search_files", "/data") => Ok("/data/plan.md".into()),
        _ => Err(format!("ENOENT: no such file or directory, {path}")),
    }
}

fn graph(tool: &str, _: &Value) -> Answer {
    match tool {
        "create_entities" => Ok(json!([{"name": "Petrel", "entityType": "boat"}])),
        _ => Ok(json!({"entities": [], "relations": []})),
    }
}

fn database(tool: &str, arguments: &Value) -> Answer {
    match (tool, arguments["table_name"].as_str()) {
        ("list_tables", _) => Ok(json!([{"name": "boats"}, {"name": "trips"}])),
        ("describe_table", Some("trips")) => {
            Ok(json!([{"cid": 0, "name": "id"}, {"cid": 1, "name": "passengers"}]))
        }
        ("read_query", _) => Ok(json!([{"name": "Gannet"}])),
        _ => Err("no such table".into()),
    }
}

fn repository(tool: &str, arguments: &Value) -> Answer {
    match tool {
        "git_log" if arguments["repo_path"] == "/data/repo" => {
            Ok("Commit history:\nCommit: 'aa'\nAuthor: Ines\nMessage: 'Fix lights'\n".into())
        }
        "git_branch" => Ok("* main\n  dock-lights".into()),
        "git_diff_staged" => Ok("Staged changes:\n+ crane".into()),
        _ => Err("not a repository".into()),
    }
}
