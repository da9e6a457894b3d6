//! The server from outside: real requests to a real server on a free port.

mod about;
mod access;
mod app;
mod bad_input;
mod chat;
mod conversations;
mod noise;
mod turns;
