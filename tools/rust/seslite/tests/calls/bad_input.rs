//! Values that a Rust program can hold and the library cannot.

use crate::common::{event, fixture, refused, KEY};
use seslite::*;

#[test]
fn a_nul_in_an_id_is_an_error_at_every_call() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let nul = "a\0b";
    for key in [Key::new(nul, "u", "s"), Key::new("a", nul, "s"), Key::new("a", "u", nul)] {
        refused(f.store.create(key, None), Code::Invalid);
        refused(f.store.get(key), Code::Invalid);
        refused(f.store.append(key, "{}", &AppendOptions::new()), Code::Invalid);
        refused(f.store.delete(key, &DeleteOptions::new()), Code::Invalid);
        refused(f.store.cursor(key, Range::all()), Code::Invalid);
        refused(f.store.follow(key, FollowOptions::new()), Code::Invalid);
        refused(f.store.state(key), Code::Invalid);
    }
    let error = refused(f.store.get(Key::new("a", "u", nul)), Code::Invalid);
    assert_eq!(error.message(), "the session id contains a NUL at byte 1; use a text without one");
    refused(f.store.list(nul, None, &ListOptions::new()), Code::Invalid);
    refused(f.store.list("a", None, &ListOptions::new().token(nul)), Code::Invalid);
    refused(f.store.list("a", None, &ListOptions::new().filter(Filter::new().label(nul))), Code::Invalid);
    refused(f.store.shared_state(nul, None), Code::Invalid);
    refused(f.store.take_lease(KEY, nul, 0, None), Code::Invalid);
    refused(
        f.store.create_with(Key::user("a", "u"), None, &CreateOptions::new().label(nul, "v")),
        Code::Invalid,
    );
    refused(f.store.state_as_of(KEY, Point::Event(nul), false), Code::Invalid);
    refused(f.store.load_json((Some(nul), None, None), "{}", LoadOptions::default()), Code::Invalid);
    refused(Store::open(nul), Code::Invalid);
    refused(session.state().get(nul), Code::Invalid);
    refused(session.set_title(Some(nul)), Code::Invalid);
    refused(session.begin_invocation(Some(nul)).map(drop), Code::Invalid);
    refused(session.track().unwrap().set_int(nul, 1), Code::Invalid);
    refused(Builder::new(&f.store, nul, None).map(drop), Code::Invalid);
}

#[test]
fn ids_that_break_the_rules_are_invalid() {
    let f = fixture();
    let long = "x".repeat(513);
    for id in ["", &long] {
        refused(f.store.create(Key::new("a", "u", id), None), Code::Invalid);
        refused(f.store.get(Key::new(id, "u", "s")), Code::Invalid);
    }
    refused(f.store.get(Key::user("a", "u")), Code::Misuse);
    let id = "x".repeat(512);
    f.store.create(Key::new(&id, &id, &id), None).unwrap();
}

#[test]
fn numbers_of_any_size_stay_as_they_are() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let digits = "1".repeat(5000);
    session
        .append(&event("e", &format!(r#"{{"big":{digits},"neg":-9223372036854775809,"e":1e-999}}"#)))
        .unwrap();
    assert_eq!(session.state().get("big").unwrap(), Some(&*digits));
    refused(session.state().int("big"), Code::Range);
    refused(session.state().int("neg"), Code::Range);
    assert_eq!(session.state().float("e").unwrap(), Some(0.0));
}

#[test]
fn what_is_not_an_event_is_refused_with_its_place() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    for (text, code) in [
        ("", Code::Json),
        ("nope", Code::Json),
        (r#"{"a":NaN}"#, Code::Json),
        (r#"{"a":Infinity}"#, Code::Json),
        (r#"{"a":1,}"#, Code::Json),
        ("{}\0", Code::Json),
        ("[]", Code::Invalid),
        (r#"{"id":1}"#, Code::Invalid),
        (r#"{"id":"\ud800"}"#, Code::Invalid),
        (r#"{"id":"a\u0000"}"#, Code::Invalid),
        (r#"{"invocationId":"a","invocation_id":"b"}"#, Code::Invalid),
        (r#"{"actions":{"stateDelta":[]}}"#, Code::Invalid),
    ] {
        refused(session.append(text), code);
    }
    assert_eq!(refused(session.append(r#"{"a":NaN}"#), Code::Json).offset(), Some(5));
    let deep = format!("{}{}", "[".repeat(1001), "]".repeat(1001));
    refused(session.append(&format!(r#"{{"a":{deep}}}"#)), Code::Limit);
    refused(f.store.create(Key::user("a", "u"), Some("[]")), Code::Invalid);
    assert_eq!(session.event_count(), 0);
    // A lone surrogate in a text that the store does not read is kept.
    session.append(r#"{"id":"s","x":"\ud800"}"#).unwrap();
    assert!(session.event(0).unwrap().json().unwrap().contains(r"\ud800"));
    assert!(session.event(0).unwrap().value().is_err());
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_invalid() {
    use std::os::unix::ffi::OsStrExt;
    refused(Store::open(std::ffi::OsStr::from_bytes(b"/tmp/\xff")), Code::Invalid);
}
