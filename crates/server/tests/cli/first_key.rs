//! The first key of a server that nobody can enter: given by a variable, stored once, revocable.

use throughline_testkit::served::{Launch, Served};

use crate::place::{Place, binary};

const FIRST: &str =
    "tl_00112233445566aa_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const OTHER: &str =
    "tl_ffeeddccbbaa9988_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

async fn status(served: &Served, key: Option<&str>) -> u16 {
    let request = reqwest::Client::new().get(served.url("/conversations"));
    let request = key.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
    request.send().await.expect("an answer").status().as_u16()
}

#[tokio::test]
async fn the_first_key_is_stored_once_and_a_variable_never_brings_it_back() {
    let place = Place::empty();
    let store = format!("sqlite:{}", place.path("keys.db").display());
    let launch = Launch::new(binary(), &store).with("THROUGHLINE_FIRST_KEY", FIRST);
    let served = Served::start(&launch).await;
    assert_eq!(status(&served, Some(FIRST)).await, 200);
    assert_eq!(status(&served, None).await, 401, "there is a key now");
    drop(served);

    let served =
        Served::start(&Launch::new(binary(), &store).with("THROUGHLINE_FIRST_KEY", OTHER)).await;
    assert_eq!(status(&served, Some(OTHER)).await, 401, "there was a key already");
    assert_eq!(status(&served, Some(FIRST)).await, 200, "and it stays");
    drop(served);

    let listed = place.ok(&["key", "list", "--store", &store], "");
    assert!(listed.contains("first key") && listed.contains("write"), "{listed}");
    place.ok(&["key", "revoke", "00112233445566aa", "--store", &store], "");
    let served = Served::start(&launch).await;
    assert_eq!(status(&served, Some(FIRST)).await, 401, "revoked stays revoked");
}

#[test]
fn what_is_no_key_is_refused_without_being_shown() {
    let place = Place::empty();
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0", "--store", "memory:"]);
    let output = command.env("THROUGHLINE_FIRST_KEY", "hunter2hunter2").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("THROUGHLINE_FIRST_KEY is not a key"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}
