//! `throughline key`: API keys.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use throughline_engine::access::Grants;
use throughline_engine::id::{TenantId, UserId};

use super::api::one_of;
use super::{Settings, out, output};
use crate::access::{KeyRecord, Keys, NewKey};
use crate::assemble::{self, IfAbsent};
use crate::failure::Failure;

/// Arguments of `key`.
#[derive(Debug, Args)]
pub(super) struct Key {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a key. It is shown only once.
    Create {
        /// What the key is for.
        #[arg(long, default_value = "")]
        name: String,
        /// The organisation that the key belongs to.
        #[arg(long, default_value = "local")]
        tenant: String,
        /// The person or program that the key belongs to.
        #[arg(long, default_value = "local")]
        user: String,
        /// What the key may do.
        #[arg(long, value_enum, default_value_t = Scope::Write)]
        scope: Scope,
    },
    /// List keys, without their secrets.
    List,
    /// Revoke a key by its id, the part between the two underscores.
    Revoke {
        /// The key's id or a unique prefix.
        id: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Scope {
    /// Read.
    Read,
    /// Read and write.
    Write,
    /// Also approve tools, set permissions for everyone, and act for other users.
    Admin,
}

impl From<Scope> for Grants {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Read => Self::Read,
            Scope::Write => Self::Write,
            Scope::Admin => Self::Admin,
        }
    }
}

impl Key {
    /// Runs the command.
    pub(super) async fn run(self, settings: &Settings) -> Result<(), Failure> {
        let then = match self.verb {
            Verb::Create { .. } => IfAbsent::Create,
            _ => IfAbsent::Refuse,
        };
        let config = settings.load_for(then)?;
        let keys = Keys::new(assemble::store(&config).await?, crate::clock::system());
        match self.verb {
            Verb::Create { name, tenant, user, scope } => {
                let new = NewKey {
                    name,
                    tenant: TenantId::new(tenant).map_err(invalid)?,
                    user: UserId::new(user).map_err(invalid)?,
                    scope: scope.into(),
                };
                if new.tenant.as_str().starts_with('_') {
                    let what = format!("the tenant {} is reserved", new.tenant);
                    return Err(Failure::wrong_use(
                        what,
                        "use a name that does not start with an underscore",
                    ));
                }
                let (key, record) = keys.create(new).await?;
                if settings.json {
                    print_json(&json!({"key": key.reveal(), "record": shown(&record)}))?;
                } else {
                    out::line(key.reveal())?;
                    eprintln!("The key is shown only once. Its id is {}.", record.id);
                }
            }
            Verb::List => {
                let records = keys.list().await?;
                if settings.json {
                    print_json(&json!(records.iter().map(shown).collect::<Vec<_>>()))?;
                } else {
                    out::line(table(&records))?;
                }
            }
            Verb::Revoke { id } => {
                let ids: Vec<String> = keys.list().await?.into_iter().map(|key| key.id).collect();
                let id = one_of("keys", &id, &ids)?;
                let record = keys.revoke(&id).await?;
                if settings.json {
                    print_json(&shown(&record))?;
                } else {
                    out::line(format_args!("key {} is revoked", record.id))?;
                }
            }
        }
        Ok(())
    }
}

fn invalid(error: throughline_engine::id::InvalidName) -> Failure {
    let error = throughline_engine::error::Error::from(error);
    Failure::wrong_use(error.to_string(), error.hint())
}

/// A key record without the hash of its secret.
fn shown(record: &KeyRecord) -> serde_json::Value {
    json!({
        "id": record.id, "name": record.name, "tenant": record.tenant, "user": record.user,
        "scope": record.scope, "created_at": record.created_at, "revoked_at": record.revoked_at,
    })
}

fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    out::line(format_args!("{value:#}"))
}

fn table(records: &[KeyRecord]) -> String {
    let head = ["id", "name", "tenant", "user", "scope", "created", "revoked"];
    let rows = records.iter().map(|record| {
        [
            record.id.clone(),
            record.name.clone(),
            record.tenant.to_string(),
            record.user.to_string(),
            format!("{:?}", record.scope).to_lowercase(),
            record.created_at.to_string(),
            record.revoked_at.map_or_else(|| "-".into(), |at| at.to_string()),
        ]
    });
    output::table_text(head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_control_characters_is_listed_without_them() {
        let record = KeyRecord {
            id: "k1".into(),
            hash: String::new(),
            name: "a\u{1b}[2J\u{7}b\u{202e}c".into(),
            tenant: TenantId::new("local").unwrap(),
            user: UserId::new("ada").unwrap(),
            scope: Grants::Read,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            revoked_at: None,
        };
        let listed = table(&[record]);
        assert!(listed.contains("a[2Jbc"), "{listed:?}");
    }
}
