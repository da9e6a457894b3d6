//! Access tokens of a configured issuer: who they let in, and every way in which one does not.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use throughline::config::Environment;
use throughline_engine::access::Grants;
use throughline_testkit::scripted_model::{ScriptedModel, Turn};
use tokio::net::TcpListener;

use crate::app::{Answer, Builder, TestApp, send};
use crate::issuer::{Issuer, SigningKey};
use crate::mcp;

const BOTH: &str = "throughline:read throughline:write";

fn trusting(issuer: &str) -> Builder {
    let issuer = issuer.to_owned();
    TestApp::builder().set(|config| {
        config.oauth.issuer = issuer;
        config.oauth.leeway_seconds = 0;
    })
}

fn resource(app: &TestApp) -> String {
    format!("http://{}/mcp", app.address)
}

/// A token that the issuer's own key signed, with one change.
fn token(issuer: &Issuer, app: &TestApp, change: impl FnOnce(&mut Value)) -> String {
    let mut claims = issuer.claims("ann", BOTH, &resource(app));
    change(&mut claims);
    issuer.key.sign(&claims)
}

async fn create(app: &TestApp, token: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {token}");
    app.post_with("/conversations", body, &[("authorization", &bearer)]).await
}

async fn listed(app: &TestApp, token: &str) -> Value {
    let request = app.request(Method::GET, "/api/v1/conversations").bearer_auth(token);
    send(request).await.expect(200)["conversations"].clone()
}

fn challenge(answer: &Answer) -> &str {
    answer.headers["www-authenticate"].to_str().unwrap()
}

#[tokio::test]
async fn a_token_lets_its_user_in_beside_keys() {
    let issuer = Issuer::start().await;
    let app = trusting(&issuer.address).start().await;
    let ann = token(&issuer, &app, |_| {});
    create(&app, &ann, json!({"id": "of-ann"})).await.expect(201);
    let call = || mcp::call(&app, json!(1), "tools/list", None, json!({}));
    assert!(send(call().bearer_auth(&ann)).await.expect(200)["result"]["tools"].is_array());

    let bob = token(&issuer, &app, |claims| claims["sub"] = json!("bob@example.com"));
    assert_eq!(listed(&app, &bob).await, json!([]));
    let key = app.key("local", "ann", Grants::Write).await;
    assert_eq!(listed(&app, &key).await[0]["id"], "of-ann", "a key of the same user");
    let foreign = app.key("acme", "ann", Grants::Write).await;
    assert_eq!(listed(&app, &foreign).await, json!([]));
    assert_eq!(issuer.fetches(), 1, "the keys are cached");
}

#[tokio::test]
async fn whoever_comes_without_a_credential_is_told_where_to_get_one() {
    let issuer = Issuer::start().await;
    let app = trusting(&issuer.address).start().await;
    let metadata = format!("http://{}/.well-known/oauth-protected-resource/mcp", app.address);
    let expected = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{BOTH}\"");
    let asked = mcp::call(&app, json!(1), "tools/list", None, json!({}));
    for answer in [send(asked).await, app.get("/conversations").await] {
        assert_eq!((answer.status, answer.code().as_str()), (401, "key_needed"));
        assert_eq!(challenge(&answer), expected);
    }
    let wrong = send(app.request(Method::POST, "/v1/messages").bearer_auth("sk-1")).await;
    assert_eq!(wrong.status, 401);
    assert!(challenge(&wrong).starts_with("Bearer error=\"invalid_token\", resource_metadata="));

    let root = "/.well-known/oauth-protected-resource";
    for path in [root.to_owned(), format!("{root}/mcp")] {
        let said = send(app.request(Method::GET, &path)).await.expect(200);
        assert_eq!(said["resource"], resource(&app));
        assert_eq!(said["authorization_servers"], json!([issuer.address]));
        assert_eq!(said["scopes_supported"], json!(["throughline:read", "throughline:write"]));
        assert_eq!(said["bearer_methods_supported"], json!(["header"]));
    }
    let other = send(app.request(Method::GET, &format!("{root}/other"))).await;
    assert_eq!((other.status, other.code().as_str()), (404, "no_route"));

    let without = TestApp::start().await;
    let answer = send(without.request(Method::GET, root)).await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "no_oauth"));
    without.key("acme", "ann", Grants::Read).await;
    assert_eq!(challenge(&without.get("/conversations").await), "Bearer");
}

#[tokio::test]
async fn a_token_that_is_not_valid_here_lets_nobody_in() {
    let issuer = Issuer::start().await;
    let app = trusting(&issuer.address).start().await;
    let valid = token(&issuer, &app, |_| {});
    create(&app, &valid, json!({})).await.expect(201);

    let claims = issuer.claims("ann", BOTH, &resource(&app));
    let stranger = SigningKey::new("one");
    let elsewhere = Issuer::start().await;
    let payload = valid.split('.').nth(1).unwrap();
    let public = issuer.key.public()["x"].as_str().unwrap().to_owned();
    let hmac = Header { kid: Some("one".into()), ..Header::new(Algorithm::HS256) };
    let hmac = encode(&hmac, &claims, &EncodingKey::from_secret(public.as_bytes())).unwrap();
    let with = |name: &str, value: Value| token(&issuer, &app, |claims| claims[name] = value);
    let now = claims["iat"].as_u64().unwrap();
    let of_bob = token(&issuer, &app, |claims| claims["sub"] = json!("bob"));
    let changed = valid.replacen(payload, of_bob.split('.').nth(1).unwrap(), 1);
    let refused = [
        ("wrong audience", with("aud", json!("https://other.example/mcp")), "is not for http"),
        ("several wrong audiences", with("aud", json!(["a", "b"])), "is not for http"),
        ("no audience", with("aud", Value::Null), "no claim aud"),
        ("wrong issuer", with("iss", json!(elsewhere.address)), "is not from the issuer"),
        ("a list of issuers", with("iss", json!([issuer.address])), "is not from the issuer"),
        (
            "issuer with a slash more",
            with("iss", json!(format!("{}/", issuer.address))),
            "is not from the issuer",
        ),
        ("expired", with("exp", json!(now - 60)), "has expired"),
        ("no expiry", with("exp", Value::Null), "no claim exp"),
        ("not yet valid", with("nbf", json!(now + 3000)), "not valid yet"),
        (
            "alg none",
            format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}."),
            "not a readable signed token",
        ),
        ("HMAC with the public key", hmac, "not signed with RS256, ES256 or EdDSA"),
        ("another issuer's key", stranger.sign(&claims), "signature is wrong"),
        (
            "another algorithm's key",
            format!("eyJhbGciOiJSUzI1NiIsImtpZCI6Im9uZSJ9.{payload}.c2ln"),
            "unknown to the issuer",
        ),
        ("an unknown key", SigningKey::new("two").sign(&claims), "unknown to the issuer"),
        ("changed claims", changed, "signature is wrong"),
        ("no user", with("sub", Value::Null), "its claim sub names no one"),
        ("no text", "a.b.c".to_owned(), "not a readable signed token"),
        ("too long", format!("{valid}{}", "x".repeat(17_000)), "too long"),
    ];
    for (what, token, reason) in refused {
        let answer = create(&app, &token, json!({})).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "token_invalid"), "{what}");
        assert!(answer.text.contains(reason), "{what}: {}", answer.text);
        assert!(!answer.text.contains(&token), "{what}: a token is not repeated");
        assert!(challenge(&answer).contains("error=\"invalid_token\""), "{what}");
    }
    create(&app, &valid, json!({})).await.expect(201);
}

#[tokio::test]
async fn scopes_allow_what_they_say_and_the_answer_names_the_one_that_is_missing() {
    let issuer = Issuer::start().await;
    let app = trusting(&issuer.address)
        .set(|config| config.oauth.admin_scope = "throughline:admin".into())
        .demo()
        .start()
        .await;
    let with = |scope: Value| token(&issuer, &app, |claims| claims["scope"] = scope);
    let none = create(&app, &with(json!("openid")), json!({})).await;
    assert_eq!((none.status, none.code().as_str()), (403, "insufficient_scope"));
    assert!(challenge(&none).contains(&format!("scope=\"{BOTH}\"")), "{}", challenge(&none));

    let read = with(json!(["openid", "throughline:read"]));
    assert_eq!(listed(&app, &read).await, json!([]));
    let refused = create(&app, &read, json!({})).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"));
    let expected = "Bearer error=\"insufficient_scope\", resource_metadata=";
    assert!(challenge(&refused).starts_with(expected), "{}", challenge(&refused));
    assert!(challenge(&refused).ends_with("scope=\"throughline:write\""));
    let remember = mcp::tool(&app, json!(1), "remember", json!({"text": "My rack is R42"}));
    let refused = send(remember.bearer_auth(&read)).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(challenge(&refused).ends_with("scope=\"throughline:write\""));

    let path = "/api/v1/tools/inventory/list_sites/approve";
    let approve = |token: String| send(app.request(Method::POST, path).bearer_auth(token));
    let refused = approve(with(json!(BOTH))).await;
    assert!(challenge(&refused).ends_with("scope=\"throughline:admin\""), "{}", refused.text);
    let entra = token(&issuer, &app, |claims| {
        claims["scope"] = Value::Null;
        claims["scp"] = json!("throughline:admin");
    });
    assert_eq!(approve(entra).await.status, 200);
}

#[tokio::test]
async fn the_tenant_is_the_claims_and_never_the_installations_own() {
    let issuer = Issuer::start().await;
    let app = trusting(&issuer.address)
        .set(|config| config.oauth.tenant_claim = "org".into())
        .start()
        .await;
    let of = |org: Value, user: &str| {
        token(&issuer, &app, |claims| {
            claims["org"] = org;
            claims["sub"] = json!(user);
        })
    };
    create(&app, &of(json!("acme"), "ann"), json!({"id": "a"})).await.expect(201);
    assert_eq!(listed(&app, &of(json!("acme"), "ann")).await[0]["id"], "a");
    assert_eq!(listed(&app, &of(json!("other"), "ann")).await, json!([]), "another tenant's user");
    for (org, user) in
        [(json!("_system"), "_system"), (json!("local"), "local"), (Value::Null, "ann")]
    {
        let answer = create(&app, &of(org.clone(), user), json!({})).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "token_invalid"), "{org} {user}");
    }
    let named = app.request(Method::GET, "/api/v1/conversations").header("x-user-id", "bob");
    let named = send(named.bearer_auth(of(json!("acme"), "ann"))).await;
    assert_eq!(named.status, 403, "naming another user takes an administrator");
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_fetched_and_not_too_often() {
    let issuer = Issuer::start().await;
    let next = SigningKey::new("next");
    let app =
        trusting(&issuer.address).set(|config| config.oauth.keys_pause_seconds = 0).start().await;
    create(&app, &token(&issuer, &app, |_| {}), json!({})).await.expect(201);
    issuer.publish(&next);
    let rotated = next.sign(&issuer.claims("ann", BOTH, &resource(&app)));
    create(&app, &rotated, json!({})).await.expect(201);
    assert_eq!(issuer.fetches(), 2);

    let patient = trusting(&issuer.address).start().await;
    let unknown = SigningKey::new("unknown");
    let unknown = unknown.sign(&issuer.claims("ann", BOTH, &resource(&patient)));
    for _ in 0..20 {
        assert_eq!(create(&patient, &unknown, json!({})).await.status, 401);
    }
    assert_eq!(issuer.fetches(), 3, "one fetch, then a pause");
}

#[tokio::test]
async fn an_issuer_that_is_away_is_said_to_be_and_keys_still_work() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let away = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_address = format!("http://{}", silent.local_addr().unwrap());
    for (address, reason) in
        [(away, "cannot be fetched"), (silent_address, "no answer within 1 seconds")]
    {
        let app =
            trusting(&address).set(|config| config.oauth.issuer_seconds_max = 1).start().await;
        let key = SigningKey::new("one");
        let claims = json!({"iss": address, "aud": resource(&app), "sub": "ann", "scope": BOTH, "exp": 4_000_000_000_u64});
        let answer = create(&app, &key.sign(&claims), json!({})).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "issuer_unreachable"));
        assert!(answer.text.contains(reason), "{}", answer.text);
        let key = app.key("acme", "ann", Grants::Write).await;
        create(&app, &key, json!({})).await.expect(201);
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_believed() {
    let issuer = Issuer::start().await;
    // The same server under another name.
    let alias = issuer.address.replace("127.0.0.1", "localhost");
    let app = trusting(&alias).start().await;
    let claims = json!({"iss": alias, "aud": resource(&app), "sub": "ann", "scope": BOTH, "exp": 4_000_000_000_u64});
    let answer = create(&app, &issuer.key.sign(&claims), json!({})).await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "issuer_unreachable"));
    assert!(answer.text.contains("is the metadata of"), "{}", answer.text);
}

#[tokio::test]
async fn a_token_lets_a_model_client_in_and_goes_no_further() {
    let issuer = Issuer::start().await;
    let model = ScriptedModel::playing([Turn::text("Hi."), Turn::text("Hi.")]).await;
    let url = model.openai_url();
    let app = trusting(&issuer.address)
        .set(|config| config.environment = Environment::of([("OPENAI_BASE_URL", url.as_str())]))
        .start()
        .await;
    let token = token(&issuer, &app, |_| {});
    let body = json!({"model": "any", "messages": [{"role": "user", "content": "Hello."}]});
    let ask = || app.request(Method::POST, "/v1/chat/completions").json(&body);
    let sent = |at: usize| {
        let headers = model.requests()[at].headers.clone();
        headers.get("authorization").map(|value| value.to_str().unwrap().to_owned())
    };
    // The scripted provider asks for a key, and none is configured: the token was not passed on.
    let answer = send(ask().bearer_auth(&token)).await;
    assert_eq!((answer.status, sent(0)), (401, None), "{}", answer.text);
    let own = ask().bearer_auth(&token).header("x-api-key", "sk-of-the-client");
    assert_eq!(send(own).await.status, 200, "the client's other credential is the provider's");
    assert_eq!(sent(1).as_deref(), Some("Bearer sk-of-the-client"));
    assert_eq!(send(ask().bearer_auth("sk-of-the-client")).await.status, 401);
    assert_eq!(model.requests().len(), 2);
}
