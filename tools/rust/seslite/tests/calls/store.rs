//! The store itself: opening, backups, checks, facts, and what it calls.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use crate::common::{event, fixture, refused, KEY};
use seslite::*;

#[test]
fn opening_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    refused(Store::open_with(folder.path().join("none"), OpenOptions::new().must_exist()), Code::NotFound);
    std::fs::write(folder.path().join("text"), "not a database, but a text that is long enough to be read")
        .unwrap();
    let error = refused(Store::open(folder.path().join("text")), Code::NotAStore);
    assert!(error.message().contains("text"), "{error}");
    refused(Store::open(folder.path().join("no/such/folder")), Code::CannotOpen);
    refused(Store::open(""), Code::Invalid);
}

#[test]
fn backup_copy_check_and_upkeep() {
    let f = fixture();
    f.store.create(KEY, Some(r#"{"k":1}"#)).unwrap().append(&event("e", "{}")).unwrap();
    let path = f.folder.path().join("backup.db");
    let mut calls = 0;
    f.store
        .backup_with(&path, false, false, |_, _| {
            calls += 1;
            true
        })
        .unwrap();
    assert!(calls > 0);
    refused(f.store.backup(&path, false, false), Code::Exists);
    f.store.backup(&path, true, true).unwrap();
    refused(f.store.backup_with(f.folder.path().join("b2"), false, false, |_, _| false), Code::Interrupted);
    let backup = Store::open_with(&path, OpenOptions::new().read_only()).unwrap();
    assert_eq!(&*backup.state(KEY).unwrap(), r#"{"k":1}"#);
    refused(backup.append(KEY, "{}", &AppendOptions::new()), Code::ReadOnly);
    let copy = f.store.copy(OpenOptions::new()).unwrap();
    assert_eq!(copy.get(KEY).unwrap().event_count(), 1);
    for level in [CheckLevel::Quick, CheckLevel::Full, CheckLevel::Log] {
        assert_eq!(f.store.check(level, 0, |problem| panic!("{problem:?}")).unwrap(), 0);
    }
    assert!(!f.store.maintain(0).unwrap());
    assert!(f.store.space().unwrap().bytes > 0);
    let info = f.store.info().unwrap();
    assert_eq!(
        (info.engine, info.schema_version, info.read_only, info.journal_mode),
        ("sqlite", 3, false, "wal")
    );
    let fixed = info.sqlite_version != "3.46.0";
    assert!(fixed || info.sqlite_bugs.starts_with("WAL-reset"), "{info:?}");
    assert_eq!(f.store.stats().unwrap().events, 1);
    assert_eq!(f.store.make_id().unwrap().len(), 36);
    assert_eq!(&*f.store.quote("a\"\u{1}").unwrap(), r#""a\"\u0001""#);
    f.store.interrupt().unwrap();
    assert_eq!(version(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_file_with_two_names_is_opened_only_if_that_is_asked_for() {
    let f = fixture();
    let [path, other] = ["agents.db", "other.db"].map(|name| f.folder.path().join(name));
    drop(f.store);
    std::fs::hard_link(&path, &other).unwrap();
    assert!(refused(Store::open(&path), Code::CannotOpen).message().contains("second name"));
    Store::open_with(&path, OpenOptions::new().linked()).unwrap().create(KEY, None).unwrap();
}

#[test]
fn a_clock_and_a_maker_of_ids_are_called() {
    let ticks = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&ticks);
    let number = AtomicI64::new(0);
    let options = OpenOptions::new()
        .clock(move || clock.fetch_add(1, Ordering::Relaxed))
        .make_id(move || Some(format!("id-{}", number.fetch_add(1, Ordering::Relaxed))))
        .synchronous(Synchronous::Normal)
        .journal(Journal::Auto)
        .busy_timeout_ms(0)
        .max_readers(2)
        .max_event_bytes(1000)
        .max_session_events(2);
    let store = Store::open_with(":memory:", options).unwrap();
    let mut session = store.create(Key::user("a", "u"), None).unwrap();
    assert_eq!(session.id(), "id-0");
    assert!(session.created_us() >= 1_000_000 && session.created_us() < 1_000_100);
    assert_eq!(session.append("{}").unwrap().made_id.as_deref(), Some("id-1"));
    refused(session.append(&format!(r#"{{"x":"{}"}}"#, "y".repeat(1000))), Code::Limit);
    session.append("{}").unwrap();
    refused(session.append("{}"), Code::Limit);
}

#[test]
fn a_panic_in_a_callback_stays_in_rust() {
    let options = OpenOptions::new().clock(|| panic!("no clock")).make_id(|| panic!("no id"));
    let store = Store::open_with(":memory:", options).unwrap();
    refused(store.create(Key::user("a", "u"), None), Code::Invalid);
    assert!(store.create(Key::new("a", "u", "s"), None).unwrap().created_us() > 1_700_000_000_000_000);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.load(Key::new("a", "u", "l"), &Loaded::default(), || panic!("in next"), LoadOptions::default())
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"in next"));
    refused(store.get(Key::new("a", "u", "l")), Code::NotFound);
    let folder = tempfile::tempdir().unwrap();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.backup_with(folder.path().join("b"), false, false, |_, _| panic!("in progress"))
    }));
    assert!(panic.is_err());
    store.create(Key::new("a", "u", "after"), None).unwrap();
}

#[test]
fn every_code_has_a_name() {
    for code in Code::ALL {
        assert!(code.name().starts_with("SES_"), "{code:?}");
    }
    assert_eq!((Code::NotFound.name(), Code::NotFound.number()), ("SES_NOTFOUND", -5));
}

/// The SQLite that the tests link has no cipher, unless somebody gives them one.
#[test]
fn a_store_is_encrypted_or_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let [path, plain, copy] = ["a.db", "plain.db", "copy.db"].map(|name| folder.path().join(name));
    match Store::open_with(&path, OpenOptions::new().key(&[7; 32])) {
        Err(error) => {
            assert_eq!(error.code(), Code::Unsupported, "{error}");
            assert!(!path.exists());
        }
        Ok(store) => {
            store.backup_with_key(&plain, false, false, None).unwrap();
            refused(Store::open(&path), Code::Key);
        }
    }
    let store = Store::open(&plain).unwrap();
    match store.backup_with_key(&copy, false, true, Some(&[8; 32])) {
        Err(error) => {
            assert_eq!(error.code(), Code::Unsupported, "{error}");
            assert!(!copy.exists());
        }
        Ok(()) => drop(refused(Store::open(&copy), Code::Key)),
    }
}
