//! The command line, from outside: the real binary on stores of its own.

mod chat;
mod copies;
mod damage;
mod deploy;
mod erasures;
mod expiry;
mod interrupted;
mod items;
mod memory;
mod observability;
mod place;
mod sessions;
mod stdio;
mod wrong_use;
