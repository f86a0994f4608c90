//! Every call of the store.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use crate::common::{event, fixture, refused, KEY};
use seslite::*;

#[test]
fn a_session_keeps_events_and_state_byte_for_byte() {
    let f = fixture();
    let mut session =
        f.store.create(KEY, Some(r#"{"app:n":1.10,"user:big":9007199254740993,"s":"a\u0000b"}"#)).unwrap();
    let text = r#" {"id":"e1", "author":"agent","branch":"b","invocationId":"i1","x":1e400,"actions":{"stateDelta":{"k":-0.0,"temp:t":true}}} "#;
    let appended = session.append(text).unwrap();
    assert_eq!((appended.status, appended.seq, appended.version), (Status::Stored, 1, session.version()));
    assert_eq!(session.state().bool("temp:t").unwrap(), Some(true));

    let read = f.store.get(KEY).unwrap();
    let event = read.event(0).unwrap();
    assert!(event.json().unwrap().starts_with(" {"));
    assert!(event.json().unwrap().contains(r#""x":1e400"#) && !event.json().unwrap().contains("temp:t"));
    assert_eq!((event.seq(), event.id(), event.author(), event.branch()), (1, "e1", "agent", Some("b")));
    assert_eq!(event.invocation_id(), "i1");
    assert_eq!(event.time_us(), appended.time_us);
    let state = read.state();
    assert_eq!(state.get("app:n").unwrap(), Some("1.10"));
    assert_eq!(state.get("k").unwrap(), Some("-0.0"));
    assert_eq!(state.int("user:big").unwrap(), Some(9007199254740993));
    assert_eq!(state.string("s").unwrap(), Some("a\0b"));
    assert_eq!(state.get("temp:t").unwrap(), None);
    let all: Result<Vec<_>> = state.iter().collect();
    assert_eq!(all.unwrap().iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["app:n", "user:big", "k", "s"]);
    assert_eq!(state.len(), 4);
    assert!(state.json().unwrap().starts_with(r#"{"app:n":1.10,"#));
    assert_eq!(state.value("app:n").unwrap(), Some(serde_json::json!(1.1)));
    assert!(read.json().unwrap().contains(r#""appName":"app""#));
}

#[test]
fn a_getter_tells_types_and_ranges() {
    let f = fixture();
    let session = f.store.create(KEY, Some(r#"{"f":1.5,"t":"x","huge":1e400,"b":false,"s":"\ud800"}"#)).unwrap();
    let state = session.state();
    assert_eq!(state.float("f").unwrap(), Some(1.5));
    assert_eq!(state.bool("b").unwrap(), Some(false));
    refused(state.int("f"), Code::Type);
    refused(state.int("t"), Code::Type);
    refused(state.float("huge"), Code::Range);
    refused(state.string("s"), Code::Range);
    assert_eq!(state.get("s").unwrap(), Some(r#""\ud800""#));
    assert_eq!(state.int("absent").unwrap(), None);
}

#[test]
fn create_get_and_get_or_create() {
    let f = fixture();
    let made = f.store.create(Key::user("app", "alice"), None).unwrap();
    assert_eq!(made.id().len(), 36);
    let options =
        CreateOptions::new().title("a title").label("kind", "test").create_us(5).expires_us(4_102_444_800_000_000);
    let (session, created) = f.store.get_or_create(KEY, Some(r#"{"a":1}"#), &options).unwrap();
    assert!(created);
    assert_eq!((session.title(), session.created_us()), (Some("a title"), 5));
    assert_eq!(session.labels().collect::<Vec<_>>(), [("kind", "test")]);
    assert_eq!(session.label("kind").unwrap(), Some("test"));
    assert_eq!(session.expires_us(), Some(4_102_444_800_000_000));
    assert!(session.parent().is_none());
    let (_, created) = f.store.get_or_create(KEY, Some(r#"{"a":2}"#), &CreateOptions::new()).unwrap();
    assert!(!created);
    refused(f.store.create(KEY, None), Code::Exists);
    refused(f.store.get(Key::new("app", "bob", "s1")), Code::NotFound);
}

#[test]
fn a_stale_handle_is_refused_and_says_the_version() {
    let f = fixture();
    let mut one = f.store.create(KEY, None).unwrap();
    let mut other = f.store.get(KEY).unwrap();
    other.append(&event("e1", "{}")).unwrap();
    let error = refused(one.append(&event("e2", "{}")), Code::Stale);
    assert_eq!(error.version(), Some(other.version()));
    one.refresh().unwrap();
    one.append(&event("e2", "{}")).unwrap();
    assert_eq!(one.append(&event("e2", "{}")).unwrap().status, Status::Duplicate);
    assert_eq!(other.append_with(&event("e3", "{}"), &AppendOptions::new().anyway()).unwrap().seq, 3);
    assert_eq!(other.events().map(|event| event.id().to_owned()).collect::<Vec<_>>(), ["e1", "e2", "e3"]);
    assert_eq!(other.events().next_back().unwrap().id(), "e3");
    assert_eq!(one.append(r#"{"partial":true}"#).unwrap().status, Status::Partial);
}

#[test]
fn appends_by_key_batches_expected_and_delta() {
    let f = fixture();
    f.store.create(KEY, Some(r#"{"user:n":1}"#)).unwrap();
    let options = AppendOptions::new().expected(r#"{"user:n":1}"#).delta(r#"{"user:n":2}"#);
    let first = f.store.append(KEY, r#"{"author":"a"}"#, &options).unwrap();
    assert_eq!(first.made_id.as_ref().map(String::len), Some(36));
    refused(f.store.append(KEY, r#"{"author":"a"}"#, &options), Code::Stale);
    refused(f.store.append(KEY, "{}", &AppendOptions::new().at_version(first.version - 1)), Code::Stale);
    let (one, two) = (event("b1", "{}"), event("b2", "{}"));
    let batch = f.store.append_batch(KEY, &[&one, r#"{"partial":true}"#, &two], &AppendOptions::new()).unwrap();
    assert_eq!(batch.iter().map(|a| a.seq).collect::<Vec<_>>(), [2, 0, 3]);
    let error = refused(f.store.append_batch(KEY, &["{}", "{"], &AppendOptions::new()), Code::Json);
    assert_eq!(error.index(), Some(1));
    assert_eq!(error.offset(), Some(1));
    let mut session = f.store.get(KEY).unwrap();
    assert_eq!(session.append_batch(&[&event("b3", "{}")], &AppendOptions::new()).unwrap().len(), 1);
    assert_eq!(&*f.store.state_value(KEY, "user:n").unwrap().unwrap(), "2");
    assert_eq!(&*f.store.state(KEY).unwrap(), r#"{"user:n":2}"#);
}

#[test]
fn shared_state_without_a_session() {
    let f = fixture();
    f.store.change_shared_state("app", Some("alice"), r#"{"n":1}"#, None).unwrap();
    f.store.change_shared_state("app", None, r#"{"x":true}"#, None).unwrap();
    assert_eq!(&*f.store.shared_state("app", Some("alice")).unwrap(), r#"{"n":1}"#);
    assert_eq!(&*f.store.shared_state_value("app", None, "x").unwrap().unwrap(), "true");
    assert!(f.store.shared_state_value("app", None, "y").unwrap().is_none());
    refused(f.store.change_shared_state("app", None, r#"{"x":1}"#, Some(r#"{"x":false}"#)), Code::Stale);
}

#[test]
fn ranges_and_cursors() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    for n in 1..=300 {
        session.append(&format!(r#"{{"id":"e{n}","timestamp":{n}}}"#)).unwrap();
    }
    let ids = |range: Range| {
        let session = f.store.get_range(KEY, range).unwrap();
        let ids: Vec<i64> = session.events().map(|event| event.seq()).collect();
        ids
    };
    assert_eq!(ids(Range::all()).len(), 300);
    assert_eq!(ids(Range::none()), [0_i64; 0]);
    assert_eq!(ids(Range::all().newest(0)), [0_i64; 0]);
    assert_eq!(ids(Range::all().newest(2)), [299, 300]);
    assert_eq!(ids(Range::all().since_us(299_000_000)), [299, 300]);
    assert_eq!(ids(Range::all().seq(5, 7).newest(2)), [6, 7]);
    assert_eq!(ids(Range::all().live()).len(), 300);
    let walked: Result<Vec<_>> = f.store.cursor(KEY, Range::all()).unwrap().collect();
    assert_eq!(walked.unwrap().len(), 300);
    let mut cursor = f.store.cursor_backward(KEY, Range::all().seq(1, 3)).unwrap();
    assert_eq!(cursor.advance().unwrap().unwrap().id(), "e3");
    assert_eq!(cursor.next().unwrap().unwrap().id, "e2");
    // A panic in the middle of an iterator closes it.
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for event in f.store.cursor(KEY, Range::all()).unwrap() {
            assert!(event.unwrap().seq < 100, "in the middle");
        }
    }));
    assert!(panic.is_err());
    // A walk that fails ends.
    let mut cursor = f.store.cursor(KEY, Range::all()).unwrap();
    cursor.next().unwrap().unwrap();
    f.store.delete(KEY, false).unwrap();
    let last = cursor.by_ref().find(|item| item.is_err()).unwrap();
    refused(last, Code::NotFound);
    assert!(cursor.next().is_none());
}

#[test]
fn lists_filters_names_and_deleting() {
    let f = fixture();
    for n in 0..25 {
        let id = format!("s{n:02}");
        let options = CreateOptions::new().label("parity", if n % 2 == 0 { "even" } else { "odd" });
        f.store.create_with(Key::new("app", "alice", &id), Some(r#"{"k":1}"#), &options).unwrap();
    }
    f.store.create(Key::new("app", "bob", "x"), None).unwrap();
    let mut ids = Vec::new();
    let mut token: Option<String> = None;
    loop {
        let mut options = ListOptions::new().order(Order::Created).limit(10);
        if let Some(token) = &token {
            options = options.token(token);
        }
        let page = f.store.list("app", Some("alice"), &options).unwrap();
        ids.extend(page.sessions().map(|session| session.id().to_owned()));
        assert_eq!(page.session(0).unwrap().state().get("k").unwrap(), Some("1"));
        assert!(page.session(page.len()).is_none());
        token = page.token().map(str::to_owned);
        if token.is_none() {
            break;
        }
    }
    assert_eq!(ids.len(), 25);
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    let filter = Filter::new().label_value("parity", "odd");
    assert_eq!(f.store.count("app", Some("alice"), &filter).unwrap(), 12);
    let options = ListOptions::new().filter(filter).without_state();
    let page = f.store.list("app", None, &options).unwrap();
    assert_eq!((page.len(), page.session(0).unwrap().state().len()), (12, 0));
    assert_eq!(f.store.count("app", Some("alice"), &Filter::new().id_prefix("s1")).unwrap(), 10);
    assert_eq!(f.store.apps(None, None, 0).unwrap().iter().collect::<Vec<_>>(), ["app"]);
    let users = f.store.users("app", None, None, 1).unwrap();
    assert_eq!((users.len(), users.next()), (1, Some("alice")));
    assert_eq!(f.store.users("app", users.next(), Some("b"), 1).unwrap().iter().collect::<Vec<_>>(), ["bob"]);
    refused(f.store.list("app", Some("alice"), &ListOptions::new().token("nonsense")), Code::Invalid);

    assert_eq!(f.store.delete(Key::new("app", "alice", "s00"), false).unwrap().count, 1);
    assert_eq!(f.store.delete(Key::new("app", "alice", "s00"), true).unwrap().count, 0);
    assert_eq!(f.store.delete_user("app", "alice", false).unwrap().sessions, 24);
    while f.store.delete_app("app", false, 0).unwrap().more {}
    assert!(f.store.apps(None, None, 0).unwrap().is_empty());
}

#[test]
fn titles_labels_expiry() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    session.set_title(Some("one")).unwrap();
    session.set_labels(&[("a", Some("1")), ("b", Some("2"))]).unwrap();
    f.store.set_labels(KEY, &[("a", None)]).unwrap();
    f.store.set_title(KEY, Some("two")).unwrap();
    session.refresh().unwrap();
    assert_eq!((session.title(), session.labels().collect::<Vec<_>>()), (Some("two"), vec![("b", "2")]));
    let soon = session.created_us() + 3_600_000_000;
    session.set_expiry(Some(soon)).unwrap();
    f.store.set_expiry(KEY, Some(soon)).unwrap();
    assert_eq!(f.store.expire(Some("app"), &ExpireOptions::new()).unwrap().count, 0);
    assert_eq!(f.store.expire(None, &ExpireOptions::new().now_us(soon)).unwrap(), Deleted { count: 1, more: false });
    refused(session.set_title(None), Code::NotFound);
}

#[test]
fn history() {
    let f = fixture();
    let mut session = f.store.create(KEY, Some(r#"{"k":0}"#)).unwrap();
    for n in 1..=4 {
        let text = format!(
            r#"{{"id":"e{n}","author":"user","invocationId":"i{n}","content":{{"role":"user","parts":[{{"text":"x"}}]}},"actions":{{"stateDelta":{{"k":{n}}}}}}}"#
        );
        session.append(&text).unwrap();
    }
    assert_eq!(&*session.state_as_of(Point::Seq(2), false).unwrap(), r#"{"k":2}"#);
    assert_eq!(&*f.store.state_as_of(KEY, Point::Event("e1"), true).unwrap(), r#"{"k":1}"#);
    assert_eq!(&*session.initial_state().unwrap(), r#"{"k":0}"#);
    assert_eq!(&*f.store.initial_state(KEY).unwrap(), r#"{"k":0}"#);
    assert_eq!(session.rewind(Point::LastTurn, &RewindOptions::new()).unwrap().status, Status::Stored);
    assert_eq!(session.state().int("k").unwrap(), Some(3));
    assert_eq!(session.redo(&RewindOptions::new()).unwrap().status, Status::Stored);
    assert_eq!(session.state().int("k").unwrap(), Some(4));
    f.store.rewind(KEY, Point::BeforeInvocation("i3"), &RewindOptions::new()).unwrap();
    assert_eq!(f.store.get_range(KEY, Range::all().live()).unwrap().event_count(), 2);
    f.store.redo(KEY, &RewindOptions::new()).unwrap();
    refused(session.rewind(Point::Now, &RewindOptions::new().artifact_delta("[]")), Code::Invalid);
    refused(session.rewind(Point::LastTurn, &RewindOptions::new()), Code::Stale);
    session.refresh().unwrap();

    let mut fork = session.fork(Point::Seq(2), Some(Key::new("app", "alice", "f")), &ForkOptions::new()).unwrap();
    let (parent, seq) = fork.parent().unwrap();
    assert_eq!((parent, seq), (KEY, 2));
    assert_eq!(fork.event_count(), 2);
    let other = f
        .store
        .fork(KEY, Point::Now, Some(Key::user("app", "bob")), &ForkOptions::new().other_user().range(Range::none()))
        .unwrap();
    assert_eq!((other.event_count(), other.user()), (0, "bob"));
    assert_eq!(fork.cut(Point::Seq(1), &CutOptions::new()).unwrap().count, 1);
    assert_eq!(
        f.store.cut(Key::new("app", "alice", "f"), Point::Seq(0), &CutOptions::new().secure()).unwrap().count,
        1
    );
    assert_eq!(&*f.store.state(Key::new("app", "alice", "f")).unwrap(), r#"{"k":0}"#);
    assert_eq!(session.prune(&PruneOptions::new().up_to(1)).unwrap().count, 1);
    assert_eq!(f.store.prune(KEY, &PruneOptions::new().keep(1000)).unwrap().count, 0);
    session.refresh().unwrap();
    assert_eq!(session.base_seq(), 1);
}

#[test]
fn leases() {
    let f = fixture();
    f.store.create(KEY, None).unwrap();
    let one = f.store.take_lease(KEY, "one", 0, None).unwrap();
    refused(f.store.take_lease(KEY, "two", 0, Some(0)), Code::Busy);
    f.store.append(KEY, "{}", &AppendOptions::new().lease(one.token)).unwrap();
    assert!(f.store.renew_lease(KEY, one.token, 1_000_000).unwrap().until_us > 0);
    f.store.release_lease(KEY, one.token).unwrap();
    let two = f.store.take_lease(KEY, "two", 0, Some(0)).unwrap();
    assert_ne!(one.token, two.token);
    refused(f.store.append(KEY, "{}", &AppendOptions::new().lease(one.token)), Code::Leased);
}

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
    });
    result.unwrap();
    assert_eq!((counts.made, counts.keys, seen), (1, 1, 1));
    let mut again = Vec::new();
    copy.export(&ExportOptions { app: Some("app"), ..Default::default() }, &mut again).unwrap();
    assert!(!again.is_empty());
    let (_, cut) = copy.import(&ImportOptions::default(), &lines[..lines.len() / 2], |_| {});
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
    let again = f.store.load_json(to, &json, LoadOptions { conflict: Conflict::Rename, ..Default::default() }).unwrap();
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
    let result = f.store.load(Key::new("app", "alice", "loaded"), &loaded, next, LoadOptions::default()).unwrap();
    assert_eq!((result.outcome, result.events), (Outcome::New, 3));
    let failing = || Err(Error::new(Code::Corrupt, "the source is damaged"));
    let error = refused(
        f.store.load(Key::new("app", "a", "l"), &Loaded::default(), failing, LoadOptions::default()),
        Code::Corrupt,
    );
    assert!(error.message().contains("the source is damaged"), "{error}");
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
    assert_eq!((info.engine, info.schema_version, info.read_only, info.journal_mode), ("sqlite", 1, false, "wal"));
    assert_eq!(f.store.stats().unwrap().events, 1);
    assert_eq!(f.store.make_id().unwrap().len(), 36);
    assert_eq!(&*f.store.quote("a\"\u{1}").unwrap(), r#""a\"\u0001""#);
    f.store.interrupt().unwrap();
    assert_eq!(version(), env!("CARGO_PKG_VERSION"));
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
fn opening_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    refused(Store::open_with(folder.path().join("none"), OpenOptions::new().must_exist()), Code::NotFound);
    std::fs::write(folder.path().join("text"), "not a database, but a text that is long enough to be read").unwrap();
    let error = refused(Store::open(folder.path().join("text")), Code::NotAStore);
    assert!(error.message().contains("text"), "{error}");
    refused(Store::open(folder.path().join("no/such/folder")), Code::CannotOpen);
    refused(Store::open(""), Code::Invalid);
}

#[test]
fn every_code_has_a_name() {
    for code in Code::ALL {
        assert!(code.name().starts_with("SES_"), "{code:?}");
    }
    assert_eq!((Code::NotFound.name(), Code::NotFound.number()), ("SES_NOTFOUND", -5));
}
