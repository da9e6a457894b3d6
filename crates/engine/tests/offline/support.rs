//! A help desk, a tracker that writes its lists as text, decisions with a search, and a staff office: servers as people
//! write them, with ids as numbers and filters as texts.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, reading, writing};

fn text() -> Value {
    json!({"type": "string"})
}

fn number() -> Value {
    json!({"type": "integer"})
}

fn optional(inner: Value) -> Value {
    json!({"anyOf": [inner, {"type": "null"}], "default": null})
}

fn one_of(values: &[&str]) -> Value {
    optional(json!({"type": "string", "enum": values}))
}

fn server(name: &'static str, tools: Vec<Value>) -> Vec<Server> {
    vec![Server { name, reads_only: false, reads: Vec::new(), tools, answer }]
}

/// Tickets and the agents who work on them.
pub(crate) fn desk() -> Vec<Server> {
    let (status, priority) =
        (["open", "pending", "solved", "closed"], ["low", "normal", "high", "urgent"]);
    let filters = json!({"status": one_of(&status), "priority": one_of(&priority),
        "assignee": optional(text()), "tag": optional(text())});
    let changes = json!({"ticket_id": number(), "status": one_of(&status),
        "priority": one_of(&priority), "assignee": optional(text())});
    let tools = vec![
        reading("list_tickets", "List tickets, optionally filtered.", filters, json!([])),
        reading(
            "get_ticket",
            "Get one ticket with its description.",
            json!({"ticket_id": number()}),
            json!(["ticket_id"]),
        ),
        reading("list_agents", "List the agents of the help desk.", json!({}), json!([])),
        writing("update_ticket", "Change a ticket.", changes, json!(["ticket_id"])),
        writing(
            "create_ticket",
            "Open a new ticket.",
            json!({"subject": text(), "priority": one_of(&priority), "assignee": optional(text())}),
            json!(["subject"]),
        ),
        writing(
            "add_comment",
            "Add a comment to a ticket.",
            json!({"ticket_id": number(), "body": text()}),
            json!(["ticket_id", "body"]),
        ),
    ];
    server("desk", tools)
}

/// Tasks, as text below headings.
pub(crate) fn tracker() -> Vec<Server> {
    let kinds = json!({"type": "array", "items": {"type": "string", "enum": ["bug", "feature"]}});
    let filters = json!({"type": kinds, "status": text(), "assignee": text(),
        "unassigned": {"type": "boolean"}, "search": text()});
    let tools = vec![
        reading("task_list", "List tasks with optional filters.", filters, json!([])),
        reading("task_view", "View one task.", json!({"id": text()}), json!(["id"])),
        writing(
            "task_edit",
            "Edit a task.",
            json!({"id": text(), "status": one_of(&["To Do", "In Progress", "Done"]),
                "assignee": {"type": "array", "items": text()}, "dueDate": text()}),
            json!(["id"]),
        ),
    ];
    server("tracker", tools)
}

/// Decisions by number.
pub(crate) fn decisions() -> Vec<Server> {
    let tools = vec![
        reading("adr_list", "List all ADRs.", json!({"status": optional(text())}), json!([])),
        reading(
            "adr_read",
            "Read an ADR by its number or part of its title.",
            json!({"query": text()}),
            json!(["query"]),
        ),
        reading(
            "adr_search",
            "Search the full text of all ADRs.",
            json!({"query": text()}),
            json!(["query"]),
        ),
        writing(
            "adr_update_status",
            "Update the status of an ADR.",
            json!({"number": number(), "status": text(), "reason": optional(text())}),
            json!(["number", "status"]),
        ),
    ];
    server("adr", tools)
}

/// Employees, their leave, and the house they work in.
pub(crate) fn staff() -> Vec<Server> {
    let date = || json!({"type": "string", "format": "date"});
    let tools = vec![
        reading(
            "list_employees",
            "List employees.",
            json!({"department": one_of(&["sales", "finance"])}),
            json!([]),
        ),
        reading(
            "get_leave_balance",
            "How many vacation and sick days an employee has taken and has left.",
            json!({"employee_id": text()}),
            json!(["employee_id"]),
        ),
        reading(
            "who_is_off",
            "Who is absent on a day.",
            json!({"on": date(), "department": one_of(&["sales", "finance"])}),
            json!(["on"]),
        ),
        reading(
            "get_occupancy",
            "Occupancy of the house on a day: desks, occupied, free, percent.",
            json!({"day": date()}),
            json!(["day"]),
        ),
        writing(
            "close_house",
            "Close the house on a day when it is full.",
            json!({"day": date()}),
            json!(["day"]),
        ),
    ];
    server("staff", tools)
}

fn ticket(id: u64, subject: &str, status: &str, priority: &str, assignee: &str) -> Value {
    json!({"ticket_id": id, "subject": subject, "status": status, "priority": priority,
        "assignee": assignee})
}

const TASKS: [(&str, &str, &str, &str, &str); 4] = [
    ("TASK-1", "Push arrives twice", "bug", "To Do", "nina"),
    ("TASK-2", "Add a map", "feature", "To Do", "raul"),
    ("TASK-3", "Icon is blurry", "bug", "Done", "raul"),
    ("TASK-4", "Crash on start", "bug", "Done", ""),
];

fn tasks(arguments: &Value) -> String {
    let given = |key: &str| arguments[key].as_str().map(str::to_lowercase);
    let kinds = arguments["type"].as_array();
    let mut told = String::new();
    for status in ["To Do", "Done"] {
        let lines: Vec<String> = TASKS
            .iter()
            .filter(|(_, title, kind, own, who)| {
                *own == status
                    && kinds.is_none_or(|kinds| kinds.contains(&json!(kind)))
                    && given("status").is_none_or(|status| own.to_lowercase() == status)
                    && given("assignee").is_none_or(|given| *who == given)
                    && given("search").is_none_or(|given| title.to_lowercase().contains(&given))
                    && (arguments["unassigned"] != true || who.is_empty())
            })
            .map(|(id, title, kind, ..)| format!("  [{kind}] {id} - {title}"))
            .collect();
        if !lines.is_empty() {
            told.push_str(&format!("{status}:\n{}\n", lines.join("\n")));
        }
    }
    if told.is_empty() { "No tasks found.".into() } else { told }
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let tickets = [
        ticket(4101, "VPN drops", "open", "normal", "Timo Brandt"),
        ticket(4102, "Monitor flickers", "open", "urgent", "Timo Brandt"),
        ticket(4105, "Wifi dead", "open", "urgent", "Aylin Kaya"),
        ticket(4107, "Badge reader beeps", "pending", "low", "Aylin Kaya"),
    ];
    let fits = |row: &&Value| {
        let holds = |own: &Value, wanted: &str| {
            own.as_str().is_some_and(|own| own.to_lowercase().contains(&wanted.to_lowercase()))
        };
        let given = arguments.as_object().into_iter().flatten();
        given.clone().all(|(key, value)| value.as_str().is_none_or(|v| holds(&row[key], v)))
    };
    let adrs = [
        json!({"number": 1, "title": "Pick Kotlin", "status": "Accepted"}),
        json!({"number": 2, "title": "Release weekly", "status": "Accepted"}),
        json!({"number": 3, "title": "Encrypt backups", "status": "Proposed"}),
    ];
    let adr = |at: usize, body: &str| {
        let mut one = adrs[at].clone();
        one["context"] = body.into();
        one
    };
    let bodies = ["Java is verbose.", "Kotlin builds are slow.", "Tapes were lost."];
    Ok(match tool {
        "list_tickets" => tickets.iter().filter(fits).cloned().collect(),
        "get_ticket" => {
            let found = tickets.iter().find(|row| row["ticket_id"] == arguments["ticket_id"]);
            found.cloned().ok_or("no such ticket")?
        }
        "list_agents" => json!([{"name": "Timo Brandt"}, {"name": "Aylin Kaya"}]),
        "task_list" => tasks(arguments).into(),
        "task_view" => {
            let wanted = arguments["id"].as_str().unwrap_or_default();
            let found = TASKS.iter().find(|(id, ..)| id.ends_with(wanted));
            let (id, title, ..) = found.ok_or("no such task")?;
            format!("Task {id} - {title}\nCreated: 2026-11-01").into()
        }
        "adr_list" => {
            let rows: Vec<&Value> = adrs.iter().filter(fits).collect();
            json!({"count": rows.len(), "adrs": rows})
        }
        "adr_read" => {
            let query = arguments["query"].as_str().unwrap_or_default().to_lowercase();
            let is = |row: &Value| {
                row["number"].as_u64() == query.parse().ok()
                    || row["title"].as_str().unwrap_or_default().to_lowercase().contains(&query)
            };
            let at = adrs.iter().position(is).ok_or("no such ADR")?;
            adr(at, bodies[at])
        }
        "adr_search" => {
            let query = arguments["query"].as_str().unwrap_or_default().to_lowercase();
            let rows: Vec<Value> = (0..3)
                .map(|at| adr(at, bodies[at]))
                .filter(|row| row.to_string().to_lowercase().contains(&query))
                .collect();
            json!({"query": query, "count": rows.len(), "results": rows})
        }
        "list_employees" => json!([
            {"employee_id": "E101", "name": "Marta Kowalska", "department": "sales"},
            {"employee_id": "E106", "name": "Lucy Adeyemi", "department": "finance"}]),
        "get_leave_balance" => {
            let left = if arguments["employee_id"] == "E101" { 9.5 } else { 3.0 };
            json!({"vacation_left": left, "vacation_taken": 20.5, "sick_taken": 2})
        }
        "who_is_off" => "Marta Kowalska (vacation)".into(),
        "get_occupancy" => json!({"desks": 40, "occupied": 30, "free": 10, "percent": 75}),
        _ => json!({"ok": true}),
    })
}
