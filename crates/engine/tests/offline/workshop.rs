//! A workshop whose jobs have sorts and states that only the rows name, and whose remarks name several jobs at once.

use serde_json::{Map, Value, json};

use crate::bench::{Answer, Server, answers, asks, check, reading, waits, writing};

fn workshop() -> Vec<Server> {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer"});
    let tools = vec![
        reading(
            "list_jobs",
            "List jobs with optional type and state filters.",
            json!({"job_type": text(), "state": text()}),
            json!([]),
        ),
        reading("get_running_jobs", "Get jobs in 'running' state.", json!({}), json!([])),
        reading("get_job", "Get one job.", json!({"job_id": number()}), json!(["job_id"])),
        reading(
            "get_state_history",
            "Get the changes of state of a job.",
            json!({"job_id": number()}),
            json!(["job_id"]),
        ),
        reading(
            "list_sizes",
            "List all sizes for one material or for all.",
            json!({"material": {"type": "string", "enum": ["paper", "cloth", "steel"]}}),
            json!([]),
        ),
        reading(
            "cut_paper",
            "Cut paper to a size.",
            json!({"width": {"type": "number"}, "size": {"type": "string", "enum": ["A4", "A5"]}}),
            json!(["width", "size"]),
        ),
        writing(
            "new_job",
            "Create a new repair, painting, or inspection.",
            json!({"job_type": text(), "title": text()}),
            json!(["job_type", "title"]),
        ),
        writing(
            "edit_job",
            "Edit the title or the rank of a job.",
            json!({"job_id": number(), "title": text(), "rank": number()}),
            json!(["job_id"]),
        ),
        writing(
            "add_remark",
            "Add a remark, optionally linked to jobs (comma-separated ids).",
            json!({"content": text(), "job_ids": text()}),
            json!(["content"]),
        ),
    ];
    vec![Server { name: "workshop", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let job = |id: u64, title: &str, sort: &str, state: &str| json!({"id": id, "title": title, "type_id": id + 40, "type_name": sort, "state_name": state});
    let jobs = [
        job(1, "Hull crack", "repair", "finished"),
        job(2, "Green stripe", "painting", "waiting"),
        job(3, "Bent mast", "repair", "waiting"),
        job(4, "Name plate", "painting", "running"),
        job(5, "Spring check", "inspection", "running"),
    ];
    let given: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let key = |key: &str| if key == "job_type" { "type_name" } else { "state_name" };
    let fits = |row: &&Value| given.iter().all(|(name, value)| row[key(name)] == *value);
    match tool {
        "list_jobs" => Ok(jobs.iter().filter(fits).cloned().collect()),
        "get_job" => Ok(jobs
            .iter()
            .find(|row| row["id"] == arguments["job_id"])
            .cloned()
            .unwrap_or_default()),
        "get_state_history" => {
            Ok(json!([{"job_id": arguments["job_id"], "new_state": "waiting", "at": "2026-03-01"}]))
        }
        "list_sizes" => Ok(json!({"paper": ["A4", "A5", "A6"]})),
        "new_job" => Ok(
            json!({"success": true, "job": {"id": 8, "title": arguments["title"], "type_name": arguments["job_type"]}}),
        ),
        _ => Ok(json!({"success": true})),
    }
}

#[tokio::test]
async fn a_value_that_no_present_row_has_is_none_and_not_unknown() {
    let turns = vec![
        answers("only the repairs of the jobs", &["Hull crack", "Bent mast"]).not(&["Name plate"]),
        answers("which of them are finished?", &["Hull crack"]).not(&["Bent mast"]),
        answers("and the paintings?", &["No jobs", "finished"]).not(&["Hull crack"]),
    ];
    check(workshop(), turns).await;
    let turns = vec![
        answers("list the finished jobs", &["Hull crack"]).not(&["Bent mast"]),
        answers("and waiting?", &["Green stripe", "Bent mast"]).not(&["Hull crack", "Name plate"]),
        answers("and running?", &["Name plate", "Spring check"]).not(&["Bent mast", "waiting"]),
    ];
    check(workshop(), turns).await;
}

#[tokio::test]
async fn the_plural_of_a_value_is_that_value() {
    let turns = vec![
        answers("how many repairs are there?", &["2"]),
        answers("and inspections?", &["1"]).not(&["No "]),
    ];
    check(workshop(), turns).await;
}

#[tokio::test]
async fn what_was_just_made_is_what_its_means() {
    let turns = vec![
        asks("create a repair", &["title"]),
        waits("Loose rail", &[r#""job_type":"repair""#, r#""title":"Loose rail""#]),
        waits("set its rank to 1", &[r#"edit_job {"job_id":8,"rank":1}"#]),
    ];
    check(workshop(), turns).await;
}

#[tokio::test]
async fn what_names_another_parameter_is_no_part_of_a_text() {
    let has = [r#""content":"sanded the hull, twice""#, r#""job_ids":"2,3""#];
    check(workshop(), vec![waits("add a remark: sanded the hull, twice, for jobs 2 and 3", &has)])
        .await;
    let has = [r#""content":"sanded the hull""#, r#""job_ids":"2""#];
    check(workshop(), vec![waits("add a remark: sanded the hull, job 2", &has)]).await;
    let has = [r#""content":"waited for jobs to come in""#];
    check(
        workshop(),
        vec![waits("add a remark: waited for jobs to come in", &has).not(&["job_ids"])],
    )
    .await;
}

#[tokio::test]
async fn what_a_reading_tool_gave_is_shown_and_nothing_else_asked_for() {
    check(workshop(), vec![answers("which sizes can you cut for paper?", &["A5", "A6"])]).await;
}

#[tokio::test]
async fn an_id_whose_name_is_there_is_not_told() {
    check(workshop(), vec![answers("list the jobs", &["type name repair"]).not(&["type id"])])
        .await;
}

#[tokio::test]
async fn what_only_a_tool_tells_of_a_thing_is_asked_of_it() {
    let turns = vec![
        answers("show job 3", &["Bent mast"]),
        answers("show me its history", &[r#"get_state_history {"job_id":3}"#, "2026-03-01"]),
        waits("set its rank to 2", &[r#"edit_job {"job_id":3,"rank":2}"#]),
    ];
    check(workshop(), turns).await;
}
