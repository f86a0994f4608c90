//! The trait's contract as one suite over adk-session's in-memory service, its SQLite service and ours. Each case looks at a
//! service and says what it saw. What ours must show stands beside the case. Where another service shows something else,
//! the table of differences says so, with the sentence of seslite's contract that decides it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use adk_core::identity::{AdkIdentity, AppName, SessionId, UserId};
use adk_core::{Content, EventCompaction, FinishReason, FunctionResponseData, Part, Result, UsageMetadata};
use adk_session::*;
use adk_session_seslite::SesliteSessionService;
use chrono::{DateTime, Duration, Utc};
use serde_json::{json, Value};

type Service<'a> = &'a dyn SessionService;
type Seen<'a> = Pin<Box<dyn Future<Output = Value> + 'a>>;
type Case = (&'static str, fn(Service<'_>) -> Seen<'_>, &'static str);

const MEMORY: &str = "memory";
const SQLITE: &str = "sqlite";

/// Case, service, and the sentence of ours.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("create again", MEMORY, "An existing session is EXISTS, and nothing at all has changed"),
    ("create again", SQLITE, "Codes, not strings: its error is of no kind, ours session.exists"),
    ("order", SQLITE, "Events are ordered by sequence number (the order of commit), never by timestamp"),
    ("update time", MEMORY, "The session's last update time is the event's time, but never goes back"),
    ("update time", SQLITE, "The session's last update time is the event's time, but never goes back"),
    ("partial", MEMORY, "partial: true: nothing is stored or applied"),
    ("partial", SQLITE, "partial: true: nothing is stored or applied"),
    ("same event twice", MEMORY, "The same id again in the same session: equal bytes are an idempotent success"),
    ("same event twice", SQLITE, "The same id again in the same session: equal bytes are an idempotent success"),
    ("same id, other event", MEMORY, "The same id again in the same session: different bytes are EXISTS"),
    ("same id, other event", SQLITE, "Codes, not strings: its error is of no kind, ours session.exists"),
    ("append to none", MEMORY, "The wrong user or app is the same as absent: NOTFOUND"),
    ("append to none", SQLITE, "The wrong user or app is the same as absent: NOTFOUND"),
    (
        "bare id of two users",
        MEMORY,
        "No call takes a bare session id; where the trait does, one that is not unique is refused",
    ),
    ("bare id of two users", SQLITE, "Codes, not strings: its error is of no kind, ours session.ambiguous"),
    ("shared state", SQLITE, "app: shared by all users and sessions of the app; user: by all sessions of that user"),
    ("list", MEMORY, "list: merged state, no events"),
    ("rewind", MEMORY, "Cut: own state becomes what it was there (the initial state included)"),
    ("rewind", SQLITE, "Cut: own state becomes what it was there (the initial state included)"),
    ("rewind to nowhere", MEMORY, "A point that is not there is NOTFOUND"),
    ("rewind to nowhere", SQLITE, "A point that is not there is NOTFOUND"),
    ("tombstone", MEMORY, "The string value \"__ADK_SENTINEL_REMOVED__\", in exactly that spelling, removes the key"),
    ("tombstone", SQLITE, "The string value \"__ADK_SENTINEL_REMOVED__\", in exactly that spelling, removes the key"),
    (
        "whole event",
        SQLITE,
        "Every other byte of the event is stored as it came (its table has no column for all fields)",
    ),
    ("bad ids", SQLITE, "Ids: valid UTF-8, 1 to 512 bytes, no NUL. Anything else is INVALID, at every call"),
    ("bad ids", MEMORY, "Ids: valid UTF-8, 1 to 512 bytes, no NUL. Anything else is INVALID, at every call"),
    ("long state key", MEMORY, "State keys: valid UTF-8, at most 512 bytes after the prefix, no NUL"),
    ("long state key", SQLITE, "State keys: valid UTF-8, at most 512 bytes after the prefix, no NUL"),
];

// --------------------------------------------------------------------------------------------------------- helpers

fn create(user: &str, session: &str, state: Value) -> CreateRequest {
    CreateRequest {
        app_name: "app".into(),
        user_id: user.into(),
        session_id: Some(session.into()),
        state: serde_json::from_value(state).unwrap(),
    }
}

fn get(user: &str, session: &str) -> GetRequest {
    GetRequest {
        app_name: "app".into(),
        user_id: user.into(),
        session_id: session.into(),
        num_recent_events: None,
        after: None,
    }
}

fn identity(user: &str, session: &str) -> AdkIdentity {
    AdkIdentity::new(
        AppName::try_from("app").unwrap(),
        UserId::try_from(user).unwrap(),
        SessionId::try_from(session).unwrap(),
    )
}

fn delete(user: &str, session: &str) -> DeleteRequest {
    DeleteRequest { app_name: "app".into(), user_id: user.into(), session_id: session.into() }
}

fn list(limit: Option<usize>, offset: Option<usize>) -> ListRequest {
    ListRequest { app_name: "app".into(), user_id: "u".into(), limit, offset }
}

fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + seconds, 123_456_789).unwrap()
}

fn event(id: &str, seconds: i64, delta: Value) -> Event {
    let mut event = Event::with_id(id, "inv");
    event.author = "agent".into();
    event.timestamp = time(seconds);
    event.actions.state_delta = serde_json::from_value(delta).unwrap();
    event
}

async fn append(service: Service<'_>, session: &str, event: Event) -> Result<()> {
    service.append_event_for_identity(AppendEventRequest { identity: identity("u", session), event }).await
}

fn ids(session: &dyn Session) -> Vec<String> {
    session.events().all().into_iter().map(|event| event.id).collect()
}

fn state(session: &dyn Session) -> Value {
    serde_json::to_value(session.state().all()).unwrap()
}

fn outcome<T>(result: Result<T>) -> Value {
    match result {
        Ok(_) => json!("ok"),
        Err(error) => json!([error.code, error.category.to_string()]),
    }
}

async fn read(service: Service<'_>, session: &str) -> Box<dyn Session> {
    service.get(get("u", session)).await.unwrap()
}

/// A case: a name, what it does with a service, and what ours shows.
macro_rules! case {
    ($name:literal, |$service:ident| $body:block, $expected:literal) => {
        ($name, |$service| Box::pin(async move { $body }), $expected)
    };
}

// ----------------------------------------------------------------------------------------------------------- cases

const CASES: &[Case] = &[
    case!("missing", |s| { outcome(s.get(get("u", "none")).await) }, r#"["session.not_found","not_found"]"#),
    case!(
        "invalid",
        |s| { json!(s.get(get("", "s")).await.err().unwrap().category.to_string()) },
        r#""invalid_input""#
    ),
    case!(
        "create",
        |s| {
            let state_of = json!({"app:a":1,"user:u":"x","s":[1.5,null],"temp:t":1,"n":null,"App:x":2,"app:user:x":3});
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
            let wrong = AppendEventRequest { identity: identity("other", "s"), event: event("e", 0, json!({})) };
            let bare = s.append_event("none", event("e", 0, json!({}))).await;
            json!([outcome(s.append_event_for_identity(wrong).await), outcome(bare), read(s, "s").await.events().len()])
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
            for (limit, offset) in
                [(None, None), (Some(2), None), (Some(2), Some(1)), (None, Some(3)), (Some(0), None), (None, Some(9))]
            {
                let listed = s.list(list(limit, offset)).await.unwrap();
                seen.push(listed.iter().map(|session| session.id()).collect::<Vec<_>>().concat());
            }
            let first = &s.list(list(None, None)).await.unwrap()[0];
            json!([seen, state(&**first), first.events().len()])
        },
        r#"[["s3s2s1s0","s3s2","s2s1","s0","",""],{"k":3},0]"#
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
            json!([ids(&*to), state(&*to), ids(&*none).len(), ids(&*one), state(&*one), ids(&*all), state(&*all)])
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
        "identity",
        |s| {
            s.create(create("u", "s", json!({}))).await.unwrap();
            let read = s.get_for_identity(&identity("u", "s")).await.unwrap();
            s.delete_for_identity(&identity("u", "s")).await.unwrap();
            json!([read.id(), s.get_for_identity(&identity("u", "s")).await.is_err(), outcome(s.health_check().await)])
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

/// An event in which every field says something.
fn whole_event() -> Event {
    let mut event = event("e", 1, json!({"k":{"b":1,"a":2}}));
    event.branch = "root.child".into();
    event.long_running_tool_ids = vec!["c1".into()];
    event.llm_request = Some("{}".into());
    event.provider_metadata = HashMap::from([("a".into(), "1".into()), ("b".into(), "2".into())]);
    event.actions.artifact_delta = HashMap::from([("f.txt".into(), 3)]);
    event.actions.skip_summarization = true;
    event.actions.transfer_to_agent = Some("other".into());
    event.actions.escalate = true;
    event.actions.route = Some(vec!["x".into()]);
    event.actions.compaction = Some(EventCompaction {
        start_timestamp: time(0),
        end_timestamp: time(1),
        compacted_content: Content::new("model").with_text("summary"),
    });
    let response = &mut event.llm_response;
    response.turn_complete = true;
    response.interrupted = true;
    response.finish_reason = Some(FinishReason::MaxTokens);
    response.error_code = Some("E".into());
    response.error_message = Some(String::new());
    response.provider_metadata = Some(json!({"x":null}));
    response.interaction_id = Some("i".into());
    response.usage_metadata = Some(UsageMetadata {
        prompt_token_count: 1,
        total_token_count: 3,
        thinking_token_count: Some(2),
        cost: Some(0.25),
        ..Default::default()
    });
    let blob = |uri: Option<&str>| Part::InlineData {
        mime_type: "image/png".into(),
        data: (0..=255).collect(),
        uri: uri.map(str::to_owned),
        annotations: None,
    };
    response.content = Some(Content {
        role: "model".into(),
        parts: vec![
            Part::Text { text: "a\0\u{1f600}".into() },
            Part::Thinking { thinking: "hm".into(), signature: Some("not base64!".into()) },
            blob(None),
            blob(Some("file:///x")),
            Part::FileData { mime_type: "text/plain".into(), file_uri: "gs://x".into(), annotations: None },
            Part::FunctionCall {
                name: "f".into(),
                args: json!({"big":18446744073709551615u64}),
                id: Some("c1".into()),
                thought_signature: Some("AAEC".into()),
            },
            Part::FunctionCall { name: "g".into(), args: json!([1]), id: None, thought_signature: None },
            Part::FunctionResponse {
                function_response: FunctionResponseData::new("f", json!("a text")),
                id: Some("c1".into()),
                annotations: Some(json!({"a":1})),
            },
            Part::ServerToolCall { server_tool_call: json!({"executableCode":{"code":"1"}}) },
            Part::ServerToolResponse { server_tool_response: json!({"other":1}) },
        ],
    });
    event
}

// ------------------------------------------------------------------------------------------------------- the suite

async fn memory() -> Box<dyn SessionService> {
    Box::new(InMemorySessionService::new())
}

async fn sqlite() -> Box<dyn SessionService> {
    // One connection: a pool would give each its own database in memory.
    let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.unwrap();
    let service = SqliteSessionService::from_pool(pool);
    service.migrate().await.unwrap();
    Box::new(service)
}

async fn ours() -> Box<dyn SessionService> {
    Box::new(SesliteSessionService::open(":memory:").await.unwrap())
}

#[tokio::test]
async fn ours_does_what_the_contract_says() {
    for (name, case, expected) in CASES {
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(case(&*ours().await).await, expected, "{name}");
    }
}

#[tokio::test]
async fn the_other_services_differ_where_the_table_says_so() {
    let mut wrong = Vec::new();
    for (name, case, expected) in CASES {
        let expected: Value = serde_json::from_str(expected).unwrap();
        for (service, seen) in [(MEMORY, case(&*memory().await).await), (SQLITE, case(&*sqlite().await).await)] {
            let known = DIFFERENCES.iter().any(|(case, other, _)| case == name && *other == service);
            if (seen != expected) != known {
                wrong.push(format!("{name}: {service} shows {seen}, ours {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, _, _) in DIFFERENCES {
        assert!(CASES.iter().any(|(case, _, _)| case == name), "there is no case {name}");
    }
}
