//! The binary, from outside.

mod demo_inventory;
mod mcp;
