//! The memory service: what the tests of adk-memory ask of its own, random calls next to its in-memory
//! service, and what only this one does.

use std::collections::BTreeSet;

use adk_core::{Content, ErrorCategory, Event, Part};
use adk_memory::{InMemoryMemoryService, MemoryEntry, MemoryService, SearchRequest};
use adk_session::{CreateRequest, ListRequest, SessionService};
use adk_session_seslite::seslite::{Filter, Key, Kind, Range, RememberOptions, Store};
use adk_session_seslite::{SesliteMemoryService, SesliteSessionService};
use chrono::{DateTime, Utc};

const APP: &str = "app";
const USER: &str = "u";

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + seconds, 123_456_789).unwrap()
}

fn entry(text: &str, seconds: i64) -> MemoryEntry {
    MemoryEntry {
        content: Content::new("user").with_text(text),
        author: "user".into(),
        timestamp: at(seconds),
    }
}

fn text_of(entry: &MemoryEntry) -> String {
    entry.content.parts.iter().filter_map(Part::text).collect()
}

fn request(query: &str, project: Option<&str>) -> SearchRequest {
    SearchRequest {
        query: query.into(),
        user_id: USER.into(),
        app_name: APP.into(),
        limit: None,
        min_score: None,
        project_id: project.map(str::to_owned),
    }
}

async fn search(service: &dyn MemoryService, query: &str, project: Option<&str>) -> Vec<String> {
    let found = service.search(request(query, project)).await.unwrap();
    found.memories.iter().map(text_of).collect()
}

fn ours() -> SesliteMemoryService {
    SesliteMemoryService::new(Store::open(":memory:").unwrap())
}

/// What tests/memory_tests.rs, project_delete_property_tests.rs and project_isolation_conformance_tests.rs of
/// adk-memory test.
async fn run_the_own_tests_of_the_trait(service: &dyn MemoryService) {
    let sunny = vec![entry("The weather is sunny today", 1), entry("I like programming in Rust", 2)];
    service.add_session(APP, USER, "s1", sunny).await.unwrap();
    assert_eq!(search(service, "weather sunny", None).await, ["The weather is sunny today"]);
    assert!(search(service, "python", None).await.is_empty());
    service.add_session(APP, USER, "s2", vec![entry("More WEATHER of another session", 3)]).await.unwrap();
    assert_eq!(search(service, "weather", None).await.len(), 2);
    assert!(service
        .search(SearchRequest { user_id: "v".into(), ..request("weather", None) })
        .await
        .unwrap()
        .memories
        .is_empty());
    assert!(service
        .search(SearchRequest { app_name: "b".into(), ..request("weather", None) })
        .await
        .unwrap()
        .memories
        .is_empty());
    assert_eq!(
        service
            .search(SearchRequest { limit: Some(1), ..request("weather", None) })
            .await
            .unwrap()
            .memories
            .len(),
        1
    );
    service.add_session(APP, USER, "s3", vec![]).await.unwrap();

    assert!(service.supports_project_scoping());
    service.add_entry(APP, USER, entry("shared knowledge", 4)).await.unwrap();
    service.add_entry_to_project(APP, USER, "a", entry("knowledge for alpha", 5)).await.unwrap();
    service.add_session_to_project(APP, USER, "s4", "b", vec![entry("knowledge for beta", 6)]).await.unwrap();
    let in_a: BTreeSet<_> = search(service, "knowledge", Some("a")).await.into_iter().collect();
    assert_eq!(in_a, ["knowledge for alpha", "shared knowledge"].map(str::to_owned).into());
    assert_eq!(search(service, "knowledge", None).await, ["shared knowledge"]);
    let recent: Vec<_> = service.list_recent(APP, USER, 3).await.unwrap().iter().map(text_of).collect();
    assert_eq!(recent, ["knowledge for beta", "knowledge for alpha", "shared knowledge"]);
    for project in ["", &"x".repeat(257)] {
        assert!(service.add_entry_to_project(APP, USER, project, entry("no", 7)).await.is_err());
        assert!(service.add_session_to_project(APP, USER, "s", project, vec![entry("no", 7)]).await.is_err());
    }

    assert_eq!(service.delete_entries_in_project(APP, USER, "a", "knowledge").await.unwrap(), 1);
    assert_eq!(search(service, "knowledge", Some("a")).await, ["shared knowledge"]);
    assert_eq!(search(service, "knowledge", Some("b")).await.len(), 2);
    assert_eq!(service.delete_entries(APP, USER, "knowledge").await.unwrap(), 1);
    assert_eq!(search(service, "knowledge", Some("b")).await, ["knowledge for beta"]);
    assert_eq!(service.delete_project(APP, USER, "b").await.unwrap(), 1);
    assert_eq!(service.delete_project(APP, USER, "b").await.unwrap(), 0);
    assert!(search(service, "knowledge", Some("b")).await.is_empty());
    assert_eq!(service.delete_entries(APP, USER, "").await.unwrap(), 0);
    assert_eq!(search(service, "weather", None).await.len(), 2);
    service.delete_user(APP, USER).await.unwrap();
    assert!(search(service, "weather", None).await.is_empty());
    service.health_check().await.unwrap();
}

#[tokio::test]
async fn the_own_tests_of_the_trait_pass() {
    run_the_own_tests_of_the_trait(&InMemoryMemoryService::new()).await;
    run_the_own_tests_of_the_trait(&ours()).await;
}

// ---------------------------------------------------------------------------------------- random calls

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
    fn words(&mut self) -> String {
        let count = 1 + self.below(4);
        (0..count).map(|_| format!("w{}", self.below(12))).collect::<Vec<_>>().join(" ")
    }
    fn name(&mut self, letter: char) -> String {
        format!("{letter}{}", self.below(3))
    }
}

async fn act(service: &dyn MemoryService, random: &mut Random, time: i64) -> Option<u64> {
    let (session, project, words) = (random.name('s'), random.name('p'), random.words());
    let entries = (0..random.below(3)).map(|n| entry(&random.words(), time * 10 + n as i64)).collect();
    match random.below(12) {
        0..4 => service.add_session(APP, USER, &session, entries).await.unwrap(),
        4..6 => service.add_entry(APP, USER, entry(&words, time * 10)).await.unwrap(),
        6..8 => service.add_entry_to_project(APP, USER, &project, entry(&words, time * 10)).await.unwrap(),
        8 => return Some(service.delete_entries(APP, USER, &words).await.unwrap()),
        9 => return Some(service.delete_entries_in_project(APP, USER, &project, &words).await.unwrap()),
        10 => return Some(service.delete_project(APP, USER, &project).await.unwrap()),
        _ if random.below(10) == 0 => service.delete_user(APP, USER).await.unwrap(),
        _ => {}
    }
    None
}

/// Both find the same, in an order of their own.
#[tokio::test]
async fn random_calls_have_the_results_of_the_service_in_memory() {
    for seed in 0..12 {
        let (theirs, ours) = (InMemoryMemoryService::new(), ours());
        let mut random = [Random(seed), Random(seed)];
        for time in 0..60 {
            let [first, second] = &mut random;
            assert_eq!(
                act(&theirs, first, time).await,
                act(&ours, second, time).await,
                "seed {seed}, call {time}"
            );
            let (query, project) = (first.words(), first.name('p'));
            assert_eq!((second.words(), second.name('p')), (query.clone(), project.clone()));
            for project in [None, Some(project.as_str())] {
                let all = SearchRequest { limit: Some(1000), ..request(&query, project) };
                let found = |memories: Vec<MemoryEntry>| -> BTreeSet<_> {
                    memories.iter().map(|entry| (entry.timestamp, text_of(entry))).collect()
                };
                let expected = found(theirs.search(all.clone()).await.unwrap().memories);
                assert_eq!(
                    found(ours.search(all).await.unwrap().memories),
                    expected,
                    "seed {seed}, call {time}: {query}"
                );
            }
        }
    }
}

// ------------------------------------------------------------------------------------------ only ours

async fn say(sessions: &SesliteSessionService, session: &str, text: &str, seconds: i64) -> MemoryEntry {
    let mut event = Event::new("i1");
    event.author = "user".into();
    event.timestamp = at(seconds);
    event.llm_response.content = Some(Content::new("user").with_text(text));
    sessions.append_event(session, event).await.unwrap();
    entry(text, seconds)
}

async fn conversation() -> (SesliteSessionService, SesliteMemoryService, Vec<MemoryEntry>) {
    let sessions = SesliteSessionService::open(":memory:").await.unwrap();
    let memory = sessions.memory();
    let create = CreateRequest {
        app_name: APP.into(),
        user_id: USER.into(),
        session_id: Some("s1".into()),
        state: Default::default(),
    };
    sessions.create(create).await.unwrap();
    let said =
        vec![say(&sessions, "s1", "a warm coat", 1).await, say(&sessions, "s1", "a red coat", 2).await];
    (sessions, memory, said)
}

fn number_of(memory: &SesliteMemoryService, session: &str) -> i64 {
    memory.store().get_range(Key::new(APP, USER, session), Range::none()).unwrap().remembered_seq()
}

fn sessions_for_memory(memory: &SesliteMemoryService) -> i64 {
    let filter = Filter::new().kinds(&[Kind::Memory]);
    memory.store().count(APP, Some(USER), &filter).unwrap()
}

#[tokio::test]
async fn a_session_of_the_store_is_marked_and_not_copied() {
    let (sessions, memory, said) = conversation().await;

    memory.add_session(APP, USER, "s1", said.clone()).await.unwrap();
    assert_eq!(number_of(&memory, "s1"), 2);
    assert_eq!(sessions_for_memory(&memory), 0);
    assert_eq!(search(&memory, "coat warm", None).await, ["a warm coat", "a red coat"]);
    let found = memory.search(request("warm", None)).await.unwrap().memories;
    assert_eq!(found[0].timestamp, at(1));

    say(&sessions, "s1", "a blue coat", 3).await;
    assert_eq!(search(&memory, "coat", None).await.len(), 2);
    memory.add_session(APP, USER, "s1", said[..1].to_vec()).await.unwrap();
    assert_eq!(number_of(&memory, "s1"), 2, "it is never lowered");
    memory.delete_session(APP, USER, "s1").await.unwrap();
    assert!(search(&memory, "coat", None).await.is_empty());
    assert!(memory.store().get(Key::new(APP, USER, "s1")).is_ok());
}

#[tokio::test]
async fn entries_that_were_not_said_so_are_copied() {
    let (sessions, memory, said) = conversation().await;

    memory.add_session(APP, USER, "s1", vec![said[1].clone(), entry("a summary of coats", 9)]).await.unwrap();
    assert_eq!(number_of(&memory, "s1"), 0);
    assert_eq!(sessions_for_memory(&memory), 1);
    assert_eq!(search(&memory, "coat coats", None).await, ["a summary of coats", "a red coat"]);
    let listed = ListRequest { app_name: APP.into(), user_id: USER.into(), limit: Some(5), offset: None };
    assert_eq!(sessions.list(listed).await.unwrap().len(), 1, "it is not listed");
    sessions.delete_all_sessions(APP, USER).await.unwrap();
    assert_eq!(search(&memory, "summary", None).await.len(), 1, "it is no conversation");

    memory.add_session(APP, USER, "s1", vec![entry("another one", 10)]).await.unwrap();
    assert!(search(&memory, "summary", None).await.is_empty(), "adding again replaces");
}

#[tokio::test]
async fn an_entry_of_a_conversation_is_forgotten_and_the_conversation_stays() {
    let (sessions, memory, mut said) = conversation().await;

    said.push(say(&sessions, "s1", "a scarf", 3).await);
    memory.add_session(APP, USER, "s1", said).await.unwrap();
    assert_eq!(memory.delete_entries(APP, USER, "red").await.unwrap(), 1);
    assert!(search(&memory, "red", None).await.is_empty());
    assert_eq!(search(&memory, "coat scarf", None).await.len(), 2);
    assert_eq!(memory.store().get(Key::new(APP, USER, "s1")).unwrap().event_count(), 3);
}

#[tokio::test]
async fn what_is_forgotten_is_not_in_the_store() {
    let memory = ours();

    memory.add_entry(APP, USER, entry("the code is xyzzy", 1)).await.unwrap();
    memory.add_entry(APP, USER, entry("harmless", 2)).await.unwrap();
    assert_eq!(memory.delete_entries(APP, USER, "xyzzy").await.unwrap(), 1);
    let kept = memory.store().get(Key::new(APP, USER, "memory:notes")).unwrap();
    assert!(kept.events().all(|event| !event.json().unwrap().contains("xyzzy")));
    assert_eq!(memory.list_recent(APP, USER, 10).await.unwrap().len(), 1);
}

/// As the package for Python keeps them.
#[tokio::test]
async fn what_another_program_remembers_is_found() {
    let memory = ours();
    let key = Key::user(APP, USER);

    let event = r#"{"id":"m1","author":"bot","timestamp":1.5,"content":{"parts":[{"text":"likes CAFÉ"}]}}"#;
    let call = r#"{"content":{"parts":[{"functionCall":{"name":"cafe","args":{}}}]}}"#;
    memory.store().remember_events(key, &[event, call], &RememberOptions::new()).unwrap();
    assert_eq!(search(&memory, "cafe?", None).await, ["likes CAFÉ"]);
    memory.add_entry(APP, USER, entry("tea", 1)).await.unwrap();
    assert_eq!(sessions_for_memory(&memory), 1);
}

#[tokio::test]
async fn scores_and_wrong_names() {
    let memory = ours();

    memory.add_entry(APP, USER, entry("one two", 1)).await.unwrap();
    memory.add_entry(APP, USER, entry("one three", 2)).await.unwrap();
    let strict = SearchRequest { min_score: Some(0.6), ..request("one two", None) };
    assert_eq!(memory.search(strict).await.unwrap().memories.len(), 1);
    assert!(search(&memory, "... \" *", None).await.is_empty());
    assert!(search(&memory, "NOT two AND (", None).await.contains(&"one two".to_owned()));
    let wrong = SearchRequest { user_id: "a\0b".into(), ..request("one", None) };
    assert_eq!(memory.search(wrong).await.unwrap_err().category, ErrorCategory::InvalidInput);

    memory.store().create(Key::new(APP, USER, "memory:s9"), None).unwrap();
    let error = memory.add_session(APP, USER, "s9", vec![entry("x", 1)]).await.unwrap_err();
    assert_eq!(error.code, "memory.exists");
}
