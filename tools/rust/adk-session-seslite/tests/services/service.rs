//! Features of this service: the file shared with others, threads, and the data that it can and cannot read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use adk_core::identity::{AdkIdentity, AppName, SessionId, UserId};
use adk_core::{Content, Part};
use adk_session::*;
use adk_session_seslite::seslite::{self, DeleteOptions, Key, Store};
use adk_session_seslite::SesliteSessionService;
use serde_json::json;

fn create(session: &str) -> CreateRequest {
    CreateRequest {
        app_name: "app".into(),
        user_id: "u".into(),
        session_id: Some(session.into()),
        state: HashMap::new(),
    }
}

fn get(session: &str) -> GetRequest {
    GetRequest {
        app_name: "app".into(),
        user_id: "u".into(),
        session_id: session.into(),
        num_recent_events: None,
        after: None,
    }
}

fn append(session: &str, event: Event) -> AppendEventRequest {
    let identity = AdkIdentity::new(
        AppName::try_from("app").unwrap(),
        UserId::try_from("u").unwrap(),
        SessionId::try_from(session).unwrap(),
    );
    AppendEventRequest { identity, event }
}

#[tokio::test]
async fn an_event_is_stored_as_the_adk_writes_it() {
    let service = SesliteSessionService::open(":memory:").await.unwrap();
    service.create(create("s")).await.unwrap();
    let mut event = Event::with_id("e1", "i1");
    event.author = "agent".into();
    event.timestamp = chrono::DateTime::from_timestamp(1_700_000_000, 5000).unwrap();
    event.actions.state_delta.insert("k".into(), json!(1));
    event.set_content(Content {
        role: "model".into(),
        parts: vec![
            Part::Thinking { thinking: "hm".into(), signature: None },
            Part::FunctionCall {
                name: "f".into(),
                args: json!({}),
                id: Some("c".into()),
                thought_signature: None,
            },
        ],
    });
    service.append_event("s", event).await.unwrap();
    let stored = service.store().get(Key::new("app", "u", "s")).unwrap();
    let text = stored.event(0).unwrap().json().unwrap();
    assert!(text.starts_with(r#"{"id":"e1","timestamp":1700000000.000005,"#), "{text}");
    let read = seslite::Content::read(service.store(), text).unwrap();
    assert_eq!(read.calls().next().unwrap().name(), Some("f"));
    assert!(read.parts().next().unwrap().is_thought());
    assert_eq!(read.state_delta(), Some(r#"{"k":1}"#));
    assert!(!text.contains("adkRust"), "{text}");
}

#[tokio::test]
async fn events_of_other_programs_are_read() {
    let service = SesliteSessionService::open(":memory:").await.unwrap();
    let store = service.store();
    let mut session = store.create(Key::new("app", "u", "s"), Some(r#"{"k":1.10}"#)).unwrap();
    for text in [
        r#"{"id":"py","invocation_id":"i","author":"agent","timestamp":1700000000.5,"content":{"role":"model","parts":[{"text":"x","thought":true},{"function_call":{"id":"c","name":"f","args":{"a":1}}},{"inline_data":{"mime_type":"a/b","data":"-_8="}},{"code_execution_result":{"outcome":"OUTCOME_OK"}},{"newKind":{}}]},"actions":{"state_delta":{"n":null},"artifact_delta":{"f":1},"requested_auth_configs":{}},"usage_metadata":{"prompt_token_count":7},"finish_reason":"MALFORMED_FUNCTION_CALL","custom_metadata":{"x":1}}"#,
        r#"{"id":"js","author":"user","timestamp":1700000000500,"content":{"parts":[{"text":"hi"}]}}"#,
        r#"{"id":"go","timestamp":"2023-11-14T22:13:20.5Z","content":null,"errorCode":"E","customMetadata":"odd"}"#,
        r#"{"id":"none"}"#,
    ] {
        session.append(text).unwrap();
    }
    let read = service.get(get("s")).await.unwrap();
    let events = read.events().all();
    assert_eq!(events.len(), 4);
    for event in &events[..3] {
        assert_eq!(event.timestamp.timestamp_millis(), 1_700_000_000_500);
    }
    let parts = &events[0].content().unwrap().parts;
    assert!(matches!(&parts[0], Part::Thinking { thinking, .. } if thinking == "x"));
    assert!(matches!(&parts[1], Part::FunctionCall { name, .. } if name == "f"));
    assert!(matches!(&parts[2], Part::InlineData { data, .. } if data == &[0xfb, 0xff]));
    assert!(matches!(&parts[3], Part::ServerToolResponse { .. }));
    assert!(matches!(&parts[4], Part::ServerToolCall { .. }));
    assert_eq!(events[0].llm_response.usage_metadata.as_ref().unwrap().prompt_token_count, 7);
    assert_eq!(events[0].llm_response.finish_reason, Some(adk_core::FinishReason::Other));
    assert_eq!(events[2].llm_response.error_code.as_deref(), Some("E"));
    // An event that adk-session cannot hold is reported by name and not skipped.
    session.append(r#"{"id":"odd","content":{"role":"model","parts":[{"text":"\ud800"}]}}"#).unwrap();
    let error = service.get(get("s")).await.err().unwrap();
    assert_eq!(error.code, "session.unreadable");
    assert!(error.message.contains("event 5 ('odd')"), "{}", error.message);
}

#[tokio::test]
async fn errors_carry_the_code_of_the_store() {
    let service = SesliteSessionService::open(":memory:").await.unwrap();
    service.create(create("s")).await.unwrap();
    let error = service.create(create("s")).await.err().unwrap();
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<seslite::Error>().unwrap();
    assert_eq!(source.code(), seslite::Code::Exists);
    assert!(error.message.contains("SES_EXISTS"), "{}", error.message);
    let error = SesliteSessionService::open("/no/such/folder/x.db").await.err().unwrap();
    assert!(error.message.contains("SES_CANTOPEN"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let service = SesliteSessionService::open(folder.path().join("agents.db")).await.unwrap();
    service.create(create("s")).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|writer| {
            let service = service.clone();
            tokio::spawn(async move {
                for n in 0..25 {
                    let mut event = Event::new("i");
                    event.actions.state_delta.insert(format!("user:w{writer}"), json!(n));
                    service.append_event_for_identity(append("s", event)).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let read = service.get(get("s")).await.unwrap();
    assert_eq!((read.events().len(), read.state().get("user:w7")), (200, Some(json!(24))));
    // A second service on the same file sees it all.
    drop(service);
    let store = Store::open(folder.path().join("agents.db")).unwrap();
    let again = SesliteSessionService::new(store);
    assert_eq!(again.get(get("s")).await.unwrap().events().len(), 200);
    again.append_event("s", Event::new("i")).await.unwrap();
}

#[test]
fn it_works_without_a_runtime_of_tokio() {
    futures::executor::block_on(async {
        let service = SesliteSessionService::open(":memory:").await.unwrap();
        service.create(create("s")).await.unwrap();
        assert_eq!(service.get(get("s")).await.unwrap().id(), "s");
    });
}

#[tokio::test]
async fn a_session_that_moved_to_another_user_is_found_again() {
    let service = SesliteSessionService::open(":memory:").await.unwrap();
    service.create(create("s")).await.unwrap();
    service.store().delete(Key::new("app", "u", "s"), &DeleteOptions::new()).unwrap();
    service.store().create(Key::new("app2", "v", "s"), None).unwrap();
    service.append_event("s", Event::new("i")).await.unwrap();
    assert_eq!(service.store().get(Key::new("app2", "v", "s")).unwrap().event_count(), 1);
}

#[tokio::test]
async fn numbers_of_any_size_are_read_and_stay_as_they_are() {
    let service = SesliteSessionService::open(":memory:").await.unwrap();
    let key = Key::new("app", "u", "s");
    let state = r#"{"digits":123456789012345678901234567890,"u64":18446744073709551615,"small":1e-400}"#;
    service.store().create(key, Some(state)).unwrap();
    let read = service.get(get("s")).await.unwrap().state().all();
    assert_eq!((&read["u64"], read["small"].as_f64()), (&json!(u64::MAX), Some(0.0)));
    assert_eq!(read["digits"].as_f64(), Some(123_456_789_012_345_678_901_234_567_890.0));
    // An append of the service leaves the digits alone.
    service.append_event("s", Event::new("i")).await.unwrap();
    assert!(service.store().state(key).unwrap().contains("123456789012345678901234567890"));
    // A value that serde_json cannot hold is an error that names the event.
    service.store().append(key, r#"{"actions":{"stateDelta":{"huge":1e400}}}"#, &Default::default()).unwrap();
    let read = service.get(get("s")).await;
    if serde_json::from_str::<serde_json::Value>("1e400").is_ok() {
        // Another crate of the program has turned on serde_json's arbitrary_precision.
        assert_eq!(read.unwrap().state().all()["huge"].to_string(), "1e+400");
        return;
    }
    let error = read.err().unwrap();
    assert_eq!(error.code, "session.unreadable");
    assert!(error.message.contains("event 2"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_future_that_is_dropped_leaves_the_service_whole() {
    let service = SesliteSessionService::open(":memory:").await.unwrap();
    service.create(create("s")).await.unwrap();
    for n in 0..50 {
        let event = Event::with_id(format!("e{n}"), "i");
        let append = service.append_event_for_identity(append("s", event));
        let _ = tokio::time::timeout(std::time::Duration::from_micros(n), append).await;
    }
    // Each event is stored whole or not at all, in order of commit.
    service.append_event("s", Event::with_id("last", "i")).await.unwrap();
    assert!(service.get(get("s")).await.unwrap().events().all().iter().any(|event| event.id == "last"));
    assert_eq!(service.store().check(seslite::CheckLevel::Log, 0, |_| true).unwrap(), 0);
}

/// The log of the service: once and for all tests of the program.
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_future_is_dropped_is_finished_and_logged() {
    let text = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&text);
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || Log(Arc::clone(&log))).init();
    // The clock holds up a call that creates a session.
    let gate = Arc::new(Mutex::new(()));
    let clock = Arc::clone(&gate);
    let options = seslite::OpenOptions::new().clock(move || {
        drop(clock.lock().unwrap());
        1_700_000_000_000_000
    });
    let service = SesliteSessionService::open_with(":memory:", options).await.unwrap();
    for expected in ["succeeded", "failed"] {
        let held = gate.lock().unwrap();
        let mut call = service.create(create("dropped"));
        assert!(futures::poll!(&mut call).is_pending());
        drop(call);
        drop(held);
        let line = format!("{expected} after its future was dropped");
        while !String::from_utf8_lossy(&text.lock().unwrap()).contains(&line) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    let log = String::from_utf8(text.lock().unwrap().clone()).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.contains(r#"session="dropped""#)).collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(lines[0].contains("INFO") && lines[0].contains(r#"call="create""#), "{log}");
    assert!(lines[1].contains("WARN") && lines[1].contains("SES_EXISTS"), "{log}");
}

#[tokio::test]
async fn calls_have_the_limits_of_the_store() {
    let store = Store::open(":memory:").unwrap();
    let cancel = seslite::Cancel::new(&store).unwrap();
    let limited = store.with_limits(seslite::Limits::new().cancel(&cancel));
    let service = SesliteSessionService::new(limited);
    service.create(create("s")).await.unwrap();
    cancel.cancel();
    let error = service.append_event_for_identity(append("s", Event::with_id("e", "i"))).await.err().unwrap();
    assert_eq!(error.code, "session.interrupted");
    cancel.reset();
    assert_eq!(service.get(get("s")).await.unwrap().events().len(), 0);
}
