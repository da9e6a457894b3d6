//! Authorization with a real authorization server, oidc-provider, and the official Python SDK as the client.
//!
//! `scripts/setup/authorization-server.sh` and `scripts/setup/mcp-peers.sh` install them and name them in the environment.

use std::process::Stdio;

use reqwest::Method;
use serde_json::json;
use throughline_engine::access::Grants;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::app::{TestApp, send};

const ISSUER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oauth/issuer.mjs");
const WALK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oauth/walk.py");

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        assert!(std::env::var_os("THROUGHLINE_TEST_REQUIRE").is_none(), "{name} is not set");
        println!("skipped: a real authorization server ({name} is not set)");
    }
    value
}

/// The authorization server, which ends with the test, and its address.
async fn issuer() -> Option<(Child, String)> {
    let (node, folder) =
        (variable("THROUGHLINE_TEST_NODE")?, variable("THROUGHLINE_TEST_ISSUER_DIR")?);
    let mut server = Command::new(node)
        .args([ISSUER, &folder])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = lines.next_line().await.unwrap().expect("it says where it listens");
    // What it says later is read away, so that it never waits for a reader.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some((server, address))
}

async fn trusting(address: &str) -> TestApp {
    let set = |config: &mut throughline::config::Config| {
        config.oauth.issuer = address.to_owned();
        config.oauth.tenant_claim = "tenant".into();
    };
    TestApp::builder().set(set).start().await
}

#[tokio::test]
async fn the_official_client_finds_its_way_from_the_first_refusal_to_a_call() {
    let Some((_issuer, address)) = issuer().await else { return };
    let Some(python) = variable("THROUGHLINE_TEST_PYTHON") else { return };
    let app = trusting(&address).await;
    let url = format!("http://{}/mcp", app.address);
    let output = Command::new(python).args([WALK, &url]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    // What the client wrote belongs to the tenant and user of its claims.
    let key = app.key("acme", "ann", Grants::Read).await;
    let kept = app.request(Method::GET, "/api/v1/memories").header("x-api-key", key);
    assert!(send(kept).await.text.contains("R42"));
}

#[tokio::test]
async fn tokens_of_every_algorithm_are_taken_and_only_for_this_resource() {
    let Some((_issuer, address)) = issuer().await else { return };
    let app = trusting(&address).await;
    let resource = format!("http://{}/mcp", app.address);
    let token = async |algorithm: &str, resource: &str| {
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", &format!("machine-{algorithm}")),
            ("client_secret", "secret-of-the-machine"),
            ("scope", "throughline:write"),
            ("resource", resource),
        ];
        let form = form.map(|(name, value)| {
            format!("{name}={}", value.replace(':', "%3A").replace('/', "%2F"))
        });
        let request = app.client.post(format!("{address}/token")).body(form.join("&"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = send(request).await.expect(200);
        answer["access_token"].as_str().unwrap().to_owned()
    };
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let bearer = format!("Bearer {}", token(algorithm, &resource).await);
        app.post_with("/conversations", json!({}), &[("authorization", &bearer)]).await.expect(201);
        let bearer = format!("Bearer {}", token(algorithm, "https://other.example/mcp").await);
        let refused =
            app.post_with("/conversations", json!({}), &[("authorization", &bearer)]).await;
        assert_eq!((refused.status, refused.code().as_str()), (401, "token_invalid"));
        assert!(refused.text.contains("is not for"), "{}", refused.text);
    }
}
