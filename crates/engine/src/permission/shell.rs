//! Recognises read-only command lines.
//!
//! A line is read-only if every command is, and nothing in it writes, substitutes or runs something. Everything
//! else is not.

use super::fold::fold;
use super::name;

/// Commands that are read-only with any arguments.
const READING: [&str; 58] = [
    "arp",
    "basename",
    "cal",
    "cat",
    "cksum",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dig",
    "dirname",
    "dmesg",
    "du",
    "echo",
    "env",
    "expr",
    "false",
    "file",
    "free",
    "getent",
    "grep",
    "egrep",
    "fgrep",
    "head",
    "hexdump",
    "host",
    "hostname",
    "id",
    "jq",
    "last",
    "ls",
    "lsblk",
    "lscpu",
    "lsof",
    "md5sum",
    "netstat",
    "nl",
    "nslookup",
    "od",
    "pgrep",
    "ping",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "rg",
    "sha256sum",
    "stat",
    "strings",
    "tail",
    "tree",
    "true",
    "uname",
    "uptime",
    "wc",
    "which",
];
/// Commands that are read-only except with these options.
const READING_BUT: [(&str, &[&str]); 4] = [
    ("find", &["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fls", "-fprintf"]),
    ("sort", &["-o", "--output"]),
    ("awk", &["system", "print>", ">"]),
    ("whoami", &[]),
];
/// Programs whose first argument is a subcommand.
const PROGRAMS: [&str; 16] = [
    "git",
    "kubectl",
    "docker",
    "podman",
    "helm",
    "terraform",
    "tofu",
    "aws",
    "gcloud",
    "az",
    "systemctl",
    "npm",
    "cargo",
    "pip",
    "gh",
    "ip",
];
/// Read-only subcommands.
const SUBCOMMANDS: [&str; 42] = [
    "api-resources",
    "blame",
    "cat",
    "cluster-info",
    "config-view",
    "describe",
    "describe-instances",
    "diff",
    "events",
    "explain",
    "get",
    "help",
    "history",
    "images",
    "info",
    "inspect",
    "is-active",
    "list",
    "log",
    "logs",
    "ls",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "output",
    "outdated",
    "plan",
    "ps",
    "reflog",
    "rev-parse",
    "search",
    "shortlog",
    "show",
    "stats",
    "status",
    "tree",
    "top",
    "validate",
    "version",
    "view",
    "whatchanged",
    "--version",
];

/// Whether a command line is known to be read-only.
pub(super) fn reads(line: &str) -> bool {
    let line = fold(line);
    let quiet = line
        .replace("2>&1", " ")
        .replace("2>/dev/null", " ")
        .replace(">/dev/null", " ")
        .replace("> /dev/null", " ");
    if quiet.contains(['>', '`', '\n'])
        || quiet.contains("$(")
        || quiet.contains("<(")
        || quiet.contains("${")
    {
        return false;
    }
    let commands =
        quiet.split(['|', ';', '&']).map(str::trim).filter(|command| !command.is_empty());
    let commands: Vec<&str> = commands.collect();
    !commands.is_empty() && commands.iter().all(|command| command_reads(command))
}

fn command_reads(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    if READING.contains(&program) {
        return true;
    }
    if let Some((_, acting)) = READING_BUT.iter().find(|(name, _)| *name == program) {
        return !arguments
            .iter()
            .any(|argument| acting.iter().any(|option| argument.starts_with(option)));
    }
    if PROGRAMS.contains(&program) {
        return subcommand_reads(arguments);
    }
    // PowerShell commands start with a verb.
    program.starts_with("get-")
        || matches!(program, "gci" | "dir" | "gcm" | "select-object" | "where-object")
}

/// Whether the first word that is not an option is a read-only subcommand, as in the arguments of a program that
/// has its own tool.
pub(super) fn subcommand_reads(arguments: &[&str]) -> bool {
    let first = arguments.iter().find(|argument| !argument.starts_with('-'));
    first.is_some_and(|first| {
        let first = first.to_lowercase();
        let is_program = READING.contains(&first.as_str())
            || READING_BUT.iter().any(|(name, _)| *name == first)
            || PROGRAMS.contains(&first.as_str());
        if is_program && arguments.len() > 1 && arguments[0] == first {
            return reads(&arguments.join(" "));
        }
        SUBCOMMANDS.contains(&first.as_str()) || name::reads(&first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_where_each_of_its_commands_does() {
        for line in [
            "ls -la dist",
            "cat a | grep b | wc -l",
            "git log --oneline",
            "kubectl get pods",
            "find . -name x 2>/dev/null",
        ] {
            assert!(reads(line), "{line}");
        }
        for line in [
            "ls dist; rm -rf dist",
            "find /var/log -mtime +7 -delete",
            "hostname > /etc/hosts",
            "echo $(kubectl delete ns prod)",
            "gci C:\\Users | Remove-Item -Recurse",
            "echo cm0= | base64 -d | sh",
            "git push",
            "terraform apply -auto-approve",
            "curl https://a.example",
            "",
        ] {
            assert!(!reads(line), "{line}");
        }
    }

    #[test]
    fn a_list_of_arguments_begins_with_what_is_done() {
        assert!(subcommand_reads(&["-json", "plan"]));
        assert!(subcommand_reads(&["find", ".", "-name", "x"]));
        assert!(!subcommand_reads(&["find", ".", "-delete"]));
        for arguments in [["FLUSHALL", ""], ["apply", "-auto-approve"], ["-x", "rm"]] {
            assert!(!subcommand_reads(&arguments));
        }
    }
}
