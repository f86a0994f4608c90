//! Threads, following, and handles that are dropped in any order.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{event, fixture, refused, KEY};
use seslite::*;

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}

/// Compiles only if the type is not of that kind: otherwise both implementations fit, and the compiler cannot
/// choose.
macro_rules! is_not {
    ($kind:ident: $($name:ty),+ $(,)?) => {$({
        trait Chosen<A> {
            fn choose() {}
        }
        impl<T: ?Sized> Chosen<()> for T {}
        impl<T: ?Sized + $kind> Chosen<u8> for T {}
        <$name as Chosen<_>>::choose();
    })+};
}

#[test]
fn handles_move_between_threads_and_stores_are_shared() {
    is_send::<Store>();
    is_sync::<Store>();
    is_send::<Session>();
    is_send::<Cursor>();
    is_send::<Page>();
    is_send::<Names>();
    is_send::<Follower>();
    // Shared, it only gives wakers: all else moves it.
    is_sync::<Follower>();
    is_send::<Waker>();
    is_sync::<Waker>();
    is_send::<Tracked<'static>>();
    is_send::<Json>();
    is_sync::<Json>();
    is_send::<Error>();
    is_sync::<Error>();
    is_send::<OwnedEvent>();
    is_send::<Cancel>();
    is_sync::<Cancel>();
    is_send::<Limits>();
    is_sync::<Limits>();
    is_send::<Builder>();
    is_send::<Content<'static>>();
    is_send::<Context>();
    is_send::<Pending>();
    is_not!(Sync: Session, SessionView, Cursor, Page, Names, Tracked<'static>, Builder, Content<'static>, Context, Pending);
    // References borrowed from a handle stay on its thread.
    is_not!(Send: &'static SessionView, Event<'static>, Events<'static>, State<'static>, Function<'static>, Part<'static>);
}

#[test]
fn threads_append_to_one_store() {
    let f = fixture();
    for n in 0..8 {
        f.store.create(Key::new("app", "alice", &format!("t{n}")), None).unwrap();
    }
    thread::scope(|scope| {
        for n in 0..8 {
            let store = &f.store;
            scope.spawn(move || {
                let id = format!("t{n}");
                let mut session = store.get(Key::new("app", "alice", &id)).unwrap();
                for i in 0..25 {
                    session
                        .append(&event(&format!("e{i}"), &format!(r#"{{"n":{i},"user:t{n}":{i}}}"#)))
                        .unwrap();
                    assert!(store.list("app", None, &ListOptions::new()).unwrap().len() == 8);
                }
            });
        }
    });
    let state = f.store.shared_state("app", Some("alice")).unwrap();
    assert_eq!(state.matches(":24").count(), 8, "{state}");
}

#[test]
fn handles_outlive_the_store() {
    let f = fixture();
    let mut session = f.store.create(KEY, Some(r#"{"k":1}"#)).unwrap();
    session.append(&event("e1", "{}")).unwrap();
    let mut cursor = f.store.cursor(KEY, Range::all()).unwrap();
    let page = f.store.list("app", None, &ListOptions::new()).unwrap();
    let mut follower = f.store.follow(KEY, FollowOptions::new()).unwrap();
    let waker = follower.waker();
    let context = f.store.context(KEY, false).unwrap();
    let builder = Builder::new(&f.store, "agent", None).unwrap();
    let json = f.store.state(KEY).unwrap();
    let names = f.store.apps(None, None, 0).unwrap();
    drop(f.store);
    assert_eq!(session.state().int("k").unwrap(), Some(1));
    assert_eq!((session.event(0).unwrap().id(), page.session(0).unwrap().id()), ("e1", "s1"));
    assert_eq!((context.len(), &*json, names.len()), (1, r#"{"k":1}"#, 1));
    refused(session.append(&event("e2", "{}")), Code::Misuse);
    refused(session.refresh(), Code::Misuse);
    refused(follower.next(Some(Duration::ZERO)).map(drop), Code::Misuse);
    let _ = cursor.advance().map(drop);
    let mut view = session.track().unwrap();
    view.set_int("k", 2).unwrap();
    refused(view.append("{}", &AppendOptions::new()), Code::Misuse);
    drop(view);
    waker.wake();
    drop(follower);
    waker.wake();
    drop((session, builder, page, cursor, context, names, json));
}

#[test]
fn handles_are_dropped_in_any_order() {
    // Every order of five things that hang together.
    let mut orders = vec![vec![]];
    for thing in 0..5 {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, thing);
                    order
                })
            })
            .collect();
    }
    assert_eq!(orders.len(), 120);
    for order in orders {
        let store = Store::open(":memory:").unwrap();
        let session = store.create(KEY, None).unwrap();
        let cursor = store.cursor(KEY, Range::all()).unwrap();
        let follower = store.follow(KEY, FollowOptions::new()).unwrap();
        let page = store.list("app", None, &ListOptions::new()).unwrap();
        let mut things: Vec<Option<Box<dyn std::any::Any>>> = vec![
            Some(Box::new(store)),
            Some(Box::new(session)),
            Some(Box::new(cursor)),
            Some(Box::new(follower)),
            Some(Box::new(page)),
        ];
        for thing in order {
            things[thing] = None;
        }
    }
}

#[test]
fn a_follower_sees_each_event_once_and_is_woken() {
    let f = fixture();
    f.store.create(KEY, None).unwrap();
    let mut follower = f.store.follow(KEY, FollowOptions::new()).unwrap();
    let store = &f.store;
    thread::scope(|scope| {
        scope.spawn(move || {
            for n in 1..=20 {
                store.append(KEY, &event(&format!("e{n}"), "{}"), &AppendOptions::new()).unwrap();
            }
        });
        for n in 1..=20 {
            match follower.next(None).unwrap() {
                Followed::Event { event, session } => assert_eq!((event.seq(), session), (n, "s1")),
                other => panic!("{other:?}"),
            }
        }
    });
    let waker = follower.waker();
    let woken = thread::spawn(move || waker.wake());
    assert!(matches!(follower.next(None).unwrap(), Followed::Nothing));
    woken.join().unwrap();
    let place = follower.place().unwrap();
    drop(follower);
    f.store.append(KEY, &event("last", "{}"), &AppendOptions::new()).unwrap();
    let mut follower = f.store.follow(KEY, FollowOptions::new().place(&place)).unwrap();
    assert!(
        matches!(follower.next(Some(Duration::ZERO)).unwrap(), Followed::Event { event, .. } if event.id() == "last")
    );
    f.store.cut(KEY, Point::Seq(1), &CutOptions::new()).unwrap();
    assert!(matches!(follower.next(None).unwrap(), Followed::Reset { session: Some("s1") }));
    assert!(f.store.get(KEY).unwrap().place().unwrap().len() <= 35);
    let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    let options =
        FollowOptions::new().only_new().notify(move || seen.store(true, std::sync::atomic::Ordering::SeqCst));
    let mut user = f.store.follow(Key::user("app", "alice"), options).unwrap();
    assert!(matches!(user.next(Some(Duration::ZERO)).unwrap(), Followed::Nothing));
    f.store.append(KEY, &event("new", "{}"), &AppendOptions::new()).unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    while !flag.load(std::sync::atomic::Ordering::SeqCst) && Instant::now() < end {
        thread::yield_now();
    }
    assert!(matches!(
        user.next(Some(Duration::from_millis(100))).unwrap(),
        Followed::Event { session: "s1", .. }
    ));
}

#[test]
fn closing_ends_a_wait_in_another_thread() {
    let f = fixture();
    f.store.create(KEY, None).unwrap();
    let mut follower = f.store.follow(KEY, FollowOptions::new()).unwrap();
    let waiting = thread::spawn(move || follower.next(None).map(drop));
    thread::sleep(Duration::from_millis(50));
    drop(f.store);
    let code = waiting.join().unwrap().unwrap_err().code();
    assert!(code == Code::Interrupted || code == Code::Misuse, "{code:?}");
}
