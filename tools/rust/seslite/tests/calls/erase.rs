//! Redacting events.

use crate::common::{fixture, refused, Fixture, KEY};
use seslite::*;

const SECRET: &str = "sk-4711";

fn told() -> Fixture {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    for n in 1..=2 {
        session
            .append(&format!(
                r#"{{"id":"e{n}","author":"user","content":{{"parts":[{{"text":"ä {SECRET}, {SECRET}"}}]}},"actions":{{"stateDelta":{{"k{n}":"{SECRET}"}}}}}}"#
            ))
            .unwrap();
    }
    f
}

fn log(f: &Fixture) -> String {
    let session = f.store.get(KEY).unwrap();
    session.events().map(|event| event.json().unwrap().to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn events_by_number() {
    let f = told();
    let counted = f.store.redact(KEY, Some(&[1]), &RedactOptions::new().dry_run()).unwrap();
    assert_eq!((counted.events, counted.state_left, counted.forks_left), (1, 1, Some(0)));
    let mut session = f.store.get(KEY).unwrap();
    let erased = session.redact(Some(&[2, 1, 1]), &RedactOptions::new().state().secure().text("gone")).unwrap();
    assert_eq!((erased.events, erased.state_keys, erased.more), (2, 2, false));
    assert!(!log(&f).contains(SECRET) && log(&f).contains(r#"{"text":"gone"}"#));
    assert_eq!(session.redact(Some(&[]), &RedactOptions::new()).unwrap().events, 0);
    refused(session.redact(Some(&[3]), &RedactOptions::new()), Code::NotFound);
    refused(f.store.redact(KEY, Some(&[1]), &RedactOptions::new().at_version(1)), Code::Stale);
}

#[test]
fn receipts_of_deletions() {
    let f = told();
    f.store.get(KEY).unwrap().fork(Point::Seq(1), None, &ForkOptions::new()).unwrap();
    assert_eq!(f.store.cut(KEY, Point::Seq(1), &CutOptions::new()).unwrap().erased, None);
    let popped = f.store.pop(KEY, Point::Seq(0), &CutOptions::new().receipt()).unwrap();
    let erased = popped.erased().unwrap();
    assert_eq!((erased.events, erased.forks_left), (1, Some(1)));
    let pruned = f.store.prune(KEY, &PruneOptions::new().keep(0).receipt()).unwrap();
    assert_eq!(pruned.erased.unwrap().events, 0);
    let deleted = f.store.delete(KEY, &DeleteOptions::new().secure().receipt()).unwrap();
    assert_eq!((deleted.count, deleted.erased.unwrap().sessions, deleted.more), (1, 1, false));
    let user = f.store.delete_user(KEY.app, KEY.user, &DeleteOptions::new().receipt()).unwrap();
    let erased = user.erased.unwrap();
    assert_eq!((erased.sessions, erased.events), (1, 1));
    assert_eq!(f.store.expire(None, &ExpireOptions::new().receipt()).unwrap().erased.unwrap().forks_left, None);
}

#[test]
fn pieces_that_a_closure_finds() {
    let f = told();
    let find = |text: &[u8], from: usize| {
        let at = text[from..].windows(SECRET.len()).position(|window| window == SECRET.as_bytes())?;
        Some(from + at..from + at + SECRET.len())
    };
    let erased = f.store.redact_found(KEY, None, &RedactOptions::new().state(), find).unwrap();
    assert_eq!((erased.events, erased.state_keys), (2, 2));
    assert!(log(&f).contains("ä [redacted], [redacted]") && !log(&f).contains(SECRET));
}

#[test]
fn a_closure_that_panics_changes_nothing() {
    let f = told();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        f.store.redact_found(KEY, None, &RedactOptions::new(), |_, _| panic!("own"))
    }));
    assert!(panicked.is_err() && log(&f).contains(SECRET));
}

#[test]
fn a_content_and_forks() {
    let f = told();
    let fork = Key::new("app", "alice", "fork");
    f.store.fork(KEY, Point::Now, Some(fork), &ForkOptions::new()).unwrap();
    let options = RedactOptions::new().content(r#"{"parts":[{"text":"harmless"}]}"#).forks().anyway();
    assert_eq!(f.store.redact(KEY, Some(&[1]), &options).unwrap().sessions, 1);
    assert!(log(&f).contains("harmless"));
}
