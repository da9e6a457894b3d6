//! Arbitrary input: no panic, valid spans, proportional work.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::notice::notice_counted;
use super::super::*;
use super::Talk;
use crate::tool::ToolName;

fn known_talk() -> Talk {
    static BEGUN: LazyLock<Talk> = LazyLock::new(begin);
    BEGUN.clone()
}

fn begin() -> Talk {
    let mut talk = Talk::new();
    talk.say("show device core-sw-01 in rack R12 at site Berlin");
    talk.answer(
        "list_devices",
        &json!([{"id": 1, "name": "core-sw-01"}, {"id": 2, "name": "a a a a a a a a"}]),
    );
    talk.answer("list_workflows", &json!([{"spec_id": "wf-1", "name": "Task Management"}]));
    talk
}

/// Text made of meaningful pieces and arbitrary characters.
fn messages() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "device",
        "the",
        "it",
        "its",
        "interfaces",
        "core-sw-01",
        "\"",
        ",",
        "and",
        "second",
        "one",
        "both",
        "no",
        "R12",
        "10.0.0.1",
        "::",
        "'s",
        "```",
        "\n> ",
        "my task",
        "#",
        "é",
        "设备",
        "not",
        "site",
        "Berlin",
        "those",
        "answers",
        "A2297",
        "e.g.",
        "I meant",
        "other",
        "\u{301}",
        "C++",
    ]);
    let words = prop::collection::vec(prop_oneof![pieces.prop_map(str::to_owned), ".{0,8}"], 0..40);
    (words, prop::sample::select(vec!["", " "])).prop_map(|(words, gap)| words.join(gap))
}

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let keys = prop_oneof![
        prop::sample::select(vec![
            "id", "name", "site", "device", "results", "url", "spec_id", "rack_id"
        ])
        .prop_map(str::to_owned),
        ".{0,6}"
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_message_is_read_and_its_spans_hold(message in messages()) {
        let mut talk = known_talk();
        let noticed = talk.say(&message);
        let mentions = noticed.mentions.iter().map(|mention| mention.span);
        let asked = noticed.ambiguous.iter().map(|asked| asked.span);
        for span in mentions.chain(asked) {
            prop_assert!(span.start < span.end);
            prop_assert!(message.get(span.start..span.end).is_some());
        }
        for mention in &noticed.mentions {
            prop_assert!((0.0..=1.0).contains(&mention.confidence));
            prop_assert!(!mention.target().label().is_empty());
        }
        let stored = serde_json::to_string(&talk.entities).expect("it is JSON");
        prop_assert_eq!(serde_json::from_str::<Entities>(&stored).expect("it reads"), talk.entities);
    }

    #[test]
    fn any_answer_is_read(result in json_values(), tool in "[a-z_]{0,20}|list_devices|get_site") {
        let mut talk = known_talk();
        let found = talk.answer(&tool, &result);
        for entity in &found.entities {
            prop_assert!(!entity.entity.label().is_empty());
            prop_assert!(entity.entity.label().chars().count() <= NAME_CHARACTERS_MAX);
        }
        prop_assert!(talk.entities.tracked.len() <= HEAD_ENTITIES_MAX);
    }
}

#[test]
fn work_grows_with_the_message_and_not_faster() {
    let talk = known_talk();
    let pieces = [
        "the device ",
        "it ",
        "its interfaces ",
        "core-sw-01 ",
        "a ",
        "\"",
        ", and ",
        "10.0.0.1 ",
        "coer-sw-01 ",
        "Berlin the device it ",
        "both ",
        "not that one ",
        "the second one ",
        "设备",
        "e.g. ",
        "device x-1 and ",
        "site Berlin ",
        "\n> ",
        "my task ",
        "the one in ",
        "'s",
    ];
    for piece in pieces {
        let work = |bytes: usize| {
            let message = piece.repeat(bytes / piece.len());
            notice_counted(&message, &talk.entities, &talk.known, &talk.packs).1
        };
        let (short, long) = (work(8_000), work(32_000));
        assert!(long <= 4 * short + 100_000, "{piece:?}: {short} then {long}");
        assert!(long <= 40 * 32_000, "{piece:?}: {long} steps for 32,000 bytes");
    }
}

#[test]
fn a_megabyte_is_cut_and_says_so() {
    let talk = known_talk();
    let message = "the device core-sw-01 ".repeat(50_000);
    let noticed = notice(&message, &talk.entities, &talk.known, &talk.packs);
    assert!(noticed.cut);
    assert!(noticed.mentions.len() <= MENTIONS_MAX);
    let short = notice("show core-sw-01", &talk.entities, &talk.known, &talk.packs);
    assert!(!short.cut);
}

#[test]
fn a_thing_without_a_tool_of_its_type_is_not_taken_for_one() {
    let talk = Talk::new();
    let tool = ToolName { server: "s".to_owned(), name: "weather".to_owned() };
    let found =
        harvest(&tool, &Value::Null, &json!({"id": 1, "name": "x"}), &talk.packs, talk.at().now);
    assert_eq!(found, Harvest::default());
}
