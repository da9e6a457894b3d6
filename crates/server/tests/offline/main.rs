//! The way without a model, against the real demo inventory over stdio.

mod bench;
mod conversation;
mod labelled;
