//! Tests of the item index.

use serde_json::json;

use super::*;

fn index() -> ItemIndex {
    let mut index = ItemIndex::default();
    for (id, text, vector) in [
        ("netbox/list_devices", "netbox. list_devices: Lists devices of a site.", [1.0, 0.0]),
        ("netbox/list_racks", "netbox. list_racks: Lists racks of a site.", [0.8, 0.6]),
        ("mail/send", "mail. send: Sends a message to a person.", [0.0, 1.0]),
    ] {
        index.upsert(id, text, &vector, "1");
    }
    index
}

fn first(index: &ItemIndex, query: &str, vector: &[f32]) -> String {
    index.rank(query, vector, 1, &[]).remove(0).id
}

#[test]
fn an_item_is_found_by_its_words_or_by_its_meaning() {
    assert_eq!(first(&index(), "which racks are there", &[]), "netbox/list_racks");
    assert_eq!(first(&index(), "tell somebody", &[0.0, 1.0]), "mail/send");
}

#[test]
fn a_changed_item_is_known_by_its_hash_and_replaced() {
    let mut index = index();
    assert!(index.holds("mail/send", "1") && !index.holds("mail/send", "2"));
    index.upsert("mail/send", "mail. send: Dispatches parcels.", &[0.0, 1.0], "2");
    assert!(index.holds("mail/send", "2"));
    assert_eq!(index.len(), 3);
    assert_eq!(first(&index, "parcels", &[]), "mail/send");
    index.remove("mail/send");
    assert!(index.rank("parcels", &[0.0, 1.0], 9, &[]).iter().all(|hit| hit.id != "mail/send"));
}

#[test]
fn what_does_not_reach_the_threshold_is_left_out() {
    let index = index();
    let found = |threshold| index.search("racks of a site", &[0.8, 0.6], 20, 5, threshold).len();
    assert_eq!((found(0.0), found(1.1)), (3, 0));
    assert_eq!(index.search("racks", &[0.8, 0.6], 20, 1, 0.0).len(), 1);
    let unrelated = index.search("quantum chromodynamics", &[-1.0, -0.1], 20, 5, 0.7);
    assert_eq!(unrelated, []);
}

#[test]
fn a_steering_word_favours_the_tools_of_a_prefix() {
    let steer = |word: &str, prefix: &str| {
        let steering = Steering { word: word.into(), prefix: prefix.into(), weight: 0.9 };
        index().rank("show every box in Lisbon", &[1.0, 0.1], 1, &[steering]).remove(0).id
    };
    assert_eq!(steer("boxes", "list_racks"), "netbox/list_racks");
    assert_eq!(steer("boxes", "mail/"), "mail/send");
    assert_eq!(steer("crates", "list_racks"), "netbox/list_devices");
}

#[test]
fn a_tool_is_described_by_its_server_name_description_and_parameters() {
    let schema = json!({"type": "object", "properties": {
        "site": {"type": "string", "description": "Name of the site"}, "limit": {"type": "integer"}}});
    assert_eq!(
        tool_text("netbox", "list_devices", "Lists devices", &schema),
        "netbox. list_devices: Lists devices. site Name of the site limit"
    );
    assert_eq!(tool_text("s", "n", "d", &json!(null)), "s. n: d.");
}

#[test]
fn tools_of_the_server_that_fits_best_come_before_equal_ones_elsewhere() {
    let mut index = ItemIndex::default();
    for (id, text) in [
        ("tool/other/list", "other. list: Lists entries"),
        ("tool/wiki/read", "wiki. read: Reads an encyclopedia article"),
        ("tool/wiki/list", "wiki. list: Lists entries"),
        ("tool/third/list", "third. list: Lists entries"),
    ] {
        index.upsert(id, text, &[], "1");
    }
    let hits = index.rank("read an encyclopedia article, list entries", &[], 4, &[]);
    let ids: Vec<_> = hits.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids[..2], ["tool/wiki/read", "tool/wiki/list"]);
}
