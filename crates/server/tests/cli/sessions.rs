//! Sessions, receipts and search on the command line.

use crate::place::Place;

#[test]
fn sessions_are_listed_shown_tagged_forked_and_erased_with_a_count() {
    let place = Place::with_trip();
    let listed = place.json(&["session", "list", "--json"]);
    assert_eq!(listed["conversations"][0]["id"], "trip");
    assert!(place.ok(&["session", "list"], "").contains("trip"));
    assert_eq!(place.json(&["session", "show", "trip", "--json"])["turns"], 2);
    let history = place.ok(&["session", "history", "trip"], "");
    assert!(history.contains("Where is Zanzibar?") && history.contains("Far."), "{history}");

    let tagged = place.json(&["session", "tag", "trip", "sea", "far", "--json"]);
    assert_eq!(tagged["tags"], serde_json::json!(["sea", "far"]));
    let tagged = place.json(&["session", "tag", "trip", "--remove", "far", "--json"]);
    assert_eq!(tagged["tags"], serde_json::json!(["sea"]));

    let forked = ["session", "fork", "trip", "--turn", "1", "--id", "half", "--json"];
    assert_eq!(place.json(&forked)["turns"], 1);
    let receipt = place.json(&["session", "erase", "trip", "--yes", "--json"]);
    assert_eq!((&receipt["heads"], &receipt["turns"]), (&1.into(), &2.into()));
    assert_eq!(place.fails(&["session", "show", "trip"]).0, 1);
}

#[test]
fn links_are_made_listed_and_revoked_by_their_beginning() {
    let place = Place::with_trip();
    assert!(place.ok(&["session", "shares", "trip"], "").contains("trip has no links"));
    let said = place.ok(&["session", "share", "trip", "--days", "2"], "");
    assert!(said.contains("/#/shared/share_") && said.contains("turns 1 to 2"), "{said}");
    let id = place.json(&["session", "shares", "trip", "--json"])["shares"][0]["id"].clone();
    let id = id.as_str().expect("an id");
    assert!(place.ok(&["session", "shares", "tri"], "").contains(id));
    let revoked = place.ok(&["session", "unshare", "trip", &id[..6]], "");
    assert!(revoked.contains("is revoked"), "{revoked}");
    assert_eq!(place.fails(&["session", "unshare", "trip", id]).0, 1);
    let (_, error) = place.fails(&["session", "share", "trip", "--days", "900"]);
    assert!(error.contains("outside 1-90"), "{error}");
}

#[test]
fn erasing_is_confirmed_or_not_done() {
    let place = Place::with_trip();
    let (code, error) = place.fails(&["session", "erase", "trip"]);
    assert_eq!(code, 2);
    assert!(error.contains("hint: add --yes"), "{error}");
    assert_eq!(place.json(&["session", "show", "trip", "--json"])["turns"], 2);
}

#[test]
fn an_export_comes_back_byte_for_byte() {
    let place = Place::with_trip();
    let export = place.ok(&["session", "export", "trip"], "");
    let file = ["session", "export", "trip", "--output", "trip.json"];
    place.ok(&file, "");
    assert_eq!(place.fails(&file).0, 1, "an existing file stays");
    place.ok(&["session", "erase", "trip", "--yes"], "");
    place.ok(&["session", "import", "trip.json"], "");
    assert_eq!(place.ok(&["session", "export", "trip"], ""), export);
    let markdown = place.ok(&["session", "export", "trip", "--format", "markdown"], "");
    assert!(markdown.contains("Where is Zanzibar?"), "{markdown}");
}

#[test]
fn words_are_found_and_marked_also_after_the_index_was_made_anew() {
    let place = Place::with_trip();
    let found = place.ok(&["search", "zanzibar"], "");
    assert!(found.contains("Where is *Zanzibar*?"), "{found}");
    assert_eq!(place.json(&["index", "rebuild", "--json"])["sessions"], 1);
    assert_eq!(place.json(&["search", "zanzibar", "--json"])["hits"][0]["session"], "trip");
    assert!(place.ok(&["search", "nowhere-at-all"], "").contains("nothing was found"));
}

#[test]
fn a_receipt_is_readable_and_its_request_comes_back_to_the_byte() {
    let place = Place::empty();
    place.ok(&["chat", "talk"], "Remember the blue door.\nWhich door?\n");
    let receipt = place.ok(&["receipt", "talk", "2"], "");
    for part in
        ["no model was asked", "History", "turn 1 message", "Instructions", "tokens", "request "]
    {
        assert!(receipt.contains(part), "{part} is not in {receipt}");
    }
    let hash = place.json(&["receipt", "talk", "2", "--json"])["id"].clone();
    let replayed = place.run(&["replay", "talk", "2"], "");
    assert_eq!(
        String::from_utf8_lossy(&replayed.stderr).trim(),
        format!("hash: {}", hash.as_str().expect("a hash"))
    );
    let request: serde_json::Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
    assert!(request.to_string().contains("the blue door"), "{request}");
    let diff = place.json(&["receipt", "diff", "talk:1", "talk:2", "--json"]);
    assert_eq!(diff["same_request"], false);
    assert_eq!(diff, place.json(&["receipt", "diff", "talk", "1", "2", "--json"]));
    let (code, error) = place.fails(&["replay", "talk", "2", "--round", "9"]);
    assert_eq!((code, error.contains("it has 1-1")), (1, true), "{error}");
    assert_eq!(place.fails(&["replay", "talk", "1", "--send"]).0, 1, "there is no model");
}
