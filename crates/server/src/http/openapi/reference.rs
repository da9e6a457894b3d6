//! The rendered reference at `/api/docs`: one page without scripts or external resources.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// Style sheet of the page.
pub(super) const STYLE: &str = include_str!("reference.css");

/// Renders the document as HTML.
pub(super) fn page(document: &Value) -> String {
    let mut by_tag: BTreeMap<&str, Vec<(String, &Value)>> = BTreeMap::new();
    for (path, item) in entries(&document["paths"]) {
        for (method, operation) in entries(item) {
            let tag = operation["tags"][0].as_str().unwrap_or("server");
            by_tag.entry(tag).or_default().push((heading(method, path, operation), operation));
        }
    }
    let mut body = format!(
        "<h1>{} {}</h1><p>{}</p><p><a href=\"/api/openapi.json\">OpenAPI document</a></p>",
        text(&document["info"]["title"]),
        text(&document["info"]["version"]),
        text(&document["info"]["description"]),
    );
    for (tag, operations) in by_tag {
        let _ = write!(body, "<h2>{}</h2>", escaped(tag));
        for (heading, operation) in operations {
            let _ = write!(
                body,
                "<details><summary>{heading}</summary>{}</details>",
                described(operation)
            );
        }
    }
    body.push_str("<h2>schemas</h2>");
    for (name, schema) in entries(&document["components"]["schemas"]) {
        let (name, fields) = (escaped(name), fields(schema));
        let about = text(&schema["description"]);
        let _ = write!(
            body,
            "<details id=\"{name}\"><summary><code>{name}</code> {about}</summary>{fields}</details>"
        );
    }
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Throughline API</title>\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"icon\" href=\"/icon.svg\">\
         <link rel=\"stylesheet\" href=\"/api/docs/reference.css\"></head><body>{body}</body></html>"
    )
}

fn heading(method: &str, path: &str, operation: &Value) -> String {
    let (method, path) = (method.to_uppercase(), escaped(path));
    format!("<b>{method}</b> <code>{path}</code> {}", text(&operation["summary"]))
}

fn described(operation: &Value) -> String {
    let mut html = format!("<p>{}</p>", text(&operation["description"]));
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        html.push_str("<table><tr><th>parameter</th><th>in</th><th>what</th></tr>");
        for parameter in parameters {
            let _ = write!(
                html,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                text(&parameter["name"]),
                text(&parameter["in"]),
                text(&parameter["description"])
            );
        }
        html.push_str("</table>");
    }
    if operation["requestBody"].is_object() {
        let _ = write!(html, "<h4>Request</h4>{}", content(&operation["requestBody"]));
    }
    for (status, response) in entries(&operation["responses"]) {
        let about = text(&response["description"]);
        let _ = write!(html, "<h4>{} {about}</h4>{}", escaped(status), content(response));
    }
    html
}

fn content(body: &Value) -> String {
    let mut html = String::new();
    for (media, content) in entries(&body["content"]) {
        let _ = write!(html, "<p><code>{}</code> {}</p>", escaped(media), kind(&content["schema"]));
        if let Some(example) = content.get("example") {
            let shown = serde_json::to_string_pretty(example).unwrap_or_default();
            let _ = write!(html, "<pre>{}</pre>", escaped(&shown));
        }
    }
    html
}

fn fields(schema: &Value) -> String {
    let parts =
        schema["allOf"].as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(schema));
    let mut html = String::from("<table>");
    for part in parts {
        if part["$ref"].is_string() {
            let _ = write!(html, "<tr><td colspan=3>all of {}</td></tr>", kind(part));
        }
        for (name, field) in entries(&part["properties"]) {
            let _ = write!(
                html,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                escaped(name),
                kind(field),
                text(&field["description"])
            );
        }
    }
    html.push_str("</table>");
    html
}

/// What a schema is, in a word; schemas with a name are links.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        let name = escaped(name);
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    let choices = ["oneOf", "anyOf", "allOf"].iter().find_map(|word| schema[word].as_array());
    if let Some(choices) = choices {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if schema["items"].is_object() {
        return format!("list of {}", kind(&schema["items"]));
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .map(|value| escaped(&value.to_string()))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match &schema["type"] {
        Value::String(kind) => escaped(kind),
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        _ => "any".into(),
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// A text of the document, with the words between backticks as code.
fn text(value: &Value) -> String {
    let parts = value.as_str().unwrap_or_default().split('`').enumerate();
    let html = parts.map(|(at, part)| match at % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    });
    html.collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
