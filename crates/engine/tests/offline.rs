//! What people ask without a model, played against servers that filter what they hold: an answer covers everything that
//! was asked, or it is a question.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

#[path = "offline/amounts.rs"]
mod amounts;
#[path = "offline/bench.rs"]
mod bench;
#[path = "offline/board.rs"]
mod board;
#[path = "offline/clinic.rs"]
mod clinic;
#[path = "offline/deals.rs"]
mod deals;
#[path = "offline/folder.rs"]
mod folder;
#[path = "offline/hotel.rs"]
mod hotel;
#[path = "offline/inventory.rs"]
mod inventory;
#[path = "offline/leaning.rs"]
mod leaning;
#[path = "offline/nursery.rs"]
mod nursery;
#[path = "offline/papers.rs"]
mod papers;
#[path = "offline/records.rs"]
mod records;
#[path = "offline/shelf.rs"]
mod shelf;
#[path = "offline/support.rs"]
mod support;
#[path = "offline/unseen.rs"]
mod unseen;
#[path = "offline/workshop.rs"]
mod workshop;

use bench::{answers, asks, check, waits};
use board::{board, branches, notes};
use deals::deals;
use inventory::inventory;
use papers::papers;
use shelf::shelf;

#[tokio::test]
async fn a_narrower_word_keeps_what_the_list_was_narrowed_by() {
    let turns = vec![
        answers("list devices in Porto", &["4 devices", "por-core-01"]),
        answers("only the servers", &["por-srv-01", "por-srv-02"]).not(&["lis-", "por-fw"]),
        answers("sorry i meant the firewalls", &["por-fw-01"]).not(&["lis-", "por-srv"]),
    ];
    check(inventory(), turns).await;
    let turns = vec![
        answers("how many devices are in Tallinn?", &["4 devices"]),
        answers("sorry, the racks", &["2 racks"]).not(&["TLL-R1", "A01"]),
    ];
    check(inventory(), turns).await;
}

#[tokio::test]
async fn they_are_who_was_spoken_of_or_are_asked_for() {
    let turns = vec![
        answers("who provides circuit TEL-1002?", &["Telia"]),
        answers("which other circuits do they have?", &["TEL-1001"]).not(&["NTT-77"]),
    ];
    check(inventory(), turns).await;
    let turns = vec![
        answers("which circuits does Telia have?", &["TEL-1001", "TEL-1002"]).not(&["NTT"]),
        asks("which devices do they have?", &["they"]).not(&["lis-core-01"]),
    ];
    check(inventory(), turns).await;
    let turns = vec![
        answers("show site Lisbon", &["Iberia"]),
        answers("which other sites are in its region?", &["Porto"]).not(&["Tallinn", "Lisbon ("]),
    ];
    check(inventory(), turns).await;
    let turns = vec![
        answers("list the sites in Iberia", &["Lisbon", "Porto"]),
        answers("which racks do they have?", &["3 racks"]).not(&["TLL-R1", "HN-1"]),
    ];
    check(inventory(), turns).await;
}

#[tokio::test]
async fn a_reference_to_nothing_is_asked_about_and_narrows_no_list() {
    for say in ["which devices are in that rack?", "how many prefixes does this site have?"] {
        check(inventory(), vec![asks(say, &["refer"]).not(&["lis-core-01"])]).await;
    }
    let turns = vec![
        answers("which sites are there?", &["Lisbon", "Porto"]),
        asks("which devices are in that rack?", &["that rack"]).not(&["lis-core-01"]),
    ];
    check(inventory(), turns).await;
    // What is asked for is no reference.
    check(inventory(), vec![answers("list the devices in Porto", &["4 devices"])]).await;
}

#[tokio::test]
async fn what_only_the_user_could_have_told_is_no_filter_of_a_list() {
    let turns = vec![
        answers("list devices in Porto", &["4 devices"]),
        asks("What is my name?", &["nothing about it in what you told me"]).not(&["filter"]),
        asks("where do I live?", &["nothing about it in what you told me"]),
        asks("which devices are in that rack?", &["that rack"]),
        asks("What is my name?", &["nothing about it in what you told me"]),
        answers("My name is Sam and I live in Faro", &["Noted"]),
    ];
    check(inventory(), turns).await;
}

#[tokio::test]
async fn a_choice_answers_the_question_that_was_asked() {
    let turns = vec![
        asks("whats in halifax", &["Halifax North", "Halifax South"]),
        answers("the south one", &["hfs-srv-01", "hfs-srv-02"]).not(&["hfn-"]),
    ];
    check(inventory(), turns).await;
}

#[tokio::test]
async fn neither_a_bare_number_nor_a_part_of_a_word_is_a_name() {
    check(inventory(), vec![asks("devices in porto with 2 power supplies", &["2"])]).await;
    check(inventory(), vec![asks("devices in porto with power supplies", &["power"])]).await;
    check(inventory(), vec![asks("devices in rack 1", &["A01", "HN-1"])]).await;
}

#[tokio::test]
async fn what_is_excepted_is_left_out() {
    for say in [
        "devices in porto but not the servers",
        "devices in porto except the servers",
        "devices in porto other than servers",
    ] {
        let told = answers(say, &["por-core-01", "por-fw-01"]).not(&["por-srv", "lis-"]);
        check(inventory(), vec![told]).await;
    }
    let told =
        answers("servers in porto except por-srv-01", &["por-srv-02"]).not(&["por-srv-01 ("]);
    check(inventory(), vec![told]).await;
    check(inventory(), vec![asks("list devices in Lisbon without a tenant", &["tenant"])]).await;
}

#[tokio::test]
async fn two_kinds_are_two_requests() {
    let told = answers("lisbon racks and porto prefixes", &["2 racks", "10.2.0.0/16"])
        .not(&["10.1.0.0/16", "3 racks"]);
    check(inventory(), vec![told]).await;
    let told = answers("list the racks and prefixes in Porto", &["1 rack", "10.2.0.0/16"])
        .not(&["10.1.0.0/16"]);
    check(inventory(), vec![told]).await;
}

#[tokio::test]
async fn the_latest_are_an_order_and_no_name() {
    let told = answers("show the latest changes", &["2 changes", "por-fw-01"]);
    check(inventory(), vec![told]).await;
    let told = answers("show the last 1 changes", &["por-fw-01"]).not(&["hfs-srv-01"]);
    check(inventory(), vec![told]).await;
    check(inventory(), vec![asks("show the latest devices", &["latest"])]).await;
}

#[tokio::test]
async fn each_one_is_counted_by_itself() {
    let told = answers("how many racks does each site have", &["Lisbon: 2", "Halifax South: 0"])
        .not(&["6 racks"]);
    check(inventory(), vec![told]).await;
    check(inventory(), vec![answers("count the devices per site", &["Halifax South: 2"])]).await;
}

#[tokio::test]
async fn a_name_with_an_ending_is_a_file() {
    check(papers(), vec![answers("read ideas.txt", &["tidal clock", "read_text_file"])]).await;
    check(papers(), vec![answers("read notes/ideas.txt", &["tidal clock"])]).await;
    check(papers(), vec![answers("how big is budget.csv?", &["43"])]).await;
    check(papers(), vec![asks("read nothing.txt", &["nothing.txt"]).not(&["nodes"])]).await;
}

#[tokio::test]
async fn an_empty_search_that_nobody_asked_for_is_no_answer() {
    check(papers(), vec![asks("read the soup recipe", &[])]).await;
    check(papers(), vec![answers("search the graph for Petrel", &["No"])]).await;
}

#[tokio::test]
async fn a_folder_is_one_that_is_called_so() {
    let turns = vec![
        answers("what files are in the notes folder?", &["ideas.txt", "plan.md"]),
        answers("read ideas.txt", &[r#"{"path":"notes/ideas.txt"}"#, "tidal clock"]),
        waits("create a folder called archive", &[r#"create_directory {"path":"archive"}"#]),
        waits("move ideas.txt into it", &[r#""notes/ideas.txt""#, r#""archive/ideas.txt""#]),
    ];
    check(papers(), turns).await;
    check(papers(), vec![answers("list directory notes", &["plan.md"])]).await;
    check(papers(), vec![answers("list the files in notes", &["plan.md"])]).await;
    let moves = [r#""source":"notes/ideas.txt""#, r#""destination":"recipes/ideas.txt""#];
    check(papers(), vec![waits("move notes/ideas.txt to recipes/ideas.txt", &moves)]).await;
}

#[tokio::test]
async fn a_new_question_is_no_answer_to_an_open_one() {
    let turns =
        vec![asks("show me the log", &["path"]), answers("how big is budget.csv?", &["43"])];
    check(papers(), turns).await;
}

#[tokio::test]
async fn values_do_not_come_from_rows_of_another_kind() {
    let turns = vec![
        answers("select name from boats where id = 2", &["Gannet"]),
        answers("show the last 3 commits of /data/repo", &["Fix lights", r#""max_count":3"#]),
    ];
    check(papers(), turns).await;
}

#[tokio::test]
async fn what_is_shown_of_a_table_is_not_called_tables() {
    let told =
        answers("describe the table trips", &["table trips", "passengers"]).not(&["2 tables"]);
    check(papers(), vec![told]).await;
}

#[tokio::test]
async fn a_new_thing_is_made_by_the_tool_that_makes_such() {
    let say = "add an entity Petrel of type boat with the observation 'red hull' to the graph";
    let has =
        ["create_entities", r#""name":"Petrel""#, r#""entityType":"boat""#, r#"["red hull"]"#];
    check(papers(), vec![waits(say, &has)]).await;
}

#[tokio::test]
async fn a_field_is_set_by_its_name() {
    let say = "set the amount of Crew app to 25k";
    let has = ["update_deal", r#""deal_id":106"#, r#""amount":25000"#];
    check(deals(), vec![waits(say, &has)]).await;
    check(deals(), vec![asks("delete Marta", &["Marta Okoye", "Marta Lindqvist"])]).await;
}

#[tokio::test]
async fn a_server_that_reads_is_not_asked_about_because_of_a_noun() {
    check(deals(), vec![answers("list the activities", &["No activities"])]).await;
    check(papers(), vec![answers("what is staged in /data/repo?", &["crane"])]).await;
}

#[tokio::test]
async fn a_misspelt_word_is_mended_or_asked_about() {
    check(inventory(), vec![answers("how many devcies are in porto", &["4 devices"])]).await;
    let turns = vec![
        asks("list devices in lisbno", &["Did you mean Lisbon"]),
        answers("yes", &["lis-core-01"]).not(&["por-"]),
    ];
    check(inventory(), turns).await;
    check(inventory(), vec![asks("prefixes in atlantis", &["atlantis"])]).await;
}

#[tokio::test]
async fn a_number_of_what_was_shown_is_told() {
    let turns = vec![
        answers("list devices in Porto", &["4 devices"]),
        answers("how many is that in total", &["4 devices"]).not(&["por-core-01"]),
        answers("only the servers", &["por-srv-01"]).not(&["por-fw", "lis-"]),
    ];
    check(inventory(), turns).await;
    let turns = vec![
        answers("how many devices are in lisbon", &["4 devices"]),
        answers("and porto", &["4 devices", "Porto"]).not(&["Lisbon", "por-core-01"]),
        asks("rack a01", &["Lisbon", "Porto"]),
        answers("the one in porto", &["A01 (id 3)"]),
    ];
    check(inventory(), turns).await;
    let turns = vec![
        answers("list tables", &["boats"]),
        asks("how many boats are there?", &[]).not(&["1 table", "{"]),
    ];
    check(papers(), turns).await;
}

#[tokio::test]
async fn an_act_that_no_tool_does_is_not_done() {
    let turns = vec![
        answers("show device lis-srv-01", &["lis-srv-01"]),
        asks("decomission it", &["nothing was done"]),
    ];
    check(inventory(), turns).await;
}

#[tokio::test]
async fn a_part_of_a_value_narrows_a_list() {
    let told = answers("list contacts at Fjordline", &["Marta Okoye", "Ulla"]).not(&["Dev"]);
    check(deals(), vec![told]).await;
    let told = answers("list deals of Kiln", &["Dashboards"]).not(&["Crew app"]);
    check(deals(), vec![told]).await;
}

#[tokio::test]
async fn words_that_only_say_where_a_tool_looks_narrow_nothing() {
    let told = answers("which tables are in the database?", &["boats", "trips"]);
    check(papers(), vec![told]).await;
    let turns = vec![
        answers("git log of /data/repo", &["Fix lights"]),
        answers("and the branches?", &["dock-lights"]),
    ];
    check(papers(), turns).await;
}

#[tokio::test]
async fn a_choice_completes_the_call_that_waits_for_it() {
    let turns = vec![
        asks("delete Marta", &["Marta Okoye", "Marta Lindqvist"]),
        waits("Marta Lindqvist", &[r#"delete_contact {"contact_id":8}"#]),
    ];
    check(deals(), turns).await;
}

#[tokio::test]
async fn a_list_is_narrowed_by_more_or_less() {
    let turns = vec![
        answers("which deals are worth more than 20000?", &["Ferry Wi-Fi", "Crew app"])
            .not(&["Dashboards"]),
        answers("and below 10000?", &["Dashboards"]).not(&["Crew app"]),
        answers("list deals with at least 22k", &["Crew app", "Ferry"]).not(&["Dashboards"]),
        answers("list deals over 22000", &["Ferry"]).not(&["Crew app"]),
    ];
    check(deals(), turns).await;
    check(inventory(), vec![asks("which devices have more than 3 fans", &["more than 3"])]).await;
}

#[tokio::test]
async fn a_person_is_the_one_who_was_spoken_of() {
    let turns = vec![
        answers("list the deals", &["Crew app"]),
        asks("who is Marta?", &["Marta Okoye", "Marta Lindqvist"]),
        answers("the one at Fjordline", &["Marta Okoye"]).not(&["Lindqvist", "owner"]),
        waits(
            "log a call with her: she wants a demo in May",
            &[r#""contact_id":1"#, r#""kind":"call""#, "she wants a demo in May"],
        ),
    ];
    check(deals(), turns).await;
    let has = ["tag_contacts", "[3,4]", r#"["newsletter"]"#];
    check(deals(), vec![waits("tag Ulla Berg and Dev Anand as newsletter", &has)]).await;
}

#[tokio::test]
async fn a_small_word_that_a_list_can_be_filtered_by_is_no_filler() {
    let told = answers("which books are available?", &["Salt Road", "Glass"]).not(&["Tide"]);
    check(shelf(), vec![told]).await;
    for say in
        ["which books are not available?", "books that aren't available", "unavailable books"]
    {
        check(shelf(), vec![answers(say, &["Tide Tables"]).not(&["Salt Road"])]).await;
    }
    let told = answers("which members are not active?", &["Ilse"]).not(&["Tomas"]);
    check(shelf(), vec![told]).await;
}

#[tokio::test]
async fn a_text_that_begins_as_an_error_is_a_failure_and_not_none() {
    check(board(), vec![asks("select colour from boats", &["colour"]).not(&["No results"])]).await;
    check(notes(), vec![asks("read the note Work/Budget.md", &["ENOENT"])]).await;
}

#[tokio::test]
async fn a_word_that_descriptions_give_as_a_value_narrows_the_list() {
    let told = || ["Boathouse roof", "Order varnish"];
    check(board(), vec![answers("what's in the backlog?", &told()).not(&["gutter"])]).await;
    check(board(), vec![answers("items in the backlog", &told()).not(&["gutter"])]).await;
    let told = || answers("list items of type todo", &["varnish"]).not(&["roof", "gutter"]);
    check(board(), vec![told()]).await;
    let told = answers("which items are in progress?", &["gutter"]).not(&["roof"]);
    check(board(), vec![told]).await;
}

#[tokio::test]
async fn a_value_goes_where_such_things_are_asked_for() {
    let has = ["reserve_books", r#""card":"C-9""#, r#""book_ids":["B-101","B-103"]"#];
    check(shelf(), vec![waits("reserve B-101 and B-103 for C-9", &has)]).await;
    let has = ["lend_book", r#""card":"C-9""#, r#""book_id":"B-101""#];
    check(shelf(), vec![waits("lend The Salt Road to Ilse Brandt", &has)]).await;
    check(shelf(), vec![waits("lend B-101 to C-9", &has)]).await;
}

#[tokio::test]
async fn who_has_a_thing_is_not_the_thing_itself() {
    let turns = vec![
        answers("show book B-102", &["Tide Tables"]),
        answers("who has it now?", &["Tomas Reed"]).not(&["available"]),
    ];
    check(shelf(), turns).await;
    let turns = vec![
        answers("show book B-101", &["The Salt Road"]),
        asks("who has it now?", &["Salt Road"]).not(&["Tomas"]),
    ];
    check(shelf(), turns).await;
}

#[tokio::test]
async fn what_is_forbidden_beside_a_request_does_not_hinder_it() {
    let turns = vec![
        answers("don't delete anything, just list the books by Mira Oduya", &["Salt Road"]),
        answers("list the books by Mira Oduya but do not change them", &["Salt Road"]),
    ];
    check(shelf(), turns).await;
}

#[tokio::test]
async fn what_a_description_says_can_be_done_can_be_done() {
    check(shelf(), vec![asks("register a new member", &["name"]).not(&["no tool"])]).await;
    let turns = vec![
        asks("create an issue", &["title"]).not(&["no tool"]),
        waits("Broken winch", &["new_item", r#""item_type":"issue""#, "Broken winch"]),
    ];
    check(board(), turns).await;
}

#[tokio::test]
async fn a_noun_chooses_no_tool_that_changes_something() {
    let told = answers("commits by Piet Haak", &["Add tides"]);
    check(branches(), vec![told]).await;
}

#[tokio::test]
async fn files_that_a_search_printed_can_be_referred_to() {
    let turns = vec![
        answers("search notes for lentil", &["Lentil Soup.md"]),
        answers("read it", &["red lentils"]),
        answers("search notes for standup", &["11-02", "11-09"]),
        answers("open the second", &["gangway"]).not(&["winch"]),
        answers("read both standups", &["winch", "gangway"]),
        answers("is there anything on Lentil", &["Lentil Soup.md"]),
    ];
    check(notes(), turns).await;
    check(notes(), vec![answers("read /Food/Lentil Soup.md", &["red lentils"])]).await;
    let say = "read Food/Lentil Soup.md and Work/Standup 11-02.md";
    check(notes(), vec![answers(say, &["red lentils", "winch"])]).await;
}

#[tokio::test]
async fn a_mode_that_is_a_verb_is_what_a_tool_does() {
    check(branches(), vec![waits("list the branches", &[r#""mode":"list""#])]).await;
    let has = ["git_branch", r#""mode":"create""#, r#""branchName":"spring-tides""#];
    check(branches(), vec![waits("create a branch called spring-tides", &has).not(&["all"])]).await;
    check(branches(), vec![asks("delete it", &["it"])]).await;
    let has = [r#""mode":"delete""#, r#""branchName":"spring-tides""#];
    check(branches(), vec![waits("delete the branch spring-tides", &has)]).await;
}
