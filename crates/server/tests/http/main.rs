//! The server from outside: real requests to a real server on a free port.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod about;
mod access;
mod app;
mod bad_input;
mod chat;
mod connections;
mod conversations;
mod first_round;
mod hostile_schemas;
mod items;
mod mcp;
mod memories;
mod noise;
mod openapi;
mod turns;
mod users;
