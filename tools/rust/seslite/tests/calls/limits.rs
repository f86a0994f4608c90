//! Time limits, cancelling, and the trace of calls.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{event, fixture, refused, Fixture, KEY};
use seslite::*;

/// A store with a session of so many events.
fn with_events(count: usize) -> Fixture {
    let f = fixture();
    f.store.create(KEY, Some(r#"{"k":1,"user:n":1}"#)).unwrap();
    let events: Vec<_> = (1..=count).map(|n| event(&format!("e{n}"), r#"{"k":2}"#)).collect();
    let events: Vec<_> = events.iter().map(String::as_str).collect();
    f.store.append_batch(KEY, &events, &AppendOptions::new()).unwrap();
    f
}

/// The same store for calls that a handle ends, and the handle.
fn cancellable(store: &Store) -> (Store, Cancel) {
    let cancel = Cancel::new(store).unwrap();
    (store.with_limits(Limits::new().cancel(&cancel)), cancel)
}

#[track_caller]
fn ended<T>(result: Result<T>) {
    refused(result, Code::Interrupted);
}

fn end_the_calls_of_a_store(store: &Store, folder: &std::path::Path) {
    let (point, other) = (Point::Seq(1), Key::new("app", "alice", "other"));
    ended(store.create(other, None));
    ended(store.get_or_create(other, None, &CreateOptions::new()));
    ended(store.get(KEY));
    ended(store.append(KEY, "{}", &AppendOptions::new()));
    ended(store.append_batch(KEY, &["{}"], &AppendOptions::new()));
    ended(store.event_by_id(KEY, "e1"));
    ended(store.event_count(KEY));
    ended(store.cursor(KEY, Range::all()));
    ended(store.state(KEY));
    ended(store.state_value(KEY, "k"));
    ended(store.shared_state("app", None));
    ended(store.shared_state_value("app", None, "n"));
    ended(store.change_shared_state("app", None, r#"{"n":1}"#, None));
    ended(store.follow(KEY, FollowOptions::new()));
    ended(store.set_title(KEY, Some("t")));
    ended(store.set_labels(KEY, &[("l", Some("v"))]));
    ended(store.set_expiry(KEY, None));
    ended(store.set_archived(KEY, true));
    ended(store.state_as_of(KEY, point, false));
    ended(store.initial_state(KEY));
    ended(store.rewind(KEY, point, &RewindOptions::new()));
    ended(store.redo(KEY, &RewindOptions::new()));
    ended(store.cut(KEY, point, &CutOptions::new()));
    ended(store.pop(KEY, point, &CutOptions::new()));
    ended(store.fork(KEY, point, Some(other), &ForkOptions::new()));
    ended(store.prune(KEY, &PruneOptions::new().keep(1)));
    ended(store.delete(KEY, &DeleteOptions::new()));
    ended(store.delete_user("app", "alice", &DeleteOptions::new()));
    ended(store.delete_app("app", &DeleteOptions::new()));
    ended(store.expire(None, &ExpireOptions::new()));
    ended(store.maintain(0));
    ended(store.list("app", None, &ListOptions::new()));
    ended(store.apps(None, None, 0));
    ended(store.users("app", None, None, 0));
    ended(store.take_lease(KEY, "me", 0, None));
    ended(store.renew_lease(KEY, 1, 0));
    ended(store.release_lease(KEY, 1));
    ended(store.load(other, &Loaded::default(), || Ok(None), LoadOptions::default()));
    ended(store.load_json((Some("app"), Some("alice"), Some("other")), "{}", LoadOptions::default()));
    ended(store.export(&ExportOptions::default(), Vec::new()));
    let line = r#"{"seslite":1}"#;
    ended(store.import(&ImportOptions::default(), line.as_bytes(), |_| true).1);
    ended(store.backup(folder.join("backup.db"), false, false));
    ended(store.check(CheckLevel::Log, 0, |_| true));
    ended(store.search("app", None, "word", &SearchOptions::new()));
    ended(store.index(Index::Update));
    ended(store.context(KEY, false));
    ended(store.pending(KEY));
    ended(store.answer_pending(KEY, &mut AnswerOptions::interrupted()));
    ended(Builder::new(store, "a", None).unwrap().append_by_key(store, KEY, &AppendOptions::new()));
}

fn end_the_calls_of_a_session(store: &Store, session: &mut Session) {
    let point = Point::Seq(1);
    ended(session.refresh());
    ended(session.append("{}"));
    ended(session.append_batch(&["{}"], &AppendOptions::new()));
    ended(session.set_title(Some("t")));
    ended(session.set_labels(&[("l", Some("v"))]));
    ended(session.set_expiry(None));
    ended(session.state_as_of(point, false));
    ended(session.initial_state());
    ended(session.rewind(point, &RewindOptions::new()));
    ended(session.redo(&RewindOptions::new()));
    ended(session.cut(point, &CutOptions::new()));
    ended(session.pop(point, &CutOptions::new()));
    ended(session.live());
    ended(session.fork(point, None, &ForkOptions::new()));
    ended(session.prune(&PruneOptions::new().keep(1)));
    ended(session.context(false));
    ended(session.pending());
    ended(session.answer_pending(&mut AnswerOptions::interrupted()));
    ended(Builder::new(store, "a", None).unwrap().append(session, &AppendOptions::new()));
    let mut view = session.track().unwrap();
    ended(view.refresh());
    ended(view.append("{}", &AppendOptions::new()));
    ended(view.append_output("{}", "a", None, &AppendOptions::new()));
}

#[test]
fn every_call_has_the_limits_of_its_handle() {
    let f = with_events(3);
    let (store, cancel) = cancellable(&f.store);
    let mut session = store.get(KEY).unwrap();
    let before = f.store.get(KEY).unwrap().json().unwrap();
    cancel.clone().cancel();
    end_the_calls_of_a_store(&store, f.folder.path());
    end_the_calls_of_a_session(&store, &mut session);
    // The store itself has none, and nothing has changed in it.
    assert_eq!(*f.store.get(KEY).unwrap().json().unwrap(), *before);
    assert_eq!(f.store.count("app", None, &Filter::new()).unwrap(), 1);
    session.set_limits(Limits::new());
    session.refresh().unwrap();
    cancel.reset();
    let mut fork = store.fork(KEY, Point::Seq(1), None, &ForkOptions::new()).unwrap();
    // What a handle opens has its limits.
    cancel.cancel();
    ended(fork.refresh());
}

#[test]
fn cursors_and_followers_keep_the_handle_that_ends_them() {
    let f = with_events(600);
    let (store, cancel) = cancellable(&f.store);
    let mut cursor = store.cursor(KEY, Range::all()).unwrap();
    let mut follower = store.follow(KEY, FollowOptions::new().only_new()).unwrap();
    let walk = store.cursor(KEY, Range::all()).unwrap();
    drop(store);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| follower.next(None).map(drop));
        thread::sleep(Duration::from_millis(20));
        cancel.cancel();
        ended(waiting.join().unwrap());
    });
    while cursor.advance().is_ok_and(|event| event.is_some()) {}
    ended(cursor.advance().map(drop));
    cancel.reset();
    drop(cancel);
    // Now they alone have it.
    assert!(matches!(follower.next(Some(Duration::ZERO)), Ok(Followed::Nothing)));
    assert_eq!(walk.map(|event| event.map(drop)).collect::<Result<Vec<_>>>().unwrap().len(), 600);
    drop(f.store);
}

#[test]
fn a_callback_may_cancel_the_call_that_it_is_part_of() {
    let f = with_events(2000);
    let (store, cancel) = cancellable(&f.store);
    ended(store.export_with(&ExportOptions::default(), Vec::new(), |_, _| {
        cancel.cancel();
        true
    }));
}

#[test]
fn a_time_limit_ends_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions::new().timeout(Duration::from_millis(150));
    let store = Store::open_with(folder.path().join("agents.db"), options).unwrap();
    let unlimited = store.with_limits(Limits::new().no_timeout());
    unlimited.create(KEY, None).unwrap();
    unlimited.take_lease(KEY, "other", 0, None).unwrap();
    let wait = |store: &Store, wait_ms: u32| {
        let begun = Instant::now();
        let code = store.take_lease(KEY, "me", 0, Some(wait_ms)).unwrap_err().code();
        (code, begun.elapsed())
    };
    // On a busy machine the time may be over before the wait begins.
    let ended_early = |(code, time): (Code, Duration)| {
        assert!(matches!(code, Code::Busy | Code::Interrupted), "{code:?}");
        assert!(time < Duration::from_secs(30), "{time:?}");
    };
    let waited = |(code, time): (Code, Duration)| {
        assert_eq!(code, Code::Busy);
        assert!(time >= Duration::from_millis(200), "{time:?}");
    };
    ended_early(wait(&store, 60_000));
    waited(wait(&unlimited, 200));
    waited(wait(&store.with_limits(Limits::new().timeout(Duration::MAX)), 200));
    // To the library, 0 would be no limit in this one.
    let other = Store::open(folder.path().join("agents.db")).unwrap();
    ended_early(wait(&other.with_limits(Limits::new().timeout(Duration::ZERO)), 60_000));
    // A follower's wait is its own.
    let mut follower = store.follow(KEY, FollowOptions::new()).unwrap();
    let begun = Instant::now();
    assert!(matches!(follower.next(Some(Duration::from_millis(200))), Ok(Followed::Nothing)));
    assert!(begun.elapsed() >= Duration::from_millis(200));
}

#[test]
fn each_call_is_traced() {
    let traces = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&traces);
    let options = OpenOptions::new().trace(move |trace| seen.lock().unwrap().push(trace.clone()));
    let store = Store::open_with(":memory:", options).unwrap();
    store.create(KEY, None).unwrap();
    let text = event("e1", "{}");
    store.append(KEY, &text, &AppendOptions::new()).unwrap();
    refused(store.get(Key::new("app", "alice", "none")), Code::NotFound);
    store.get(KEY).unwrap();
    drop(store);
    let traces = traces.lock().unwrap();
    let calls: Vec<_> = traces.iter().map(|trace| (trace.call, trace.error())).collect();
    let expected = [
        ("ses_create", None),
        ("ses_append_by_key", None),
        ("ses_get", Some(Code::NotFound)),
        ("ses_get", None),
    ];
    assert_eq!(calls, expected);
    assert!(
        traces[1].bytes_in >= text.len() as i64 && traces[3].bytes_out >= text.len() as i64,
        "{traces:?}"
    );
    assert!(traces.iter().all(|trace| trace.wait + trace.work < Duration::from_secs(60)), "{traces:?}");
}

#[test]
fn a_panic_in_a_trace_changes_no_result() {
    let calls = Arc::new(Mutex::new(0));
    let count = Arc::clone(&calls);
    let options = OpenOptions::new().trace(move |_| {
        *count.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
        panic!("in trace")
    });
    let store = Store::open_with(":memory:", options).unwrap();
    store.create(KEY, None).unwrap();
    refused(store.create(KEY, None), Code::Exists);
    assert_eq!(*calls.lock().unwrap(), 2);
}
