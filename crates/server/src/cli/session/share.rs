//! `session share`, `session shares`, `session unshare`: read-only links.

use clap::Args;
use serde_json::json;

use super::told;
use crate::cli::api::{Api, Call, Named, one_of};
use crate::cli::output::{self, field};
use crate::failure::Failure;

/// Arguments of `session share`.
#[derive(Debug, Args)]
pub(super) struct Share {
    /// The session's id or a unique prefix.
    session: String,
    /// Days until the link expires [default: 7].
    #[arg(long)]
    days: Option<u32>,
}

impl Share {
    /// Runs the command.
    pub(super) async fn run(self, api: &Api, json: bool) -> Result<(), Failure> {
        let id = api.id(Named::Session, &self.session).await?;
        let call = Call::post(&["conversations", &id, "shares"]);
        let share = api.json(call.body(json!({"expires_in_days": self.days}))).await?;
        let page = api.page();
        told(&share, json, |share| {
            format!(
                "{page}{}\nAnybody who has this link can read turns 1 to {} until {}. It is shown only now.\n\
                 Revoke it with throughline session unshare {id} {}.",
                field(share, "path"),
                field(share, "up_to_turn"),
                output::time(share, "expires_at"),
                field(share, "id"),
            )
        })
    }
}

/// Lists the valid links.
pub(super) async fn list(api: &Api, session: &str, json: bool) -> Result<(), Failure> {
    let id = api.id(Named::Session, session).await?;
    let answer = api.json(Call::get(&["conversations", &id, "shares"])).await?;
    if json {
        return output::json(&answer);
    }
    let shares = output::list(&answer, "shares");
    if shares.is_empty() {
        return output::line(format!("{id} has no links"));
    }
    let columns = ["id", "up_to_turn", "created_at", "expires_at"];
    let rows = shares.iter().map(|share| columns.map(|column| field(share, column)));
    output::table(["link", "up to turn", "made", "expires"], rows)
}

/// Revokes a link.
pub(super) async fn revoke(
    api: &Api,
    session: &str,
    share: &str,
    json: bool,
) -> Result<(), Failure> {
    let id = api.id(Named::Session, session).await?;
    let answer = api.json(Call::get(&["conversations", &id, "shares"])).await?;
    let ids = output::list(&answer, "shares").iter().filter_map(|share| share["id"].as_str());
    let share = one_of("links", share, &ids.map(str::to_owned).collect::<Vec<_>>())?;
    let left = api.json(Call::delete(&["conversations", &id, "shares", &share])).await?;
    told(&left, json, |_| format!("{share} is revoked"))
}
