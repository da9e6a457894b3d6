//! Single queries with the call that each should make; the share that is right is printed and has a floor.

use crate::bench::{Came, bench, shown};

/// The floor: shares below it fail, so that a change cannot make it worse unseen.
const TOOL_SHARE_MIN: f64 = 0.85;
const ARGUMENT_SHARE_MIN: f64 = 0.80;

/// A query, and `tool {arguments}` that it should come to; no tool where there is none to call.
const QUERIES: [(&str, &str); 40] = [
    ("list all sites", "list_sites {}"),
    ("show me the sites", "list_sites {}"),
    ("which sites are planned?", r#"list_sites {"status":"planned"}"#),
    ("show site Amsterdam", r#"get_site {"site":"Amsterdam"}"#),
    ("get site ams1", r#"get_site {"site":"ams1"}"#),
    ("list racks in site Amsterdam", r#"list_racks {"site":"Amsterdam"}"#),
    ("list the racks", "list_racks {}"),
    ("list devices", "list_devices {}"),
    ("show all devices at site New York", r#"list_devices {"site":"New York"}"#),
    ("find devices in rack ams1-r01", r#"list_devices {"rack":"ams1-r01"}"#),
    ("list devices with status failed", r#"list_devices {"status":"failed"}"#),
    ("which devices are offline?", r#"list_devices {"status":"offline"}"#),
    ("show device ams1-core-01", r#"get_device {"device":"ams1-core-01"}"#),
    ("get device nyc1-fw-01", r#"get_device {"device":"nyc1-fw-01"}"#),
    ("details of the device fra1-srv-02", r#"get_device {"device":"fra1-srv-02"}"#),
    ("list interfaces of device ams1-sw-01", r#"list_interfaces {"device":"ams1-sw-01"}"#),
    ("show the interfaces of fra1-core-01", r#"list_interfaces {"device":"fra1-core-01"}"#),
    ("list ip addresses", "list_ip_addresses {}"),
    ("list IP addresses of device ams1-core-01", r#"list_ip_addresses {"device":"ams1-core-01"}"#),
    ("which ip addresses are at site Frankfurt?", r#"list_ip_addresses {"site":"Frankfurt"}"#),
    ("list VLANs", "list_vlans {}"),
    ("show vlans of site New York", r#"list_vlans {"site":"New York"}"#),
    ("list projects", "list_projects {}"),
    ("list projects that are not risk compliant", r#"list_projects {"risk_compliant":false}"#),
    ("show me the risk compliant projects", r#"list_projects {"risk_compliant":true}"#),
    ("get project 124", r#"get_project {"project_id":124}"#),
    ("show the survey of project 123", r#"get_survey {"project_id":123}"#),
    (
        "Add Rust answers to project 124 survey",
        r#"add_survey_answers {"project_id":124,"answers":["Rust"]}"#,
    ),
    (
        "create a report titled \"Quarterly risks\" of kind devices",
        r#"create_report {"title":"Quarterly risks","kind":"devices"}"#,
    ),
    ("list workflows", "list_workflows {}"),
    ("which workflows exist?", "list_workflows {}"),
    ("create a workflow called \"Data review\"", r#"create_workflow {"name":"Data review"}"#),
    (
        "set the status of device nyc1-srv-01 to offline",
        r#"update_device {"device":"nyc1-srv-01","status":"offline"}"#,
    ),
    (
        "move device ams1-srv-01 to rack ams1-r02",
        r#"update_device {"device":"ams1-srv-01","rack":"ams1-r02"}"#,
    ),
    ("delete device nyc1-con-01", r#"delete_device {"device":"nyc1-con-01"}"#),
    ("show the interfaces", ""),
    ("get the project", ""),
    ("what is the meaning of life?", ""),
    ("tell me a joke", ""),
    ("thank you!", ""),
];

#[tokio::test]
async fn single_queries_call_the_right_tool_with_the_right_arguments() {
    let bench = bench().await;
    let (mut right_tool, mut right_call, mut wrong) = (0, 0, Vec::new());
    for (number, (query, expected)) in QUERIES.iter().enumerate() {
        let called = match bench.say(&format!("q{number}"), query).await {
            Came::Turn(turn) => turn
                .calls
                .last()
                .map(|call| shown(&call.tool.name, &call.arguments))
                .unwrap_or_default(),
            Came::Waits(pending) => {
                let awaited = &pending.awaited[0];
                shown(&awaited.tool.name, &awaited.arguments)
            }
        };
        let tool = |call: &str| call.split(' ').next().unwrap_or_default().to_owned();
        right_tool += usize::from(tool(&called) == tool(expected));
        right_call += usize::from(called == *expected);
        if called != *expected {
            wrong.push(format!("{query:?}: {called:?} instead of {expected:?}"));
        }
    }
    bench.end().await;
    #[expect(clippy::cast_precision_loss, reason = "a handful of queries")]
    let share = |right: usize| right as f64 / QUERIES.len() as f64;
    println!("right tool: {:.1} %", share(right_tool) * 100.0);
    println!("right call: {:.1} %", share(right_call) * 100.0);
    println!("{wrong:#?}");
    assert!(share(right_tool) >= TOOL_SHARE_MIN, "{wrong:#?}");
    assert!(share(right_call) >= ARGUMENT_SHARE_MIN, "{wrong:#?}");
}
