//! Single rules of noticing, each with a counter-example. Whole sessions are in `tests/entities/`.

use serde_json::json;

use super::Talk;

#[test]
fn names_beside_cue_words_are_noticed() {
    let mut talk = Talk::new();
    talk.check(
        "Show device core-sw-01 in rack R12 at site Berlin",
        "device core-sw-01, rack R12, site Berlin",
    );
    talk.check("VLANs 10, 20 and 30 please", "vlan 10, vlan 20, vlan 30");
    talk.check(
        "add C++ and Python answers to project 123 survey",
        "answer C++, answer Python, project 123",
    );
    talk.check("What about the Task Management workflow?", "workflow Task Management");
}

#[test]
fn ordinary_words_are_not_names() {
    let mut talk = Talk::new();
    talk.check("interfaces # and device # or site\"#", "");
    talk.check("I will rack my brains on site today", "");
    talk.check("It is raining, is it possible to continue?", "");
    talk.check("for example project 999 or device foo-01", "");
}

#[test]
fn references_point_back() {
    let mut talk = Talk::new();
    talk.check("Show device core-sw-01 in site Berlin", "device core-sw-01, site Berlin");
    talk.check("what are its interfaces?", "device core-sw-01");
    talk.check("is it reachable?", "device core-sw-01");
    talk.check("what else is in that site", "site Berlin");
}

#[test]
fn the_second_one_is_the_second_of_the_last_list() {
    let mut talk = Talk::new();
    talk.say("list devices in site Berlin");
    talk.answer(
        "list_devices",
        &json!({"results": [
            {"id": 1, "name": "core-sw-01", "site": {"id": 9, "name": "Berlin"}},
            {"id": 2, "name": "core-sw-02", "site": {"id": 9, "name": "Berlin"}},
            {"id": 3, "name": "edge-01", "site": {"id": 9, "name": "Berlin"}},
        ]}),
    );
    talk.check("show the second one", "device core-sw-02");
    talk.check("and the first two", "device core-sw-01, device core-sw-02");
}

#[test]
fn the_other_is_the_other_of_two() {
    let mut talk = Talk::new();
    talk.say("list racks in site Berlin");
    talk.answer("list_racks", &json!([{"id": 1, "name": "R1"}, {"id": 2, "name": "R2"}]));
    talk.check("show the first one", "rack R1");
    let noticed = talk.say("not that one, the other");
    assert_eq!(super::shown(&noticed), "rack R2");
    let meant = noticed.correction.and_then(|correction| correction.right).map(|right| right.name);
    assert_eq!(meant.as_deref(), Some("R2"));
}

#[test]
fn a_different_number_is_a_different_thing_and_not_a_typing_error() {
    let mut talk = Talk::new();
    talk.check("show device core-sw-01", "device core-sw-01");
    talk.check("show device core-sw-02", "device core-sw-02");
    talk.check("show device coer-sw-01", "~device core-sw-01");
    assert_eq!(talk.known.len(), 2, "what is unsure is not remembered");
}

#[test]
fn what_things_are_in_is_a_place_of_the_type_that_the_pack_says() {
    let check = |message: &str, expected: &str| Talk::new().check(message, expected);
    check("List the devices in Amsterdam", "site Amsterdam");
    check("which racks do we have in New York?", "site New York");
    check("devices in fra1 please", "site fra1");
    check("projects in Retail", "business_unit Retail");
    check("VMs in Staging", "cluster Staging");
    check("devices in rack R12", "rack R12");
    check("The new home is rack C-14 in Cork", "rack C-14, site Cork");
    check("devices bought in April", "");
    check("devices in the hall", "");
    check("What do we have in Amsterdam?", "");
}

#[test]
fn social_talk_names_nothing_for_sure_without_the_look_of_such_a_name() {
    for message in [
        "James and I had coffee in Room 9 yesterday.",
        "Our tenant Mrs Grey moved out.",
        "I climbed Site B of the excavation on holiday.",
    ] {
        let mut talk = Talk::new();
        let noticed = talk.say(message);
        assert!(noticed.mentions.iter().all(|mention| !mention.is_sure()), "{message}");
        assert_eq!((noticed.topic, talk.known.len()), (None, 0), "{message}");
    }
    // What is asked, and what looks like such a name, is one.
    Talk::new().check("which devices are in room 9?", "location 9");
    Talk::new().check("Device core-sw-01 is down.", "device core-sw-01");
}

#[test]
fn spans_cover_the_words() {
    let message = "Größe von device core-sw-01?";
    let noticed = Talk::new().say(message);
    let span = noticed.mentions[0].span;
    assert_eq!(&message[span.start..span.end], "core-sw-01");
}
