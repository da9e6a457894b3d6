//! The examples of `deploy/`, as far as they can be held to account without a container engine: they are
//! well formed, every setting in them is one, what they refer to is there, the probes are answered, and
//! the Redis that they start is one that is accepted.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_yaml_ng::{Deserializer, Value};
use throughline_testkit::redis_server::RedisServer;
use throughline_testkit::served::{Launch, Served};

const BINARY: &str = env!("CARGO_BIN_EXE_throughline");

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("deploy").join(name)).expect("the example");
    let read = |document| {
        let mut value: Value = serde::Deserialize::deserialize(document).expect("YAML");
        value.apply_merge().expect("its anchors");
        value
    };
    Deserializer::from_str(&text).map(read).collect()
}

fn compose() -> Value {
    documents("compose.yaml").remove(0)
}

fn object(kind: &str, name: &str) -> Value {
    let named = |object: &Value| object["kind"] == kind && object["metadata"]["name"] == name;
    let found = documents("kubernetes.yaml").into_iter().find(named);
    found.unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value:?} is not a text"))
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_sequence().unwrap_or_else(|| panic!("{value:?} is not a list"));
    all.iter().map(|one| text(one).to_owned()).collect()
}

fn pairs(value: &Value) -> BTreeMap<String, String> {
    let all = value.as_mapping().unwrap_or_else(|| panic!("{value:?} is not a mapping"));
    all.iter().map(|(name, value)| (text(name).to_owned(), filled(text(value)))).collect()
}

/// What compose puts in for `${NAME:-default}` and `${NAME:?message}`.
fn filled(text: &str) -> String {
    let Some((before, rest)) = text.split_once("${") else { return text.to_owned() };
    let (variable, after) = rest.split_once('}').expect("a closed variable");
    let value = match variable.split_once(":-") {
        Some((_, default)) => default,
        None => "given-by-the-user",
    };
    format!("{before}{value}{}", filled(after))
}

/// Every setting is known, has the right type, and is in force when it is given like this.
fn check_settings(settings: &BTreeMap<String, String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(folder.path()).env_clear().envs(settings);
        let output = command.output().expect("the binary runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?} with {settings:?}: {said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    run(&["config", "check"]);
    let shown = run(&["config", "show"]);
    for name in settings.keys() {
        let known = shown.contains(name.as_str()) || named_in_the_source(name);
        assert!(known, "{name} is no setting:\n{shown}");
    }
}

fn named_in_the_source(name: &str) -> bool {
    let quoted = format!("\"{name}\"");
    let files = [
        "crates/store/src/s3/options.rs",
        "crates/server/src/config/environment.rs",
        "crates/server/src/config/models.rs",
    ];
    files.iter().any(|file| {
        std::fs::read_to_string(root().join(file)).expect("a source file").contains(&quoted)
    })
}

/// What the server writes beside its store goes to a volume; `mounts` are `volume:path`.
fn written_is_mounted(settings: &BTreeMap<String, String>, mounts: &str) {
    let folder = settings.get("THROUGHLINE_BACKUPS__FOLDER").expect("erasing needs a folder");
    let paths = mounts.split(',').filter_map(|mount| mount.split(':').nth(1));
    assert!(paths.into_iter().any(|path| folder.starts_with(path)), "{folder} is not in {mounts}");
}

#[test]
fn every_setting_of_the_compose_file_is_one_and_what_it_refers_to_is_there() {
    let file = compose();
    let volumes = file["volumes"].as_mapping().expect("volumes");
    let services = file["services"].as_mapping().expect("services");
    for name in ["one", "two"] {
        let service = &file["services"][name];
        check_settings(&pairs(&service["environment"]));
        for needed in texts(&service["depends_on"]) {
            assert!(services.contains_key(needed.as_str()), "{name} depends on {needed}");
        }
        written_is_mounted(&pairs(&service["environment"]), &texts(&service["volumes"]).join(","));
        let port = texts(&service["ports"]).remove(0);
        assert!(port.starts_with("127.0.0.1:") && port.ends_with(":7400"), "{port}");
    }
    for (name, service) in services {
        let Some(mounted) = service.get("volumes") else { continue };
        for mount in texts(mounted) {
            let volume = mount.split(':').next().expect("a name");
            assert!(volumes.contains_key(volume), "{name:?} mounts {volume}");
        }
    }
    // The keys that the copies use are those that the store is started with.
    let (copy, minio) = (&file["services"]["one"], &file["services"]["minio"]);
    let (copy, minio) = (&copy["environment"], &minio["environment"]);
    assert_eq!(copy["MINIO_ACCESS_KEY"], minio["MINIO_ROOT_USER"]);
    assert_eq!(copy["MINIO_SECRET_KEY"], minio["MINIO_ROOT_PASSWORD"]);
}

#[test]
fn every_setting_of_the_kubernetes_example_is_one_and_its_parts_fit() {
    let settings = pairs(&object("ConfigMap", "throughline")["data"]);
    check_settings(&settings);
    let port = settings["THROUGHLINE_SERVER__BIND"].rsplit(':').next().expect("a port").to_owned();
    for (kind, name) in [("Deployment", "throughline"), ("StatefulSet", "redis")] {
        let workload = object(kind, name);
        let pod = &workload["spec"]["template"];
        assert_eq!(workload["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"]);
        let service = object("Service", name);
        assert_eq!(service["spec"]["selector"], pod["metadata"]["labels"], "{name}");
        let exposed = &pod["spec"]["containers"][0]["ports"][0];
        assert_eq!(service["spec"]["ports"][0]["targetPort"], exposed["name"], "{name}");
    }
    let deployment = object("Deployment", "throughline");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["ports"][0]["containerPort"].as_u64(), port.parse().ok());
    assert_eq!(container["envFrom"][0]["configMapRef"]["name"], "throughline");
    // It does not start without a key, and nobody can create one in a pod that has not started.
    let secrets = container["envFrom"].as_sequence().expect("a list").iter();
    let named: Vec<&Value> = secrets.map(|source| &source["secretRef"]["name"]).collect();
    assert!(named.contains(&&Value::from("throughline-first-key")), "{named:?}");
    // The root file system is read-only, and erasing writes.
    let mount = text(&container["volumeMounts"][0]["mountPath"]);
    written_is_mounted(
        &settings,
        &format!("{}:{mount}", text(&container["volumeMounts"][0]["name"])),
    );
    let volumes = &deployment["spec"]["template"]["spec"]["volumes"];
    assert_eq!(volumes[0]["name"], container["volumeMounts"][0]["name"]);
}

#[tokio::test]
async fn the_probes_are_answered() {
    let served = Served::start(&Launch::new(BINARY, "memory:")).await;
    let deployment = object("Deployment", "throughline");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    for probe in ["startupProbe", "readinessProbe"] {
        let path = text(&container[probe]["httpGet"]["path"]);
        let route = path.strip_prefix("/api/v1").expect("a route of ours");
        let answer = reqwest::get(served.url(route)).await.expect("an answer");
        assert!(answer.status().is_success(), "{probe} {path}: {}", answer.status());
    }
}

#[tokio::test]
async fn the_redis_that_is_started_is_accepted_and_keeps_what_it_acknowledges() {
    let file = compose();
    let command = text(&file["services"]["redis"]["command"]);
    let words = command.split(' ').skip(1).map(|word| word.trim_matches('"').to_owned());
    let stateful = object("StatefulSet", "redis");
    let arguments = texts(&stateful["spec"]["template"]["spec"]["containers"][0]["args"]);
    for settings in [words.collect(), arguments] {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let Some(redis) = RedisServer::start_with(&settings).await else { return };
        let served = Served::start(&Launch::new(BINARY, redis.url())).await;
        let health = served.get(&reqwest::Client::new(), "/health").await;
        assert_eq!(health["store"]["durability"], "fsync", "{settings:?}: {health}");
    }
}
