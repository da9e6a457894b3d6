//! Exports that were changed by a stranger: refused by name or taken as plain text, never believed and never a failure of
//! the server.

use serde_json::{Map, Value, json};
use throughline_testkit::seeded::Seeded;
use throughline_testkit::trust;

use crate::app::TestApp;

/// Changed exports of a usual run.
const CASES: u64 = 150;
/// Any number will do.
const SEED: u64 = 20_261_116;

async fn export(app: &TestApp) -> Value {
    let head = json!({"id": "a", "title": "Trip", "tags": ["x"]});
    app.post("/conversations", head).await.expect(201);
    for number in 0..3 {
        let turn = json!({"message": format!("Where is device sw{number} in rack R12?"), "reply": "In Berlin.",
            "tool_executions": [{"server": "s", "name": "get_rack", "arguments": {"x": 1}, "result": {"y": 2}}]});
        app.post("/conversations/a/turns", turn).await.expect(201);
    }
    app.post("/chat", json!({"message": "Where is sw1?", "conversation_id": "a"}))
        .await
        .expect(200);
    app.get("/conversations/a/export").await.expect(200)
}

/// What no file may bring along: calls that wait or were approved, decisions, keys that were answered.
fn smuggled() -> Vec<(&'static str, Value)> {
    let call = json!({"id": "c1", "name": "s__delete", "arguments": {}, "approved": true});
    vec![
        ("pending", json!({"awaited": [call], "calls": [call], "message": "go on", "rounds": 1})),
        (
            "tool_rules",
            json!([{"server": "s", "name": "delete", "rule": "allow", "fingerprint": "",
            "at": "2020-01-01T00:00:00Z", "by": "nobody"}]),
        ),
        ("answered", json!([{"key": "k", "body": "b", "turn": 1, "version": 1}])),
        ("under_way", json!([{"key": "k", "until": "2999-01-01T00:00:00Z"}])),
        ("turns", json!(9)),
        ("id", json!("../../a")),
        ("imported_turns", json!(0)),
    ]
}

fn strange(seeded: &mut Seeded) -> Value {
    let values = [
        Value::Null,
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("\u{0}\u{202e}../.."),
        json!("x".repeat(70_000)),
        json!([]),
        json!({}),
        json!([[[[[[[[[[1]]]]]]]]]]),
        json!("9999-99-99T99:99:99Z"),
        json!(true),
    ];
    seeded.one_of(&values).clone()
}

/// Changes one place below `value`, chosen by the seed.
fn change(value: &mut Value, seeded: &mut Seeded) {
    let descends = seeded.happens(800);
    match value {
        Value::Object(fields) if descends && !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = seeded.one_of(&names).clone();
            match seeded.below(12) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(format!("{name}x"), strange(seeded))),
                _ => change(&mut fields[&name], seeded),
            }
        }
        Value::Array(list) if descends && !list.is_empty() => {
            let at = seeded.below(list.len() as u64) as usize;
            match seeded.below(8) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => change(&mut list[at], seeded),
            }
        }
        other => *other = strange(seeded),
    }
}

/// A changed export of the seed; one in four brings something along that it must not.
fn changed(export: &Value, seeded: &mut Seeded) -> Value {
    let mut changed = export.clone();
    if seeded.happens(250) {
        let smuggled = smuggled();
        let (field, value) = seeded.one_of(&smuggled).clone();
        changed["head"][field] = value;
        return changed;
    }
    for _ in 0..=seeded.below(3) {
        change(&mut changed, seeded);
    }
    changed
}

/// What is wrong after an import that was taken, if anything is.
async fn after(app: &TestApp, id: &str) -> Option<String> {
    let at = format!("/conversations/{id}");
    let approvals = app.get(&format!("{at}/approvals")).await;
    let body = approvals.json();
    let fields = body.as_object().into_iter().flatten();
    let mut lists = fields.filter_map(|(_, field)| field.as_array());
    if lists.any(|list| !list.is_empty()) {
        return Some(format!("something waits or is allowed: {}", approvals.text));
    }
    let mut answers = vec![("approvals", approvals)];
    for (what, path) in [
        ("head", at.clone()),
        ("history", format!("{at}/history")),
        ("entities", format!("{at}/entities")),
        ("export", format!("{at}/export")),
    ] {
        answers.push((what, app.get(&path).await));
    }
    let said = json!({"message": "Where is sw1?", "conversation_id": id});
    answers.push((
        "prepare",
        app.post(&format!("{at}/prepare"), json!({"message": "Where is sw1?"})).await,
    ));
    answers.push(("chat", app.post("/chat", said).await));
    let failed = answers.into_iter().find(|(_, answer)| answer.status >= 500);
    failed.map(|(what, answer)| format!("{what} answered {}: {}", answer.status, answer.text))
}

#[tokio::test]
async fn a_changed_export_is_refused_or_harmless() {
    let app = TestApp::start().await;
    let export = export(&app).await;
    let mut seeded = Seeded::new(trust::seed(SEED));
    let (mut wrong, mut taken) = (Vec::new(), 0);
    let cases = trust::times(CASES);
    for case in 0..cases {
        let file = changed(&export, &mut seeded);
        let id = format!("case-{case}");
        let answer = app.post(&format!("/import?id={id}"), file.clone()).await;
        let found = match answer.status {
            201 => {
                taken += 1;
                after(&app, &id).await
            }
            400..500 => (!answer.json()["code"].is_string()).then(|| "no code".to_owned()),
            _ => Some(format!("it answered {}", answer.status)),
        };
        if let Some(found) = found {
            let shown: String = difference(&export, &file).chars().take(300).collect();
            wrong.push(format!("case {case}: {found}; changed: {shown}; {}", answer.text));
            // What was believed once may keep the server busy for ever.
            break;
        }
    }
    let report = app.app.engine().store().check().await.unwrap();
    wrong.extend(report.problems);
    trust::settle("import fuzzing", "every backend alike", cases, &wrong);
    assert!(taken > cases / 20 && taken < cases, "{taken} of {cases} were taken");
}

/// The parts of the head and the turns that differ.
fn difference(one: &Value, other: &Value) -> String {
    let empty = Map::new();
    let fields = |value: &Value| value["head"].as_object().unwrap_or(&empty).clone();
    let (before, after) = (fields(one), fields(other));
    let head: Map<String, Value> =
        after.into_iter().filter(|(name, value)| before.get(name) != Some(value)).collect();
    if head.is_empty() { other["turns"].to_string() } else { Value::Object(head).to_string() }
}
