//! Searching events by words.

use crate::common::{fixture, refused, Fixture, KEY};
use seslite::*;

// Later than the sessions are made, so that each event moves its session to the front.
const FAR: i64 = 4_000_000_000;

fn said(text: &str, n: i64) -> String {
    let time = FAR + n;
    format!(
        r#"{{"id":"e{n}","author":"user","invocationId":"i{n}","timestamp":{time},"content":{{"parts":[{{"text":"{text}"}}]}}}}"#
    )
}

fn searched() -> Fixture {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    session.append(&said("The train to Paris leaves at noon.", 1)).unwrap();
    session.append(&said("Which train? To PARIS, or to Café Paris?", 2)).unwrap();
    let mut other = f.store.create(Key::new("app", "bob", "s2"), None).unwrap();
    other.append(&said("我写中文, ängstlich paris", 3)).unwrap();
    f
}

fn ids(hits: Result<Hits>) -> Vec<String> {
    hits.unwrap().map(|hit| hit.unwrap().id).collect()
}

#[test]
fn the_scope_is_an_app_a_user_or_a_session() {
    let (f, all) = (searched(), SearchOptions::new());
    assert_eq!(ids(f.store.search("app", None, "paris", &all)), ["e3", "e2", "e1"]);
    assert_eq!(ids(f.store.search("app", Some("alice"), "paris", &all)), ["e2", "e1"]);
    assert_eq!(ids(f.store.search("app", Some("bob"), "paris", &all.session("s2"))), ["e3"]);
    assert!(ids(f.store.search("none", None, "paris", &all)).is_empty());
    refused(f.store.search("app", Some("bob"), "paris", &all.session("none")), Code::NotFound);
    refused(f.store.search("app", None, "paris", &all.session("s2")), Code::Misuse);
}

#[test]
fn the_options_of_a_search() {
    let f = searched();
    let found = |words, options: SearchOptions<'_>| ids(f.store.search("app", None, words, &options));
    let all = SearchOptions::new();
    assert_eq!(found("paris TRAIN", all), ["e2", "e1"]);
    assert!(found("noon nowhere", all).is_empty());
    assert_eq!(found("noon cafe nowhere", all.any()), ["e2", "e1"]);
    assert_eq!(found("to paris", all.phrase()), ["e2", "e1"]);
    assert!(found("paris to", all.phrase()).is_empty());
    assert_eq!(found("中文", all), ["e3"]);
    assert_eq!(found("paris", all.since_us((FAR + 2) * 1_000_000)), ["e3", "e2"]);
    assert_eq!(found("paris", all.before_us((FAR + 2) * 1_000_000)), ["e1"]);
    f.store.get(KEY).unwrap().rewind(Point::BeforeInvocation("i2"), &RewindOptions::new()).unwrap();
    assert_eq!(found("train", all.live()), ["e1"]);
}

#[test]
fn a_filter_selects_sessions() {
    let f = searched();
    f.store.set_labels(KEY, &[("kind", Some("chat"))]).unwrap();
    f.store.set_labels(Key::new("app", "bob", "s2"), &[("kind", Some("note"))]).unwrap();
    let all = SearchOptions::new();
    let found = |user, filter| ids(f.store.search("app", user, "paris", &all.filter(filter)));
    assert_eq!(found(None, Filter::new()), ["e3", "e2", "e1"]);
    assert_eq!(found(None, Filter::new().label("kind")), ["e3", "e2", "e1"]);
    assert_eq!(found(None, Filter::new().label_value("kind", "chat")), ["e2", "e1"]);
    assert!(found(None, Filter::new().label("none")).is_empty());
    assert_eq!(found(Some("alice"), Filter::new().id_prefix("s1")), ["e2", "e1"]);
    assert_eq!(found(None, Filter::new().updated_since_us((FAR + 3) * 1_000_000)), ["e3"]);
    let of_session = all.session("s2").filter(Filter::new().label("kind"));
    refused(f.store.search("app", Some("bob"), "paris", &of_session), Code::Misuse);
    refused(f.store.search("app", None, "paris", &all.filter(Filter::new().label("a\0"))), Code::Invalid);
}

/// The page that is read later has the filter, too, although the texts that it was made of are gone.
#[test]
fn all_pages_have_the_filter() {
    let f = fixture();
    for session in ["s1", "s2"] {
        let key = Key::new("app", "alice", session);
        f.store.create_with(key, None, &CreateOptions::new().label("session", session)).unwrap();
        for n in 0..25 {
            f.store.append(key, &said("word", n), &AppendOptions::new()).unwrap();
        }
    }
    let hits = {
        let (label, value) = ("session".to_owned(), "s1".to_owned());
        let options = SearchOptions::new().filter(Filter::new().label_value(&label, &value));
        f.store.search("app", None, "word", &options).unwrap()
    };
    let sessions: Vec<_> = hits.map(|hit| hit.unwrap().session).collect();
    assert_eq!(sessions, ["s1"; 25]);
}

#[test]
fn a_search_asks_the_index() {
    let (f, all) = (searched(), SearchOptions::new());
    let indexed = || f.store.search("app", None, "paris", &all).unwrap().indexed();
    assert!(!indexed());
    assert_eq!(f.store.index(Index::Update).unwrap(), 3);
    assert!(indexed());
    f.store.append(KEY, &said("Paris again", 4), &AppendOptions::new()).unwrap();
    assert_eq!(ids(f.store.search("app", None, "again", &all)), ["e4"]); // which the search adds
    assert_eq!(f.store.index(Index::Update).unwrap(), 0);
    assert_eq!(f.store.index(Index::Rebuild).unwrap(), 4);
    assert_eq!(f.store.index(Index::Drop).unwrap(), 0);
    assert!(!indexed());
    assert_eq!(ids(f.store.search("app", None, "paris", &all)), ["e4", "e2", "e1", "e3"]);
}

#[test]
fn the_index_tells_how_far_it_is() {
    let f = searched();
    let mut told = Vec::new();
    let tell = |done, total| {
        told.push((done, total));
        true
    };
    assert_eq!(f.store.index_with(Index::Update, tell).unwrap(), 3);
    assert_eq!(told.last(), Some(&(3, 3)));
    refused(f.store.index_with(Index::Rebuild, |_, _| false), Code::Interrupted);
}

#[test]
fn a_hit_says_where_it_is() {
    let f = searched();
    let options = SearchOptions::new().snippet_bytes(100);
    let hit = f.store.search("app", None, "angstlich", &options).unwrap().next().unwrap().unwrap();
    assert_eq!((hit.user.as_str(), hit.session.as_str(), hit.id.as_str()), ("bob", "s2", "e3"));
    assert_eq!((hit.author.as_str(), hit.seq, hit.time_us), ("user", 1, (FAR + 3) * 1_000_000));
    assert_eq!(&hit.snippet.unwrap()[hit.snippet_found..], "ängstlich paris");
    let hit = f.store.search("app", None, "cafe", &SearchOptions::new()).unwrap().next().unwrap().unwrap();
    assert_eq!((hit.snippet, hit.snippet_found), (None, 0));
}

#[test]
fn hits_are_read_page_by_page() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let events: Vec<_> = (0..50).map(|n| said("word", n)).collect();
    let events: Vec<_> = events.iter().map(String::as_str).collect();
    session.append_batch(&events, &AppendOptions::new()).unwrap();
    let all = SearchOptions::new();
    let newest_first: Vec<_> = (0..50).rev().map(|n| format!("e{n}")).collect();
    assert_eq!(ids(f.store.search("app", None, "word", &all)), newest_first);
    for limit in [0, 1, 20, 33, 50, 5000] {
        let hits = f.store.search("app", None, "word", &all.limit(limit));
        assert_eq!(ids(hits), newest_first[..limit.min(50)]);
    }
    let cancel = Cancel::new(&f.store).unwrap();
    let store = f.store.with_limits(Limits::new().cancel(&cancel));
    let mut hits = store.search("app", None, "word", &all).unwrap();
    cancel.cancel();
    assert_eq!(hits.by_ref().take_while(Result::is_ok).count(), 20);
    assert!(hits.next().is_none());
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let (f, all) = (fixture(), SearchOptions::new());
    refused(f.store.search("app", None, "...", &all), Code::Invalid);
    refused(f.store.search("app", None, "a", &all.snippet_bytes(65_537)), Code::Invalid);
    refused(f.store.search("a\0", None, "a", &all), Code::Invalid);
    refused(f.store.search("app", None, &"a ".repeat(101), &all), Code::Limit);
}

#[test]
fn memory_is_found_listed_and_forgotten() {
    let f = fixture();
    let talk = Key::new("app", "user", "talk");
    let user = Key::user("app", "user");
    let event = |id: &str, text: &str| {
        format!(
            r#"{{"id":"{id}","author":"user","timestamp":{},"content":{{"parts":[{{"text":"{text}"}}]}}}}"#,
            id.len()
        )
    };
    f.store.create(talk, None).unwrap();
    f.store.append(talk, &event("a", "red tea"), &AppendOptions::new()).unwrap();
    f.store.append(talk, &event("bb", "tea pot"), &AppendOptions::new()).unwrap();
    f.store.remember_session(talk, 1).unwrap();
    assert_eq!(f.store.get(talk).unwrap().remembered_seq(), 1);
    let filter = Filter::new().remembered();
    assert_eq!(f.store.count("app", Some("user"), &filter).unwrap(), 1);
    let noted = event("note", "a pot of tea");
    assert_eq!(f.store.remember_events(user, &[&noted], &RememberOptions::new()).unwrap(), 1);
    assert_eq!(f.store.remember_events(user, &[&noted], &RememberOptions::new()).unwrap(), 0);
    f.store.remember(user, "tea of a project", &RememberOptions::new().project("p")).unwrap();
    let ids = |hits: Vec<Hit>| hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>();
    let found = f.store.recall("app", "user", "pot tea", &RecallOptions::new().snippet_bytes(20)).unwrap();
    assert_eq!((found[0].score, found[1].score), (1.0, 0.5));
    assert_eq!(found[0].json.as_deref(), Some(noted.as_str()));
    assert_eq!(found[0].snippet.as_deref(), Some("a pot of tea"));
    assert_eq!(ids(found), ["note", "a"]);
    let of_project = RecallOptions::new().project("p");
    assert_eq!(f.store.remembered("app", "user", &of_project).unwrap().len(), 3);
    assert_eq!(ids(f.store.remembered("app", "user", &RecallOptions::new().limit(1)).unwrap()), ["note"]);
    f.store.forget_events(Key::new("app", "user", "memory:notes"), &[1]).unwrap();
    assert_eq!(ids(f.store.recall("app", "user", "tea", &RecallOptions::new()).unwrap()), ["a"]);
    let forgotten = f.store.forget(user, None, &DeleteOptions::new().receipt()).unwrap();
    assert_eq!((forgotten.count, forgotten.erased.unwrap().sessions), (2, 2));
    assert_eq!(f.store.recall("app", "user", "tea", &of_project).unwrap().len(), 0);
    let mut hits = f.store.search("app", None, "pot", &SearchOptions::new().json()).unwrap();
    assert_eq!(hits.next().unwrap().unwrap().json.as_deref(), Some(event("bb", "tea pot").as_str()));
}
