#![doc = include_str!("../README.md")]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

// For its `links`: SQLite is linked, once in the whole program.
extern crate libsqlite3_sys;

// Made from seslite_agent.h, and checked in, so that nobody who uses the crate needs bindgen and libclang.
include!("bindings.rs");

/// The length of a text that ends at its NUL (`SES_NUL`).
pub const SES_NUL: usize = usize::MAX;
