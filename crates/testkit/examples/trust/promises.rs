//! The product's promises, the tests that attack each of them, and the switch that breaks it.
//!
//! A new attack is a test that reports its counts (`throughline_testkit::trust`) and a line here.

/// Tests of one binary.
pub(crate) struct Attack {
    pub package: &'static str,
    /// The test binary; `lib` for unit tests.
    pub binary: &'static str,
    /// Prefixes of the tests' names.
    pub tests: &'static [&'static str],
    /// Factor on the size that CI runs.
    pub times: u64,
}

pub(crate) struct Promise {
    /// Its name in the report.
    pub name: &'static str,
    /// The promise itself.
    pub claim: &'static str,
    /// The tests that try to break it.
    pub attacks: &'static [Attack],
    /// The switch that breaks it, and the index in `attacks` of the one that must detect it, with its test.
    pub sabotage: Option<(&'static str, usize, &'static str)>,
}

const SERVER: &str = "throughline";
const STORE: &str = "throughline-store";
const ENGINE: &str = "throughline-engine";
const UPSTREAM: &str = "throughline-upstream";

const fn attack(
    package: &'static str,
    binary: &'static str,
    tests: &'static [&'static str],
    times: u64,
) -> Attack {
    Attack { package, binary, tests, times }
}

pub(crate) const PROMISES: &[Promise] = &[
    Promise {
        name: "kills under load",
        claim: "a turn that was acknowledged is there once, in order, after SIGKILL of one or two servers",
        attacks: &[attack(SERVER, "crash", &["kills::"], 3)],
        sabotage: Some((
            "hold-back",
            0,
            "kills::sqlite_keeps_what_it_acknowledged_when_the_server_is_killed",
        )),
    },
    Promise {
        name: "power cuts",
        claim: "what was acknowledged survives a cut at any recorded call; writes that were not synced are dropped, torn or reordered",
        attacks: &[attack(SERVER, "cli", &["power::"], 6)],
        sabotage: Some((
            "skip-syncs",
            0,
            "power::sqlite_keeps_what_it_acknowledged_when_the_power_fails",
        )),
    },
    Promise {
        name: "failing file calls",
        claim: "the Nth call that changes a file fails with ENOSPC, EIO or EMFILE: what is said to be done is, and the store stays sound",
        attacks: &[attack(SERVER, "cli", &["failing::"], 2)],
        sabotage: Some((
            "claim-success",
            0,
            "failing::a_failing_call_is_told_and_harms_nothing_in_sqlite",
        )),
    },
    Promise {
        name: "failing network calls",
        claim: "behind a proxy that cuts, delays and answers for Redis and S3, nothing acknowledged is lost or doubled, nothing denied is there",
        attacks: &[attack(STORE, "remote", &["faults::"], 2)],
        sabotage: Some((
            "claim-success",
            0,
            "faults::no_acknowledged_entry_is_lost_or_doubled_in_redis",
        )),
    },
    Promise {
        name: "writers on two servers",
        claim: "64 writers on two servers and one session lose and double nothing, and read nothing stale",
        attacks: &[attack(SERVER, "crash", &["copies::two_servers"], 1)],
        sabotage: Some(("ignore-versions", 0, "copies::two_servers_on_one_sqlite_file_are_as_one")),
    },
    Promise {
        name: "many copies against a model",
        claim: "whole servers on one store (100 on Redis in a run of the usual size) answer as one: a turn has its number for ever, a key is one turn on every copy, one of two changes of a version wins, and nothing read is older than what was acknowledged",
        attacks: &[attack(SERVER, "http", &["many_copies::"], 20)],
        sabotage: Some(("ignore-versions", 0, "many_copies::copies_on_one_redis_answer_as_one")),
    },
    Promise {
        name: "twins",
        claim: "the same seeded steps on every backend and on a model in memory have the same answers",
        attacks: &[attack(STORE, "remote", &["twins::"], 2)],
        sabotage: Some(("ignore-versions", 0, "twins::five_backends_and_a_cluster_answer_alike")),
    },
    Promise {
        name: "route × credential",
        claim: "every operation of the OpenAPI document refuses every credential that it is not for: nothing read, nothing changed",
        attacks: &[attack(SERVER, "http", &["isolation::every_route", "access::"], 1)],
        sabotage: Some((
            "ignore-grants",
            0,
            "isolation::every_route_refuses_every_credential_that_it_is_not_for",
        )),
    },
    Promise {
        name: "canaries of tenants",
        claim: "tenants (100 in a run of the usual size) read everything there is to read, and none sees a word of another",
        attacks: &[attack(SERVER, "http", &["isolation::no_tenant"], 10)],
        sabotage: Some((
            "ignore-scopes",
            0,
            "isolation::no_tenant_sees_anothers_canary_in_local_stores",
        )),
    },
    Promise {
        name: "erase and byte scan",
        claim: "after an erasure no record, no file of the store, its log or its index holds any kind of text, plain or compressed, and SQLite's files have no byte that belongs to no row",
        attacks: &[
            attack(SERVER, "http", &["erased::"], 2),
            attack(STORE, "it", &["residue::"], 4),
            attack(STORE, "it", &["sqlite::what_was_erased", "files::what_was_erased"], 1),
            attack(STORE, "remote", &["redis::an_erasure", "s3::s3_conforms"], 1),
        ],
        sabotage: Some(("keep-erased", 0, "erased::a_user_is_in_no_byte_of_a_local_store")),
    },
    Promise {
        name: "erased turns",
        claim: "what later turns were shown or keep of an erased one goes with it, from every record, file and answer; their receipts say so, and requests that showed nothing of it are made again to the byte",
        attacks: &[
            attack(SERVER, "http", &["erased_turns::"], 1),
            attack(ENGINE, "turns", &["erased::"], 1),
        ],
        sabotage: Some((
            "keep-derived",
            0,
            "erased_turns::later_turns_keep_nothing_of_an_erased_one_in_local_stores",
        )),
    },
    Promise {
        name: "links",
        claim: "a read-only link shows what was said until it was made and no more; once revoked it opens nothing, on every backend",
        attacks: &[
            attack(SERVER, "http", &["shares::"], 1),
            attack(ENGINE, "turns", &["shares::"], 1),
        ],
        sabotage: Some(("keep-shares", 0, "shares::a_revoked_link_opens_nothing_on_local_stores")),
    },
    Promise {
        name: "restore after erase",
        claim: "what was erased after a backup does not come back with it, whatever was torn, changed or lost meanwhile",
        attacks: &[attack(
            SERVER,
            "cli",
            &[
                "copies::what_was_erased",
                "copies::the_log",
                "copies::an_erased",
                "copies::a_key",
                "copies::a_revoked",
                "erasures::",
            ],
            1,
        )],
        sabotage: Some((
            "forget-erasures",
            0,
            "copies::the_log_of_erasures_holds_where_the_store_is_lost",
        )),
    },
    Promise {
        name: "poisoned tools and words",
        claim: "no call that changes something runs unasked, whatever a tool server says, with a model that obeys every word (`tests/cases/acts`)",
        attacks: &[attack(SERVER, "acts", &["hostile"], 1)],
        sabotage: Some(("everything-runs", 0, "hostile")),
    },
    Promise {
        name: "import fuzzing",
        claim: "a changed export is refused by name or harmless: nothing in it waits, allows or answers, and the server goes on",
        attacks: &[
            attack(SERVER, "http", &["imports::"], 3),
            attack(ENGINE, "turns", &["imports::"], 1),
        ],
        sabotage: Some(("trust-imports", 0, "imports::a_changed_export_is_refused_or_harmless")),
    },
    Promise {
        name: "hostile schemas",
        claim: "a schema or a pattern that asks for endless work is refused at pinning, and nobody waits",
        attacks: &[attack(SERVER, "http", &["hostile_schemas::"], 1)],
        sabotage: Some((
            "any-schema",
            0,
            "hostile_schemas::a_schema_bomb_is_refused_at_pinning_and_the_server_goes_on",
        )),
    },
    Promise {
        name: "connections",
        claim: "endless heads, slow bodies and many connections are ended, and hold no place from others",
        attacks: &[attack(SERVER, "http", &["connections::", "noise::", "bad_input::"], 1)],
        sabotage: Some((
            "no-connection-limits",
            0,
            "connections::one_address_has_a_limit_of_connections",
        )),
    },
    Promise {
        name: "secrets at TRACE",
        claim: "no prompt, reply, argument, result, token or key is in the log at its most talkative",
        attacks: &[
            attack(SERVER, "telemetry", &["secrets::"], 1),
            attack(UPSTREAM, "integration", &["secrets::"], 1),
        ],
        sabotage: Some((
            "log-everything",
            0,
            "secrets::nothing_that_was_said_called_or_entrusted_is_in_the_log_at_any_level",
        )),
    },
    Promise {
        name: "fuzz",
        claim: "no input makes a reader panic: stored records and heads, S3 objects, lines and heads of files, exports, memories, chats, packs, messages, queries, requests of clients, answers of models and MCP servers, files of agents",
        attacks: &[
            attack(ENGINE, "turns", &["fuzz::"], 1),
            attack(
                STORE,
                "lib",
                &[
                    "files::head::",
                    "files::line::any",
                    "s3::head_object::tests::any",
                    "index::query::tests::any_text_is",
                ],
                1,
            ),
            attack(UPSTREAM, "lib", &["mcp::convert::", "model::parsed_answer::fuzzing"], 1),
            attack(
                SERVER,
                "lib",
                &["agents::header::tests::any", "http::dropin::client_body::fuzzing"],
                1,
            ),
        ],
        sabotage: None,
    },
    Promise {
        name: "kills in commands",
        claim: "restore, migrate, backup, erasure and first start, killed before any call that changes a file, leave the old store or the new one",
        attacks: &[attack(SERVER, "cli", &["interrupted::"], 1)],
        sabotage: Some((
            "replace-in-two-steps",
            0,
            "interrupted::a_restore_into_sqlite_is_whole_or_not_done_wherever_it_is_killed",
        )),
    },
];
