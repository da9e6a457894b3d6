//! The dashboard and the alert rules of `deploy/`: well formed, and about metrics that exist.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use throughline::telemetry::metrics::{ALL, Kind};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name);
    std::fs::read_to_string(path).expect("the file")
}

/// Every series that Prometheus makes of a metric.
fn series() -> BTreeSet<String> {
    let suffixes = |kind| match kind {
        Kind::Histogram => &["_bucket", "_sum", "_count"][..],
        Kind::Counter | Kind::Gauge => &[""],
    };
    let named = |(kind, name, _): (Kind, &str, &str)| {
        suffixes(kind).iter().map(|suffix| format!("{name}{suffix}")).collect::<Vec<_>>()
    };
    ALL.into_iter().flat_map(named).collect()
}

/// Names of ours in an expression.
fn named(expression: &str) -> impl Iterator<Item = &str> {
    expression
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("throughline_"))
}

fn check(expression: &str) {
    let series = series();
    let mut any = false;
    for name in named(expression) {
        assert!(series.contains(name), "{name} does not exist: {expression}");
        any = true;
    }
    assert!(any, "it is about nothing of ours: {expression}");
    let count = |c| expression.matches(c).count();
    assert_eq!((count('('), count('{'), count('[')), (count(')'), count('}'), count(']')));
    // Counters are rates, or they say nothing; averages of quantiles of copies mean nothing.
    for (kind, name, _) in ALL {
        if kind == Kind::Counter && expression.contains(name) {
            assert!(expression.contains(&format!("rate({name}")), "{expression}");
        }
    }
}

#[test]
fn every_panel_of_the_dashboard_asks_for_a_metric_that_exists() {
    let board: Value = serde_json::from_str(&read("grafana-dashboard.json")).expect("JSON");
    let panels = board["panels"].as_array().expect("panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "panels have ids of their own");
    let mut shown = BTreeSet::new();
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets")) {
        let expression = target["expr"].as_str().expect("an expression");
        check(expression);
        shown.extend(named(expression).map(str::to_owned));
    }
    for (_, name, _) in ALL {
        let is_shown = shown.iter().any(|shown| shown.starts_with(name));
        assert!(is_shown, "{name} is on no panel");
    }
}

#[test]
fn every_alert_is_complete_and_about_a_metric_that_exists() {
    let rules: Value = serde_yaml_ng::from_str(&read("prometheus-rules.yaml")).expect("YAML");
    let mut names = BTreeSet::new();
    for rule in rules["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .flat_map(|group| group["rules"].as_array().expect("rules"))
    {
        check(rule["expr"].as_str().expect("an expression"));
        assert!(names.insert(rule["alert"].as_str().expect("a name")), "{rule}");
        assert!(rule["for"].as_str().is_some_and(|time| time.ends_with(['s', 'm', 'h'])), "{rule}");
        assert!(rule["labels"]["severity"].is_string(), "{rule}");
        for text in ["summary", "description"] {
            assert!(rule["annotations"][text].is_string(), "{rule}");
        }
    }
}
