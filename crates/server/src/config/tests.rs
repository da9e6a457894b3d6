//! Tests of settings, their layers and error messages.

use std::io::Write;

use super::*;

fn load(file: &str, environment: Environment) -> Result<(Config, Layers), Failure> {
    let mut written = tempfile::NamedTempFile::new().unwrap();
    written.write_all(file.as_bytes()).unwrap();
    Config::load(Some(written.path()), environment, &[])
}

fn failure(file: &str) -> (String, String) {
    let failure = load(file, Environment::default()).map(|_| ()).unwrap_err();
    let said =
        failure.message.split_once(".tmp").map_or(failure.message.as_str(), |(_, rest)| rest);
    let said = said.split_once(':').map_or(said, |(_, rest)| rest);
    (said.to_owned(), failure.hint.unwrap_or_default())
}

#[test]
fn the_compiled_in_limits_are_the_engines_own() {
    assert_eq!(Config::defaults().unwrap().limits, Limits::default());
}

#[test]
fn every_default_has_a_comment_above_it() {
    let lines: Vec<&str> = DEFAULT_FILE.lines().collect();
    for pair in lines.windows(2) {
        let setting = !pair[1].starts_with('#') && pair[1].contains(" = ");
        assert!(!setting || pair[0].starts_with("# "), "{}", pair[1]);
    }
}

#[test]
fn a_stronger_layer_wins_and_each_value_knows_its_origin() {
    let file = "[cache]\nseconds = 60\n[server]\nbind = \"127.0.0.1:1\"\n";
    let environment = Environment::of([
        ("THROUGHLINE_SERVER__BIND", "127.0.0.1:2"),
        ("CONTEXT_WINDOW_WARNING_THRESHOLD", "75"),
        ("THROUGHLINE_LOG", "debug"),
    ]);
    let (config, layers) = load(file, environment).unwrap();
    assert_eq!(config.cache.seconds, 60);
    assert_eq!(config.server.bind.port(), 2);
    assert!((config.limits.warning_share - 0.75).abs() < 1e-6);
    let from = |path: &str| layers.origin(path).unwrap().to_string();
    assert!(from("cache.seconds").ends_with(":2"), "{}", from("cache.seconds"));
    assert_eq!(from("server.bind"), "environment THROUGHLINE_SERVER__BIND");
    assert_eq!(from("store.url"), "default");
}

#[test]
fn an_unknown_name_is_told_with_its_line_and_the_nearest_one() {
    let check = |file: &str, message: &str, hint: &str| {
        assert_eq!(failure(file), (message.to_owned(), hint.to_owned()), "{file}");
    };
    check("[server]\n\nbnd = 1\n", "3: there is no setting server.bnd", "did you mean bind?");
    check("[sevrer]\nbind = 1\n", "1: there is no setting sevrer", "did you mean server?");
    check(
        "[[model]]\nname = \"a\"\nmodle = \"b\"\n",
        "3: there is no setting model.0.modle",
        "did you mean model?",
    );
    check(
        "[servers.x]\ncomand = \"y\"\n",
        "2: there is no setting servers.x.comand",
        "did you mean command?",
    );
    let (message, _) = failure("[limits]\nscore_min = \"high\"\n");
    assert_eq!(message, "2: limits.score_min is text; it must be a number");
    assert_eq!(failure("[server\n").0.split(':').next(), Some("1"));
}

#[test]
fn wrong_values_in_the_environment_are_named() {
    let said = |name, value| {
        let environment = Environment::of([(name, value)]);
        load("", environment).map(|_| ()).unwrap_err().message
    };
    assert_eq!(
        said("MAX_CONVERSATION_LENGTH", "many"),
        "limits.window_turns is \"many\" (environment MAX_CONVERSATION_LENGTH); \
         it must be a whole number"
    );
    assert_eq!(
        said("THROUGHLINE_SERVER__BOND", "x"),
        "there is no setting server.bond (environment THROUGHLINE_SERVER__BOND)"
    );
    assert!(said("CONVERSATION_AUTO_SAVE", "false").contains("every turn is saved"));
    assert!(said("THROUGHLINE_STORE__URL", "nonsense").contains("store URL"));
    assert!(said("THROUGHLINE_SERVER__BIND", "here").contains("server.bind"));
}

#[test]
fn a_number_out_of_its_range_is_refused_with_its_place() {
    let check = |file: &str, expected: &str| assert_eq!(failure(file).0, expected, "{file}");
    check("[limits]\n\nscore_min = 7\n", "3); it must be 0.0 to 1.0");
    check("[limits]\ntemperature = 3.0\n", "2); it must be 0.0 to 1.0");
    check("[limits]\nsummary_threshold = -1\n", "2); it must be 0.0 to 1.0");
    check("[limits]\nturn_seconds_max = 0\n", "2); it must be 1 to 86400");
    check("[backups]\nkeep = 0\n", "2); it must be 1 to 10000");
    check(
        "[[model]]\nname = \"a\"\nmodel = \"b\"\ntotal_seconds = 0\n",
        "1); it must be 1 to 86400",
    );
    check("[servers.x]\nurl = \"http://h\"\ncall_seconds = 0\n", "3); it must be 1 to 86400");
    let said = |name, value| {
        let environment = Environment::of([(name, value)]);
        load("", environment).map(|_| ()).unwrap_err().message
    };
    assert_eq!(
        said("SUMMARIZATION_THRESHOLD", "-1"),
        "limits.summary_threshold is -1.0 (environment SUMMARIZATION_THRESHOLD); it must be 0.0 to 1.0"
    );
    let (_, hint) = failure("[limits]\nscore_min = 7\n");
    assert_eq!(hint, "The lowest score that is kept, on the selector's own 0-1 scale.");
}

#[test]
fn the_older_names_say_where_sessions_live() {
    let url = |environment| load("", environment).unwrap().0.store.url;
    assert_eq!(
        url(Environment::of([("MINIO_BUCKET_NAME", "b"), ("MINIO_ENDPOINT", "http://h:9")])),
        "s3://b?endpoint=http://h:9"
    );
    assert_eq!(
        url(Environment::of([
            ("MINIO_ENDPOINT", "minio:9000"),
            ("MINIO_ACCESS_KEY", "k"),
            ("MINIO_SECRET_KEY", "s"),
        ])),
        "s3://sessions?endpoint=http://minio:9000"
    );
    assert_eq!(url(Environment::of([("CONVERSATION_STORAGE_DIR", "c")])), "files:c");
    assert_eq!(url(Environment::of([("CONVERSATION_PERSISTENCE_ENABLED", "false")])), "memory:");
}

#[test]
fn a_key_in_the_environment_brings_its_model_and_is_never_shown() {
    let environment = Environment::of([("ANTHROPIC_API_KEY", "very-secret")]);
    let (config, layers) = load("", environment).unwrap();
    let (models, default) = config.model_configs().unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!(default.as_deref(), Some("anthropic"));
    assert!(!format!("{config:?} {models:?} {layers:?}").contains("very-secret"));
}

#[test]
fn a_key_in_the_place_of_a_variables_name_is_not_shown() {
    let message = |named: &str| {
        let file = format!(
            "[[model]]\nname = \"m\"\nprovider = \"openai\"\nmodel = \"x\"\napi_key_env = \"{named}\"\n"
        );
        let (config, _) = load(&file, Environment::default()).unwrap();
        config.model_configs().map(|_| ()).unwrap_err().message
    };
    assert_eq!(message("MY_KEY"), "model m needs the variable MY_KEY, which is not set");
    for key in ["sk-proj-aB3xY9", "9f8e7d6c5b4a", "AKIAIOSFODNN7EXAMPLE", "gsk_7Hx2LmQp"] {
        let message = message(key);
        assert!(!message.contains(key) && message.contains("api_key_env"), "{message}");
    }
}

#[test]
fn a_token_in_the_path_of_a_servers_url_is_not_shown() {
    let file = "[servers.x]\nurl = \"https://host/s/0123456789abcdef0123/mcp?token=very-secret\"\n";
    let (_, layers) = load(file, Environment::default()).unwrap();
    let url = layers.shown().into_iter().find(|shown| shown.setting == "servers.x.url").unwrap();
    assert_eq!(url.value, "\"https://host/s/***/mcp?token=***\"");
}

#[test]
fn a_compaction_that_frees_nothing_is_refused() {
    for (at, to) in [("0.5", "0.5"), ("0.3", "0.6")] {
        let file = format!("[limits]\ncompact_at = {at}\ncompact_to = {to}\n");
        let failed = load(&file, Environment::default()).map(|_| ()).unwrap_err();
        let expected =
            format!("limits.compact_to is {to}; it must be below limits.compact_at, which is {at}");
        assert_eq!(failed.message, expected);
    }
    load("[limits]\ncompact_at = 0.5\ncompact_to = 0.4\n", Environment::default()).unwrap();
}

#[test]
fn secrets_of_servers_are_filled_in_and_not_shown() {
    let file = "[servers.x]\nurl = \"http://127.0.0.1:1\"\nheaders = { A = \"Bearer ${T}\" }\n";
    let (config, layers) = load(file, Environment::of([("T", "very-secret")])).unwrap();
    assert_eq!(config.server_configs().unwrap().len(), 1);
    let shown = format!("{:?} {config:?}", layers.shown());
    assert!(!shown.contains("very-secret") && !shown.contains("Bearer"), "{shown}");
    let (config, _) = load(file, Environment::default()).unwrap();
    let message = config.server_configs().map(|_| ()).unwrap_err().message;
    assert_eq!(message, "servers.x: A needs the variable T, which is not set");
}
