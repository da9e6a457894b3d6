//! What was done to a thing, asked by what was done; and a question for any of several things.

use crate::bench::{answers, asks, check};
use crate::inventory::inventory;

#[tokio::test]
async fn who_changed_a_thing_is_in_its_records() {
    for say in [
        "who edited por-fw-01?",
        "who modified por-fw-01?",
        "what was changed on por-fw-01?",
        "when was por-fw-01 last changed?",
        "who altered por-fw-01 last?",
    ] {
        let told = answers(say, &["1 change", "netbox_get_changelogs"]).not(&["hfs-srv-01"]);
        check(inventory(), vec![told]).await;
    }
}

#[tokio::test]
async fn any_of_them_asks_for_all() {
    let told = answers("is any device offline?", &["device"]).not(&["called"]);
    check(inventory(), vec![told]).await;
    check(inventory(), vec![asks("is any rack haunted?", &["haunted"]).not(&["called"])]).await;
}
