//! Evidence in a call's arguments that it does more than read.
//!
//! A value counts if its parameter decides what is done: a method, an action, a flag, a statement, a command
//! line. A text that is only searched for may contain any word.
//!
//! [`super::taint`] checks where values come from.

use serde_json::Value;

use super::fold::{deceives, decoded, fold};
use super::name;
use super::prose;
use super::schema::Schema;
use super::words::{Form, english};
use super::{shell, statement, steps};
use crate::tool::ToolDefinition;

/// Maximum depth of arguments, including JSON inside their texts.
const DEPTH_MAX: usize = 12;
/// Parameters that name the action.
const ACTIONS: [&str; 16] = [
    "action",
    "actions",
    "op",
    "operation",
    "method",
    "mode",
    "verb",
    "do",
    "changetype",
    "func",
    "function",
    "procedure",
    "subcommand",
    "activity",
    "override",
    "intent",
];
/// Parameters that take a command line, and those that take its words.
const COMMANDS: [&str; 6] = ["command", "cmd", "shell", "bash", "commandline", "powershell"];
const COMMAND_WORDS: [&str; 3] = ["args", "argv", "arguments"];
/// Parameters that take a statement.
const STATEMENTS: [&str; 11] =
    ["sql", "statement", "stmt", "cypher", "sparql", "kql", "hql", "cql", "ldif", "graphql", "gql"];
/// Parameters that take a program.
const PROGRAMS: [&str; 7] = ["code", "script", "lua", "python", "javascript", "js", "program"];
/// Words in the names of tools whose texts are statements or command lines.
const STATEMENT_TOOLS: [&str; 12] = [
    "sql",
    "query",
    "cypher",
    "sparql",
    "kql",
    "graphql",
    "gql",
    "db",
    "database",
    "warehouse",
    "postgres",
    "mysql",
];
const COMMAND_TOOLS: [&str; 8] =
    ["shell", "terminal", "bash", "exec", "sh", "ssh", "console", "powershell"];
/// Flags that prevent a call from acting.
const SAFETY: [&str; 12] = [
    "dry",
    "dryrun",
    "preview",
    "simulate",
    "simulation",
    "readonly",
    "noop",
    "whatif",
    "test",
    "check",
    "safe",
    "plan",
];
/// First words of flags that select what is shown.
const CHOOSING: [&str; 10] =
    ["include", "with", "show", "list", "only", "exclude", "skip", "without", "has", "is"];
/// Words in the names of tools that list past actions.
const RECORDS: [&str; 18] = [
    "log",
    "logs",
    "audit",
    "event",
    "events",
    "history",
    "changelog",
    "changelogs",
    "changes",
    "record",
    "records",
    "entries",
    "requests",
    "activity",
    "activities",
    "commits",
    "transactions",
    "operations",
];

/// Why a call may not be read-only, as the end of a sentence after "but".
pub(super) fn against(definition: &ToolDefinition, arguments: &Value) -> Option<String> {
    let schema = Schema::new(&definition.input_schema);
    let walk = Walk::new(&definition.tool.name, false);
    walk.value("", Some(schema), &schema.with_defaults(arguments), 0)
}

/// The same for a tool that somebody vouches for: only obvious writes count.
pub(super) fn plainly_against(definition: &ToolDefinition, arguments: &Value) -> Option<String> {
    let schema = Schema::new(&definition.input_schema);
    Walk::new(&definition.tool.name, true).value("", Some(schema), arguments, 0)
}

struct Walk {
    tool: Vec<String>,
    vouched: bool,
}

/// The reason, with parameter and value.
fn because(key: &str, value: &Value) -> Option<String> {
    let shown: String = value.to_string().chars().take(80).collect();
    Some(format!("{key} is {shown}"))
}

impl Walk {
    fn new(tool: &str, vouched: bool) -> Self {
        Self { tool: name::words(tool), vouched }
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.tool.iter().any(|word| kinds.contains(&word.as_str()))
    }

    fn value(
        &self,
        key: &str,
        schema: Option<Schema<'_>>,
        value: &Value,
        depth: usize,
    ) -> Option<String> {
        if depth > DEPTH_MAX {
            return Some(format!("{key} is nested too deeply to be checked"));
        }
        let own = match value {
            Value::Bool(flag) => self.flag(key, schema, *flag),
            Value::String(text) => self.text(key, schema, text, depth),
            Value::Number(_) => self.code(key, schema, value),
            Value::Array(values) => self.list(key, schema, values, depth),
            Value::Object(_) | Value::Null => None,
        };
        own.or_else(|| match value {
            Value::Object(fields) => fields.iter().find_map(|(name, value)| {
                let property = schema.and_then(|schema| schema.property(name));
                let declared = property.is_some() || depth > 0;
                self.key(name, value, declared)
                    .or_else(|| self.value(name, property, value, depth + 1))
            }),
            _ => None,
        })
    }

    /// A key that is itself the action: `{"cancel": "K7"}`, `{"$out": "customers"}`.
    fn key(&self, name: &str, value: &Value, declared: bool) -> Option<String> {
        if self.vouched {
            return matches!(name, "$out" | "$merge").then(|| because(name, value)).flatten();
        }
        if matches!(name, "$out" | "$merge") {
            return because(name, value);
        }
        let empty = match value {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty() && declared,
            _ => false,
        };
        let words = name::words(name);
        let [word] = words.as_slice() else { return None };
        let verb = english().verb(word).filter(|verb| verb.form == Form::Base)?;
        let whole = matches!(value, Value::Bool(true) | Value::Object(_))
            || matches!(value, Value::Array(values) if values.iter().any(Value::is_object));
        let sorts = matches!(word.as_str(), "order" | "set" | "record" | "mark");
        ((!verb.noun || (whole && !sorts)) && !empty).then(|| because(name, value)).flatten()
    }

    /// A flag: one that acts is on, or one that prevents acting is off.
    fn flag(&self, key: &str, schema: Option<Schema<'_>>, flag: bool) -> Option<String> {
        if self.vouched {
            return None;
        }
        let words = name::words(key);
        let first = words.first().map_or("", String::as_str);
        let because = || because(key, &Value::Bool(flag));
        if !flag {
            let safety = words.iter().any(|word| SAFETY.contains(&word.as_str()))
                || words.windows(2).any(|pair| pair == ["read", "only"]);
            return safety.then(because).flatten();
        }
        if CHOOSING.contains(&first) {
            return None;
        }
        let acts = words.iter().any(|word| {
            english().verb(word).is_some_and(|verb| verb.form == Form::Base)
                || matches!(
                    word.as_str(),
                    "apply" | "confirm" | "force" | "execute" | "autofix" | "commit"
                )
        });
        let said = schema.and_then(Schema::description);
        let told = said.and_then(|said| prose::against(said, key));
        (acts || told.is_some()).then(because).flatten()
    }

    /// A number explained in the parameter's description: "0 = read, 1 = write".
    fn code(&self, key: &str, schema: Option<Schema<'_>>, value: &Value) -> Option<String> {
        let said = schema.and_then(Schema::description).filter(|_| !self.vouched)?;
        let number = value.to_string();
        let meaning = fold(said);
        let meaning = meaning.split([',', ';', '\n', '.']).find_map(|part| {
            let (code, meaning) = part.split_once(['=', ':', '-'])?;
            (code.trim().rsplit(' ').next()? == number).then(|| meaning.to_owned())
        })?;
        name::acts(&meaning).then(|| because(key, value)).flatten()
    }

    fn list(
        &self,
        key: &str,
        schema: Option<Schema<'_>>,
        values: &[Value],
        depth: usize,
    ) -> Option<String> {
        let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        let role = name::words(key);
        let commands = role.last().is_some_and(|last| COMMAND_WORDS.contains(&last.as_str()));
        if !self.vouched && commands && !words.is_empty() && !shell::subcommand_reads(&words) {
            return because(key, &Value::from(words));
        }
        if !self.vouched
            && steps::lists(&role)
            && !self.is(&RECORDS)
            && let Some((name, value)) = steps::acting(values)
        {
            return because(name, value);
        }
        let items = schema.and_then(Schema::items);
        values.iter().find_map(|value| self.value(key, items, value, depth + 1))
    }

    fn text(
        &self,
        key: &str,
        schema: Option<Schema<'_>>,
        text: &str,
        depth: usize,
    ) -> Option<String> {
        let because = || because(key, &Value::from(text));
        if deceives(text) || statement::writes(text) {
            return because();
        }
        // Encoded text is judged by its decoded form.
        for reading in decoded(text) {
            if statement::writes(&reading) || (!self.vouched && is_program(&reading)) {
                return because();
            }
        }
        if let Ok(json @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text)
            && let Some(reason) = self.value(key, None, &json, depth + 1)
        {
            return Some(reason);
        }
        if self.vouched {
            return None;
        }
        let role = name::words(key);
        let last = role.last().map_or("", String::as_str);
        let whole = role.join("");
        let is = |kinds: &[&str]| kinds.contains(&last) || kinds.contains(&whole.as_str());
        let acts = (is(&ACTIONS) && self.acts(text) && !self.is_filter(text))
            || opens_for_writing(last, text)
            || chooses_change(schema, text)
            || (schema.is_none() && depth > 0 && depth <= 1 && self.acts(text));
        let runs = (is(&STATEMENTS) && !statement::reads(text))
            || (is(&COMMANDS) || self.is(&COMMAND_TOOLS)) && !is(&ACTIONS) && !shell::reads(text)
            || (is(&PROGRAMS) && !is_arithmetic(text) && !self.is_code_of_something(last, text))
            || (last == "expression" && !is_arithmetic(text) && is_program(text))
            || (self.is(&STATEMENT_TOOLS) && looks_like_statement(text) && !statement::reads(text));
        (acts || runs || url_acts(text)).then(because).flatten()
    }

    /// Whether a `code` is an identifier, such as a country's, and not a program.
    fn is_code_of_something(&self, key: &str, text: &str) -> bool {
        let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        key == "code" && plain && text.len() <= 64 && !self.acts(text)
    }

    fn acts(&self, text: &str) -> bool {
        let text = text.trim_start_matches(['.', '-', '_', '/']);
        text.len() <= 64 && name::acts(&fold(text).replace(' ', "_")) || name::acts(text)
    }

    /// Whether the value only filters past actions: `list_audit_events` by action.
    fn is_filter(&self, text: &str) -> bool {
        let lists = self
            .tool
            .first()
            .is_some_and(|first| matches!(first.as_str(), "list" | "search" | "find" | "count"));
        let single = text.chars().all(|c| c.is_ascii_alphabetic());
        lists && single && self.is(&RECORDS)
    }
}

/// Modes that open files for writing.
fn opens_for_writing(key: &str, text: &str) -> bool {
    matches!(key, "mode" | "flags" | "access")
        && matches!(
            fold(text).as_str(),
            "w" | "a"
                | "x"
                | "wb"
                | "ab"
                | "xb"
                | "w+"
                | "a+"
                | "r+"
                | "rb+"
                | "r+b"
                | "rw"
                | "wt"
                | "at"
        )
}

/// A choice that acts, if another one would read.
fn chooses_change(schema: Option<Schema<'_>>, text: &str) -> bool {
    let choices = schema.map(Schema::choices).unwrap_or_default();
    let mut others = choices.into_iter().filter_map(Value::as_str);
    name::acts(text) && others.any(name::reads)
}

/// Words that start statements.
fn looks_like_statement(text: &str) -> bool {
    const FIRST: [&str; 28] = [
        "select", "with", "show", "describe", "explain", "values", "match", "insert", "update",
        "delete", "drop", "create", "alter", "truncate", "merge", "replace", "grant", "revoke",
        "copy", "exec", "execute", "call", "vacuum", "begin", "set", "mutation", "query", "prefix",
    ];
    let folded = fold(text);
    let text = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let several = text.split_whitespace().count() > 1 || text.contains('(');
    FIRST.contains(&&text[..end]) && several || folded.starts_with('.') || folded.contains("; ")
}

/// Whether a text calls something that acts, as programs do.
fn is_program(text: &str) -> bool {
    let folded = fold(text);
    let mut name = String::new();
    for letter in folded.chars() {
        if letter.is_alphanumeric() || matches!(letter, '_' | '.') {
            name.push(letter);
            continue;
        }
        if letter == '(' && !name.is_empty() {
            let called = name.rsplit('.').next().unwrap_or(&name);
            let runs = matches!(
                called,
                "system"
                    | "exec"
                    | "eval"
                    | "popen"
                    | "__import__"
                    | "spawn"
                    | "call"
                    | "run"
                    | "pcall"
                    | "open"
                    | "require"
                    | "import"
            );
            if runs || statement::is_acting_call(called) {
                return true;
            }
        }
        name.clear();
    }
    false
}

/// Numbers, operators and names of pure functions.
fn is_arithmetic(text: &str) -> bool {
    const FUNCTIONS: [&str; 20] = [
        "sin", "cos", "tan", "sqrt", "log", "ln", "exp", "abs", "min", "max", "round", "floor",
        "ceil", "pi", "e", "mod", "pow", "avg", "sum", "if",
    ];
    let folded = fold(text);
    let mut words = folded.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let signs = folded
        .chars()
        .all(|c| c.is_alphanumeric() || c.is_whitespace() || "+-*/%^().,!<>=&|".contains(c));
    signs && words.all(|word| FUNCTIONS.contains(&word) || word.len() == 1)
}

/// Whether merely opening a URL does something: `/delete?id=7`, `?_method=delete`.
fn url_acts(text: &str) -> bool {
    let readings = std::iter::once(text.to_owned()).chain(decoded(text));
    readings.into_iter().any(|text| {
        let text = fold(&text);
        let (path, query) = text.split_once('?').unwrap_or((&text, ""));
        let address = path
            .split_once("://")
            .map(|(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
        let exact = |segment: &str| {
            let verb = english().verb(segment).filter(|verb| verb.form == Form::Base);
            verb.is_some_and(|verb| !verb.noun || verb.strong)
        };
        let by_path = address.is_some_and(|path| path.split('/').any(exact));
        // Elasticsearch marks actions with an underscore.
        let marked = path.starts_with('/')
            && path
                .split('/')
                .filter_map(|segment| segment.strip_prefix('_'))
                .any(|done| name::acts(done) || matches!(done, "bulk" | "forcemerge"));
        let by_query =
            query.split('&').filter_map(|pair| pair.split_once('=')).any(|(key, value)| {
                let key = key.trim_start_matches('_');
                (ACTIONS.contains(&key) || key == "cmd") && name::acts(value)
            });
        by_path || marked || (by_query && (address.is_some() || text.starts_with('/')))
    })
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
