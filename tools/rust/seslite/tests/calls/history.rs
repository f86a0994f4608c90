//! Rewinds, forks, cuts, pruning and leases.

use crate::common::{fixture, refused, KEY};
use seslite::*;

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
    assert_eq!(session.redo(&RewindOptions::new()).unwrap().status, Status::Unchanged);
    f.store.rewind(KEY, Point::BeforeInvocation("i3"), &RewindOptions::new()).unwrap();
    assert_eq!(f.store.get_range(KEY, Range::all().live()).unwrap().event_count(), 2);
    f.store.redo(KEY, &RewindOptions::new()).unwrap();
    refused(session.rewind(Point::Now, &RewindOptions::new().artifact_delta("[]")), Code::Invalid);
    refused(session.rewind(Point::LastTurn, &RewindOptions::new()), Code::Stale);
    session.refresh().unwrap();

    let mut fork =
        session.fork(Point::Seq(2), Some(Key::new("app", "alice", "f")), &ForkOptions::new()).unwrap();
    let (parent, seq) = fork.parent().unwrap();
    assert_eq!((parent, seq), (KEY, 2));
    assert_eq!(fork.event_count(), 2);
    let other = f
        .store
        .fork(
            KEY,
            Point::Now,
            Some(Key::user("app", "bob")),
            &ForkOptions::new().other_user().range(Range::none()),
        )
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
fn forks_expire() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let soon = session.created_us() + 3_600_000_000;
    session.set_expiry(Some(soon)).unwrap();
    for (options, expires) in [
        (ForkOptions::new(), Some(soon)),
        (ForkOptions::new().expires_us(soon + 1), Some(soon + 1)),
        (ForkOptions::new().expires_us(i64::MAX), None),
    ] {
        assert_eq!(session.fork(Point::Now, None, &options).unwrap().expires_us(), expires);
    }
}

fn turn(n: i64) -> String {
    format!(
        r#"{{"id":"e{n}","author":"user","invocationId":"i{n}","content":{{"role":"user","parts":[{{"text":"x"}}]}}}}"#
    )
}

#[test]
fn events_are_popped() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    for n in 1..=4 {
        session.append(&turn(n)).unwrap();
    }
    let popped = session.pop(Point::LastTurn, &CutOptions::new()).unwrap();
    assert_eq!((popped.len(), popped.more(), session.stored()), (1, false, 3));
    assert_eq!(popped.event(0).unwrap().id(), "e4");
    assert!(popped.event(1).is_none());
    let more = f.store.pop(KEY, Point::Seq(1), &CutOptions::new().secure()).unwrap();
    assert_eq!(more.events().map(|event| event.seq()).collect::<Vec<_>>(), [2, 3]);
    assert!(f.store.pop(KEY, Point::Now, &CutOptions::new()).unwrap().is_empty());
    refused(f.store.pop(KEY, Point::Seq(0), &CutOptions::new().at_version(1)), Code::Stale);
    refused(session.pop(Point::Seq(0), &CutOptions::new()), Code::Stale);
    session.refresh().unwrap();
    let last = session.pop(Point::LastTurn, &CutOptions::new()).unwrap();
    refused(session.pop(Point::LastTurn, &CutOptions::new()), Code::NotFound);
    drop(session);
    drop(f);
    assert_eq!(std::thread::spawn(move || last.event(0).unwrap().id().to_owned()).join().unwrap(), "e1");
}

#[test]
fn live_events() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    assert_eq!(session.live().unwrap(), [false; 0]);
    for n in 1..=3 {
        session.append(&turn(n)).unwrap();
    }
    assert_eq!(session.live().unwrap(), [true; 3]);
    session.rewind(Point::BeforeInvocation("i2"), &RewindOptions::new()).unwrap();
    assert_eq!(session.live().unwrap()[..3], [true, false, false]);
    f.store.delete(KEY, &DeleteOptions::new()).unwrap();
    refused(session.live(), Code::NotFound);
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
fn drafts() {
    let f = fixture();
    f.store.create(KEY, None).unwrap();
    assert_eq!(f.store.draft(KEY).unwrap(), None);
    let lease = f.store.take_lease(KEY, "one", 0, None).unwrap();
    f.store.set_draft(KEY, "Hel", Some(lease.token)).unwrap();
    f.store.set_draft(KEY, "Hello wör", Some(lease.token)).unwrap();
    let draft = f.store.draft(KEY).unwrap().unwrap();
    assert_eq!(draft.body, "Hello wör");
    assert!(draft.updated_us > 0);
    let found = f.store.find("wör", &FindOptions::new()).unwrap().next().unwrap().unwrap();
    assert_eq!(found.kind, Found::Draft);
    refused(f.store.set_draft(KEY, "x", Some(lease.token + 1)), Code::Leased);
    refused(f.store.set_draft(KEY, "a\0b", None), Code::Invalid);
    f.store.append(KEY, "{}", &AppendOptions::new().takes_draft()).unwrap();
    assert_eq!(f.store.draft(KEY).unwrap(), None);
    assert!(!f.store.clear_draft(KEY, None).unwrap());
    f.store.set_draft(KEY, "", None).unwrap();
    assert!(f.store.clear_draft(KEY, None).unwrap());
}

#[test]
fn inboxes() {
    let f = fixture();
    f.store.create(KEY, None).unwrap();
    let options = InputOptions::new();
    assert_eq!(f.store.take_input(Inboxes::All, "one", 0, Some(0)).unwrap(), None);
    assert!(f.store.add_input(KEY, "r1", r#"{"text":"wör"}"#, options).unwrap());
    assert!(!f.store.add_input(KEY, "r1", r#"{"text":"wör"}"#, options).unwrap());
    refused(f.store.add_input(KEY, "r1", "[]", options), Code::Exists);
    refused(f.store.add_input(KEY, "r2", "[]", options.max_waiting(1)), Code::Limit);
    let fresh = Key::new("other", "user", "new");
    assert!(f.store.add_input(fresh, "r2", "2", options.creates()).unwrap());
    let waiting = f.store.inputs(Inboxes::All, 0, 0).unwrap();
    assert_eq!(waiting.iter().map(|input| input.request.as_str()).collect::<Vec<_>>(), ["r1", "r2"]);
    assert_eq!(f.store.inputs(Inboxes::All, waiting[0].place, 9).unwrap(), waiting[1..]);
    let found = f.store.find("wör", &FindOptions::new()).unwrap().next().unwrap().unwrap();
    assert_eq!(found.kind, Found::Input);
    let (input, lease) = f.store.take_input(Inboxes::App(KEY.app), "one", 0, Some(10)).unwrap().unwrap();
    assert_eq!((input.key(), input.request.as_str()), (KEY, "r1"));
    assert_eq!(f.store.take_input(Inboxes::Of(KEY), "two", 0, Some(0)).unwrap(), None);
    f.store.append(KEY, "{}", &AppendOptions::new().lease(lease.token).answers("r1")).unwrap();
    assert_eq!(f.store.inputs(Inboxes::Of(KEY), 0, 0).unwrap(), []);
    assert!(f.store.remove_input(fresh, "r2").unwrap());
    assert!(!f.store.remove_input(fresh, "r2").unwrap());
}
