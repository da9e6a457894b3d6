//! The demo inventory: a small MCP server over stdio, so that everything can be tried with no key.
//!
//! It behaves like somebody's NetBox with a security survey and a few workflows beside it. State lives
//! in memory and starts from `inventory.toml` each time; nothing is stored, nothing leaves the process.
//!
//! Invariant: the same calls in the same order give the same answers.
//!
//! # Layout
//!
//! - [`records`]: what the inventory holds, and reading it from the data file.
//! - [`arguments`]: a call's arguments, checked against the tool's schema.
//! - [`listing`], [`change`], [`survey`]: what the tools do.
//! - [`view`]: how records look in answers.
//! - [`server`] speaks MCP.

mod arguments;
mod change;
mod listing;
mod records;
mod server;
mod survey;
#[cfg(test)]
mod tests;
mod view;

use anyhow::Context;
use rmcp::ServiceExt;

pub use server::DemoInventory;

/// Serves the demo inventory on standard input and output until the input ends.
pub async fn run_stdio() -> anyhow::Result<()> {
    let inventory =
        DemoInventory::load().context("the demo inventory's own data cannot be read")?;
    let running = inventory
        .serve(rmcp::transport::stdio())
        .await
        .context("the demo inventory could not start on standard input and output")?;
    running.waiting().await.context("the demo inventory stopped")?;
    Ok(())
}
