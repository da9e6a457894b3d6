//! A folder, notes and a database: what was listed is known, a search that finds nothing is no answer to something else,
//! and what a tool is there for is not kept elsewhere.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, answers, asks, check, reading, recorded, waits, writing};

fn desk() -> Vec<Server> {
    let (files, reads) = recorded("files");
    let notes = vec![
        writing(
            "add_note",
            "Save a short note.",
            json!({"text": {"type": "string"}}),
            json!(["text"]),
        ),
        reading("list_notes", "List all notes.", json!({}), json!([])),
        reading(
            "search_notes",
            "Find notes with a text.",
            json!({"query": {"type": "string"}}),
            json!(["query"]),
        ),
        writing(
            "delete_note",
            "Delete a note by its id.",
            json!({"id": {"type": "integer"}}),
            json!(["id"]),
        ),
    ];
    vec![
        Server { name: "files", reads_only: false, reads, tools: files, answer: folder },
        Server {
            name: "notes",
            reads_only: false,
            reads: Vec::new(),
            tools: notes,
            answer: jotter,
        },
    ]
}

fn library() -> Vec<Server> {
    let (tools, reads) = recorded("bees");
    vec![Server { name: "library", reads_only: false, reads, tools, answer: database }]
}

fn folder(tool: &str, arguments: &Value) -> Answer {
    let path = arguments["path"].as_str().unwrap_or_default();
    match (tool, path) {
        ("list_allowed_directories", _) => Ok("Allowed directories:\n/home/kim".into()),
        ("list_directory", "/home/kim") => Ok("[FILE] todo.txt\n[DIR] songs\n[DIR] taxes".into()),
        ("list_directory", "songs") => {
            Ok("[FILE] harbour-light.txt\n[FILE] night-train.txt".into())
        }
        ("read_text_file", "songs/night-train.txt") => Ok("All aboard at ten".into()),
        ("read_text_file", "songs/harbour-light.txt") => Ok("A lamp on the pier".into()),
        ("get_file_info", "songs/night-train.txt") => Ok("size: 17".into()),
        ("search_files", "/home/kim") => match arguments["pattern"].as_str() {
            Some(pattern) if pattern.contains("receipt.pdf") => {
                Ok("/home/kim/taxes/receipt.pdf".into())
            }
            _ => Ok("No matches found".into()),
        },
        _ => Err(format!("ENOENT: no such file or directory, open '/home/kim/{path}'")),
    }
}

fn jotter(tool: &str, arguments: &Value) -> Answer {
    Ok(match tool {
        "list_notes" => "#1 (2026-03-01T08:00:00Z): water the fern\n#2 (2026-03-02T08:00:00Z): ring Olek about the roof".into(),
        "search_notes" => format!("No notes matching {}.", arguments["query"]).into(),
        _ => "Done.".into(),
    })
}

fn database(tool: &str, arguments: &Value) -> Answer {
    match (tool, arguments["table_name"].as_str()) {
        ("list_tables", _) => Ok(json!([{"name": "novels"}, {"name": "ausleihen"}])),
        ("describe_table", Some("novels")) => Ok(
            json!([{"cid": 0, "name": "id", "type": "INTEGER"}, {"cid": 1, "name": "shelf", "type": "TEXT"}]),
        ),
        ("describe_table", Some("ausleihen")) => Ok(
            json!([{"cid": 0, "name": "id", "type": "INTEGER"}, {"cid": 1, "name": "frist", "type": "TEXT"}]),
        ),
        ("read_query", _) => Ok(json!([{"n": 3}])),
        _ => Err("no such table".into()),
    }
}

#[tokio::test]
async fn what_a_folder_was_shown_to_have_can_be_referred_to() {
    for (say, has) in [
        ("open the night train one", "All aboard"),
        ("show me the night train", "All aboard"),
        ("read the night train song", "All aboard"),
        ("open the first one", "A lamp"),
    ] {
        let turns =
            vec![answers("what's in the songs folder?", &["night-train"]), answers(say, &[has])];
        check(desk(), turns).await;
    }
    let turns = vec![
        answers("what's in the songs folder?", &["night-train"]),
        answers("open the night train one", &["All aboard"]),
        answers("how big is it?", &["17"]),
    ];
    check(desk(), turns).await;
    let turns = vec![
        answers("what's in the songs folder?", &["night-train"]),
        asks("show me the morning bus", &[]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn a_file_is_looked_for_in_the_folder_that_may_be_used() {
    let root = r#""path":"/home/kim""#;
    for say in [
        "is there a file called receipt.pdf somewhere?",
        "find receipt.pdf",
        "where is receipt.pdf?",
        "gibt es eine Datei namens receipt.pdf?",
    ] {
        check(desk(), vec![answers(say, &["taxes/receipt.pdf", root])]).await;
    }
    let told = answers("is there a file called ticket.pdf anywhere?", &["No", "ticket.pdf"]);
    check(desk(), vec![told.not(&["ENOENT"])]).await;
    for say in [
        "list files",
        "what files do I have?",
        "which files are there?",
        "show me my files",
        "which folders are there?",
    ] {
        check(desk(), vec![answers(say, &["todo.txt", "[DIR] songs"]).not(&["Allowed"])]).await;
    }
    check(desk(), vec![asks("open plans.txt", &["plans.txt"]).not(&["ENOENT"])]).await;
}

#[tokio::test]
async fn a_note_goes_to_the_tool_that_takes_notes() {
    for say in [
        "write down: buy stamps on Tuesday",
        "note down: buy stamps on Tuesday",
        "please make a note to buy stamps on Tuesday",
        "jot down buy stamps on Tuesday",
        "Notiere: buy stamps on Tuesday",
    ] {
        check(desk(), vec![waits(say, &["add_note", r#""text":"buy stamps on Tuesday""#])]).await;
    }
    let turns = vec![
        answers("list my notes", &["fern", "Olek"]),
        waits("delete the one about olek", &["delete_note", r#""id":2"#]),
    ];
    check(desk(), turns).await;
    // Without such a tool it is kept here.
    check(library(), vec![answers("note down: my locker is number 12", &["Noted"])]).await;
}

#[tokio::test]
async fn rows_of_a_table_are_not_answered_by_its_columns() {
    for say in ["show all novels", "how many novels do we have?", "which novels are by Lem?"] {
        let told = asks(say, &["novels", "SELECT"]).not(&["cid", "shelf"]);
        check(library(), vec![answers("which tables are there?", &["novels"]), told]).await;
        check(library(), vec![asks(say, &["novels", "SELECT"]).not(&["cid", "shelf"])]).await;
    }
    for say in [
        "which columns does novels have?",
        "what columns are in the table novels?",
        "describe novels",
    ] {
        check(library(), vec![answers(say, &["shelf"])]).await;
    }
    let turns = vec![
        answers("Welche Tabellen gibt es?", &["ausleihen"]),
        answers("Welche Spalten hat ausleihen?", &["frist"]),
        answers("Welche Felder hat die Tabelle ausleihen?", &["frist"]),
        asks("Zeig mir alle Ausleihen", &["nicht", "SELECT * FROM ausleihen"]).not(&["cid"]),
        asks("Wie viele Ausleihen gibt es?", &["SELECT COUNT(*) FROM ausleihen"]),
    ];
    check(library(), turns).await;
}

#[tokio::test]
async fn the_answer_has_the_language_of_the_talk() {
    let turns = vec![
        answers("Hallo! Welche Tabellen gibt es?", &["novels"]),
        asks("Wie wird das Wetter am Sonntag?", &["Dafür"]).not(&["I found", "This was"]),
        asks("und in Emden", &[]).not(&["I found", "thing"]),
        asks("Emden?", &[]).not(&["I found", "This was"]),
        asks("what's the weather on Sunday?", &["I have no tool"]),
    ];
    check(library(), turns).await;
}
