//! Export and import.

use crate::common::{event, fixture, refused, KEY};
use seslite::*;

#[test]
fn in_and_out() {
    let f = fixture();
    let mut session = f.store.create(KEY, Some(r#"{"user:n":1,"k":1}"#)).unwrap();
    session.append(&event("e1", r#"{"k":2}"#)).unwrap();
    let mut lines = Vec::new();
    f.store.export(&ExportOptions::default(), &mut lines).unwrap();
    let copy = Store::open(":memory:").unwrap();
    let mut seen = 0;
    let (counts, result) = copy.import(&ImportOptions::default(), &lines[..], |item| {
        assert_eq!((item.session, item.outcome, item.events), (Some("s1"), Outcome::New, 1));
        seen += 1;
        true
    });
    result.unwrap();
    assert_eq!((counts.made, counts.keys, seen), (1, 1, 1));
    let mut again = Vec::new();
    copy.export(&ExportOptions { app: Some("app"), ..Default::default() }, &mut again).unwrap();
    assert!(!again.is_empty());
    let (_, ended) = copy.import(&ImportOptions::default(), &lines[..], |_| false);
    assert_eq!(ended.unwrap_err().code(), Code::Interrupted);
    let (_, cut) = copy.import(&ImportOptions::default(), &lines[..lines.len() / 2], |_| true);
    assert!(cut.is_err());

    // A writer that fails ends the export with its own words.
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no room"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(refused(f.store.export(&ExportOptions::default(), Full), Code::Io).message().contains("no room"));

    let json = session.json().unwrap();
    let to = (None, Some("bob"), Some("s2"));
    let result = f.store.load_json(to, &json, LoadOptions::default()).unwrap();
    assert_eq!((result.outcome, result.events, result.session.as_str()), (Outcome::New, 1, "s2"));
    let again = f
        .store
        .load_json(to, &json, LoadOptions { conflict: Conflict::Rename, ..Default::default() })
        .unwrap();
    assert_eq!(again.outcome, Outcome::Equal);

    let mut left = 3;
    let next = || {
        left -= 1;
        Ok((left >= 0).then(|| LoadedEvent {
            json: event(&format!("l{left}"), r#"{"a":1}"#),
            seq: 0,
            updated_us: None,
        }))
    };
    let loaded = Loaded {
        initial_state: Some(r#"{"z":1}"#),
        state: Some(r#"{"a":1,"z":1}"#),
        created_us: Some(1),
        title: Some("t"),
        labels: vec![("l", "v")],
        parent: Some((KEY, 1)),
        ..Default::default()
    };
    let result =
        f.store.load(Key::new("app", "alice", "loaded"), &loaded, next, LoadOptions::default()).unwrap();
    assert_eq!((result.outcome, result.events), (Outcome::New, 3));
    let failing = || Err(Error::new(Code::Corrupt, "the source is damaged"));
    let error = refused(
        f.store.load(Key::new("app", "a", "l"), &Loaded::default(), failing, LoadOptions::default()),
        Code::Corrupt,
    );
    assert!(error.message().contains("the source is damaged"), "{error}");
}

#[test]
fn a_loaded_session_follows_what_is_given() {
    let f = fixture();
    let mut given = Loaded { title: Some("one"), origin: 4711, created_us: Some(1), ..Default::default() };
    let load = |given: &Loaded<'_>, follow| {
        let options = LoadOptions { conflict: Conflict::Update, follow, ..Default::default() };
        f.store.load(KEY, given, || Ok(None), options)
    };
    assert_eq!(load(&given, true).unwrap().outcome, Outcome::New);
    given.title = Some("two");
    given.labels = vec![("l", "v")];
    refused(load(&given, false), Code::Exists);
    assert_eq!(load(&given, true).unwrap().outcome, Outcome::Updated);
    let session = f.store.get(KEY).unwrap();
    assert_eq!((session.title(), session.labels().collect::<Vec<_>>()), (Some("two"), vec![("l", "v")]));
    let mut lines = Vec::new();
    f.store.export(&ExportOptions::default(), &mut lines).unwrap();
    assert!(String::from_utf8(lines).unwrap().contains(r#""origin":4711"#));
}

#[test]
fn an_export_goes_on_after_damage() {
    let f = fixture();
    for id in ["sound", "torn"] {
        let event = format!(r#"{{"id":"{id}","author":"a"}}"#);
        f.store.create(Key::new("app", "alice", id), None).unwrap().append(&event).unwrap();
    }
    let path = f.folder.path().join("agents.db");
    drop(f.store);
    let mut bytes = std::fs::read(&path).unwrap();
    let torn = br#""id":"torn","author":"a"}"#;
    let at = bytes.windows(torn.len()).position(|window| window == torn).unwrap();
    bytes[at + torn.len() - 1] = b']';
    std::fs::write(&path, bytes).unwrap();

    let store = Store::open(&path).unwrap();
    refused(store.export(&ExportOptions::default(), std::io::sink()), Code::Corrupt);
    let skip = ExportOptions { skip: true, ..Default::default() };
    refused(store.export(&skip, std::io::sink()), Code::Misuse);
    let (mut lines, mut left_out) = (Vec::new(), Vec::new());
    let tell = |why: &Error| {
        left_out.push((why.code(), why.message().contains("torn")));
        true
    };
    store.export_telling(&skip, &mut lines, |_, _| true, tell).unwrap();
    assert_eq!(left_out, [(Code::Corrupt, true)]);
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.contains("sound") && !lines.contains("torn"), "{lines}");
    refused(store.export_telling(&skip, std::io::sink(), |_, _| true, |_| false), Code::Interrupted);
    let panicking = || store.export_telling(&skip, std::io::sink(), |_, _| true, |_| panic!("in left_out"));
    assert_eq!(panic_of(panicking), "in left_out");
}

#[test]
fn an_export_and_a_check_tell_how_far_they_are() {
    let f = fixture();
    for n in 0..3 {
        let mut session = f.store.create(Key::new("app", "alice", &format!("s{n}")), None).unwrap();
        session.append(&event("e", "{}")).unwrap();
    }
    let mut told = Vec::new();
    f.store
        .export_with(&ExportOptions::default(), std::io::sink(), |sessions, events| {
            told.push((sessions, events));
            true
        })
        .unwrap();
    assert_eq!(told, [(1, 1), (2, 2), (3, 3)]);
    let mut told = Vec::new();
    let tell = |done, total| {
        told.push((done, total));
        true
    };
    assert_eq!(f.store.check_with(CheckLevel::Log, 0, |_| true, tell).unwrap(), 0);
    assert!(
        told.windows(2).all(|pair| pair[0] <= pair[1]) && told.iter().any(|&(_, total)| total == 3),
        "{told:?}"
    );
    refused(f.store.check_with(CheckLevel::Log, 0, |_| true, |_, _| false), Code::Interrupted);
}

/// The message of a panic.
fn panic_of<T>(call: impl FnOnce() -> T) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().unwrap();
    (*panic.downcast_ref::<&str>().unwrap()).to_owned()
}

#[test]
fn a_panic_ends_what_goes_out_or_in_and_goes_on() {
    struct Panics;
    impl std::io::Write for Panics {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            panic!("in write")
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl std::io::Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("in read")
        }
    }
    let f = fixture();
    for n in 0..3 {
        f.store.create(Key::new("app", "alice", &format!("s{n}")), None).unwrap();
    }
    let all = ExportOptions::default();
    assert_eq!(panic_of(|| f.store.export(&all, Panics)), "in write");
    let mut calls = 0;
    let progress = |_, _| {
        calls += 1;
        panic!("in progress")
    };
    assert_eq!(panic_of(|| f.store.export_with(&all, std::io::sink(), progress)), "in progress");
    assert_eq!(calls, 1);
    assert_eq!(
        panic_of(|| f.store.check_with(CheckLevel::Log, 0, |_| true, |_, _| panic!("in check"))),
        "in check"
    );

    let mut lines = Vec::new();
    f.store.export(&all, &mut lines).unwrap();
    let copy = Store::open(":memory:").unwrap();
    assert_eq!(panic_of(|| copy.import(&ImportOptions::default(), Panics, |_| true)), "in read");
    assert_eq!(
        panic_of(|| copy.import(&ImportOptions::default(), &lines[..], |_| panic!("in report"))),
        "in report"
    );
    // The store is as good as before.
    copy.import(&ImportOptions::default(), &lines[..], |_| true).1.unwrap();
    assert_eq!(copy.check(CheckLevel::Log, 0, |_| true).unwrap(), 0);
    assert_eq!(copy.count("app", None, &Filter::new()).unwrap(), 3);
}
