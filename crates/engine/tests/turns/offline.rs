//! Replies without a model and without a tool: what is written down, and what was said earlier.

use throughline_engine::agent::{Agent, AgentBook, AgentServer};
use throughline_engine::id::AgentName;
use throughline_engine::piece::IncludeMode;

use crate::bench::{Bench, bench, rule};

/// A bench with tools whose agent has a reference, which is a document like a rule.
async fn with_reference(name: &str, text: &str) -> Bench {
    let bench = bench().tools().start().await;
    let mut agent = Agent::plain(AgentName::new("default").unwrap());
    agent.references = vec![rule(name, IncludeMode::Agent, text)];
    let server = "inventory".into();
    agent.servers = vec![AgentServer { server, include: None, tools: [].into() }];
    bench.engine.replace_agents(AgentBook::new(agent.name.clone(), [agent]));
    bench
}

#[tokio::test]
async fn a_reference_that_fits_better_than_any_tool_is_the_answer() {
    let text = "Holidays are requested two weeks ahead in the staff portal.";
    let bench = with_reference("holidays", text).await;
    let turn = bench.turn("how are holidays requested in the staff portal?").await;
    assert!(turn.reply.contains(&format!("- holidays: {text}")), "{}", turn.reply);
    assert!(bench.tools.names().is_empty());
}

#[tokio::test]
async fn a_tool_that_is_asked_for_comes_before_a_reference() {
    let text = "To show device names, show device labels first.";
    let bench = with_reference("labels", text).await;
    let turn = bench.turn("show device sw1").await;
    assert_eq!(bench.tools.names(), ["get_device"], "{}", turn.reply);
}

#[tokio::test]
async fn neither_a_question_nor_an_empty_reply_is_told_as_an_answer() {
    let bench = bench().start().await;
    bench.turn("what colour are the storage cables?").await;
    let again = bench.turn("which colour do storage cables have?").await;
    assert!(again.reply.starts_with("I found no tool and nothing said earlier"), "{}", again.reply);
    bench.turn("the storage cables are blue").await;
    let known = bench.turn("what colour are the storage cables?").await;
    assert!(known.reply.contains("- turn 3: the storage cables are blue"), "{}", known.reply);
    assert_eq!(known.reply.matches("- turn").count(), 1, "{}", known.reply);
}
