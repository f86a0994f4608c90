//! The bindings belong to the header that the library was compiled with.

use std::fs;
use std::path::Path;

fn header(name: &str) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["amalgamation", "../../../include"].iter().find_map(|folder| fs::read_to_string(here.join(folder).join(name)).ok())
}

#[test]
fn the_crate_has_the_version_of_the_library() {
    let version = unsafe { std::ffi::CStr::from_ptr(seslite_sys::ses_version()) };
    assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    assert_eq!(unsafe { seslite_sys::ses_version_number() }, seslite_sys::SES_VERSION_NUMBER as i32);
}

#[test]
fn every_call_of_the_headers_is_bound() {
    let bindings = include_str!("../src/bindings.rs");
    let mut calls = 0;
    for name in ["seslite.h", "seslite_history.h", "seslite_live.h", "seslite_transfer.h", "seslite_agent.h"] {
        let header = header(name).expect("the header is beside the library");
        for line in header.lines().filter(|line| line.starts_with("SES_API ")) {
            let name = line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap();
            assert!(bindings.contains(&format!("pub fn {name}(")), "{name} is not bound: run tools/rust/bindings.sh");
            calls += 1;
        }
    }
    assert!(calls > 180, "only {calls} calls were found");
}

#[test]
fn the_codes_have_their_numbers() {
    assert_eq!(seslite_sys::SES_NOMEM, -1);
    assert_eq!(seslite_sys::SES_CONSTRAINT, -23);
    assert_eq!(seslite_sys::SES_KEY, -24);
    assert_eq!(seslite_sys::SES_UNSUPPORTED, -25);
    assert_eq!(seslite_sys::SES_RESET, 8);
}
