//! An export that is brought in is a stranger's text: it approves, allows, answers and waits for nothing.

use serde_json::{Value, json};
use throughline_engine::engine::Export;
use throughline_engine::error::Error;
use throughline_engine::id::SessionId;
use throughline_engine::turn::TurnOutcome;

use crate::bench::{Bench, Line, bench, session};

async fn exported() -> (Bench, Value) {
    let delete = Line::Calls("inventory__delete_device", json!({"device": "sw1"}));
    let bench =
        bench().tools().model([Line::Says("Hello."), delete, Line::Says("Next.")]).start().await;
    bench.turn("hello").await;
    let export = bench.engine.export(&bench.caller, &session()).await.unwrap();
    (bench, serde_json::to_value(export).unwrap())
}

async fn import(bench: &Bench, export: &Value) -> Result<SessionId, Error> {
    let export: Export = serde_json::from_value(export.clone()).unwrap();
    let id = SessionId::new("copy").unwrap();
    bench.engine.import(&bench.caller, export, Some(id.clone())).await.map(|_| id)
}

#[tokio::test]
async fn what_waits_was_allowed_or_was_answered_stays_behind() {
    let (bench, mut export) = exported().await;
    let TurnOutcome::Paused { session: loaded, pending } = bench.ask("delete device sw1").await
    else {
        panic!("it ran unasked");
    };
    let mut pending = serde_json::to_value(&pending).unwrap();
    pending["awaited"][0]["approved"] = json!(true);
    let head = export["head"].as_object_mut().unwrap();
    head.insert("pending".into(), pending);
    let hash = serde_json::to_value(&loaded.head.contents).unwrap();
    let hash = hash.as_object().unwrap().keys().next().unwrap().clone();
    head.insert("answered".into(), json!([{"key": hash, "body": hash, "turn": 1, "version": 1}]));
    head.insert("under_way".into(), json!([{"key": hash, "until": "2999-01-01T00:00:00Z"}]));
    let allowed = json!({"server": "inventory", "name": "delete_device", "rule": "allow",
        "fingerprint": "", "at": "2020-01-01T00:00:00Z", "by": "nobody"});
    head.insert("tool_rules".into(), json!([allowed]));
    let id = import(&bench, &export).await.unwrap();
    let head = bench.engine.session(&bench.caller, &id).await.unwrap().head;
    assert!(head.pending.is_none() && head.tool_rules.is_empty());
    assert!(head.answered.is_empty() && head.under_way.is_empty() && head.unsettled.is_empty());
    assert_eq!(head.imported_turns, 1);
    assert!(!bench.tools.names().contains(&"delete_device".to_owned()));
}

#[tokio::test]
async fn what_does_not_hold_together_is_refused_by_name() {
    let (bench, export) = exported().await;
    type Change = fn(&mut Value);
    let checks: [(&str, Change); 8] = [
        ("format", |export| export["format"] = json!("other/1")),
        ("head.turns", |export| export["head"]["turns"] = json!(7)),
        ("turns", |export| export["turns"][0]["turn"] = json!(3)),
        ("turns", |export| {
            let contents = export["turns"][0]["contents"].as_object_mut().unwrap();
            *contents.values_mut().next().unwrap() = json!("another text");
        }),
        ("receipt", |export| export["turns"][0]["receipt"]["pieces"] = json!([])),
        ("receipt", |export| {
            let other = export["turns"][0]["receipt"]["pieces"][0]["hash"].clone();
            export["turns"][0]["receipt"]["request_hash"] = other;
        }),
        ("message", |export| export["turns"][0]["message"] = json!("x".repeat(5_000_000))),
        ("head.usage", |export| export["head"]["usage"]["said_tokens"] = json!(u64::MAX)),
    ];
    for (field, damage) in checks {
        let mut damaged = export.clone();
        damage(&mut damaged);
        let refused = import(&bench, &damaged).await;
        let told = format!("{refused:?}");
        assert!(refused.is_err() && told.contains(field), "{field}: {told}");
    }
    import(&bench, &export).await.unwrap();
}
