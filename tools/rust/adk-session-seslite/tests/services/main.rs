//! One program for all tests of the crate, so that it is linked once.

mod artifacts;
mod contract;
mod memory;
mod runner;
mod service;
