//! `throughline repair`: a person decides what to do with a damaged thread.
//!
//! Only a file store keeps each thread separately; for others a backup is restored. Damaged data is moved to
//! `damaged/` in the store's folder, never removed.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use clap::Args;
use serde_json::json;
use throughline_engine::id::{TenantId, ThreadId, UserId};
use throughline_engine::session::unreadable::stand_in;
use throughline_engine::session::{TurnRecord, salvage};
use throughline_engine::store::{Change, Found, Key, Kind, Scope, Store};
use throughline_store::StoreUrl;
use throughline_store::files::{Files, Salvaged};
use throughline_store::sqlite::Sqlite;
use throughline_store::url::BUSY_WAIT;

use super::local::{Identity, invalid};
use super::{Settings, output};
use crate::assemble::{self, IfAbsent};
use crate::backup::again;
use crate::backup::erasures::{ErasureLog, Erasures};
use crate::clock;
use crate::failure::Failure;

/// Arguments of `repair`.
#[derive(Debug, Args)]
pub(super) struct Repair {
    #[command(flatten)]
    who: Identity,
    /// The session, or any thread as `throughline check` prints it: TENANT/USER/KIND/ID.
    thread: String,
    #[command(flatten)]
    how: RepairMode,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct RepairMode {
    /// Rebuild the session from its log. Title, counters and turns are restored; settings, persona, items and
    /// tags are not.
    #[arg(long)]
    rebuild: bool,
    /// Take it from this backup, without data that was erased since.
    #[arg(long, value_name = "BACKUP")]
    from: Option<PathBuf>,
    /// Only move it away, so that its id can be used again.
    #[arg(long)]
    set_aside: bool,
}

/// What replaces a damaged thread.
struct Mended {
    change: Change,
    entries: usize,
    unreadable: usize,
}

impl Repair {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let config = settings.load_for(IfAbsent::Refuse)?;
        let (url, _) = assemble::store_options(&config)?;
        let StoreUrl::Files(root) = &url else {
            let what = format!("{url} is not a file store");
            return Err(Failure::wrong_use(
                what,
                "restore the whole store with throughline restore BACKUP",
            ));
        };
        let key = self.key()?;
        let files = Arc::new(Files::open(root).await?);
        let mended = match &self.how {
            RepairMode { set_aside: true, .. } => None,
            RepairMode { from: Some(backup), .. } => Some(taken(&key, backup).await?),
            RepairMode { .. } => Some(rebuilt(&key, files.salvage(&key).await?)?),
        };
        let reason = "set aside by throughline repair";
        let (aside, entries, unreadable) = match mended {
            None => (files.set_aside(&key, reason).await?, 0, 0),
            Some(Mended { change, entries, unreadable }) => {
                (files.rebuild(&key, change, reason).await?, entries, unreadable)
            }
        };
        if self.how.from.is_some() {
            let mut erasures = Erasures::default();
            let store: Arc<dyn Store> = files;
            again::of_log(&ErasureLog::new(&config.backups.folder), &mut erasures)?;
            again::erase(&store, erasures).await?;
        }
        if settings.json {
            return output::json(&json!({
                "thread": key.to_string(), "set_aside": aside, "entries": entries,
                "unreadable": unreadable,
            }));
        }
        output::line(format!("{key}: the damaged data was moved to {}", aside.display()))?;
        match (self.how.set_aside, unreadable) {
            (true, _) => output::line("its id can be used again"),
            (false, 0) => output::line(format!("{entries} entries were recovered")),
            (false, _) => output::line(format!(
                "{entries} entries were recovered, {unreadable} of them are unreadable"
            )),
        }
    }

    fn key(&self) -> Result<Key, Failure> {
        let parts: Vec<&str> = self.thread.split('/').collect();
        let wrong = |kind: &str| {
            let what = format!("there is no kind of thread {kind}");
            Failure::wrong_use(what, "write it as throughline check prints it: TENANT/USER/KIND/ID")
        };
        let (scope, kind, id) = match parts.as_slice() {
            [tenant, user, kind, id] => {
                let tenant = TenantId::new(*tenant).map_err(invalid)?;
                let user = UserId::new(*user).map_err(invalid)?;
                let kind = Kind::from_name(kind).ok_or_else(|| wrong(kind))?;
                (Scope { tenant, user }, kind, *id)
            }
            _ => (self.who.caller()?.scope, Kind::Session, self.thread.as_str()),
        };
        Ok(Key { scope, kind, id: ThreadId::new(id).map_err(invalid)? })
    }
}

/// A session from the entries that are left in its log.
fn rebuilt(key: &Key, entries: Vec<Salvaged>) -> Result<Mended, Failure> {
    if key.kind != Kind::Session {
        let what = format!("{key} has no log to rebuild it from");
        return Err(Failure::wrong_use(what, "use --from with a backup, or --set-aside"));
    }
    let mut turns: Vec<TurnRecord> = Vec::new();
    let mut unreadable = 0;
    for (number, entry) in (1..).zip(entries) {
        let read = entry.and_then(|bytes| {
            serde_json::from_slice::<TurnRecord>(&bytes).map_err(|error| error.to_string())
        });
        unreadable += usize::from(read.is_err());
        let at = turns.last().map_or(jiff::Timestamp::UNIX_EPOCH, |turn| turn.at);
        turns.push(read.unwrap_or_else(|reason| stand_in(number, at, &reason)));
    }
    let head = salvage::head_of(key.id.clone().into(), &mut turns);
    let bytes = |value: Result<Vec<u8>, serde_json::Error>| {
        value.map(Bytes::from).map_err(|error| Failure::new(error.to_string(), "report this"))
    };
    let entries = turns.len();
    let append =
        turns.iter().map(|turn| bytes(serde_json::to_vec(turn))).collect::<Result<_, _>>()?;
    let change = change(bytes(serde_json::to_vec(&head))?, append);
    Ok(Mended { change, entries, unreadable })
}

/// The thread from a backup.
async fn taken(key: &Key, backup: &std::path::Path) -> Result<Mended, Failure> {
    let url = StoreUrl::Sqlite(backup.to_owned());
    if !throughline_store::exists(&url)? {
        return Err(Failure::no_store(&url));
    }
    let from = Sqlite::open(backup, BUSY_WAIT).await?;
    let Found::Head(head) = from.head(key, None).await? else {
        let what = format!("{key} is not in {}", backup.display());
        return Err(Failure::new(what, "try an older or a newer backup"));
    };
    let append = from.entries(key, 0..head.entries).await?;
    let entries = append.len();
    Ok(Mended { change: change(head.bytes, append), entries, unreadable: 0 })
}

fn change(head: Bytes, append: Vec<Bytes>) -> Change {
    let clock = clock::system();
    Change {
        at: clock.now(),
        head,
        append,
        overwrite: Vec::new(),
        expires_at: None,
        write_id: clock.id(),
    }
}
