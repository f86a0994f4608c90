//! One program for most tests of the crate, so that it is linked once.

mod agent;
mod bad_input;
mod common;
mod store;
mod threads;
mod together;
