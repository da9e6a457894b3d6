//! Examples in the help and manual page of every command.
//!
//! Invariant: every command has examples, and all of them parse; a test checks both.

use clap::Command;

/// Commands with their examples, without the program's name.
const EXAMPLES: [(&str, &[&str]); 82] = [
    ("", &["serve --demo", "chat --demo", "doctor", "session list --server http://127.0.0.1:7400"]),
    ("serve", &["serve --demo", "serve --bind 127.0.0.1:7500 --store sqlite:team.db"]),
    ("chat", &["chat --demo", "chat trip", "chat --server https://memory.example --user ann"]),
    (
        "ask",
        &[
            "ask Where did we stay in Zanzibar? --session trip",
            "ask --demo which racks are in Amsterdam --json",
        ],
    ),
    ("demo-inventory", &["demo-inventory"]),
    ("mcp", &["mcp --demo"]),
    ("preset", &["preset list"]),
    ("preset list", &["preset list --all"]),
    ("preset show", &["preset show preset-calm"]),
    ("preset create", &["preset create Pirate --prompt pirate.md --personality 'loud and kind'"]),
    ("preset delete", &["preset delete preset-calm-counselor"]),
    ("preset restore", &["preset restore preset-calm-counselor"]),
    ("context", &["context list", "context create --preset preset-calm-counselor"]),
    ("context list", &["context list --all --json"]),
    ("context show", &["context show 0199a"]),
    ("context create", &["context create --preset preset-calm-counselor --name Ada"]),
    ("context extend", &["context extend 0199a"]),
    ("context delete", &["context delete 0199a"]),
    ("context import", &["context import conversations.json --format chatgpt"]),
    (
        "session",
        &["session list", "session history trip", "session export trip --output trip.json"],
    ),
    ("session list", &["session list --tag urgent --limit 20", "session list --json"]),
    ("session show", &["session show trip", "session show 0199a --json"]),
    ("session history", &["session history trip --newest --limit 5"]),
    ("session fork", &["session fork trip --turn 3 --id trip-again"]),
    ("session share", &["session share trip", "session share trip --days 30 --json"]),
    ("session shares", &["session shares trip"]),
    ("session unshare", &["session unshare trip 4f1c"]),
    ("session delete", &["session delete trip"]),
    ("session erase", &["session erase trip", "session erase trip --turn 2 --yes"]),
    (
        "session export",
        &["session export trip --output trip.json", "session export trip --format markdown"],
    ),
    (
        "session import",
        &["session import trip.json --id trip-2", "session import conversations.json"],
    ),
    ("session extend", &["session extend trip"]),
    ("session tag", &["session tag trip urgent travel --remove old"]),
    ("item", &["item available", "item add trip rule:greeting"]),
    ("item available", &["item available --demo", "item available support --json"]),
    ("item list", &["item list trip"]),
    (
        "item add",
        &["item add trip reference:maintenance", "item add trip tool:inventory:list_sites"],
    ),
    ("item remove", &["item remove trip rule:greeting"]),
    (
        "item usage",
        &["item usage trip", "item usage --agent default --format csv --output usage.csv"],
    ),
    ("receipt", &["receipt trip 2", "receipt diff trip 1 2"]),
    ("receipt diff", &["receipt diff trip 1 2", "receipt diff trip:1 other:4 --json"]),
    ("replay", &["replay trip 2", "replay trip 2 --send --model openai"]),
    ("search", &["search Zanzibar", "search blue door --limit 5 --json"]),
    ("index", &["index rebuild"]),
    ("index rebuild", &["index rebuild"]),
    ("memory", &["memory list", "memory add My rack is R41 --subject 'my rack'"]),
    ("memory list", &["memory list --kind preference", "memory list --session trip --json"]),
    (
        "memory add",
        &["memory add I like tea --kind preference", "memory add My rack is R41 --user ann"],
    ),
    ("memory search", &["memory search which rack --limit 3"]),
    ("memory show", &["memory show 0199a"]),
    ("memory change", &["memory change 0199a --text 'My rack is R42'"]),
    ("memory forget", &["memory forget 0199a", "memory forget --all --yes --user ann"]),
    ("memory history", &["memory history 0199a"]),
    ("memory export", &["memory export memories.json"]),
    ("memory import", &["memory import memories.json", "memory import - --user ann"]),
    ("tools", &["tools list --demo", "tools call --demo inventory:list_sites"]),
    ("tools list", &["tools list --json"]),
    ("tools search", &["tools search --demo which racks are there"]),
    ("tools call", &["tools call --demo inventory:list_devices '{\"site\": \"Amsterdam\"}'"]),
    ("tools approve", &["tools approve inventory:list_sites"]),
    ("pack", &["pack check packs"]),
    ("pack check", &["pack check", "pack check packs/mine.toml --json"]),
    ("backup", &["backup", "backup copy.db --store redis://127.0.0.1/0"]),
    ("restore", &["restore copy.db", "restore copy.db --force"]),
    ("check", &["check", "check --requests 10 --json"]),
    ("repair", &["repair trip --rebuild", "repair trip --from copy.db"]),
    ("migrate", &["migrate --from sqlite:team.db --to redis://127.0.0.1/0 --verify"]),
    ("user", &["user export --user ann ann.jsonl", "user erase --user ann --yes"]),
    ("user erase", &["user erase --user ann --yes"]),
    ("user export", &["user export --user ann ann.jsonl"]),
    ("key", &["key create --name laptop --user ann", "key list"]),
    ("key create", &["key create --name laptop --user ann --scope read"]),
    ("key list", &["key list --json"]),
    ("key revoke", &["key revoke 4f1c"]),
    ("config", &["config init throughline.toml", "config check", "config show"]),
    ("config init", &["config init throughline.toml"]),
    ("config check", &["config check --config team.toml"]),
    ("config document", &["config document"]),
    ("config show", &["config show", "config show --json"]),
    ("doctor", &["doctor", "doctor --json", "doctor --server https://memory.example"]),
    ("completions", &["completions bash", "completions zsh"]),
    ("man", &["man ~/.local/share/man/man1"]),
];

/// Adds the examples to the command line.
pub(super) fn add(command: Command) -> Command {
    EXAMPLES.into_iter().fold(command, |command, (path, lines)| {
        let mut text = "Examples:".to_owned();
        for line in lines {
            text.push_str(&format!("\n  throughline {line}"));
        }
        let words: Vec<&str> = path.split_whitespace().collect();
        add_at(command, &words, text)
    })
}

fn add_at(command: Command, path: &[&str], text: String) -> Command {
    match path {
        [] => command.after_help(text),
        [first, rest @ ..] => command.mut_subcommand(*first, |inner| add_at(inner, rest, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    /// Splits a line as a shell does.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(std::mem::take(&mut word)),
                c => word.push(c),
            }
        }
        words.push(word);
        words
    }

    fn every(command: &Command, path: &str, check: &mut dyn FnMut(&str, &Command)) {
        check(path, command);
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            every(inner, format!("{path} {}", inner.get_name()).trim(), check);
        }
    }

    #[test]
    fn every_command_has_an_example_and_every_example_is_taken() {
        let command = command_line();
        every(&command, "", &mut |path, inner| {
            let text = inner.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(text.starts_with("Examples:"), "{path} has no example");
            for line in text.lines().skip(1).map(|line| line.trim_start()) {
                assert!(
                    line.starts_with(&format!("throughline {path}")) || path.is_empty(),
                    "{line}"
                );
                let taken = command.clone().try_get_matches_from(words(line));
                assert!(taken.is_ok(), "{line}: {:?}", taken.err().map(|error| error.to_string()));
            }
        });
    }
}
