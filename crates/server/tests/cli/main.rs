//! The command line, from outside: the real binary on stores of its own.

mod chat;
mod copies;
mod damage;
mod deploy;
mod erasures;
mod interrupted;
mod items;
mod observability;
mod place;
mod sessions;
mod wrong_use;
