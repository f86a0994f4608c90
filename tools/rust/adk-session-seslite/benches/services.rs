//! adk-session's SQLite service and ours, in one interleaved run, at equal durability: both with a
//! write-ahead log and `synchronous=FULL`. `cargo bench -p adk-session-seslite` prints a table;
//! BENCH_SECONDS, BENCH_LOG and BENCH_WRITERS set how long the writers write, how many events the long log
//! has, and how many writers there are. It fails if ours is slower than what the README says, or makes an
//! error.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adk_core::identity::{AdkIdentity, AppName, SessionId, UserId};
use adk_core::Content;
use adk_session::*;
use adk_session_seslite::SesliteSessionService;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

type Service = Arc<dyn SessionService>;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

async fn sqlite(path: &Path) -> Service {
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
    Arc::new(service)
}

async fn ours(path: &Path) -> Service {
    Arc::new(SesliteSessionService::open(path).await.unwrap())
}

fn identity(session: &str) -> AdkIdentity {
    AdkIdentity::new(
        AppName::try_from("app").unwrap(),
        UserId::try_from("u").unwrap(),
        SessionId::try_from(session).unwrap(),
    )
}

async fn create(service: &Service, session: &str) {
    service
        .create(CreateRequest {
            app_name: "app".into(),
            user_id: "u".into(),
            session_id: Some(session.into()),
            state: HashMap::new(),
        })
        .await
        .unwrap();
}

async fn append(service: &Service, session: &str, n: u64) -> adk_core::Result<()> {
    let mut event = Event::new("inv");
    event.author = "agent".into();
    event.set_content(
        Content::new("model").with_text(format!("This is answer number {n}. {}", "word ".repeat(60))),
    );
    event.actions.state_delta.insert("n".into(), n.into());
    event.actions.state_delta.insert("user:n".into(), n.into());
    service.append_event_for_identity(AppendEventRequest { identity: identity(session), event }).await
}

async fn get(service: &Service, session: &str, newest: usize) -> usize {
    let request = GetRequest {
        app_name: "app".into(),
        user_id: "u".into(),
        session_id: session.into(),
        num_recent_events: Some(newest),
        after: None,
    };
    service.get(request).await.unwrap().events().len()
}

/// The median of a list of times, in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// The table, and the lines that fall short.
#[derive(Default)]
struct Table {
    missed: Vec<String>,
}

impl Table {
    /// A line, and how many times as fast ours is at least.
    fn row(&mut self, what: &str, unit: &str, [theirs, ours]: [f64; 2], wanted: f64) {
        // Of times the smaller is the faster, of rates the greater.
        let factor = if unit == "us" { theirs / ours } else { ours / theirs };
        println!("{what:<44}{theirs:>12.1}{ours:>12.1} {unit:<6}{factor:>8.1} x");
        if factor < wanted {
            self.missed.push(format!("{what}: {factor:.2} x, where {wanted} x is wanted"));
        }
    }

    fn errors(&mut self, [theirs, ours]: [u64; 2]) {
        println!("{:<44}{theirs:>12}{ours:>12}", "  errors");
        if ours > 0 {
            self.missed.push(format!("{ours} errors here"));
        }
    }

    fn end(self) -> ExitCode {
        for missed in &self.missed {
            eprintln!("missed: {missed}");
        }
        ExitCode::from(u8::from(!self.missed.is_empty()))
    }
}

/// One call of each service after the other, `rounds` times.
macro_rules! interleaved {
    ($services:expr, $rounds:expr, |$service:ident, $n:ident| $call:expr) => {{
        let mut times = [Vec::new(), Vec::new()];
        for $n in 0..$rounds {
            for turn in 0..2 {
                // Neither is always the first.
                let which = (turn + $n as usize) % 2;
                let $service = &$services[which];
                let begin = Instant::now();
                let _ = $call;
                times[which].push(begin.elapsed());
            }
        }
        times.map(median)
    }};
}

async fn write_for(service: Service, seconds: u64, writers: u64) -> (f64, u64) {
    for writer in 0..writers {
        create(&service, &format!("w{writer}")).await;
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                let (mut stored, mut failed) = (0, 0);
                while Instant::now() < end {
                    match append(&service, &format!("w{writer}"), stored).await {
                        Ok(()) => stored += 1,
                        Err(_) => failed += 1,
                    }
                }
                (stored, failed)
            })
        })
        .collect();
    let (mut stored, mut failed) = (0, 0);
    for task in tasks {
        let (more, worse) = task.await.unwrap();
        stored += more;
        failed += worse;
    }
    (stored as f64 / seconds as f64, failed)
}

#[tokio::main]
async fn main() -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let services =
        [sqlite(&folder.path().join("theirs.db")).await, ours(&folder.path().join("ours.db")).await];
    let (log, seconds, writers) =
        (number("BENCH_LOG", 100_000), number("BENCH_SECONDS", 10), number("BENCH_WRITERS", 8));
    let mut table = Table::default();
    println!("{:<44}{:>12}{:>12}", "", "SQLite", "seslite");

    for service in &services {
        create(service, "short").await;
    }
    let times = interleaved!(services, 300, |service, n| append(service, "short", n).await.unwrap());
    table.row("append, median", "us", times, 1.0);
    let times = interleaved!(services, 300, |service, _n| get(service, "short", 300).await);
    table.row("get, of a log of 300, median", "us", times, 1.0);
    let times = interleaved!(services, 300, |service, _n| get(service, "short", 20).await);
    table.row("get of 20, in a log of 300, median", "us", times, 1.0);

    fill(&services, &folder, log).await;
    let times = interleaved!(services, 10, |service, _n| assert_eq!(get(service, "long", 20).await, 20));
    table.row(&format!("get of 20, in a log of {log}, median"), "us", times, 10.0);
    let times = interleaved!(services, 50, |service, n| append(service, "long", n).await.unwrap());
    table.row(&format!("append to a log of {log}, median"), "us", times, 1.0);

    let (theirs, their_failures) = write_for(Arc::clone(&services[0]), seconds, writers).await;
    let (own, failures) = write_for(Arc::clone(&services[1]), seconds, writers).await;
    table.row(&format!("{writers} writers for {seconds} s"), "a s", [theirs, own], 1.0);
    table.errors([their_failures, failures]);
    table.end()
}

/// The long log: written directly, since the services take a transaction for each event.
async fn fill(services: &[Service; 2], folder: &tempfile::TempDir, log: u64) {
    for service in services {
        create(service, "long").await;
        append(service, "long", 0).await.unwrap();
    }
    let pool =
        sqlx::SqlitePool::connect_with(SqliteConnectOptions::new().filename(folder.path().join("theirs.db")))
            .await
            .unwrap();
    sqlx::query(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) \
         INSERT INTO events SELECT id || '-' || i, app_name, user_id, session_id, invocation_id, branch, author, timestamp, \
         llm_response, actions, long_running_tool_ids FROM events, n WHERE session_id = 'long'",
    )
    .bind(i64::try_from(log).unwrap() - 1)
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;
    use adk_session_seslite::seslite::{AppendOptions, Key, Store};
    let store = Store::open(folder.path().join("ours.db")).unwrap();
    let key = Key::new("app", "u", "long");
    let first = store.get(key).unwrap().event(0).unwrap().json().unwrap().to_owned();
    let id = first.split('"').nth(3).unwrap().to_owned();
    for part in (1..log).collect::<Vec<_>>().chunks(1000) {
        let events: Vec<_> = part.iter().map(|n| first.replacen(&id, &format!("{id}-{n}"), 1)).collect();
        let events: Vec<_> = events.iter().map(String::as_str).collect();
        store.append_batch(key, &events, &AppendOptions::new()).unwrap();
    }
}
