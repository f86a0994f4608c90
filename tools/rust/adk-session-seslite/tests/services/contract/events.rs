//! Cases about events: appended, read in part, taken back, and what they do to state.

use adk_session::*;
use chrono::{Duration, Utc};
use serde_json::json;

use super::whole_event::whole_event;
use super::*;

pub const EVENTS: &[Case] = &[
    case!(
        "order",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            for (id, seconds) in [("a", 5), ("b", 1), ("c", 3)] {
                append(s, "s", event(id, seconds, json!({}))).await.unwrap();
            }
            json!(ids(&*read(s, "s").await))
        },
        r#"["a","b","c"]"#
    ),
    case!(
        "update time",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let far = Utc::now().timestamp() - 1_700_000_000 + 1000;
            append(s, "s", event("a", far, json!({}))).await.unwrap();
            append(s, "s", event("b", 0, json!({}))).await.unwrap();
            json!(read(s, "s").await.last_update_time().timestamp() - time(far).timestamp())
        },
        "0"
    ),
    case!(
        "recent and after",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            for n in 0..5 {
                append(s, "s", event(&format!("e{n}"), n, json!({}))).await.unwrap();
            }
            let mut seen = Vec::new();
            for (recent, after) in [
                (Some(0), None),
                (Some(2), None),
                (Some(9), None),
                (None, Some(time(3))),
                (None, Some(time(3) + Duration::nanoseconds(1))),
                (Some(1), Some(time(2))),
                (Some(4), Some(time(3))),
                (None, Some(time(9))),
            ] {
                let request = GetRequest { num_recent_events: recent, after, ..get("u", "s") };
                seen.push(ids(&*s.get(request).await.unwrap()).concat());
            }
            json!(seen)
        },
        r#"["","e3e4","e0e1e2e3e4","e3e4","e4","e4","e3e4",""]"#
    ),
    case!(
        "temp",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            append(s, "s", event("e", 0, json!({"temp:x":1,"k":2}))).await.unwrap();
            let session = read(s, "s").await;
            json!([state(&*session), session.events().at(0).unwrap().actions.state_delta])
        },
        r#"[{"k":2},{"k":2}]"#
    ),
    case!(
        "partial",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let mut partial = event("e", 0, json!({"k":1}));
            partial.llm_response.partial = true;
            append(s, "s", partial).await.unwrap();
            json!([read(s, "s").await.events().len(), state(&*read(s, "s").await)])
        },
        "[0,{}]"
    ),
    case!(
        "same event twice",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let twice = event("e", 0, json!({"a":1,"b":2,"c":3,"d":{"z":1,"y":2}}));
            append(s, "s", twice.clone()).await.unwrap();
            json!([outcome(append(s, "s", twice).await), read(s, "s").await.events().len()])
        },
        r#"["ok",1]"#
    ),
    case!(
        "same id, other event",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            append(s, "s", event("e", 0, json!({"k":1}))).await.unwrap();
            let other = outcome(append(s, "s", event("e", 0, json!({"k":2}))).await);
            json!([other, state(&*read(s, "s").await)])
        },
        r#"[["session.exists","invalid_input"],{"k":1}]"#
    ),
    case!(
        "append to none",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let wrong =
                AppendEventRequest { identity: identity("other", "s"), event: event("e", 0, json!({})) };
            let bare = s.append_event("none", event("e", 0, json!({}))).await;
            json!([
                outcome(s.append_event_for_identity(wrong).await),
                outcome(bare),
                read(s, "s").await.events().len()
            ])
        },
        r#"[["session.not_found","not_found"],["session.not_found","not_found"],0]"#
    ),
    case!(
        "bare id",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            s.append_event("s", event("e", 0, json!({"user:k":1}))).await.unwrap();
            json!([ids(&*read(s, "s").await), state(&*read(s, "s").await)])
        },
        r#"[["e"],{"user:k":1}]"#
    ),
    case!(
        "bare id of two users",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            s.create(create("v", "s", json!({}))).await.unwrap();
            outcome(s.append_event("s", event("e", 0, json!({}))).await)
        },
        r#"["session.ambiguous","invalid_input"]"#
    ),
    case!(
        "rewind",
        |s| {
            s.create(create("u", "s", json!({"first":0}))).await.unwrap();
            for n in 1..=4 {
                append(s, "s", event(&format!("e{n}"), n, json!({"k":n,"user:k":n}))).await.unwrap();
            }
            let to = s.rewind("s", "e3").await.unwrap();
            let none = s.rewind_steps("s", 0).await.unwrap();
            let one = s.rewind_steps("s", 1).await.unwrap();
            let all = s.rewind_steps("s", 2).await.unwrap();
            json!([
                ids(&*to),
                state(&*to),
                ids(&*none).len(),
                ids(&*one),
                state(&*one),
                ids(&*all),
                state(&*all)
            ])
        },
        r#"[["e1","e2","e3"],{"first":0,"k":3,"user:k":4},3,["e1","e2"],{"first":0,"k":2,"user:k":4},[],{"first":0,"user:k":4}]"#
    ),
    case!(
        "rewind to nowhere",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            append(s, "s", event("e", 0, json!({}))).await.unwrap();
            json!([
                outcome(s.rewind("s", "none").await),
                outcome(s.rewind("none", "e").await),
                s.rewind_steps("s", 2).await.is_err(),
                ids(&*read(s, "s").await)
            ])
        },
        r#"[["session.not_found","not_found"],["session.not_found","not_found"],true,["e"]]"#
    ),
    case!(
        "values",
        |s| {
            let values = json!({"null":null,"big":18446744073709551615u64,"neg":-9223372036854775808i64,"f":0.1,"e":1e300,"t":"a\u{0}\u{1f600}","k/..\\":{}});
            s.create(create("u", "s", json!({}))).await.unwrap();
            append(s, "s", event("e", 0, values)).await.unwrap();
            state(&*read(s, "s").await)
        },
        r#"{"null":null,"big":18446744073709551615,"neg":-9223372036854775808,"f":0.1,"e":1e300,"t":"a\u0000😀","k/..\\":{}}"#
    ),
    case!(
        "tombstone",
        |s| {
            s.create(create("u", "s", json!({"k":1}))).await.unwrap();
            append(s, "s", event("e", 0, json!({"k":"__ADK_SENTINEL_REMOVED__"}))).await.unwrap();
            state(&*read(s, "s").await)
        },
        "{}"
    ),
    case!(
        "whole event",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let event = whole_event();
            append(s, "s", event.clone()).await.unwrap();
            let stored = read(s, "s").await.events().all().remove(0);
            json!(serde_json::to_value(&stored).unwrap() == serde_json::to_value(&event).unwrap())
        },
        "true"
    ),
    case!(
        "long state key",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let mut seen = Vec::new();
            for key in ["x".repeat(513), "a\0b".to_owned()] {
                let id = key[..1].to_owned();
                seen.push(append(s, "s", event(&id, 0, json!({ key: 1 }))).await.is_err());
            }
            json!([seen, state(&*read(s, "s").await)])
        },
        "[[true,true],{}]"
    ),
];
