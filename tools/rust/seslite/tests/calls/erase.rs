//! Redacting events, and finding what to redact.

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
    let erased =
        session.redact(Some(&[2, 1, 1]), &RedactOptions::new().state().secure().text("gone")).unwrap();
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
    assert_eq!(
        f.store.expire(None, &ExpireOptions::new().receipt()).unwrap().erased.unwrap().forks_left,
        None
    );
}

#[test]
fn pieces_that_a_closure_finds() {
    let f = told();
    let erased = f.store.redact_found(KEY, None, &RedactOptions::new().state(), secret_in).unwrap();
    assert_eq!((erased.events, erased.state_keys), (2, 2));
    assert!(log(&f).contains("ä [redacted], [redacted]") && !log(&f).contains(SECRET));
}

/// The first place of the secret from a byte on.
fn secret_in(text: &[u8], from: usize) -> Option<std::ops::Range<usize>> {
    let at = from + text[from..].windows(SECRET.len()).position(|window| window == SECRET.as_bytes())?;
    Some(at..at + SECRET.len())
}

#[test]
fn names_in_which_something_is_found() {
    let f = fixture();
    let mut session = f.store.create(KEY, Some(&format!(r#"{{"of {SECRET}":1,"n":2}}"#))).unwrap();
    session.set_title(Some(SECRET)).unwrap();
    let state = RedactOptions::new().state();
    let erased = f.store.redact_found(KEY, None, &state, secret_in).unwrap();
    assert_eq!((erased.names, erased.names_left, erased.derived_left), (0, 2, 0));
    let erased = f.store.redact_found(KEY, None, &state.names(), secret_in).unwrap();
    assert_eq!((erased.names, erased.names_left), (2, 0));
    session.refresh().unwrap();
    assert_eq!((&*session.state().json().unwrap(), session.title()), (r#"{"n":2}"#, None));
    refused(f.store.redact_found(KEY, None, &RedactOptions::new().names(), secret_in), Code::Misuse);
}

#[test]
fn a_text_is_found_wherever_it_is() {
    let f = told();
    f.store.set_title(KEY, Some(&format!("about {SECRET}"))).unwrap();
    f.store
        .save_artifact(KEY, "a.bin", &[b"\xff", SECRET.as_bytes()].concat(), &ArtifactSaveOptions::new())
        .unwrap();
    let found = |findings: Findings<'_>| findings.map(|finding| finding.unwrap()).collect::<Vec<_>>();
    let all = found(f.store.find(SECRET, &FindOptions::new()).unwrap());
    let places: Vec<_> =
        all.iter().map(|place| (place.kind, place.name.as_deref(), place.seq, place.version)).collect();
    assert_eq!(
        places,
        [
            (Found::Title, None, None, None),
            (Found::Value, Some("k1"), None, None),
            (Found::Value, Some("k2"), None, None),
            (Found::Bytes, Some("a.bin"), None, Some(0)),
            (Found::Event, None, Some(1), None),
            (Found::Event, None, Some(2), None),
        ]
    );
    let title = &all[0];
    assert_eq!(
        (&*title.app, title.user.as_deref(), title.session.as_deref()),
        ("app", Some("alice"), Some("s1"))
    );
    assert_eq!((title.text.as_deref(), title.text_found), (Some(&*format!("about {SECRET}")), 6));
    assert_eq!(all[3].text, None);

    let session = FindOptions::new().app("app").user("alice").session("s1");
    assert_eq!(found(f.store.find(&SECRET.to_uppercase(), &session.ignore_case()).unwrap()), all);
    assert_eq!(found(f.store.find_pieces(secret_in, &session).unwrap()), all);
    assert_eq!(found(f.store.find(SECRET, &FindOptions::new().app("none")).unwrap()), []);
    refused(
        f.store.find(SECRET, &FindOptions::new().app("app").user("alice").session("none")),
        Code::NotFound,
    );
    refused(f.store.find(SECRET, &FindOptions::new().session("s1")), Code::Misuse);
    refused(f.store.find("", &FindOptions::new()), Code::Invalid);
}

#[test]
fn findings_are_read_page_by_page() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let event = format!(r#"{{"author":"user","content":{{"parts":[{{"text":"{SECRET}"}}]}}}}"#);
    session.append_batch(&[&*event; 250], &AppendOptions::new()).unwrap();
    let mut calls = 0;
    let count = |text: &[u8], from: usize| {
        calls += 1;
        secret_in(text, from)
    };
    let findings = f.store.find_pieces(count, &FindOptions::new()).unwrap();
    let seqs: Vec<_> = findings.map(|finding| finding.unwrap().seq.unwrap()).collect();
    assert_eq!(seqs, (1..=250).collect::<Vec<_>>());
    assert!(calls >= 250);

    // Not all at once: what ends it comes later.
    let mut findings = f.store.find(SECRET, &FindOptions::new()).unwrap();
    assert_eq!(findings.next().unwrap().unwrap().seq, Some(1));
    f.store.delete(KEY, &DeleteOptions::new()).unwrap();
    assert_eq!(findings.filter(|finding| finding.is_ok()).count(), 99);
    let mut left = 150;
    let panics = |text: &[u8], from: usize| {
        left -= 1;
        assert!(left > 0, "own");
        secret_in(text, from)
    };
    f.store.create(KEY, None).unwrap().append_batch(&[&*event; 250], &AppendOptions::new()).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        f.store.find_pieces(panics, &FindOptions::new()).map(Iterator::count)
    }));
    assert!(panicked.is_err());
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
