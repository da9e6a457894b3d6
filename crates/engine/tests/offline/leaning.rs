//! Messages that lean on the one before: what was not understood is not gone on with, a correction of a change is about
//! that change, and a position is one in the list that was shown last.

use crate::bench::{answers, asks, check, refused, waits};
use crate::board::board;
use crate::inventory::inventory;
use crate::support::{decisions, desk, staff, tracker};

#[tokio::test]
async fn a_list_that_was_not_understood_is_not_narrowed_further() {
    for say in ["just the bugs", "only the bugs", "which of those are bugs?", "and the bugs?"] {
        let turns =
            vec![asks("list the tasks of the purple squad", &["purple"]), asks(say, &["before"])];
        check(tracker(), turns).await;
    }
    for say in ["which of those are urgent?", "how many of them are open?", "show them"] {
        let turns = vec![
            answers("list the agents", &["Timo Brandt"]),
            asks("list the tickets of the purple squad", &["purple"]),
            asks(say, &[]).not(&["4101", "4102", "4105", "Timo"]),
        ];
        check(desk(), turns).await;
    }
    // What is off the subject in between does not hide the list.
    let turns = vec![
        answers("list the open tickets", &["4101", "4102", "4105"]),
        asks("what's the weather like?", &["no tool"]).not(&["filter"]),
        answers("which of those are urgent?", &["4102", "4105"]).not(&["4101", "4107"]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn it_is_what_the_message_without_an_answer_named() {
    for lost in ["what is the shoe size of por-core-01", "por-core-01 frobnicate quux"] {
        let turns = vec![
            answers("list devices", &["por-core-01"]),
            answers("show device lis-fw-01", &["lis-fw-01"]),
            asks(lost, &[]),
            answers("what is its status?", &["por-core-01"]).not(&["lis-fw-01"]),
        ];
        check(inventory(), turns).await;
    }
    let turns = vec![
        answers("show ticket 4101", &["4101"]),
        asks("what is the shoe size of ticket 4999", &[]),
        asks("what is its status?", &[]).not(&["4101"]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn each_further_filter_keeps_those_before_it() {
    let turns = vec![
        answers("list the open tickets", &["4101", "4102", "4105"]),
        answers("only those of Timo", &["4101", "4102"]).not(&["4105", "4107"]),
        answers("just the urgent ones", &["4102"]).not(&["4101", "4105", "4107"]),
        answers("how many are that?", &["1 ticket"]),
    ];
    check(desk(), turns).await;
    let turns = vec![
        answers("list raul's tasks", &["TASK-2", "TASK-3"]).not(&["TASK-1", "TASK-4"]),
        answers("just the bugs", &["TASK-3"]).not(&["TASK-1", "TASK-2", "TASK-4"]),
    ];
    check(tracker(), turns).await;
}

#[tokio::test]
async fn a_correction_of_a_change_is_about_that_change() {
    let turns = vec![
        waits("set the priority of ticket 4107 to high", &[r#""priority":"high""#]),
        waits("no, I meant urgent", &[r#""ticket_id":4107"#, r#""priority":"urgent""#]),
        waits("sorry, low", &[r#""ticket_id":4107"#, r#""priority":"low""#]),
    ];
    check(desk(), turns).await;
    let turns = vec![
        waits("set ticket 4101 to solved", &[r#""ticket_id":4101"#, r#""status":"solved""#]),
        waits("no, ticket 4102", &[r#""ticket_id":4102"#, r#""status":"solved""#]),
    ];
    check(desk(), turns).await;
    // What names nothing of the change is asked about.
    let turns = vec![
        waits("create an issue called Broken winch", &["new_item"]),
        asks("no, todo", &[]).not(&["Boathouse", "varnish"]),
        asks("I meant the backlog", &[]).not(&["Boathouse", "varnish"]),
    ];
    check(board(), turns).await;
    // Neither is a change that was not understood.
    for say in ["no, I meant high", "sorry, I meant the urgent ones"] {
        let turns = vec![
            answers("list the open tickets", &["4101"]),
            asks("defrost ticket 4107 twice", &[]),
            asks(say, &[]).not(&["4101", "4102", "4105"]),
        ];
        check(desk(), turns).await;
    }
}

#[tokio::test]
async fn a_number_opens_the_thing_with_its_content() {
    let turns = vec![
        answers("list the ADRs", &["Pick Kotlin"]),
        answers("open number 3", &["Tapes were lost"]).not(&["Kotlin"]),
    ];
    check(decisions(), turns).await;
    check(decisions(), vec![answers("open number 2", &["Kotlin builds are slow"])]).await;
    check(decisions(), vec![answers("show me number 1", &["Java is verbose"])]).await;
    let turns = vec![
        answers("list the open tickets", &["4101"]),
        answers("open number 4105", &["Wifi dead"]).not(&["VPN"]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn a_position_is_one_in_the_list_that_was_shown_last() {
    let turns = vec![
        answers("list the open tickets", &["4101", "4102", "4105"]),
        answers("list the pending tickets", &["4107"]).not(&["4101"]),
        answers("open the first one", &["4107", "Badge reader"]).not(&["VPN"]),
        asks("and the third one?", &[]).not(&["Wifi"]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn what_mentions_a_word_is_searched_for_in_whole_texts() {
    for say in ["which ADRs mention Kotlin?", "Welche ADRs erwähnen Kotlin?"] {
        let told = answers(say, &["adr_search", "Pick Kotlin", "Release weekly"]);
        check(decisions(), vec![told.not(&["Encrypt"])]).await;
    }
}

#[tokio::test]
async fn two_changes_of_one_thing_are_one_call() {
    let has = [r#""ticket_id":4107"#, r#""assignee":"Timo"#, r#""priority":"high""#];
    check(desk(), vec![waits("give 4107 to Timo and set it to high", &has)]).await;
    check(desk(), vec![waits("assign ticket 4107 to Timo and make it high", &has)]).await;
    let turns = vec![
        answers("show task 3", &["Icon is blurry"]),
        waits(
            "set its due date to 2026-12-15 and give it to nina",
            &[r#""id":"TASK-3""#, r#""dueDate":"2026-12-15""#, r#""assignee":["nina"]"#],
        ),
    ];
    check(tracker(), turns).await;
}

#[tokio::test]
async fn a_question_finds_the_reading_tool_that_means_the_same() {
    let told = answers("how full are we on 2026-12-04?", &["get_occupancy", "75"]);
    check(staff(), vec![told]).await;
    let turns = vec![
        answers("how many vacation days does Marta have left?", &["E101", "9.5"]),
        answers("and Lucy?", &["E106", "3"]).not(&["9.5"]),
    ];
    check(staff(), turns).await;
    check(staff(), vec![answers("who is away on 2026-12-08?", &["Marta Kowalska"])]).await;
    // Nothing that changes something, and nothing about other things.
    check(staff(), vec![asks("shut everything on 2026-12-04", &[])]).await;
    for say in [
        "what did we earn last year?",
        "what's the weather like?",
        "who is the mayor of Lisbon?",
        "can you recommend a restaurant nearby?",
        "how tall is the tower on 2026-12-04?",
    ] {
        check(staff(), vec![asks(say, &[]).not(&["75", "9.5"])]).await;
    }
}

#[tokio::test]
async fn a_correction_of_what_was_refused_is_about_it() {
    let turns = vec![
        answers("list the open tickets", &["4101"]),
        refused("set the priority of ticket 4107 to high", &[r#""priority":"high""#]),
        waits("no, I meant urgent", &[r#""ticket_id":4107"#, r#""priority":"urgent""#]),
    ];
    check(desk(), turns).await;
    let turns = vec![
        refused("create a ticket called Door squeaks with priority low", &["create_ticket"]),
        waits("sorry, normal", &["create_ticket", "Door squeaks", r#""priority":"normal""#]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn a_correction_beside_an_open_question_is_no_answer_to_it() {
    let turns = vec![
        asks("open a ticket with priority low", &["subject"]),
        asks("sorry, I meant with urgent priority", &["subject"]),
        waits("Door squeaks", &["Door squeaks", r#""priority":"urgent""#]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn values_are_found_beside_the_names_of_their_fields() {
    let turns = vec![
        answers("list the pending tickets", &["4107"]),
        answers("how many are open with urgent priority?", &["2 tickets"]),
    ];
    check(desk(), turns).await;
    let turns = vec![
        answers("what's assigned to Aylin?", &["4105", "4107"]).not(&["4101"]),
        waits("close the second one", &[r#""ticket_id":4107"#, r#""status":"closed""#]),
    ];
    check(desk(), turns).await;
    let turns = vec![
        asks("which of those are urgent?", &["those"]).not(&["4102"]),
        answers("show me my ticket list", &["4101", "4107"]),
    ];
    check(desk(), turns).await;
}

#[tokio::test]
async fn a_thing_is_found_by_the_words_of_its_row() {
    let has = [r#""ticket_id":4107"#, r#""status":"solved""#];
    check(desk(), vec![waits("set the ticket about the Badge reader to solved", &has)]).await;
    let turns = vec![
        waits("set ticket 4105 to high and give it to Timo", &[r#""assignee":"Timo""#, "high"]),
        answers("show number 4105", &["Wifi dead"]),
    ];
    check(desk(), turns).await;
}
