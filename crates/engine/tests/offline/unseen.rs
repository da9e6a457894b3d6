//! Mechanisms for servers that nobody tuned on, each with wordings of its own.

use crate::bench::{answers, asks, check, waits};
use crate::clinic::clinic;
use crate::hotel::hotel;

#[tokio::test]
async fn what_is_asked_for_by_a_value_is_listed_by_it() {
    let told = answers("which dogs are in ward A?", &["Rex"]).not(&["Bello", "Coco"]);
    check(clinic(), vec![told]).await;
    let turns = vec![
        answers("how many dogs are there?", &["2 patients"]),
        answers("which of them weigh more than 20 kg?", &["Rex"]).not(&["Bello"]),
    ];
    check(clinic(), turns).await;
    check(hotel(), vec![answers("which doubles do we have?", &["102", "202"]).not(&["201"])]).await;
    check(clinic(), vec![asks("which zebras are in ward A?", &[]).not(&["Rex"])]).await;
}

#[tokio::test]
async fn a_field_that_no_parameter_takes_narrows_the_rows() {
    let told = answers("which patients are not vaccinated?", &["Mimi", "Bello"]).not(&["Rex"]);
    check(clinic(), vec![told]).await;
    check(hotel(), vec![answers("unpaid bookings", &["Luis Ortega"]).not(&["Ann"])]).await;
    let told = answers("rooms on the second floor", &["201", "202"]).not(&["101", "102"]);
    check(hotel(), vec![told]).await;
    let told = answers("which rooms cost less than 125?", &["101", "102"]).not(&["201"]);
    check(hotel(), vec![told]).await;
    let turns = vec![
        answers("which rooms have a balcony?", &["102", "201"]).not(&["101"]),
        answers("how many of those are free?", &["No rooms"]),
    ];
    check(hotel(), turns).await;
    check(hotel(), vec![asks("rooms with a jacuzzi", &["jacuzzi"]).not(&["101"])]).await;
}

#[tokio::test]
async fn a_superlative_orders_a_list() {
    check(hotel(), vec![answers("the most expensive room", &["201"]).not(&["101", "202"])]).await;
    check(hotel(), vec![answers("what's the cheapest double room?", &["102"]).not(&["101"])]).await;
    check(clinic(), vec![answers("who is the heaviest patient?", &["Rex"]).not(&["Mimi"])]).await;
    let told = answers("sort the rooms by price", &["4 of 4 rooms", "by price"]);
    check(hotel(), vec![told]).await;
    check(hotel(), vec![asks("the loudest room", &["loudest"]).not(&["101"])]).await;
}

#[tokio::test]
async fn a_day_in_words_is_a_date() {
    let told = answers("appointments tomorrow", &[r#""date":"1970-01-02""#, "201"]).not(&["202:"]);
    check(clinic(), vec![told]).await;
    let has = [r#""patient_id":1"#, r#""vet_id":2"#, r#""date":"1970-01-05""#];
    check(clinic(), vec![waits("book an appointment for Rex with Dr. Petersen next monday", &has)])
        .await;
    let told = answers("welche Termine gibt es heute?", &["202"]).not(&["201"]);
    check(clinic(), vec![told]).await;
}

#[tokio::test]
async fn several_values_of_one_sentence_go_where_they_belong() {
    let has = [r#""name":"Schnuffi""#, r#""species":"hamster""#, r#""owner":"Timo Kern""#];
    let turns = vec![
        waits("register Schnuffi, a hamster, owner Timo Kern", &has),
        answers("what's its id?", &["105"]),
        waits("delete it", &[r#"delete_patient {"patient_id":105}"#]),
    ];
    check(clinic(), turns).await;
    let say = "book room 202 for Carla Mendes from 2026-12-03 to 2026-12-06 with breakfast, her email is carla@mendes.example";
    let has = [
        r#""room_number":202"#,
        r#""name":"Carla Mendes""#,
        r#""email":"carla@mendes.example""#,
        r#""check_in":"2026-12-03""#,
        r#""check_out":"2026-12-06""#,
        r#""breakfast":true"#,
    ];
    check(hotel(), vec![waits(say, &has)]).await;
    let say = "is there a free double from 2026-12-03 to 2026-12-06 for less than 120 euros?";
    let has = [r#""room_type":"double""#, r#""max_price":120"#, "110"];
    check(hotel(), vec![answers(say, &has)]).await;
    let has = [r#""title":"no hot water""#, r#""tags":["plumbing","urgent"]"#];
    check(hotel(), vec![waits("open a complaint: no hot water, tags plumbing and urgent", &has)])
        .await;
}

#[tokio::test]
async fn a_decision_is_what_is_done() {
    let turns = vec![
        answers("list the booking requests", &["Mia Chen", "Jo Park"]),
        waits("accept the first one", &[r#""request_id":51"#, r#""decision":"accept""#]),
        waits(
            "reject the other one because we are full",
            &[r#""request_id":55"#, r#""decision":"reject""#, "we are full"],
        ),
    ];
    check(hotel(), turns).await;
}

#[tokio::test]
async fn one_field_of_a_thing_is_told_by_other_words() {
    let turns = vec![
        answers("show room 201", &["suite"]),
        answers("how much does it cost?", &["price 250"]),
    ];
    check(hotel(), turns).await;
    let turns = vec![
        answers("list bookings", &["Ann Weber", "Luis Ortega"]),
        answers("show the first one", &["Ann Weber"]),
        answers("does it include breakfast?", &["breakfast yes"]),
    ];
    check(hotel(), turns).await;
    check(clinic(), vec![answers("who owns Bello?", &["Timo Kern"])]).await;
    check(clinic(), vec![answers("wem gehört Mimi?", &["Ida Sun"])]).await;
}

#[tokio::test]
async fn a_question_about_an_ability_opens_no_dialogue() {
    let turns = vec![
        answers("can you delete patients?", &["delete patient (patient id)"]),
        answers("list the vets", &["Ahlers"]),
    ];
    check(clinic(), turns).await;
    check(clinic(), vec![answers("can you list the vets?", &["Ahlers"])]).await;
}

#[tokio::test]
async fn what_is_forbidden_of_one_thing_is_asked_for_of_another() {
    let turns = vec![waits("do not delete patient 3, delete patient 4", &[r#""patient_id":4"#])];
    check(clinic(), turns).await;
    let say = "do not delete patient 3, delete patient 3 tomorrow";
    check(clinic(), vec![asks(say, &["nothing was done"])]).await;
}

#[tokio::test]
async fn what_was_not_understood_is_not_gone_on_with() {
    let turns = vec![
        answers("list the patients", &["Rex"]),
        asks("what did we earn last year?", &["earn"]).not(&["filter"]),
        asks("and Rex?", &["whole request"]).not(&["dog"]),
    ];
    check(clinic(), turns).await;
}

#[tokio::test]
async fn german_words_for_values_and_fields_are_understood() {
    let told = answers("welche Hunde sind auf Station B?", &["Bello"]).not(&["Rex", "Mimi"]);
    check(clinic(), vec![told]).await;
    check(clinic(), vec![waits("Lösche Patient 3", &[r#""patient_id":3"#])]).await;
    check(hotel(), vec![answers("wie viele Zimmer gibt es?", &["4 rooms"])]).await;
}

#[tokio::test]
async fn a_question_is_no_answer_to_a_question() {
    let turns = vec![
        asks("open a complaint", &["title"]),
        asks("wie ist die Belegung am 2027-01-09?", &[]),
    ];
    check(hotel(), turns).await;
}

#[tokio::test]
async fn a_request_with_its_reason_is_not_only_noted() {
    let turns = vec![
        asks("archive patient 2 because we close on Sundays now", &[]).not(&["Noted"]),
        answers("By the way, our practice closes on Sundays.", &["Noted"]),
    ];
    check(clinic(), turns).await;
}
