#![doc = include_str!("../README.md")]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

// For its `links`: SQLite is linked, once in the whole program.
extern crate libsqlite3_sys;

// Made from seslite_agent.h, and checked in, so that nobody who uses the crate needs bindgen and libclang.
include!("bindings.rs");

/// As `seslite_postgres.h` declares it.
#[cfg(feature = "postgres")]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ses_postgres_options {
    pub size: usize,
    pub unprepared: ::core::ffi::c_int,
    pub max_connections: ::core::ffi::c_uint,
    pub replica: *const ::core::ffi::c_char,
}

#[cfg(feature = "postgres")]
unsafe extern "C" {
    pub fn ses_open_postgres(
        connection: *const ::core::ffi::c_char,
        options: *const ses_open_options,
        postgres: *const ses_postgres_options,
        store: *mut *mut ses_store,
        error: *mut ses_error,
    ) -> ::core::ffi::c_int;
}

/// As `seslite_mysql.h` declares it.
#[cfg(feature = "mysql")]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ses_mysql_options {
    pub size: usize,
    pub max_connections: ::core::ffi::c_uint,
}

#[cfg(feature = "mysql")]
unsafe extern "C" {
    pub fn ses_open_mysql(
        uri: *const ::core::ffi::c_char,
        options: *const ses_open_options,
        mysql: *const ses_mysql_options,
        store: *mut *mut ses_store,
        error: *mut ses_error,
    ) -> ::core::ffi::c_int;
}

/// The length of a text that ends at its NUL (`SES_NUL`).
pub const SES_NUL: usize = usize::MAX;
