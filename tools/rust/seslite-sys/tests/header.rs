//! The bindings belong to the header that the library was compiled with.

use std::fs;
use std::path::Path;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

const HEADERS: [&str; 12] = [
    "seslite.h",
    "seslite_history.h",
    "seslite_live.h",
    "seslite_transfer.h",
    "seslite_agent.h",
    "seslite_artifact.h",
    "seslite_draft.h",
    "seslite_inbox.h",
    "seslite_search.h",
    "seslite_memory.h",
    "seslite_usage.h",
    "seslite_erase.h",
];

fn header(name: &str) -> Option<String> {
    let read = |folder| fs::read_to_string(Path::new(HERE).join(folder).join(name)).ok();
    ["amalgamation", "../../../include"].into_iter().find_map(read)
}

/// The calls that the headers declare.
fn calls() -> Vec<String> {
    let text = HEADERS.map(|name| header(name).expect("the header is beside the library")).concat();
    let declarations = text.lines().filter_map(|line| line.strip_prefix("SES_API "));
    declarations
        .map(|line| line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap().to_owned())
        .collect()
}

/// The sources of a folder and of those in it.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .map(|path| if path.is_dir() { sources(&path) } else { fs::read_to_string(&path).unwrap() })
        .collect()
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
    let calls = calls();
    for name in &calls {
        assert!(
            bindings.contains(&format!("pub fn {name}(")),
            "{name} is not bound: run tools/rust/bindings.sh"
        );
    }
    assert!(calls.len() > 240, "only {} calls were found", calls.len());
}

/// The crate seslite is beside this one in the repository, and not in the package of this one.
#[test]
fn every_call_of_the_headers_is_used() {
    let used = sources(&Path::new(HERE).join("../seslite/src"));
    // Codes have names and texts of their own in Rust, the handle of a view is known there, and iterators
    // give the sessions of all pages and the newest event.
    let not_used = [
        "ses_code_text",
        "ses_list_each",
        "ses_session_newest_event",
        "ses_tracked_session",
        "ses_version_number",
    ];
    let is_used = |name: &str| {
        let call = format!("sys::{name}");
        used.match_indices(&call)
            .any(|(at, _)| !used[at + call.len()..].starts_with(|c: char| c == '_' || c.is_alphanumeric()))
    };
    let missing: Vec<_> =
        calls().into_iter().filter(|name| !not_used.contains(&name.as_str()) && !is_used(name)).collect();
    assert!(used.is_empty() || missing.is_empty(), "{missing:?}");
}

#[test]
fn the_codes_have_their_numbers() {
    assert_eq!(seslite_sys::SES_NOMEM, -1);
    assert_eq!(seslite_sys::SES_CONSTRAINT, -23);
    assert_eq!(seslite_sys::SES_KEY, -24);
    assert_eq!(seslite_sys::SES_UNSUPPORTED, -25);
    assert_eq!(seslite_sys::SES_RESET, 8);
}
