//! The binary, from outside.

mod demo_inventory;
mod inspector;
mod look_ups;
mod mcp;
