//! One program for most tests of the crate, so that it is linked once.

mod agent;
mod artifacts;
mod bad_input;
mod common;
mod erase;
mod history;
mod in_and_out;
mod limits;
mod lists;
mod search;
mod servers;
mod sessions;
mod store;
mod threads;
mod together;
mod usage;
