//! adk-session's SQLite service, or ours, as a worker of `make compare`: it does and times what the lines of
//! its standard input ask for (tools/bench/compare/README.md).
//!
//!     compare seslite|sqlite FILE

use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};

use adk_core::identity::{AdkIdentity, AppName, SessionId, UserId};
use adk_core::{Content, Result};
use adk_session::*;
use adk_session_seslite::SesliteSessionService;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

struct Worker {
    service: Box<dyn SessionService>,
    appended: u64,
}

/// As durable as ours: with a write-ahead log and `synchronous=FULL`.
async fn sqlite(path: &str) -> Box<dyn SessionService> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(10));
    let service =
        SqliteSessionService::from_pool(SqlitePoolOptions::new().connect_with(options).await.unwrap());
    service.migrate().await.unwrap();
    Box::new(service)
}

fn event(n: u64) -> Event {
    let mut event = Event::new(format!("i{}", n / 4));
    event.author = "user".into();
    event.set_content(Content::new("user").with_text("what a user may say in a turn ".repeat(10)));
    event.actions.state_delta.insert("n".into(), n.into());
    event.actions.state_delta.insert("user:count".into(), n.into());
    event
}

impl Worker {
    async fn create(&self, session: &str) {
        let request = CreateRequest {
            app_name: "app".into(),
            user_id: "u".into(),
            session_id: Some(session.into()),
            state: HashMap::new(),
        };
        self.service.create(request).await.unwrap();
    }

    async fn append(&mut self, session: &str, event: Event) -> Result<()> {
        let identity = AdkIdentity::new(
            AppName::try_from("app").unwrap(),
            UserId::try_from("u").unwrap(),
            SessionId::try_from(session).unwrap(),
        );
        self.service.append_event_for_identity(AppendEventRequest { identity, event }).await
    }

    fn next(&mut self) -> Event {
        self.appended += 1;
        event(self.appended)
    }

    async fn append_many(&mut self, session: &str, count: u64) -> String {
        let events: Vec<_> = (0..count).map(|_| self.next()).collect();
        let begun = Instant::now();
        for event in events {
            self.append(session, event).await.unwrap();
        }
        format!("{} {count}", begun.elapsed().as_secs_f64())
    }

    async fn get(&self, session: &str, newest: usize) -> String {
        let begun = Instant::now();
        let request = GetRequest {
            app_name: "app".into(),
            user_id: "u".into(),
            session_id: session.into(),
            num_recent_events: (newest > 0).then_some(newest),
            after: None,
        };
        let count = self.service.get(request).await.unwrap().events().len();
        format!("{} {count}", begun.elapsed().as_secs_f64())
    }

    async fn list(&self) -> String {
        let begun = Instant::now();
        let request = ListRequest { app_name: "app".into(), user_id: "u".into(), limit: None, offset: None };
        let count = self.service.list(request).await.unwrap().len();
        format!("{} {count}", begun.elapsed().as_secs_f64())
    }

    async fn write(&mut self, session: &str, seconds: f64) -> String {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let (mut stored, mut failed) = (0, 0);
        while Instant::now() < end {
            let event = self.next();
            match self.append(session, event).await {
                Ok(()) => stored += 1,
                Err(_) => failed += 1,
            }
        }
        format!("{stored} {failed}")
    }

    async fn acknowledge(&mut self, session: &str) -> ! {
        loop {
            let event = self.next();
            self.append(session, event).await.unwrap();
            say("ack");
        }
    }
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

#[tokio::main]
async fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let service = match arguments[1].as_str() {
        "seslite" => Box::new(SesliteSessionService::open(&arguments[2]).await.unwrap()),
        _ => sqlite(&arguments[2]).await,
    };
    let mut worker = Worker { service, appended: 0 };
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<_> = line.split(' ').collect();
        let answer = match words[..] {
            ["create", session] => {
                worker.create(session).await;
                "0 1".into()
            }
            ["append", session, count] => worker.append_many(session, count.parse().unwrap()).await,
            ["get", session, newest] => worker.get(session, newest.parse().unwrap()).await,
            ["list"] => worker.list().await,
            ["write", session, seconds] => worker.write(session, seconds.parse().unwrap()).await,
            ["acknowledge", session] => worker.acknowledge(session).await,
            _ => panic!("{line}"),
        };
        say(&answer);
    }
}
