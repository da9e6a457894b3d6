//! The demo inventory: a small MCP server over stdio, so that everything can be tried without a key.
//!
//! It resembles NetBox, with a security survey and a few workflows. Its state is in memory and starts from
//! `inventory.toml`; nothing is stored or sent anywhere.
//!
//! Invariant: the same calls in the same order give the same results.
//!
//! # Layout
//!
//! - [`records`]: the records, and reading them from the data file.
//! - [`arguments`]: arguments, checked against the tool's schema.
//! - [`listing`], [`change`], [`survey`]: the tools.
//! - [`view`]: records in results.
//! - [`server`]: the MCP server.

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

/// Serves the demo inventory over stdio until the input ends.
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
