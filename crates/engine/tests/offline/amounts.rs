//! Conversions: two parameters that take the same values are filled by their roles, or asked about.

use serde_json::{Value, json};

use crate::bench::{Answer, Server, answers, asks, check, reading};

/// Lengths, masses and times of the day.
fn amounts() -> Vec<Server> {
    let units = |values: &[&str]| {
        json!({"value": {"type": "number", "description": "Value to convert"},
            "from_unit": {"type": "string", "enum": values}, "to_unit": {"type": "string", "enum": values}})
    };
    let convert = |name: &str, values: &[&str]| {
        reading(
            name,
            "Convert between units.",
            units(values),
            json!(["value", "from_unit", "to_unit"]),
        )
    };
    let zones = json!({"source_timezone": {"type": "string", "description": "IANA timezone"},
        "time": {"type": "string", "description": "24-hour format (HH:MM)"},
        "target_timezone": {"type": "string", "description": "IANA timezone"}});
    let batch = json!({"requests": {"type": "array", "items": {"type": "object", "additionalProperties": true}}});
    let lengths =
        ["centimeter", "foot", "inch", "kilometer", "meter", "mile", "nautical mile", "yard"];
    let tools = vec![
        convert("convert_length", &lengths),
        convert("convert_mass", &["gram", "kilogram", "ounce", "pound", "short ton (US)"]),
        convert("convert_temperature", &["celsius", "fahrenheit", "kelvin"]),
        reading("convert_batch", "Convert several values.", batch, json!(["requests"])),
        reading(
            "convert_time",
            "Convert time between timezones",
            zones,
            json!(["source_timezone", "time", "target_timezone"]),
        ),
    ];
    vec![Server { name: "measure", reads_only: true, reads: Vec::new(), tools, answer }]
}

fn answer(_: &str, arguments: &Value) -> Answer {
    Ok(json!({"converted": 1.5, "of": arguments}))
}

#[tokio::test]
async fn a_number_beside_a_unit_is_what_is_converted() {
    for (say, from, to, value) in [
        ("how many feet are 12 yards?", "yard", "foot", "12.0"),
        ("how many grams is 4 ounces", "ounce", "gram", "4.0"),
        ("12 yards is how many feet?", "yard", "foot", "12.0"),
        ("what is 3.5 kilometers in yards", "kilometer", "yard", "3.5"),
        ("7 km in miles", "kilometer", "mile", "7.0"),
        ("convert 2.25 lbs to kg", "pound", "kilogram", "2.25"),
        ("how many centimetres in an inch", "inch", "centimeter", "1.0"),
        (
            "how many kilometres are there in two nautical miles?",
            "nautical mile",
            "kilometer",
            "2.0",
        ),
        ("Wie viele Meter sind 2,5 Kilometer?", "kilometer", "meter", "2.5"),
        ("Wie viel sind 12 Pfund in Kilogramm?", "pound", "kilogram", "12.0"),
        ("how much is 1,500 grams in pounds", "gram", "pound", "1500.0"),
    ] {
        let (from, to) = (format!(r#""from_unit":"{from}""#), format!(r#""to_unit":"{to}""#));
        let value = format!(r#""value":{value}"#);
        let has: Vec<&'static str> = [from, to, value].map(|text| &*text.leak()).to_vec();
        check(amounts(), vec![answers(say, &has)]).await;
    }
}

#[tokio::test]
async fn what_goes_on_with_a_conversion_keeps_its_roles() {
    let to_km = [r#""from_unit":"mile""#, r#""to_unit":"kilometer""#];
    let to_miles = [r#""from_unit":"kilometer""#, r#""to_unit":"mile""#, r#""value":4.0"#];
    let turns = vec![
        answers("convert 9 miles to kilometers", &to_km),
        answers("and how many miles are 4 kilometers?", &to_miles),
    ];
    check(amounts(), turns).await;
    let turns = vec![
        answers("Wie viele Kilometer sind 9 Meilen?", &to_km),
        answers("und 4,5?", &[to_km[0], to_km[1], r#""value":4.5"#]),
    ];
    check(amounts(), turns).await;
    let turns = vec![
        answers("convert 9 miles to kilometers", &to_km),
        asks("and 4 kilometers?", &[]).not(&["converted"]),
    ];
    check(amounts(), turns).await;
}

#[tokio::test]
async fn roles_that_are_not_certain_are_asked_for() {
    for say in ["miles kilometers 5", "convert 5 miles 3 yards", "convert 5 miles to blorps"] {
        check(amounts(), vec![asks(say, &[]).not(&["converted", "schema"])]).await;
    }
    check(amounts(), vec![asks("convert 4 tons to grams", &[]).not(&["converted"])]).await;
}

#[tokio::test]
async fn the_zone_beside_a_time_is_where_it_is_that_late() {
    let has = [r#""source_timezone":"Europe/Lisbon""#, r#""target_timezone":"Asia/Tokyo""#];
    for say in [
        "what time is it in Tokyo when it is 9:15 in Lisbon?",
        "if it's 9:15 in Lisbon what time is it in Tokyo?",
    ] {
        check(amounts(), vec![answers(say, &has)]).await;
    }
}
