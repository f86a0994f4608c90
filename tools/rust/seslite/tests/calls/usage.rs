//! The tokens that models have used.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{fixture, refused, Fixture, KEY};
use seslite::*;

const DAY: i64 = 86_400;

fn call(n: i64, model: &str, usage: &str) -> String {
    format!(
        r#"{{"id":"e{n}","invocationId":"i{n}","timestamp":{n},"modelVersion":"{model}","usageMetadata":{{{usage}}}}}"#
    )
}

fn used() -> Fixture {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    session
        .append(&call(1, "m1", r#""promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15"#))
        .unwrap();
    let rest = r#""promptTokenCount":100,"cachedContentTokenCount":60,"thoughtsTokenCount":3,"toolUsePromptTokenCount":2"#;
    session.append(&call(DAY - 1, "m2", rest)).unwrap();
    let mut other = f.store.create(Key::new("app", "bob", "s2"), None).unwrap();
    other.append(&call(DAY, "m1", r#""promptTokenCount":-1"#)).unwrap();
    f
}

fn rows(rows: Result<UsageRows<'_>>) -> Vec<UsageRow> {
    rows.unwrap().map(|row| row.unwrap()).collect()
}

#[test]
fn rows_by_what_is_asked() {
    let f = used();
    let all = UsageOptions::new();
    let found = rows(f.store.usage(&all.app("app").by_user().by_model()));
    let texts: Vec<_> =
        found.iter().map(|row| (row.user.as_deref(), row.model.as_deref(), row.calls)).collect();
    let (alice, bob) = (Some("alice"), Some("bob"));
    assert_eq!(texts, [(alice, Some("m1"), 1), (alice, Some("m2"), 1), (bob, Some("m1"), 1)]);
    assert_eq!(
        (&found[1].app, &found[1].session, &found[1].day, &found[1].invocation),
        (&None, &None, &None, &None)
    );
    assert_eq!((found[1].prompt, found[1].cached, found[1].thoughts, found[1].tool_use), (100, 60, 3, 2));
    assert_eq!((found[0].candidates, found[0].total, found[2].odd), (5, 15, 1));
    assert_eq!((found[2].first_us, found[2].last_us), (DAY * 1_000_000, DAY * 1_000_000));
    let named = rows(f.store.usage(&all.by_app().by_session().by_invocation().since_us(DAY * 1_000_000)));
    assert_eq!(named[0].app.as_deref(), Some("app"));
    assert_eq!(named[0].session.as_deref(), Some("s2"));
    assert_eq!(named[0].invocation, Some(format!("i{DAY}")));
    assert!(rows(f.store.usage(&all.app("none").by_user())).is_empty());
}

#[test]
fn the_scope_and_the_time_of_usage() {
    let f = used();
    let all = UsageOptions::new();
    let calls = |options: UsageOptions<'_>| f.store.usage(&options).unwrap().totals().calls;
    assert_eq!(calls(all), 3);
    assert_eq!(calls(all.app("app").user("alice")), 2);
    assert_eq!(calls(all.app("app").user("bob").session("s2")), 1);
    assert_eq!(calls(all.since_us(2_000_000).before_us(DAY * 1_000_000)), 1);
    assert_eq!(calls(all.app("app").filter(Filter::new().updated_before_us(0))), 0);
    assert_eq!(calls(all.app("app").user("bob").filter(Filter::new().id_prefix("s"))), 1);
    refused(f.store.usage(&all.app("app").user("bob").session("none")), Code::NotFound);
    refused(f.store.usage(&all.user("bob")), Code::Misuse);
}

#[test]
fn days_begin_in_a_zone() {
    let f = used();
    let calls = AtomicUsize::new(0);
    let hour = |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        3600
    };
    let days = |options: UsageOptions<'_>| -> Vec<(Option<String>, i64)> {
        rows(f.store.usage(&options.by_day())).into_iter().map(|row| (row.day, row.calls)).collect()
    };
    let of =
        |first, second| vec![(Some("1970-01-01".to_owned()), first), (Some("1970-01-02".to_owned()), second)];
    assert_eq!(days(UsageOptions::new()), of(2, 1));
    assert_eq!(days(UsageOptions::new().zone(&hour)), of(1, 2));
    assert!(calls.load(Ordering::Relaxed) > 0);
}

#[test]
#[should_panic(expected = "no such zone")]
fn a_zone_that_panics() {
    let f = used();
    let _ = f.store.usage(&UsageOptions::new().by_day().zone(&|_| panic!("no such zone")));
}

#[test]
fn many_rows_come_on_pages() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    for n in 0..1202 {
        session.append(&call(n, "m", r#""totalTokenCount":1"#)).unwrap();
    }
    let mut pages = f.store.usage(&UsageOptions::new().by_invocation()).unwrap();
    assert_eq!(pages.totals().total, 1202);
    assert_eq!(pages.by_ref().map(|row| row.unwrap().calls).sum::<i64>(), 1202);
    assert!(pages.next().is_none());
}

#[test]
fn a_tally() {
    let f = used();
    let all = UsageOptions::new().by_session().by_day().by_model();
    let before = rows(f.store.usage(&all));
    let mut seen = (0, 0);
    let progress = |done, total| {
        seen = (done, total);
        true
    };
    assert_eq!(f.store.tally_with(Tally::Keep, progress).unwrap(), 3);
    assert_eq!(seen, (3, 3));
    assert_eq!(f.store.tally(Tally::Keep).unwrap(), 0);
    assert_eq!(rows(f.store.usage(&all)), before);
    refused(f.store.tally_with(Tally::Rebuild, |_, _| false), Code::Interrupted);
    assert_eq!(rows(f.store.usage(&all)), before);
    assert_eq!(f.store.tally(Tally::Drop).unwrap(), 0);
    assert_eq!(rows(f.store.usage(&all)), before);
}
