//! Schemas of hostile and of honest servers.

use serde_json::{Map, Value, json};

use super::*;

/// `$defs` `d0` … `d{length}`, each made from the name of the next.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for at in 0..length {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        definitions.insert(format!("d{at}"), link(next));
    }
    definitions.insert(format!("d{length}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

fn refused(schema: &Value) -> String {
    assert!(schema.to_string().len() < BYTES_MAX);
    let reason = refusal(schema).unwrap_or_else(|| panic!("not refused: {schema}"));
    assert_eq!(validate_here(schema, &json!({})), Err(reason.clone()), "it is not compiled either");
    reason
}

#[test]
fn references_that_fan_out_are_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = chain(40, |next| json!({ keyword: [next, next] }));
        assert!(refused(&schema).contains("subschemas"), "{keyword}");
    }
    let links: [fn(Value) -> Value; 4] = [
        |next| json!({ "if": next, "then": next, "else": next }),
        |next| json!({ "properties": { "a": next, "b": next } }),
        |next| json!({ "not": next, "additionalProperties": next, "dependentSchemas": { "a": next } }),
        |next| json!({ "allOf": [next], "unevaluatedProperties": false }),
    ];
    for link in links {
        assert!(refused(&chain(40, link)).contains("subschemas"));
    }
    // A longer chain is also deeper.
    assert!(refused(&chain(60, |next| json!({ "allOf": [next, next] }))).contains("its schema"));
    let deep = (0..300).fold(json!({}), |inner, _| json!({ "not": inner }));
    assert!(refused(&deep).contains("deeper"));
}

#[test]
fn references_that_cannot_be_counted_are_refused() {
    for (schema, part) in [
        (json!({ "$ref": "#" }), "without end"),
        (json!({ "allOf": [{ "$ref": "#/allOf/0" }] }), "without end"),
        (json!({ "$ref": "http://localhost:1/schema.json" }), "not inside it"),
        (json!({ "$ref": "#/nowhere" }), "not inside it"),
        (json!({ "$ref": "#name", "$defs": { "a": { "$anchor": "name" } } }), "#name"),
        (json!({ "$dynamicRef": "#a" }), "$dynamicRef"),
        (json!({ "$defs": { "a": { "$id": "urn:a", "$ref": "#" } } }), "$id"),
        (
            json!({ "$schema": "http://json-schema.org/draft-04/schema#",
                "definitions": { "a": { "id": "urn:a" } } }),
            "id",
        ),
    ] {
        let reason = refused(&schema);
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn patterns_that_grow_are_refused() {
    let many: Map<String, Value> =
        (0..200).map(|at| (format!("p{at}"), json!({ "pattern": "^a" }))).collect();
    for (schema, part) in [
        (json!({ "pattern": "((a{99}){99}){99}" }), "larger"),
        (json!({ "patternProperties": { "(x{1000}){1000}": true } }), "larger"),
        (json!({ "$defs": { "unused": { "pattern": "a{999999}" } } }), "larger"),
        (json!({ "pattern": "(".repeat(100) }), "larger"),
        (json!({ "pattern": "a".repeat(3_000) }), "longer"),
        (json!({ "properties": many }), "patterns"),
    ] {
        let reason = refused(&schema);
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn patterns_that_backtrack_end() {
    let schema = json!({ "properties": { "a": { "pattern": r"^(?=(a+)+$)(a|a)*\1b$" } } });
    let reason = validate_here(&schema, &json!({ "a": "a".repeat(5_000) })).expect_err("no match");
    assert!(reason.starts_with("/a:"), "{reason}");
}

#[test]
fn recursion_that_fans_out_is_refused_on_the_value_that_makes_it_expensive() {
    let child = json!({ "properties": { "x": { "$ref": "#/$defs/node" } } });
    let schema =
        json!({ "$ref": "#/$defs/node", "$defs": { "node": { "allOf": [child, child] } } });
    assert_eq!(refusal(&schema), None);
    let nested = |depth| (0..depth).fold(json!({}), |inner, _| json!({ "x": inner }));
    assert_eq!(validate_here(&schema, &nested(5)), Ok(()));
    let reason = validate_here(&schema, &nested(60)).expect_err("2^60 steps");
    assert!(reason.contains("100000 steps"), "{reason}");
}

#[test]
fn honest_schemas_are_let_through() {
    let tree = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:tree",
        "type": "object", "required": ["name"],
        "properties": {
            "name": { "type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" },
            "limit": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] },
            "children": { "type": "array", "items": { "$ref": "#" } },
            "any of": { "$ref": "#/$defs/a%20b" },
        },
        "$defs": { "a b": { "enum": [1, 2] } },
        "additionalProperties": false,
    });
    let nested = |depth| {
        (0..depth).fold(
            json!({ "name": "leaf" }),
            |inner, _| json!({ "name": "n", "children": [inner, { "name": "x" }] }),
        )
    };
    assert_eq!(validate_here(&tree, &nested(20)), Ok(()));
    let reason = validate_here(&tree, &json!({ "name": "N", "limit": 0, "x": 1, "any of": 3 }));
    let reason = reason.expect_err("four things are wrong");
    assert_eq!(reason.split("; ").count(), REASONS_MAX, "{reason}");
    let wide: Map<String, Value> =
        (0..500).map(|at| (format!("p{at}"), json!({ "type": "string" }))).collect();
    let wide = json!({ "properties": wide });
    assert_eq!(validate_here(&wide, &json!({ "p1": "a" })), Ok(()));
}

#[test]
fn a_schema_is_compiled_once() {
    let schema = json!({ "type": "object", "title": "a_schema_is_compiled_once" });
    let first = compiled(&schema).map_err(|_| ()).expect("valid");
    assert!(Arc::ptr_eq(&first, &compiled(&schema).map_err(|_| ()).expect("valid")));
}

#[test]
fn a_missing_argument_is_named_with_its_values_and_without_an_empty_path() {
    let schema = json!({
        "type": "object", "required": ["action", "id"],
        "properties": { "action": { "enum": ["list", "clear"] }, "id": { "type": "string" } },
    });
    let reason = |arguments: Value| validate_here(&schema, &arguments).expect_err("invalid");
    assert_eq!(
        reason(json!({})),
        r#""action" is a required property: one of "list", "clear"; "id" is a required property"#
    );
    assert_eq!(reason(json!({ "action": "list", "id": 5 })), r#"/id: 5 is not of type "string""#);
}
