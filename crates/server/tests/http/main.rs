//! The server from outside: real requests to a real server on a free port.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod about;
mod access;
mod app;
mod bad_input;
mod chat;
mod connections;
mod conversations;
mod erased;
mod erased_turns;
mod first_round;
mod hostile_schemas;
mod imports;
mod isolation;
mod issuer;
mod items;
mod many_copies;
mod mcp;
mod memories;
mod noise;
mod oauth;
mod oauth_peers;
mod openapi;
mod openapi_walk;
mod routes;
mod shares;
mod turns;
mod users;
