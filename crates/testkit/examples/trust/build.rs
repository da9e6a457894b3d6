//! Builds the test binaries once, with the sabotage switches compiled in and all of them off.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A test binary and its working directory.
#[derive(Debug, Clone)]
pub(crate) struct Built {
    pub program: PathBuf,
    pub folder: PathBuf,
}

/// Binaries by package and name.
pub(crate) type Binaries = BTreeMap<(String, String), Built>;

/// Builds everything that the promises name: test binaries, then unit tests.
pub(crate) fn build(wanted: &[(&str, &str)]) -> Result<Binaries, String> {
    let (within, binaries): (Vec<_>, Vec<_>) =
        wanted.iter().copied().partition(|(_, name)| *name == "lib");
    let mut built = Binaries::new();
    for wanted in [binaries, within] {
        if !wanted.is_empty() {
            built.extend(build_some(&wanted)?);
        }
    }
    Ok(built)
}

fn build_some(wanted: &[(&str, &str)]) -> Result<Binaries, String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--no-run", "--quiet", "--message-format=json-render-diagnostics"]);
    command.args(["--features", "throughline/sabotage", "--target-dir"]).arg(target());
    let packages: BTreeSet<&str> = wanted.iter().map(|(package, _)| *package).collect();
    let names: BTreeSet<&str> = wanted.iter().map(|(_, name)| *name).collect();
    for package in packages {
        command.args(["--package", package]);
    }
    for name in names {
        match name {
            "lib" => command.arg("--lib"),
            name => command.args(["--test", name]),
        };
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err("the tests cannot be built".into());
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(lines.lines().filter_map(binary).collect())
}

/// A separate target directory, because no other build has the switches.
pub(crate) fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    named.join("trust")
}

fn binary(line: &str) -> Option<((String, String), Built)> {
    let artifact: Value = serde_json::from_str(line).ok()?;
    let program = artifact["executable"].as_str()?.into();
    if artifact["profile"]["test"] != true {
        return None;
    }
    let manifest = PathBuf::from(artifact["manifest_path"].as_str()?);
    let folder = manifest.parent()?.to_owned();
    let text = std::fs::read_to_string(&manifest).ok()?;
    let package = text.lines().find_map(|line| line.strip_prefix("name = "))?.trim_matches('"');
    let target = &artifact["target"];
    let is_test = target["kind"][0] == "test";
    let name = if is_test { target["name"].as_str()? } else { "lib" };
    Some(((package.to_owned(), name.to_owned()), Built { program, folder }))
}
