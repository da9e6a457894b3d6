//! Only what is known is said, sent and tracked: servers that cannot be asked, names that are not there, answers
//! that were cut, receipts of turns that no model saw.

use serde_json::{Value, json};
use throughline_engine::agent::AgentBook;
use throughline_engine::creation::NewSession;
use throughline_engine::events::Events;
use throughline_engine::model::Block;
use throughline_engine::notice::GivenThing;
use throughline_engine::pack::Kind;
use throughline_engine::piece::{IncludeMode, Source};
use throughline_engine::request::TurnInput;
use throughline_engine::session::head::Settings;
use throughline_engine::session::record::{CallRecord, TurnRecord};
use throughline_engine::tool::{ToolName, ToolOutput};
use throughline_engine::turn::{RecordedTurn, TurnRequest};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Line, bench, rule, session};

async fn create(bench: &Bench, settings: Settings) {
    let new = NewSession { id: Some(session()), settings, ..NewSession::default() };
    bench.engine.create_session(&bench.caller, new).await.unwrap();
}

async fn tracked(bench: &Bench) -> Vec<String> {
    let found = bench.engine.entities(&bench.caller, &session()).await.unwrap();
    found.entities.iter().map(|view| view.entity.entity.to_string()).collect()
}

fn sent_turns(record: &TurnRecord) -> usize {
    let pieces = &record.receipt.as_ref().unwrap().pieces;
    let turns = pieces.iter().filter(|piece| piece.sent()).filter_map(|piece| match piece.source {
        Source::History { turn, .. } => Some(turn),
        _ => None,
    });
    turns.collect::<std::collections::BTreeSet<u64>>().len()
}

#[tokio::test]
async fn a_server_that_is_connecting_is_named_and_its_tools_come_later() {
    let bench = bench().tools().start().await;
    *bench.tools.down.lock().unwrap() = Some("it is still connecting");
    let first = bench.turn("show device sw1").await;
    assert!(first.reply.contains("inventory (it is still connecting)"), "{}", first.reply);
    assert!(!first.reply.contains("I found no"), "{}", first.reply);
    *bench.tools.down.lock().unwrap() = None;
    let second = bench.turn("show device sw1").await;
    assert_eq!(bench.tools.names(), ["get_device"], "{}", second.reply);
    let head = bench.engine.session(&bench.caller, &session()).await.unwrap().head.clone();
    assert_eq!((head.items.len(), head.unlisted_servers.len()), (6, 0), "kept with the session");
}

#[tokio::test]
async fn a_tool_that_was_taken_out_does_not_come_back() {
    let bench = bench().tools().start().await;
    create(&bench, Settings::default()).await;
    let loaded = bench.engine.session(&bench.caller, &session()).await.unwrap();
    let item = loaded.head.items[0].item.clone();
    bench.engine.remove_item(&bench.caller, &session(), &item, None).await.unwrap();
    bench.turn("show device sw1").await;
    let loaded = bench.engine.session(&bench.caller, &session()).await.unwrap();
    assert!(!loaded.head.items.iter().any(|own| own.item == item));
}

#[tokio::test]
async fn a_receipt_says_whether_a_model_was_asked() {
    let alone = bench().start().await;
    let receipt = alone.turn("hello").await.receipt.clone().unwrap();
    assert!(receipt.no_model);
    let asked = bench().model([Line::Says("Hello.")]).start().await;
    let receipt = asked.turn("hello").await.receipt.clone().unwrap();
    assert!(!receipt.no_model);
    let failed = bench().model([Line::Fails]).start().await;
    let receipt = failed.turn("hello").await.receipt.clone().unwrap();
    assert!(!receipt.no_model, "the model was sent it, and failed");
}

#[tokio::test]
async fn a_list_that_is_too_long_is_counted_right_and_shown_as_far_as_it_was_kept() {
    let bench = bench().tools().start().await;
    let rows: Vec<Value> = (0..4_000)
        .map(|n| json!({"id": n, "name": format!("project-{n}"), "about": "x".repeat(80)}))
        .collect();
    bench.tools.answers.lock().unwrap().insert("list_projects", json!({"results": rows}));
    let turn = bench.turn("list projects").await;
    assert!(turn.reply.starts_with("4000 projects:\n- project-0 (id 0)"), "{:.200}", turn.reply);
    assert!(turn.reply.ends_with("… and 3950 more"), "{}", &turn.reply[turn.reply.len() - 40..]);
    let output = turn.calls[0].output.as_ref().unwrap();
    assert!(output.truncated && output.characters() > 400_000 && output.text.len() <= 262_144);
    let asked = bench.turn("which of those are project-3999?").await;
    assert!(!asked.reply.contains("No projects match"), "{:.300}", asked.reply);
}

#[tokio::test]
async fn a_name_that_is_not_there_is_no_tracked_thing() {
    let missing = Some(("get_device", "no such device"));
    let alone = bench().tools().start().await;
    *alone.tools.refuses.lock().unwrap() = missing;
    let turn = alone.turn("show device core-sw-99").await;
    assert!(turn.reply.contains("I found no device called \"core-sw-99\""), "{}", turn.reply);
    assert_eq!((tracked(&alone).await, turn.entities.len()), (Vec::new(), 0));

    let modelled = bench().tools().model([Line::Says("There is none.")]).start().await;
    *modelled.tools.refuses.lock().unwrap() = missing;
    modelled.turn("what is the status of device core-sw-99?").await;
    assert_eq!(tracked(&modelled).await, Vec::<String>::new());

    let there = bench().tools().model([Line::Says("It is active.")]).start().await;
    there.turn("what is the status of device core-sw-99?").await;
    assert_eq!(tracked(&there).await.len(), 1, "{:?}", tracked(&there).await);
}

#[tokio::test]
async fn what_was_offered_instead_of_a_misspelt_name_is_what_it_means() {
    let bench = bench().tools().start().await;
    let two = json!({"results": [{"id": 5, "name": "Harbor"}, {"id": 6, "name": "Quayside"}]});
    bench.tools.answers.lock().unwrap().insert("list_projects", two);
    let quayside = json!({"id": 6, "name": "Quayside", "owner": "Ann"});
    bench.tools.answers.lock().unwrap().insert("get_project", quayside);
    bench.turn("show project Harbor").await;
    let asked = bench.turn("show project Quaysdie").await;
    assert!(asked.reply.contains("Did you mean Quayside?"), "{}", asked.reply);
    assert!(asked.entities.iter().all(|entity| entity.name != "Quaysdie"), "{:?}", asked.entities);
    let turn = bench.turn("who owns it?").await;
    assert!(turn.reply.contains("Ann"), "{}", turn.reply);
    assert_eq!(turn.entities.first().map(|entity| entity.name.as_str()), Some("Quayside"));
    let names = tracked(&bench).await;
    assert!(!names.iter().any(|name| name.contains("Quaysdie")), "{names:?}");
}

#[tokio::test]
async fn a_workflow_that_comes_with_a_message_is_tracked() {
    let bench = bench().start().await;
    let data = Some(json!({"name": "Onboarding", "steps": []}));
    let thing = GivenThing { kind: Kind::new("workflow"), id: Some("wf-7".into()), data };
    let input =
        TurnInput { message: "Add a step.".into(), about: vec![thing], ..TurnInput::default() };
    let request = TurnRequest { session: Some(session()), input, ..TurnRequest::default() };
    let asked =
        bench.engine.converse(&bench.caller, request, Events::nowhere(), CancellationToken::new());
    asked.await.unwrap();
    let found = bench.engine.entities(&bench.caller, &session()).await.unwrap();
    let entity = &found.entities[0].entity;
    assert_eq!(entity.entity.id.as_deref(), Some("wf-7"));
    assert_eq!(entity.entity.name, "Onboarding");
    assert!(entity.aliases.contains(&"onboarding workflow".to_owned()), "{:?}", entity.aliases);
}

#[tokio::test]
async fn what_the_message_is_about_is_in_the_request_however_long_the_last_list_was() {
    let bench = bench().start().await;
    create(&bench, Settings::default()).await;
    let device = json!({"id": 7, "name": "core-02", "status": "active"});
    let call = CallRecord {
        id: "c1".into(),
        tool: ToolName { server: "inventory".into(), name: "get_device".into() },
        arguments: json!({"device": "core-02"}),
        output: Some(ToolOutput {
            text: device.to_string(),
            json: Some(device),
            ..ToolOutput::default()
        }),
        round: 1,
        ..CallRecord::default()
    };
    let record = |message: &str, reply: String, calls: Vec<CallRecord>| RecordedTurn {
        message: message.into(),
        reply,
        calls,
        ..RecordedTurn::default()
    };
    let first = record("show device core-02", "It is active.".into(), vec![call]);
    bench.engine.record(&bench.caller, &session(), first).await.unwrap();
    let list: String = (0..500).map(|n| format!("- leaf-{n:03}: active, rack A{n:02}\n")).collect();
    let turn = record("list all devices", list, Vec::new());
    bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    let message = "what is the status of device core-02?".to_owned();
    for budget in (800..12_000).step_by(200) {
        let input = TurnInput {
            message: message.clone(),
            budget_tokens: Some(budget),
            ..TurnInput::default()
        };
        let prepared = bench.engine.prepare(&bench.caller, &session(), &input).await.unwrap();
        let known = prepared.receipt.pieces.iter().find(
            |piece| matches!(&piece.source, Source::Entity { name, .. } if name == "core-02"),
        );
        assert_eq!(known.and_then(|piece| piece.dropped), None, "at {budget} tokens");
        assert!(known.is_some(), "at {budget} tokens");
    }
}

#[tokio::test]
async fn preferences_are_sent_once_and_again_when_they_change() {
    let bench = bench().model([Line::Says("Yes."), Line::Says("Yes.")]).start().await;
    let preferences = json!({"units": "metric", "tone": {"formal": true}});
    let preferences = preferences.as_object().unwrap().clone();
    create(&bench, Settings { preferences, ..Settings::default() }).await;
    bench.turn("hello").await;
    bench.turn("hello again").await;
    let requests = bench.model.requests.lock().unwrap().clone();
    for request in &requests {
        let text = serde_json::to_string(&request.messages).unwrap();
        assert_eq!(text.matches("- units: metric").count(), 1, "{text}");
        assert!(!serde_json::to_string(&request.system).unwrap().contains("metric"));
    }
}

#[tokio::test]
async fn a_query_shows_fifty_exchanges_where_they_fit() {
    let bench = bench().limits(|limits| limits.context_tokens = 5_000).start().await;
    create(&bench, Settings::default()).await;
    for number in 0..300 {
        let (message, reply) = (format!("say {number}"), number.to_string());
        let turn = RecordedTurn { message, reply, ..RecordedTurn::default() };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
    let turn = bench.query("say something").await;
    assert_eq!(sent_turns(&turn), 50);
}

#[tokio::test]
async fn tools_can_be_asked_before_a_model_is() {
    let first = bench().tools().model([Line::Says("There are none.")]).start().await;
    let turn = first.turn("list projects").await;
    assert!(turn.no_tool_called && turn.calls.is_empty());

    let bench = bench().tools().model([Line::Says("There is one.")]).start().await;
    let mut agent = bench.engine.agents().get(None).unwrap().as_ref().clone();
    agent.look_up_first = true;
    bench.engine.replace_agents(AgentBook::new(agent.name.clone(), [agent]));
    let projects = json!({"count": 1, "results": [{"id": 5, "name": "Harbor"}]});
    bench.tools.answers.lock().unwrap().insert("list_projects", projects);
    let turn = bench.turn("list projects").await;
    assert_eq!((turn.calls.len(), turn.no_tool_called), (1, false));
    assert_eq!(turn.reply, "There is one.");
    let requests = bench.model.requests.lock().unwrap().clone();
    let mut blocks = requests[0].messages.iter().flat_map(|message| &message.content);
    let shown = blocks.any(
        |block| matches!(block, Block::ToolResult { content, .. } if content.contains("Harbor")),
    );
    assert!(shown, "{:#?}", requests[0].messages);
}

#[tokio::test]
async fn nothing_is_changed_before_a_model_is_asked() {
    let bench = bench().tools().allow("update_device").model([Line::Says("Ok.")]).start().await;
    let mut agent = bench.engine.agents().get(None).unwrap().as_ref().clone();
    agent.look_up_first = true;
    bench.engine.replace_agents(AgentBook::new(agent.name.clone(), [agent]));
    bench.turn("set the status of device sw1 to offline").await;
    assert!(!bench.tools.names().contains(&"update_device".to_owned()));
}

#[tokio::test]
async fn a_rule_or_fact_that_answers_is_quoted_with_its_source() {
    let text = "Holidays are requested two weeks ahead in the staff portal.";
    for include in [IncludeMode::Always, IncludeMode::Agent] {
        let bench = bench().rule(rule("holidays", include, text)).start().await;
        let turn = bench.turn("how are holidays requested in the staff portal?").await;
        assert!(turn.reply.contains(&format!("- rule holidays: {text}")), "{}", turn.reply);
        let other = bench.turn("who won the race?").await;
        assert!(!other.reply.contains(text), "{}", other.reply);
    }
    let bench = bench().start().await;
    bench.turn("My name is Priya.").await;
    let turn = bench.turn("What is my name?").await;
    assert_eq!(turn.reply, "You told me: \"My name is Priya.\" (session s, turn 1)");
    let unknown = bench.turn("What is my shoe size?").await;
    assert_eq!(unknown.reply, "I don't know that: I find nothing about it in what you told me.");
}

#[tokio::test]
async fn the_first_message_is_read_from_the_log() {
    let bench = bench().start().await;
    create(&bench, Settings::default()).await;
    for number in 0..40 {
        let message = format!("note {number}");
        let turn = RecordedTurn { message, reply: "ok".into(), ..RecordedTurn::default() };
        bench.engine.record(&bench.caller, &session(), turn).await.unwrap();
    }
    let turn = bench.turn("what did i ask you first?").await;
    assert_eq!(turn.reply, "You first asked: \"note 0\".");
}
