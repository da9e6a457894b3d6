//! The binary, from outside.

mod demo_inventory;
mod inspector;
mod mcp;
