//! Reads the server's settings for eviction, append-only file and fsync.
//!
//! Evicting policies are refused: under memory pressure the server would drop acknowledged threads. That
//! includes `volatile-*`, because sessions have a time to live.
//!
//! Invariant: a setting that cannot be read counts as the weakest, except the eviction policy, which is noted
//! as unknown.

use std::collections::HashMap;

use throughline_engine::store::{Durability, Result, StoreError};

use super::connection::Connection;

/// The settings found on opening.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub durability: Durability,
    pub append_only: bool,
    pub notes: Vec<String>,
}

/// Reads the settings of every server and returns the weakest.
pub(super) async fn read(connection: &Connection) -> Result<Settings> {
    let mut weakest: Option<Settings> = None;
    for node in connection.primaries().await? {
        let values = read_node(connection, node.as_ref()).await?;
        let found = evaluate(connection.location(), &values)?;
        weakest = match weakest {
            Some(known) if strength(known.durability) <= strength(found.durability) => Some(known),
            _ => Some(found),
        };
    }
    weakest.ok_or_else(|| StoreError::Unavailable {
        what: connection.location().to_owned(),
        reason: "no node of the cluster holds slots".into(),
        outcome_unknown: false,
    })
}

/// `CONFIG GET` and `INFO` as one table, without settings that the user may not read.
async fn read_node(
    connection: &Connection,
    node: Option<&(String, u16)>,
) -> Result<HashMap<String, String>> {
    let mut found = HashMap::new();
    for name in ["maxmemory-policy", "appendonly", "appendfsync"] {
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg(name);
        // Managed services forbid CONFIG; INFO has to do.
        if let Ok(pairs) = connection.query_node::<HashMap<String, String>>(node, &command).await {
            found.extend(pairs);
        }
    }
    let info: String = connection.query_node(node, &redis::cmd("INFO")).await?;
    for line in info.lines() {
        if let Some((name, value)) = line.trim().split_once(':') {
            found.insert(format!("info {name}"), value.to_owned());
        }
    }
    Ok(found)
}

fn evaluate(location: &str, values: &HashMap<String, String>) -> Result<Settings> {
    let get = |name: &str| values.get(name).map(String::as_str);
    let version = get("info redis_version").unwrap_or("unknown");
    let mut notes = vec![format!("server version {version}")];
    match get("maxmemory-policy").or(get("info maxmemory_policy")) {
        Some("noeviction") => notes.push("eviction policy noeviction".into()),
        None => notes.push("eviction policy unknown: the server does not say".into()),
        Some(policy) => {
            return Err(StoreError::Refused {
                what: location.to_owned(),
                reason: format!("its eviction policy {policy} drops sessions when memory is short"),
                hint: "set maxmemory-policy noeviction".into(),
            });
        }
    }
    let append_only = match (get("appendonly"), get("info aof_enabled")) {
        (Some(answer), _) => answer == "yes",
        (None, answer) => answer == Some("1"),
    };
    let durability = match (append_only, get("appendfsync")) {
        (false, _) => Durability::Memory,
        (true, Some("always")) => Durability::Fsync,
        (true, Some("everysec")) => Durability::BufferedSecond,
        (true, _) => Durability::Buffered,
    };
    notes.push(match (append_only, get("appendfsync")) {
        (false, _) => {
            "append-only file off: a restart may lose everything since the last snapshot".into()
        }
        (true, Some(fsync)) => format!("append-only file on, fsync {fsync}"),
        (true, None) => "append-only file on, fsync unknown: the server does not say".into(),
    });
    Ok(Settings { durability, append_only, notes })
}

fn strength(durability: Durability) -> u8 {
    match durability {
        Durability::Memory => 0,
        Durability::Buffered => 1,
        Durability::BufferedSecond => 2,
        Durability::Fsync => 3,
        Durability::Replicated => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[(&str, &str)], expected: std::result::Result<Durability, &str>) {
        let values = values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        match (evaluate("redis://h", &values), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.durability, expected, "{values:?}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => panic!("{values:?}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn durability_follows_from_the_settings_and_eviction_is_refused() {
        let policy = ("maxmemory-policy", "noeviction");
        let on = ("appendonly", "yes");
        check(&[policy, on, ("appendfsync", "always")], Ok(Durability::Fsync));
        check(&[policy, on, ("appendfsync", "everysec")], Ok(Durability::BufferedSecond));
        check(&[policy, on, ("appendfsync", "no")], Ok(Durability::Buffered));
        check(&[policy, ("appendonly", "no"), ("appendfsync", "always")], Ok(Durability::Memory));
        check(&[], Ok(Durability::Memory));
        check(&[("info aof_enabled", "1")], Ok(Durability::Buffered));
        check(&[("maxmemory-policy", "allkeys-lru")], Err("allkeys-lru"));
        check(&[("info maxmemory_policy", "volatile-ttl")], Err("volatile-ttl"));
    }
}
