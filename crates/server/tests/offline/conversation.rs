//! Ten turns of follow-ups and more, answered right without a model.

use crate::bench::{Bench, Came, bench, shown};

/// What a turn must have called and said.
struct Expected {
    message: &'static str,
    /// `tool {arguments}`, or nothing when no tool may be called.
    call: Option<&'static str>,
    /// All of these stand in the reply.
    says: &'static [&'static str],
}

const TURNS: [Expected; 10] = [
    Expected {
        message: "list devices in site Frankfurt",
        call: Some(r#"list_devices {"site":"Frankfurt"}"#),
        says: &["6 devices", "fra1-core-01", "fra1-sw-02"],
    },
    Expected {
        message: "show me the second one",
        call: Some(r#"get_device {"device":"fra1-sw-01"}"#),
        says: &["fra1-sw-01", "Active"],
    },
    Expected {
        message: "its interfaces",
        call: Some(r#"list_interfaces {"device":"fra1-sw-01"}"#),
        says: &["interfaces"],
    },
    Expected {
        message: "which VLANs are there at that site?",
        call: Some(r#"list_vlans {"site":"Frankfurt"}"#),
        says: &["2 vlans", "management", "servers"],
    },
    Expected {
        message: "set the status of fra1-sw-02 to offline",
        call: Some(r#"update_device {"device":"11","status":"offline"}"#),
        says: &["fra1-sw-02", "offline"],
    },
    Expected {
        message: "show project 123",
        call: Some(r#"get_project {"project_id":123}"#),
        says: &["Payment Gateway"],
    },
    Expected {
        message: "Add C++ and Python answers to project 123 survey",
        call: Some(r#"add_survey_answers {"answers":["C++","Python"],"project_id":123}"#),
        says: &["8", "3", "A2297"],
    },
    Expected {
        message: "What answers were deselected?",
        call: None,
        says: &["A2297", "Java", "A2298", "Ruby", "A2304", "Go"],
    },
    Expected {
        message: "list projects that are not risk compliant",
        call: Some(r#"list_projects {"risk_compliant":false}"#),
        says: &["project"],
    },
    Expected {
        message: "list the workflows",
        call: Some("list_workflows {}"),
        says: &["2 workflows", "Task Management"],
    },
];

/// Questions that lean on what was said, with words that earlier results hold too.
const LEANING: [Expected; 12] = [
    Expected {
        message: "Which devices are in the Amsterdam site?",
        call: Some(r#"list_devices {"site":"Amsterdam"}"#),
        says: &["8 devices", "ams1-core-01"],
    },
    Expected {
        message: "what about the first one?",
        call: Some(r#"get_device {"device":"ams1-core-01"}"#),
        says: &["Core router"],
    },
    Expected {
        message: "which interfaces does it have?",
        call: Some(r#"list_interfaces {"device":"ams1-core-01"}"#),
        says: &["4 interfaces"],
    },
    Expected { message: "which rack is it in?", call: None, says: &["From turn 2", "ams1-r01"] },
    Expected {
        message: "which devices are in that rack?",
        call: Some(r#"list_devices {"rack":"ams1-r01"}"#),
        says: &["5 devices"],
    },
    Expected {
        message: "and what VLANs does that site have?",
        call: Some(r#"list_vlans {"site":"Amsterdam"}"#),
        says: &["3 vlans"],
    },
    Expected {
        message: "Which sites are there?",
        call: Some("list_sites {}"),
        says: &["Amsterdam", "Frankfurt"],
    },
    Expected {
        message: "show me the second one",
        call: Some(r#"get_site {"site":"Frankfurt"}"#),
        says: &["Frankfurt"],
    },
    Expected { message: "which racks does it have?", call: None, says: &["2 racks"] },
    Expected {
        message: "how many devices are there?",
        call: Some("list_devices {}"),
        says: &["21 devices"],
    },
    Expected { message: "show workflows", call: Some("list_workflows {}"), says: &["2 workflows"] },
    // By then more things are known than the head keeps.
    Expected { message: "update my task workflow", call: None, says: &["new value"] },
];

/// What cannot be done as it was said is told.
const HONEST: [Expected; 4] = [
    Expected {
        message: "list ip addresses in prefix 10.10.0.0/24",
        call: Some("list_ip_addresses {}"),
        says: &["not by prefix"],
    },
    Expected {
        message: "list devices in site Frankfurt",
        call: Some(r#"list_devices {"site":"Frankfurt"}"#),
        says: &["6 devices"],
    },
    Expected { message: "show device fra1-sw-1", call: None, says: &["Did you mean fra1-sw-01"] },
    Expected { message: "what did we talk about?", call: None, says: &["You last asked"] },
];

#[tokio::test]
async fn what_cannot_be_done_as_it_was_said_is_told() {
    all_right(&HONEST).await;
}

#[tokio::test]
async fn ten_turns_of_follow_ups_are_answered_right_without_a_model() {
    all_right(&TURNS).await;
}

#[tokio::test]
async fn questions_that_lean_on_earlier_answers_are_not_answered_with_the_wrong_one() {
    all_right(&LEANING).await;
}

async fn all_right(turns: &[Expected]) {
    let bench = bench().await;
    let mut wrong = Vec::new();
    for (number, expected) in turns.iter().enumerate() {
        if let Err(difference) = check(&bench, expected).await {
            wrong.push(format!("turn {} {:?}: {difference}", number + 1, expected.message));
        }
    }
    bench.end().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn check(bench: &Bench, expected: &Expected) -> Result<(), String> {
    let Came::Turn(turn) = bench.say("ten", expected.message).await else {
        return Err("it waits for approval".into());
    };
    let called = turn.calls.last().map(|call| shown(&call.tool.name, &call.arguments));
    if expected.call.is_some() && called.as_deref() != expected.call {
        return Err(format!("called {called:?}, said {:?}", turn.reply));
    }
    match expected.says.iter().find(|words| !turn.reply.contains(**words)) {
        Some(words) => Err(format!("{words:?} is not in {:?}", turn.reply)),
        None => Ok(()),
    }
}

#[tokio::test]
async fn a_destructive_call_waits_and_an_incomplete_one_asks() {
    let bench = bench().await;
    let waits = bench.say("a", "delete device nyc1-con-01").await;
    let asks = bench.say("b", "delete the device").await;
    bench.end().await;
    let Came::Waits(pending) = waits else { panic!("{waits:?}") };
    assert_eq!(pending.awaited[0].tool.name, "delete_device");
    let Came::Turn(turn) = asks else { panic!("{asks:?}") };
    assert!(turn.calls.is_empty() && turn.reply.contains("device"), "{turn:?}");
}
