//! Nobody reads or changes what is not theirs: every route with every kind of credential, and many tenants who each look
//! at everything.
//!
//! Every text of a tenant holds its own canary. An answer to anybody else that holds it is a leak.

use reqwest::Method;
use serde_json::{Value, json};
use throughline_engine::access::Grants;
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::s3_server::S3Server;
use throughline_testkit::seeded::Seeded;
use throughline_testkit::trust;

use crate::app::{Answer, TestApp, send};
use crate::routes::{Names, Route};

/// Tenants of a usual run.
const TENANTS: u64 = 10;

pub(crate) async fn call(
    app: &TestApp,
    key: &str,
    method: Method,
    path: &str,
    body: Value,
) -> Answer {
    let request = app.request(method, &format!("/api/v1{path}")).header("x-api-key", key);
    send(if body.is_null() { request } else { request.json(&body) }).await
}

/// A canary: unique, and with a first word that all share, so that a search without its scope finds them all. The second
/// begins with letters of its own: an index writes only what a word has not in common with the one before it.
fn canary(number: u64) -> String {
    let letters = Seeded::new(number).next_u64().to_be_bytes();
    let letters: String = letters[..4].iter().map(|byte| char::from(b'a' + byte % 26)).collect();
    format!("canary {letters}bird{number}x")
}

/// Puts the canary into every kind of text that a user can leave, and answers what it is called.
pub(crate) async fn fill(app: &TestApp, key: &str, user: &str, number: u64) -> Names {
    let word = canary(number);
    let post = async |path: &str, body: Value| call(app, key, Method::POST, path, body).await;
    let head = json!({"id": "a", "title": word, "tags": [word.replace(' ', "-")]});
    post("/conversations", head).await.expect(201);
    for text in [format!("My name is {word}."), format!("Where is device {word}-sw in rack R12?")] {
        let turn = json!({"message": text, "reply": format!("A reply about {word}."), "metadata": {"note": word},
            "tool_executions": [{"server": "s", "name": "get_rack", "arguments": {"name": word},
                "result": {"name": word, "devices": [word]}}]});
        post("/conversations/a/turns", turn).await.expect(201);
    }
    let prompt = format!("You are a patient tutor who explains {word} step by step with examples.");
    let context = json!({"id": "c", "name": "Tutor", "systemPrompt": prompt, "temperature": 0.5});
    post("/contexts", context).await.expect(201);
    let preset = json!({"id": "p", "name": "Tutor", "description": word, "systemPrompt": prompt,
        "defaultPersonality": "patient"});
    post("/presets", preset).await.expect(201);
    let memory = post("/memories", json!({"text": format!("My bird is {word}")})).await.expect(201);
    let file = json!({"command": "create", "path": "/memories/n.md", "file_text": word});
    post("/memories/tool", file).await.expect(200);
    let share = post("/conversations/a/shares", json!({})).await.expect(201);
    Names::from([
        ("id", "a".to_owned()),
        ("share", share["id"].as_str().unwrap().to_owned()),
        // What opens it is the owner's to give away; nobody else can have it.
        ("token", format!("share_{}", "0".repeat(64))),
        ("made", "made".to_owned()),
        ("contexts", "c".to_owned()),
        ("presets", "p".to_owned()),
        ("memories", memory["id"].as_str().unwrap().to_owned()),
        ("users", user.to_owned()),
        ("conversation_id", "a".to_owned()),
        ("turn", "1".to_owned()),
        ("with", "2".to_owned()),
        ("q", "canary".to_owned()),
        ("type", "device".to_owned()),
        ("server", "s".to_owned()),
        ("tool", "get_rack".to_owned()),
        ("call", "c1".to_owned()),
    ])
}

/// Everything of the owner, as an administrator of their tenant sees it.
async fn state(app: &TestApp, admin: &str) -> String {
    let text = call(app, admin, Method::GET, "/users/ann/export", Value::Null).await.text;
    // The first line tells when it was made.
    let text: String = text.lines().filter(|line| !line.contains("\"kind\":\"user\"")).collect();
    let shares = app.request(Method::GET, "/api/v1/conversations/a/shares");
    let shares = send(shares.header("x-api-key", admin).header("x-user-id", "ann")).await;
    text + &shares.text
}

/// A credential, and what it must not achieve.
struct Credential {
    name: &'static str,
    headers: Vec<(&'static str, String)>,
    may: May,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    /// It is no credential: refused on every route that asks for one.
    Nothing,
    /// It reads what is its user's.
    Read,
    /// It does as it likes with what is its own, which the attacked user's is not.
    Elsewhere,
}

async fn credentials(app: &TestApp) -> Vec<Credential> {
    let key = async |tenant, user, grants| app.key(tenant, user, grants).await;
    let (read, bob) =
        (key("acme", "ann", Grants::Read).await, key("acme", "bob", Grants::Write).await);
    let revoked = key("acme", "ann", Grants::Admin).await;
    app.app.gate().revoke(revoked.split('_').nth(1).unwrap()).await.unwrap();
    let last = if read.ends_with('0') { '1' } else { '0' };
    let altered = format!("{}{last}", &read[..read.len() - 1]);
    let bearer = |key: &str| vec![("authorization", format!("Bearer {key}"))];
    let credential = |name, headers, may| Credential { name, headers, may };
    vec![
        credential("none", Vec::new(), May::Nothing),
        credential("nonsense", bearer("nonsense"), May::Nothing),
        credential("a key with another last digit", bearer(&altered), May::Nothing),
        credential("a revoked key", bearer(&revoked), May::Nothing),
        credential(
            "another scheme",
            vec![("authorization", format!("Basic {read}"))],
            May::Nothing,
        ),
        credential("the key of a reader", bearer(&read), May::Read),
        credential("a key of another user", bearer(&bob), May::Elsewhere),
        credential(
            "the same, naming the user",
            [bearer(&bob), vec![("x-user-id", "ann".into())]].concat(),
            May::Elsewhere,
        ),
        credential(
            "an administrator of another tenant",
            bearer(&key("other", "eve", Grants::Admin).await),
            May::Elsewhere,
        ),
        credential(
            "the same, naming the user",
            [bearer(&key("other", "root", Grants::Admin).await), vec![("x-user-id", "ann".into())]]
                .concat(),
            May::Elsewhere,
        ),
    ]
}

fn is_break(route: &Route, credential: &Credential, answer: &Answer) -> Option<&'static str> {
    let succeeded = answer.status < 300;
    let changes = !matches!(route.method, Method::GET | Method::POST);
    match credential.may {
        May::Nothing if !route.is_open && answer.status != 401 => Some("it was let in"),
        May::Nothing | May::Elsewhere if answer.text.contains("bird7x") => {
            Some("it saw the canary")
        }
        // Other routes may read with a body; whether they change something is seen in the store.
        May::Read if changes && succeeded => Some("it may only read"),
        _ => None,
    }
}

#[tokio::test]
async fn every_route_refuses_every_credential_that_it_is_not_for() {
    let app = TestApp::start().await;
    let owner = app.key("acme", "ann", Grants::Write).await;
    let admin = app.key("acme", "root", Grants::Admin).await;
    let names = fill(&app, &owner, "ann", 7).await;
    let routes = Route::all(&app).await;
    let mut wrong = Vec::new();
    let mut attempts = 0;
    for credential in credentials(&app).await {
        let mut before = state(&app, &admin).await;
        for route in &routes {
            let headers = credential.headers.iter();
            let request = headers.fold(route.request(&app, &names), |request, (name, value)| {
                request.header(*name, value)
            });
            let answer = send(request).await;
            attempts += 1;
            let mut found = is_break(route, &credential, &answer);
            if answer.status < 300 && !route.is_open {
                let after = state(&app, &admin).await;
                if after != before {
                    found = Some("it changed something");
                    before = after;
                }
            }
            if let Some(what) = found {
                let (route, name) = (route.name(), credential.name);
                wrong.push(format!("{route}, {name}: {what}: {} {}", answer.status, answer.text));
            }
        }
    }
    trust::settle("route × credential", "every backend alike", attempts, &wrong);
    // The attack is a real one: the owner sees the canary through the same requests.
    let mut seen = 0;
    for route in routes.iter().filter(|route| route.method == Method::GET) {
        let answer = send(route.request(&app, &names).header("x-api-key", &owner)).await;
        seen += u64::from(answer.text.contains("bird7x"));
    }
    assert!(seen >= 15, "the owner sees the canary in {seen} answers only");
}

/// Tenants who each read everything that the document offers.
async fn nobody_sees_another(on: &str, app: &TestApp) {
    let tenants = trust::times(TENANTS);
    let mut filled = Vec::new();
    for number in 0..tenants {
        let key = app.key(&format!("tenant-{number}"), "ann", Grants::Write).await;
        filled.push((number, fill(app, &key, "ann", number).await, key));
    }
    let routes = Route::all(app).await;
    let reading: Vec<&Route> = routes.iter().filter(|route| route.method == Method::GET).collect();
    let (mut attempts, mut own, mut wrong) = (0, 0, Vec::new());
    for (number, names, key) in &filled {
        let mut answers = Vec::new();
        for route in &reading {
            let answer = send(route.request(app, names).header("x-api-key", key)).await;
            answers.push((route.name(), answer.text));
        }
        let asked = json!({"message": "What is canary?"});
        let prepared = call(app, key, Method::POST, "/conversations/a/prepare", asked).await;
        answers.push(("prepare".into(), prepared.text));
        let asked = json!({"message": "Which bird is canary?", "conversation_id": "talk"});
        let said = call(app, key, Method::POST, "/chat", asked).await;
        answers.push(("chat".into(), said.text));
        for (name, text) in answers {
            attempts += 1;
            let birds = text.split("bird").skip(1).filter_map(|rest| rest.split_once('x'));
            let birds = birds.filter_map(|(digits, _)| digits.parse::<u64>().ok());
            for bird in birds {
                own += u64::from(bird == *number);
                if bird != *number {
                    wrong.push(format!("{name} showed tenant {number} the canary of {bird}"));
                }
            }
        }
    }
    assert!(own > tenants * 15, "tenants hardly see their own canaries: {own}");
    wrong.dedup();
    trust::settle("canaries of tenants", on, attempts, &wrong);
}

pub(crate) async fn on_store(url: &str) -> TestApp {
    TestApp::builder().set(|config| config.store.url = url.into()).start().await
}

#[tokio::test]
async fn no_tenant_sees_anothers_canary_in_local_stores() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["sqlite", "files"] {
        let url = format!("{kind}:{}", folder.path().join(kind).display());
        nobody_sees_another(kind, &on_store(&url).await).await;
    }
}

#[tokio::test]
async fn no_tenant_sees_anothers_canary_in_remote_stores() {
    if let Some(redis) = RedisServer::start().await {
        nobody_sees_another("redis", &on_store(&redis.url()).await).await;
    }
    if let Some(s3) = S3Server::weed().await {
        nobody_sees_another("s3", &on_store(&s3.url("canaries", "c")).await).await;
    }
}
