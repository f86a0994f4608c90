//! Lists, names, titles, labels, expiry and deleting.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use crate::common::{fixture, refused, KEY};
use seslite::*;

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

    assert_eq!(f.store.delete(Key::new("app", "alice", "s00"), &DeleteOptions::new()).unwrap().count, 1);
    assert_eq!(
        f.store.delete(Key::new("app", "alice", "s00"), &DeleteOptions::new().secure()).unwrap().count,
        0
    );
    assert_eq!(f.store.delete_user("app", "alice", &DeleteOptions::new()).unwrap().sessions, 24);
    while f.store.delete_app("app", &DeleteOptions::new()).unwrap().more {}
    assert!(f.store.apps(None, None, 0).unwrap().is_empty());
}

#[test]
fn sessions_by_when_they_were_written() {
    let ticks = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&ticks);
    let options = OpenOptions::new().clock(move || clock.fetch_add(1_000_000, Ordering::Relaxed));
    let store = Store::open_with(":memory:", options).unwrap();
    for (id, time) in [("ahead", 4_000_000_000_i64), ("behind", 1)] {
        let key = Key::new("app", "alice", id);
        store.create(key, None).unwrap().append(&format!(r#"{{"author":"a","timestamp":{time}}}"#)).unwrap();
    }
    let page = |order| store.list("app", Some("alice"), &ListOptions::new().order(order)).unwrap();
    let ids = |page: &Page| page.sessions().map(|session| session.id().to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&page(Order::Newest)), ["ahead", "behind"]);
    let changed = page(Order::Changed);
    assert_eq!(ids(&changed), ["behind", "ahead"]);
    let times: Vec<_> = (0..3).map(|index| changed.changed_us(index)).collect();
    assert!(
        times[0] > times[1] && times[1] < Some(ticks.load(Ordering::Relaxed)) && times[2].is_none(),
        "{times:?}"
    );
    let count = |filter: &Filter<'_>| store.count("app", None, filter).unwrap();
    assert_eq!(count(&Filter::new().changed_since_us(times[0].unwrap())), 1);
    assert_eq!(count(&Filter::new().changed_before_us(times[0].unwrap()).without_label("l")), 1);
    let keep_one = ExpireOptions::new().sessions_per_user(1);
    assert_eq!(store.expire(Some("app"), &keep_one.by_change()).unwrap().count, 1);
    assert_eq!(ids(&page(Order::Newest)), ["behind"]);
}

#[test]
fn previews() {
    let f = fixture();
    f.store.create(KEY, None).unwrap();
    for event in [
        r#"{"author":"user","content":{"parts":[{"text":"h\u00e9llo"}]}}"#,
        r#"{"author":"agent","content":{"parts":[{"text":"Hi."},{"functionCall":{"id":"1","name":"f"}}]}}"#,
    ] {
        f.store.append(KEY, event, &AppendOptions::new()).unwrap();
    }
    let page = |options: ListOptions<'_>| f.store.list("app", None, &options).unwrap();
    let whole = page(ListOptions::new().preview(0));
    let preview = whole.preview(0).unwrap();
    assert_eq!((preview.last, preview.last_author, preview.last_seq), (Some("Hi."), Some("agent"), Some(2)));
    assert_eq!((preview.pending_calls, preview.first), (1, Some("h\u{e9}llo")));
    assert_eq!(page(ListOptions::new().preview(2)).preview(0).unwrap().first, Some("h"));
    assert!(page(ListOptions::new()).preview(0).is_none() && whole.preview(1).is_none());
}

#[test]
fn kinds() {
    let f = fixture();
    let child = Key::new("app", "alice", "child");
    f.store.create(KEY, None).unwrap();
    f.store.create_with(child, None, &CreateOptions::new().child_of(KEY)).unwrap();
    let memory = Loaded { is_memory: true, ..Loaded::default() };
    f.store.load(Key::new("app", "alice", "m"), &memory, || Ok(None), LoadOptions::default()).unwrap();
    let count = |kinds: &[Kind]| f.store.count("app", None, &Filter::new().kinds(kinds)).unwrap();
    assert_eq!((count(&[]), count(&[Kind::Conversation]), count(&[Kind::Child, Kind::Memory])), (3, 1, 2));
    let session = f.store.get(child).unwrap();
    assert_eq!((session.kind(), session.child_of().unwrap().session), (Kind::Child, KEY.session));
    let loaded = Loaded { child_of: Some(KEY), ..Loaded::default() };
    let other = Key::new("app", "alice", "other");
    f.store.load(other, &loaded, || Ok(None), LoadOptions::default()).unwrap();
    assert_eq!(f.store.get(other).unwrap().child_of().unwrap().session, KEY.session);
    assert!(f.store.get(KEY).unwrap().child_of().is_none());
    assert_eq!(f.store.count("app", None, &Filter::new().child_of(KEY)).unwrap(), 2);
    let family = f.store.family(child).unwrap();
    assert_eq!((family.len(), family[0].relation, family[0].seq), (1, Relation::ChildOf, 0));
    assert_eq!(Some(family[0].session.as_str()), KEY.session);
    f.store.delete(child, &DeleteOptions::new().children()).unwrap();
    f.store.expire(None, &ExpireOptions::new().idle_us(1).memory_us(1 << 50)).unwrap();
    assert_eq!(count(&[]), 1);
}

#[test]
fn the_archive() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    assert_eq!(session.archived_us(), None);
    session.set_archived(true).unwrap();
    let since = session.archived_us();
    f.store.set_archived(KEY, true).unwrap();
    session.refresh().unwrap();
    assert!(since.is_some() && session.archived_us() == since);
    let count = |archived| f.store.count("app", None, &Filter::new().archived(archived)).unwrap();
    assert_eq!((count(true), count(false)), (1, 0));
    f.store.set_archived(KEY, false).unwrap();
    session.refresh().unwrap();
    assert_eq!(session.archived_us(), None);
    let other = Key::new("app", "alice", "put away");
    let loaded = Loaded { archived_us: Some(9), ..Loaded::default() };
    f.store.load(other, &loaded, || Ok(None), LoadOptions::default()).unwrap();
    assert_eq!(f.store.get(other).unwrap().archived_us(), Some(9));
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
    assert_eq!(f.store.expire(None, &ExpireOptions::new().now_us(soon).dry_run()).unwrap().count, 1);
    assert_eq!(
        f.store.expire(None, &ExpireOptions::new().now_us(soon)).unwrap(),
        Deleted { count: 1, more: false, erased: None }
    );
    refused(session.set_title(None), Code::NotFound);
}
