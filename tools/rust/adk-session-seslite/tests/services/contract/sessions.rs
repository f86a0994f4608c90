//! Cases about sessions: made, read, listed, deleted, and the state that they share.

use adk_session::*;
use chrono::Utc;
use serde_json::json;

use super::*;

pub const SESSIONS: &[Case] = &[
    case!("missing", |s| { outcome(s.get(get("u", "none")).await) }, r#"["session.not_found","not_found"]"#),
    case!(
        "invalid",
        |s| { json!(s.get(get("", "s")).await.err().unwrap().category.to_string()) },
        r#""invalid_input""#
    ),
    case!(
        "create",
        |s| {
            let state_of =
                json!({"app:a":1,"user:u":"x","s":[1.5,null],"temp:t":1,"n":null,"App:x":2,"app:user:x":3});
            let made = s.create(create("u", "s", state_of)).await.unwrap();
            let read = read(s, "s").await;
            assert_eq!(state(&*made), state(&*read));
            json!([made.id(), made.app_name(), made.user_id(), state(&*read), read.events().len()])
        },
        r#"["s","app","u",{"app:a":1,"user:u":"x","s":[1.5,null],"n":null,"App:x":2,"app:user:x":3},0]"#
    ),
    case!(
        "an id is made",
        |s| {
            let mut request = create("u", "", json!({}));
            request.session_id = None;
            let made = s.create(request).await.unwrap();
            json!([made.id().len(), outcome(s.get(get("u", made.id())).await)])
        },
        r#"[36,"ok"]"#
    ),
    case!(
        "create again",
        |s| {
            s.create(create("u", "s", json!({"k":1}))).await.unwrap();
            append(s, "s", event("e", 0, json!({}))).await.unwrap();
            let again = outcome(s.create(create("u", "s", json!({"k":2,"app:k":2}))).await);
            json!([again, read(s, "s").await.events().len(), state(&*read(s, "s").await)])
        },
        r#"[["session.exists","invalid_input"],1,{"k":1}]"#
    ),
    case!(
        "isolation",
        |s| {
            s.create(create("u", "s", json!({"user:k":1,"k":1}))).await.unwrap();
            s.create(create("v", "s", json!({"k":2}))).await.unwrap();
            append(s, "s", event("e", 0, json!({}))).await.unwrap();
            let v = s.get(get("v", "s")).await.unwrap();
            json!([state(&*v), v.events().len(), outcome(s.get(get("w", "s")).await)])
        },
        r#"[{"k":2},0,["session.not_found","not_found"]]"#
    ),
    case!(
        "shared state",
        |s| {
            s.create(create("u", "one", json!({}))).await.unwrap();
            s.create(create("u", "two", json!({}))).await.unwrap();
            append(s, "one", event("e", 0, json!({"app:a":1,"user:u":2,"own":3}))).await.unwrap();
            state(&*read(s, "two").await)
        },
        r#"{"app:a":1,"user:u":2}"#
    ),
    case!(
        "state outlives sessions",
        |s| {
            s.create(create("u", "one", json!({"user:k":1,"app:k":2,"k":3}))).await.unwrap();
            s.delete(delete("u", "one")).await.unwrap();
            s.delete(delete("u", "one")).await.unwrap();
            s.create(create("u", "two", json!({}))).await.unwrap();
            s.create(create("u", "three", json!({}))).await.unwrap();
            s.delete_all_sessions("app", "u").await.unwrap();
            let left = s.list(list(None, None)).await.unwrap().len();
            s.create(create("u", "four", json!({}))).await.unwrap();
            json!([left, state(&*read(s, "four").await)])
        },
        r#"[0,{"user:k":1,"app:k":2}]"#
    ),
    case!(
        "list",
        |s| {
            for n in 0..4 {
                s.create(create("u", &format!("s{n}"), json!({"k":n}))).await.unwrap();
            }
            s.create(create("v", "other", json!({}))).await.unwrap();
            let now = Utc::now().timestamp() - 1_700_000_000;
            for (session, seconds) in [("s0", 100), ("s2", 300), ("s1", 200), ("s3", 400)] {
                append(s, session, event("e", now + seconds, json!({}))).await.unwrap();
            }
            let mut seen = Vec::new();
            for (limit, offset) in [
                (None, None),
                (Some(2), None),
                (Some(2), Some(1)),
                (None, Some(3)),
                (Some(0), None),
                (None, Some(9)),
            ] {
                let listed = s.list(list(limit, offset)).await.unwrap();
                seen.push(listed.iter().map(|session| session.id()).collect::<Vec<_>>().concat());
            }
            let first = &s.list(list(None, None)).await.unwrap()[0];
            json!([seen, state(&**first), first.events().len()])
        },
        r#"[["s3s2s1s0","s3s2","s2s1","s0","",""],{"k":3},0]"#
    ),
    case!(
        "identity",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let read = s.get_for_identity(&identity("u", "s")).await.unwrap();
            s.delete_for_identity(&identity("u", "s")).await.unwrap();
            json!([
                read.id(),
                s.get_for_identity(&identity("u", "s")).await.is_err(),
                outcome(s.health_check().await)
            ])
        },
        r#"["s",true,"ok"]"#
    ),
    case!(
        "bad ids",
        |s| {
            let mut seen = Vec::new();
            for id in ["", "a\0b", &"x".repeat(513)] {
                seen.push(s.create(create("u", id, json!({}))).await.is_err());
                seen.push(s.create(create(id, "s", json!({}))).await.is_err());
                seen.push(s.list(ListRequest { user_id: id.into(), ..list(None, None) }).await.is_err());
                seen.push(s.delete(delete("u", id)).await.is_err());
                seen.push(s.append_event(id, event("e", 0, json!({}))).await.is_err());
            }
            json!(seen.iter().all(|refused| *refused))
        },
        "true"
    ),
];
