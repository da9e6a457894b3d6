//! Paths of the store and its companions, independent of the working directory.
//!
//! By default the store is a file in the platform's data folder. Backups, the erasure log and copies of purged
//! contexts are beside a local store, or in the data folder for a remote one. A relative path in the
//! configuration file is relative to that file; in an option or variable, to the working directory.

use std::path::{Path, PathBuf};

use throughline_store::{StoreUrl, disk};
use toml::Value;

use super::Environment;
use super::layers::{Layers, Origin};
use crate::failure::Failure;

const STORE: &str = "store.url";
const BACKUPS: &str = "backups.folder";
/// Where earlier versions kept the store, relative to the working directory.
const EARLIER: &str = "data/throughline.db";

/// Sets paths that no layer names, and makes those of the file absolute.
pub(super) fn resolve(layers: &mut Layers, environment: &Environment) -> Result<(), Failure> {
    let home = data_folder(environment);
    match (text(layers, STORE).is_empty(), &home) {
        (true, Some(home)) => {
            let path = home.join("throughline.db");
            refuse_earlier(&path)?;
            set(layers, STORE, format!("sqlite:{}", path.display()));
        }
        // Reported when the store is opened: many commands need none.
        (true, None) => {}
        (false, _) => from_file(layers, STORE, |url, folder| {
            let (kind, path) = url.split_once(':')?;
            let local = matches!(kind, "sqlite" | "files") && Path::new(path).is_relative();
            local.then(|| format!("{kind}:{}", folder.join(path).display()))
        })?,
    }
    if text(layers, BACKUPS).is_empty() {
        let folder = text(layers, STORE).parse().ok().and_then(|url| beside(&url, home.as_deref()));
        set(layers, BACKUPS, folder.unwrap_or_default().display().to_string());
        return Ok(());
    }
    from_file(layers, BACKUPS, |path, folder| {
        Path::new(path).is_relative().then(|| folder.join(path).display().to_string())
    })
}

/// The data folder of this user: `XDG_DATA_HOME`, or that of the platform.
fn data_folder(environment: &Environment) -> Option<PathBuf> {
    let absolute =
        |name| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home =
        if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    let folder = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(home)))?;
    Some(folder.join("throughline"))
}

/// Default folder for the backups of a store.
fn beside(url: &StoreUrl, home: Option<&Path>) -> Option<PathBuf> {
    match url {
        StoreUrl::Sqlite(path) | StoreUrl::Files(path) => Some(disk::beside(path, ".backups")),
        StoreUrl::Redis(url) | StoreUrl::S3(url) => Some(home?.join(name_of(url)).join("backups")),
        StoreUrl::Memory => None,
    }
}

/// Folder name for a remote store: its kind and address, without secrets and options.
fn name_of(url: &str) -> String {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let (kind, rest) = address.split_once("://").unwrap_or(("", address));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let told = |pair: &&str| pair.starts_with("endpoint=") || pair.starts_with("prefix=");
    let told = query.split('&').filter(told).filter_map(|pair| Some(pair.split_once('=')?.1));
    let words: Vec<&str> = [kind, place].into_iter().chain(told).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = words.join("-").chars().map(|c| if plain(c) { c } else { '-' }).collect();
    name.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Silently using an empty store instead of an earlier version's would look like data loss.
fn refuse_earlier(path: &Path) -> Result<(), Failure> {
    let earlier = Path::new(EARLIER);
    if path.exists() || !earlier.is_file() {
        return Ok(());
    }
    Err(Failure::new(
        format!("{EARLIER} is a store of an earlier version in this folder"),
        format!("use it with --store sqlite:{EARLIER}, or move it to {}", path.display()),
    ))
}

/// Changes a value that came from a file, given the file's folder.
fn from_file(
    layers: &mut Layers,
    setting: &str,
    change: impl Fn(&str, &Path) -> Option<String>,
) -> Result<(), Failure> {
    let Some(Origin::File { path, .. }) = layers.origin(setting) else { return Ok(()) };
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let (origin, folder, value) =
        (layers.origin(setting).cloned(), folder.to_owned(), text(layers, setting));
    let (Some(origin), Some(changed)) = (origin, change(&value, &folder)) else { return Ok(()) };
    let there = |value: &str| {
        let path = value.split_once(':').map_or(value, |(_, path)| path);
        Path::new(path).exists()
    };
    if there(&value) && !there(&changed) {
        return Err(Failure::new(
            format!("{setting} is {value}, relative to its file: {changed} does not exist"),
            format!(
                "{value} exists in the working directory, where earlier versions looked: write its full path"
            ),
        ));
    }
    layers.set(setting, Value::from(changed), origin);
    Ok(())
}

fn text(layers: &Layers, setting: &str) -> String {
    layers.get(setting).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn set(layers: &mut Layers, setting: &str, value: String) {
    layers.set(setting, Value::from(value), Origin::Default);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        let home = Path::new("/home/me/.local/share/throughline");
        let folder = beside(&url.parse().unwrap(), Some(home)).unwrap_or_default();
        assert_eq!(folder.display().to_string(), expected, "{url}");
    }

    #[test]
    fn backups_lie_beside_the_store_or_in_the_data_folder() {
        check("sqlite:/srv/t.db", "/srv/t.db.backups");
        check("files:conversations/", "conversations.backups");
        check("memory:", "");
        let home = "/home/me/.local/share/throughline";
        check(
            "redis://:secret@h:6379/0?session_ttl=1&prefix=a:",
            &format!("{home}/redis-h-6379-0-a/backups"),
        );
        check(
            "s3://sessions?endpoint=http://h:9000&region=x",
            &format!("{home}/s3-sessions-http-h-9000/backups"),
        );
    }
}
