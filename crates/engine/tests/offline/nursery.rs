//! A plant nursery with beds in several towns: values that a list takes by name, answers that hold more than the value
//! that was asked for, and changes that need a thing of which several are called alike.

use serde_json::{Map, Value, json};

use crate::bench::{Answer, Server, answers, asks, check, reading, waits, writing};

fn nursery() -> Vec<Server> {
    let text = || json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let string = || json!({"type": "string"});
    let one_of =
        |values: &[&str]| json!({"anyOf": [{"type": "string", "enum": values}, {"type": "null"}]});
    let buyer = json!({"type": "object", "required": ["name", "email"], "properties": {
        "name": string(), "email": string(), "phone": text(),
        "address": {"type": "object", "properties": {"street": string(), "town": string()}}}});
    let tools = vec![
        reading(
            "list_beds",
            "List the beds, optionally of one town.",
            json!({"town": text()}),
            json!([]),
        ),
        reading(
            "list_plants",
            "List plants. All filters are optional.",
            json!({"town": text(), "bed_id": text(), "light": one_of(&["sun", "shade"]),
                "state": one_of(&["healthy", "thirsty", "sick"])}),
            json!([]),
        ),
        reading(
            "get_plant",
            "Get one plant by its id.",
            json!({"plant_id": string()}),
            json!(["plant_id"]),
        ),
        reading(
            "get_hive",
            "Get one hive by its id.",
            json!({"hive_id": string()}),
            json!(["hive_id"]),
        ),
        reading("list_buyers", "List buyers.", json!({"name": text()}), json!([])),
        reading(
            "list_orders",
            "List orders, optionally of one buyer or of one plant.",
            json!({"buyer": text(), "plant_id": text(), "open_only": {"type": "boolean", "default": false}}),
            json!([]),
        ),
        writing("add_buyer", "Register a new buyer.", json!({"buyer": buyer}), json!(["buyer"])),
        writing(
            "report_pest",
            "Report a pest on a plant.",
            json!({"plant_id": string(),
                "severity": {"type": "string", "enum": ["light", "medium", "heavy"]},
                "organs": {"type": "array", "items": {"type": "string", "enum": ["leaf", "stem", "root"]}},
                "remark": text()}),
            json!(["plant_id", "severity", "organs"]),
        ),
        writing(
            "move_plant",
            "Move a plant to another bed.",
            json!({"plant_id": string(), "bed_id": string()}),
            json!(["plant_id", "bed_id"]),
        ),
    ];
    vec![Server { name: "nursery", reads_only: false, reads: Vec::new(), tools, answer }]
}

fn beds() -> Vec<Value> {
    let bed = |id: &str, name: &str, town: &str| json!({"id": id, "name": name, "town": town});
    vec![
        bed("N1", "Riverside", "Bremen"),
        bed("N2", "Hilltop", "Bremen"),
        bed("N3", "Riverside", "Trento"),
        bed("N4", "Orchard", "Trento"),
        bed("N5", "Quay", "Malmo"),
    ]
}

fn plants() -> Vec<Value> {
    let plant = |id: &str, light: &str, bed: usize, state: &str| {
        let bed = &beds()[bed - 1];
        json!({"id": id, "light": light, "bed_id": bed["id"], "state": state, "bed": bed["name"], "town": bed["town"]})
    };
    vec![
        plant("P-21", "sun", 1, "healthy"),
        plant("P-22", "shade", 1, "thirsty"),
        plant("P-23", "shade", 2, "sick"),
        plant("P-24", "sun", 3, "healthy"),
        plant("P-25", "shade", 4, "healthy"),
    ]
}

fn answer(tool: &str, arguments: &Value) -> Answer {
    let orders = [
        json!({"id": "O-1", "plant_id": "P-22", "buyer": "Ilka Sommer", "sent": null}),
        json!({"id": "O-2", "plant_id": "P-24", "buyer": "Ilka Sommer", "sent": "2026-05-02"}),
        json!({"id": "O-3", "plant_id": "P-25", "buyer": "Rui Prado", "sent": null}),
    ];
    let buyers = [
        json!({"id": "U-1", "name": "Ilka Sommer", "email": "ilka@sommer.example"}),
        json!({"id": "U-2", "name": "Rui Prado", "email": "rui@prado.example"}),
    ];
    let given: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let fits = |row: &&Value| {
        given.iter().filter(|(key, value)| !value.is_null() && *key != "open_only").all(
            |(key, value)| {
                row[key].as_str().map(str::to_lowercase) == value.as_str().map(str::to_lowercase)
            },
        )
    };
    let open = |row: &&Value| given.get("open_only") != Some(&json!(true)) || row["sent"].is_null();
    match tool {
        "list_beds" => Ok(beds().iter().filter(fits).cloned().collect()),
        "list_plants" => Ok(plants().iter().filter(fits).cloned().collect()),
        "list_buyers" => Ok(buyers.iter().filter(fits).cloned().collect()),
        "list_orders" => Ok(orders.iter().filter(fits).filter(open).cloned().collect()),
        "get_plant" => {
            let id = arguments["plant_id"].as_str().unwrap_or_default();
            let plant = plants().into_iter().find(|row| row["id"] == id);
            plant.ok_or(format!("Error executing tool get_plant: no plant {id}"))
        }
        "get_hive" => {
            Err(format!("Error executing tool get_hive: no hive {}", arguments["hive_id"]))
        }
        _ => Ok(json!({"done": true})),
    }
}

#[tokio::test]
async fn a_place_goes_to_the_parameter_that_the_rows_have_it_in() {
    for say in [
        "which plants are in Trento?",
        "which plants do you have in Trento?",
        "list plants in Trento",
    ] {
        let told =
            answers(say, &[r#"list_plants {"town":"Trento"}"#, "P-24", "P-25"]).not(&["P-21"]);
        check(nursery(), vec![told]).await;
    }
    let turns = vec![
        answers("list shade plants in Bremen", &["P-22", "P-23"]).not(&["P-21", "P-25"]),
        answers("and in Trento?", &["P-25", "shade"]).not(&["P-22", "P-24"]),
    ];
    check(nursery(), turns).await;
    check(nursery(), vec![answers("welche Pflanzen sind in Trento?", &["P-24"]).not(&["P-21"])])
        .await;
    // It is known as a town from the beds; there are no plants in it.
    check(nursery(), vec![answers("which plants are in Malmo?", &["No plants", "Malmo"])]).await;
    // The bed comes first where it is one.
    check(nursery(), vec![answers("plants in Orchard", &["P-25"]).not(&["P-24"])]).await;
}

#[tokio::test]
async fn what_is_not_known_as_a_place_is_asked_about() {
    check(
        nursery(),
        vec![asks("which plants are in Atlantis?", &["bed or town", "Atlantis"]).not(&["failed"])],
    )
    .await;
    let turns = vec![
        asks("which plants are in Tretno?", &["Trento"]),
        answers("yes", &["P-24", "P-25"]).not(&["P-21"]),
    ];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn an_unknown_id_is_told_in_words() {
    check(nursery(), vec![asks("show me P-99", &["P-99"]).not(&["get_plant", "Error"])]).await;
    check(nursery(), vec![asks("show hive H-7", &["H-7"]).not(&["get_hive", "Error"])]).await;
}

#[tokio::test]
async fn a_name_goes_where_the_rows_have_names() {
    let turns = vec![
        answers("which buyers are there?", &["Ilka Sommer"]),
        answers("which orders does Ilka Sommer have?", &["O-1", "O-2"]).not(&["O-3", "No orders"]),
        answers("only the open ones", &["O-1", r#""open_only":true"#]).not(&["O-2", "O-3"]),
    ];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn a_list_that_was_not_shown_is_not_narrowed() {
    let turns = vec![
        asks("which plants are in Atlantis?", &["Atlantis"]),
        asks("only the shade ones", &["before"]).not(&["P-22"]),
    ];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn an_answer_with_more_than_the_value_is_split() {
    let begin = || vec![asks("add a new buyer", &["name"]), asks("Jon Falk", &["email"])];
    let mut turns = begin();
    turns.push(waits(
        "it is jon@falk.example",
        &[r#""email":"jon@falk.example""#, r#""name":"Jon Falk""#],
    ));
    check(nursery(), turns).await;
    let mut turns = begin();
    let has = [r#""email":"jon@falk.example""#, r#""phone":"0471 223344""#];
    turns.push(waits("jon@falk.example and his phone is 0471 223344", &has));
    check(nursery(), turns).await;
    let mut turns = begin();
    turns.push(asks(
        "jon@falk.example, he lives in Trento near the station",
        &["he lives in Trento near the station"],
    ));
    turns.push(waits("yes", &[r#""email":"jon@falk.example"}"#]));
    check(nursery(), turns).await;
    let mut turns = begin();
    turns.push(asks("jon@falk.example, he lives in Trento near the station", &["lives"]));
    turns.push(asks(
        "no wait, his email is jon.falk@post.example",
        &["jon.falk@post.example", "lives"],
    ));
    turns.push(waits("yes", &[r#""email":"jon.falk@post.example"}"#]));
    check(nursery(), turns).await;
    let mut turns = begin();
    turns.push(asks("jon@falk.example, he lives in Trento near the station", &["lives"]));
    turns.push(answers("no", &[]));
    check(nursery(), turns).await;
    let turns = vec![
        asks("add a new buyer", &["name"]),
        waits(
            "Jon Falk, email jon@falk.example",
            &[r#""email":"jon@falk.example""#, r#""name":"Jon Falk""#],
        ),
    ];
    check(nursery(), turns).await;
    let turns = vec![asks("add a new buyer", &["name"]), asks("Falk, Meier and Sons", &["email"])];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn what_is_told_after_a_colon_is_read_for_values_and_kept_as_a_remark() {
    let turns = vec![
        asks(
            "report a pest on P-24: yellow leaf and bent stem",
            &["severity", "light, medium, heavy"],
        ),
        waits(
            "heavy",
            &[r#""plant_id":"P-24""#, r#""severity":"heavy""#, r#"["leaf","stem"]"#, "yellow leaf"],
        ),
    ];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn a_change_that_waits_for_a_choice_is_gone_on_with() {
    let has = [r#""plant_id":"P-22""#, r#""bed_id":"N3""#];
    let turns = vec![
        asks("move P-22 to Riverside", &["Bremen", "Trento"]),
        waits("the one in Trento", &has),
    ];
    check(nursery(), turns).await;
    let turns = vec![asks("move P-22 to Riverside", &["2."]), waits("the second one", &has)];
    check(nursery(), turns).await;
    let turns =
        vec![asks("move P-22 to Riverside", &["2."]), waits("I meant the one in Trento", &has)];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn it_is_what_the_last_message_named_and_a_field_may_be_misspelt() {
    let turns = vec![
        answers("what's the sttae of P-22?", &["thirsty"]),
        waits("move it to Hilltop", &[r#""plant_id":"P-22""#, r#""bed_id":"N2""#]),
    ];
    check(nursery(), turns).await;
    let turns = vec![
        asks("what's the shoe size of P-22?", &[]),
        waits("move it to Hilltop", &[r#""plant_id":"P-22""#, r#""bed_id":"N2""#]),
    ];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn who_has_those_does_not_ask_for_them_again() {
    let turns = vec![
        answers("which plants are thirsty?", &["P-22"]),
        asks("who has them?", &[]).not(&["state thirsty"]),
    ];
    check(nursery(), turns).await;
}

#[tokio::test]
async fn a_change_is_not_completed_by_what_is_so_already() {
    check(nursery(), vec![asks("move P-22", &["bed"])]).await;
}

#[tokio::test]
async fn a_value_in_german_is_the_one_that_the_tool_lists() {
    let told =
        answers("welche Pflanzen sind krank?", &[r#""state":"sick""#, "P-23"]).not(&["P-21"]);
    check(nursery(), vec![told]).await;
    // Every parameter with values is offered, not only the first one.
    let says = ["light (sun, shade)", "state (healthy, thirsty, sick)"];
    check(nursery(), vec![asks("welche Pflanzen sind knorrig?", &says)]).await;
}
