//! No leak over 100,000 calls: a program of its own, so that no other test allocates at the same time.

#[path = "calls/common.rs"]
mod common;

use common::KEY;
use seslite::*;

#[cfg(target_os = "linux")]
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// About 20 calls that make things of every kind, and errors.
#[cfg(target_os = "linux")]
fn round(store: &Store) {
    let mut session = store.get_range(KEY, Range::all().newest(5)).unwrap();
    let _ = session.state().json().unwrap();
    let _ = session.json().unwrap();
    let _ = store.state(KEY).unwrap();
    let _ = store.state_value(KEY, "k").unwrap();
    let _ =
        store.list("app", Some("alice"), &ListOptions::new().filter(Filter::new().id_prefix("s"))).unwrap();
    let _ = store.users("app", None, None, 0).unwrap();
    let mut cursor = store.cursor(KEY, Range::all().newest(3)).unwrap();
    while let Some(event) = cursor.advance().unwrap() {
        let _ = event.to_owned();
    }
    let mut view = session.track().unwrap();
    view.set_string("x", "y").unwrap();
    let _ = view.json().unwrap();
    let _ = view.render("{x}", &mut RenderOptions::new()).unwrap();
    drop(view);
    let mut builder = Builder::new(store, "agent", Some("i")).unwrap();
    let event = builder.text("hello").unwrap().json().unwrap().to_owned();
    let _ = Content::read(store, &event).unwrap().text().map(str::len);
    drop(store.follow(KEY, FollowOptions::new().notify(|| {})).unwrap());
    let _ = store.context(KEY, true).unwrap();
    let _ = store.pending(KEY).unwrap();
    let _ = store.search("app", Some("alice"), "hello", &SearchOptions::new().limit(1)).unwrap();
    let _ = store.artifact(KEY, "a", &ArtifactOpenOptions::new()).unwrap().read_all().unwrap();
    let _ = store.artifact_names(KEY, None, 0).unwrap();
    let options = ArtifactSaveOptions::new().mime_type("text/plain").created_us(1);
    Artifacts::new(store, KEY).unwrap().add_from("b", &b"b"[..], &options).unwrap();
    assert!(store.get(Key::new("app", "alice", "none")).is_err());
    assert!(store.append(KEY, "{", &AppendOptions::new()).is_err());
    assert!(store.get(Key::new("a\0", "b", "c")).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_over_100_000_calls() {
    let store = Store::open(":memory:").unwrap();
    let mut session = store.create(KEY, Some(r#"{"k":"v"}"#)).unwrap();
    for n in 0..20 {
        session.append(&common::event(&format!("e{n}"), r#"{"k":1}"#)).unwrap();
    }
    session.save_artifact("a", b"a", &ArtifactSaveOptions::new()).unwrap();
    for _ in 0..500 {
        round(&store);
    }
    let before = resident_kb();
    for _ in 0..5000 {
        round(&store);
    }
    let after = resident_kb();
    // 100,000 calls that leaked 16 bytes each would show as 1.6 MB.
    assert!(after < before + 1024, "{before} kB before, {after} kB after");
}
