//! Resolves ids: what was typed is a complete id, or a prefix of exactly one.
//!
//! Invariant: a complete id always means itself, even if others start with it.

use axum::http::StatusCode;
use serde_json::Value;

use super::{Api, Call};
use crate::cli::local::session_id;
use crate::failure::Failure;

/// Maximum number of candidates in an error.
const NAMED_MAX: usize = 10;
/// Shortest prefix that is tried on generated ids.
const MADE_UP_MIN: usize = 4;

/// What an id refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Session,
    Memory,
    Preset,
    Context,
}

impl Named {
    /// The route and the field that list them.
    fn all(self) -> &'static str {
        match self {
            Self::Session => "conversations",
            Self::Memory => "memories",
            Self::Preset => "presets",
            Self::Context => "contexts",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Session => "sessions",
            other => other.all(),
        }
    }

    /// A page of them, including archived ones.
    fn page(self, number: usize, cursor: Option<&str>) -> Call {
        let all = Call::get(&[self.all()]);
        match self {
            Self::Session => {
                all.with("inactive", true).with("limit", 1000).with_any("cursor", cursor)
            }
            Self::Memory => {
                all.with("superseded", true).with("limit", 100).with_any("cursor", cursor)
            }
            Self::Preset => {
                all.with("page", number).with("pageSize", 100).with("includeInactive", true)
            }
            Self::Context => {
                all.with("page", number).with("pageSize", 100).with("includeExpired", true)
            }
        }
    }
}

impl Api {
    /// The complete id for `typed`. If nothing matches, `typed` is returned and the request will fail.
    pub(crate) async fn id(&self, what: Named, typed: &str) -> Result<String, Failure> {
        if what == Named::Session {
            session_id(typed)?;
        }
        if self.exists(what, typed).await? {
            return Ok(typed.to_owned());
        }
        one_of(what.noun(), typed, &self.ids(what).await?)
    }

    /// The session to continue; only generated ids may be shortened, any other id is a new session.
    pub(crate) async fn session_or_new(&self, typed: &str) -> Result<String, Failure> {
        session_id(typed)?;
        let made_up = |id: &str| uuid::Uuid::parse_str(id).is_ok();
        if typed.len() < MADE_UP_MIN || self.exists(Named::Session, typed).await? {
            return Ok(typed.to_owned());
        }
        let mut ids = self.ids(Named::Session).await?;
        ids.retain(|id| made_up(id));
        one_of(Named::Session.noun(), typed, &ids)
    }

    /// Whether this exact id exists, even if damaged.
    async fn exists(&self, what: Named, id: &str) -> Result<bool, Failure> {
        let response = self.answer(Call::get(&[what.all(), id])).await?;
        Ok(response.status() != StatusCode::NOT_FOUND)
    }

    async fn ids(&self, what: Named) -> Result<Vec<String>, Failure> {
        let (mut ids, mut cursor) = (Vec::new(), None);
        for number in 1.. {
            let page = self.json(what.page(number, cursor.as_deref())).await?;
            let listed = page[what.all()].as_array().map(Vec::as_slice).unwrap_or_default();
            ids.extend(listed.iter().filter_map(|one| one["id"].as_str()).map(str::to_owned));
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            let total = page["totalCount"].as_u64().unwrap_or(0);
            let more = cursor.is_some() || (ids.len() as u64) < total;
            if !more || listed.is_empty() || page == Value::Null {
                break;
            }
        }
        Ok(ids)
    }
}

/// The single id that starts with `typed`; `typed` itself if there is none.
pub(crate) fn one_of(noun: &str, typed: &str, ids: &[String]) -> Result<String, Failure> {
    let found: Vec<&str> =
        ids.iter().map(String::as_str).filter(|id| id.starts_with(typed)).collect();
    match found.as_slice() {
        [] => Ok(typed.to_owned()),
        [one] => Ok((*one).to_owned()),
        _ if ids.iter().any(|id| id == typed) => Ok(typed.to_owned()),
        many => {
            let mut named = many[..many.len().min(NAMED_MAX)].join(", ");
            if many.len() > NAMED_MAX {
                named.push_str(&format!(" and {} more", many.len() - NAMED_MAX));
            }
            let what = format!("{typed} matches {} {noun}: {named}", many.len());
            Err(Failure::wrong_use(what, "type more of the id").coded("ambiguous_id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: Result<&str, &str>) {
        let ids = ["0198", "0198aa", "0198ab", "trip"].map(str::to_owned);
        let found = one_of("sessions", typed, &ids).map_err(|failure| failure.message);
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn a_beginning_means_one_a_whole_id_itself_and_several_are_named() {
        check("t", Ok("trip"));
        check("0198", Ok("0198"));
        check("0198ab", Ok("0198ab"));
        check("0198a", Err("0198a matches 2 sessions: 0198aa, 0198ab"));
        check("nothing", Ok("nothing"));
    }
}
