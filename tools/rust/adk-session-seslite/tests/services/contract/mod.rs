//! The trait's contract as one suite over adk-session's in-memory service, its SQLite service and ours. Each
//! case looks at a service and says what it saw. What ours must show stands beside the case. Where another
//! service shows something else, the table of differences says so, with the sentence of seslite's contract
//! that decides it.

/// A case: a name, what it does with a service, and what ours shows.
macro_rules! case {
    ($name:literal, |$service:ident| $body:block, $expected:literal) => {
        ($name, |$service| Box::pin(async move { $body }), $expected)
    };
}

mod differences;
mod events;
mod sessions;
mod whole_event;

use std::future::Future;
use std::pin::Pin;

use adk_core::identity::{AdkIdentity, AppName, SessionId, UserId};
use adk_core::Result;
use adk_session::*;
use adk_session_seslite::SesliteSessionService;
use chrono::{DateTime, Utc};
use serde_json::{json, Value};

use differences::DIFFERENCES;
use events::EVENTS;
use sessions::SESSIONS;

type Service<'a> = &'a dyn SessionService;
type Seen<'a> = Pin<Box<dyn Future<Output = Value> + 'a>>;
type Case = (&'static str, fn(Service<'_>) -> Seen<'_>, &'static str);

const MEMORY: &str = "memory";
const SQLITE: &str = "sqlite";

fn cases() -> impl Iterator<Item = &'static Case> {
    SESSIONS.iter().chain(EVENTS)
}

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

async fn memory() -> Box<dyn SessionService> {
    Box::new(InMemorySessionService::new())
}

async fn sqlite() -> Box<dyn SessionService> {
    // One connection: a pool would give each its own database in memory.
    let pool =
        sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.unwrap();
    let service = SqliteSessionService::from_pool(pool);
    service.migrate().await.unwrap();
    Box::new(service)
}

async fn ours() -> Box<dyn SessionService> {
    Box::new(SesliteSessionService::open(":memory:").await.unwrap())
}

#[tokio::test]
async fn ours_does_what_the_contract_says() {
    for (name, case, expected) in cases() {
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(case(&*ours().await).await, expected, "{name}");
    }
}

#[tokio::test]
async fn the_other_services_differ_where_the_table_says_so() {
    let mut wrong = Vec::new();
    for (name, case, expected) in cases() {
        let expected: Value = serde_json::from_str(expected).unwrap();
        for (service, seen) in
            [(MEMORY, case(&*memory().await).await), (SQLITE, case(&*sqlite().await).await)]
        {
            let known = DIFFERENCES.iter().any(|(case, other, _)| case == name && *other == service);
            if (seen != expected) != known {
                wrong.push(format!("{name}: {service} shows {seen}, ours {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, _, _) in DIFFERENCES {
        assert!(cases().any(|(case, _, _)| case == name), "there is no case {name}");
    }
}
