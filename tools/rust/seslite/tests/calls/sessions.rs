//! Sessions, their events and their state.

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
    let document = read.markdown().unwrap();
    assert!(document.contains(", session ") && document.starts_with(&read.markdown_texts().unwrap()[..20]));
}

#[test]
fn a_getter_tells_types_and_ranges() {
    let f = fixture();
    let session =
        f.store.create(KEY, Some(r#"{"f":1.5,"t":"x","huge":1e400,"b":false,"s":"\ud800"}"#)).unwrap();
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
    let options = CreateOptions::new()
        .title("a title")
        .label("kind", "test")
        .created_us(5)
        .expires_us(4_102_444_800_000_000);
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
    let batch =
        f.store.append_batch(KEY, &[&one, r#"{"partial":true}"#, &two], &AppendOptions::new()).unwrap();
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
fn a_title_and_labels_go_with_an_append() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let marks = [("kind", Some("test")), ("done", Some(""))];
    let marking = AppendOptions::new().title("A title").labels(&marks);
    session.append_with(&event("e1", "{}"), &marking).unwrap();
    assert_eq!(session.title(), Some("A title"));
    assert_eq!(session.labels().collect::<Vec<_>>(), [("done", ""), ("kind", "test")]);
    let removal = [("done", None)];
    session.append_batch(&["{}", "{}"], &AppendOptions::new().labels(&removal)).unwrap();
    assert_eq!(session.labels().collect::<Vec<_>>(), [("kind", "test")]);
    let again = AppendOptions::new().title("Never");
    assert_eq!(session.append_with(&event("e1", "{}"), &again).unwrap().status, Status::Duplicate);
    f.store.append(KEY, "{}", &AppendOptions::new().title("By key")).unwrap();
    session.refresh().unwrap();
    assert_eq!((session.title(), session.label("done").unwrap()), (Some("By key"), None));
    refused(session.append_with("{}", &AppendOptions::new().title("")), Code::Invalid);
    refused(session.append_with("{}", &AppendOptions::new().title("a\0b")), Code::Invalid);
    refused(session.append_with("{}", &AppendOptions::new().labels(&[("", None)])), Code::Invalid);
    let names: Vec<String> = (0..65).map(|n| n.to_string()).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), Some("v"))).collect();
    refused(session.append_with("{}", &AppendOptions::new().labels(&many)), Code::Limit);
    let mut view = session.track().unwrap();
    view.append("{}", &AppendOptions::new().title("Of a view")).unwrap();
    assert_eq!((view.session().title(), view.session().stored()), (Some("Of a view"), 5));
}

#[test]
fn events_are_found_by_id_and_counted() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    session.append_batch(&[&event("e1", "{}"), &event("e2", "{}")], &AppendOptions::new()).unwrap();
    assert_eq!(session.event_by_id("e2").unwrap().map(|event| event.seq()), Some(2));
    assert!(session.event_by_id("none").unwrap().is_none());
    refused(session.event_by_id("a\0b"), Code::Invalid);
    let (seq, json) = f.store.event_by_id(KEY, "e2").unwrap().unwrap();
    assert_eq!((seq, &*json), (2, session.event(1).unwrap().json().unwrap()));
    assert!(f.store.event_by_id(KEY, "none").unwrap().is_none());
    refused(f.store.event_by_id(Key::new("app", "alice", "none"), "e2"), Code::NotFound);
    let count = f.store.event_count(KEY).unwrap();
    assert_eq!((count.stored, count.version), (2, session.version()));
    f.store.append(KEY, "{}", &AppendOptions::new().at_version(count.version)).unwrap();
    refused(f.store.event_count(Key::new("app", "alice", "none")), Code::NotFound);
}

#[test]
fn texts_are_cut_between_characters() {
    let text = "a\u{e4}\u{20ac}\u{1f600}";
    let cut: Vec<_> = (0..12).map(|limit| text_cut(text, limit).len()).collect();
    assert_eq!(cut, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
    assert_eq!((text_cut("a\0b", 2), text_cut("", 5)), ("a\0", ""));
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
    f.store.delete(KEY, &DeleteOptions::new()).unwrap();
    let last = cursor.by_ref().find(|item| item.is_err()).unwrap();
    refused(last, Code::NotFound);
    assert!(cursor.next().is_none());
}
