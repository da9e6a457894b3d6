//! The command line, from outside: the real binary on stores of its own.

mod chat;
mod copies;
mod damage;
mod deploy;
mod doctor;
mod erasures;
mod expiry;
mod failing;
mod first_key;
mod full_disk;
mod interrupted;
mod items;
mod memory;
mod observability;
mod place;
mod power;
mod remote;
mod sessions;
mod stdio;
mod terminal;
mod wrong_use;
