//! The artifact service: the tests that adk-artifact has for its own, random calls next to its in-memory
//! service, and what only this one has.

use std::sync::Arc;

use adk_artifact::*;
use adk_core::{Artifacts, EmbeddedResource, ErrorCategory, ErrorComponent, Part, TextResourceContents};
use adk_session::SessionService;
use adk_session_seslite::seslite::{
    self, AppendOptions, ArtifactKind, ArtifactSaveOptions, Key, Limits, Store,
};
use adk_session_seslite::{SesliteArtifactService, SesliteSessionService};
use serde_json::json;

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn save(session: &str, name: &str, part: Part, version: Option<i64>) -> SaveRequest {
    let (app_name, user_id, session_id, file_name) = ("app".into(), "u".into(), session.into(), name.into());
    SaveRequest { app_name, user_id, session_id, file_name, part, version }
}

fn load(session: &str, name: &str, version: Option<i64>) -> LoadRequest {
    let (app_name, user_id, session_id, file_name) = ("app".into(), "u".into(), session.into(), name.into());
    LoadRequest { app_name, user_id, session_id, file_name, version }
}

fn delete(session: &str, name: &str, version: Option<i64>) -> DeleteRequest {
    let (app_name, user_id, session_id, file_name) = ("app".into(), "u".into(), session.into(), name.into());
    DeleteRequest { app_name, user_id, session_id, file_name, version }
}

fn list(session: &str) -> ListRequest {
    ListRequest { app_name: "app".into(), user_id: "u".into(), session_id: session.into() }
}

fn versions(session: &str, name: &str) -> VersionsRequest {
    let (app_name, user_id, session_id, file_name) = ("app".into(), "u".into(), session.into(), name.into());
    VersionsRequest { app_name, user_id, session_id, file_name }
}

fn ours() -> SesliteArtifactService {
    SesliteArtifactService::new(Store::open(":memory:").unwrap())
}

/// What tests/artifact_tests.rs of adk-artifact tests. `first` is the number of the first version.
async fn run_the_own_tests_of_the_trait(service: &dyn ArtifactService, first: i64) {
    assert_eq!(service.save(save("s1", "test.txt", text("v1"), None)).await.unwrap().version, first);
    assert_eq!(service.load(load("s1", "test.txt", None)).await.unwrap().part, text("v1"));
    assert_eq!(service.save(save("s1", "test.txt", text("v2"), None)).await.unwrap().version, first + 1);
    assert_eq!(service.load(load("s1", "test.txt", None)).await.unwrap().part, text("v2"));
    assert_eq!(service.load(load("s1", "test.txt", Some(first))).await.unwrap().part, text("v1"));
    assert!(service.load(load("s1", "test.txt", Some(first + 2))).await.is_err());
    let mut numbers = service.versions(versions("s1", "test.txt")).await.unwrap().versions;
    numbers.sort_unstable();
    assert_eq!(numbers, [first, first + 1]);
    service.save(save("s1", "file1.txt", text("c"), None)).await.unwrap();
    assert_eq!(service.list(list("s1")).await.unwrap().file_names, ["file1.txt", "test.txt"]);
    assert!(service.list(list("s2")).await.unwrap().file_names.is_empty());
    service.delete(delete("s1", "test.txt", None)).await.unwrap();
    assert!(service.load(load("s1", "test.txt", None)).await.is_err());
    assert!(service.versions(versions("s1", "test.txt")).await.is_err());
    service.delete(delete("s1", "test.txt", None)).await.unwrap();
    service.save(save("s1", "user:profile.txt", text("user data"), None)).await.unwrap();
    assert_eq!(service.load(load("s2", "user:profile.txt", None)).await.unwrap().part, text("user data"));
    assert_eq!(service.list(list("s2")).await.unwrap().file_names, ["user:profile.txt"]);
    for name in ["../secret", "a/../b.txt", r"a\b.txt", "", ".", ".."] {
        assert!(
            service.save(save("s1", name, text("blocked"), None)).await.is_err(),
            "save should reject '{name}'"
        );
        assert!(service.load(load("s1", name, None)).await.is_err(), "load should reject '{name}'");
    }
    service.health_check().await.unwrap();
}

#[tokio::test]
async fn the_own_tests_of_the_trait_pass() {
    run_the_own_tests_of_the_trait(&InMemoryArtifactService::new(), 1).await;
    run_the_own_tests_of_the_trait(&ours(), 0).await;
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize].clone()
    }
    fn part(&mut self) -> Part {
        let annotations = self.one_of(&[
            None,
            None,
            Some(json!({"displayName": "Chart"})),
            Some(json!({"displayName": "a\0b"})),
            Some(json!({"displayName": "Chart", "n": 1})),
            Some(json!([1, null])),
            Some(json!(null)),
        ]);
        let mime_type: String = self.one_of(&["", "image/png", "application/octet-stream"]).into();
        let len = self.below(200_000) as usize;
        match self.below(3) {
            0 => text(&"\u{1f600}x".repeat(len % 5000)),
            1 => {
                let uri = self.one_of(&[None, Some("file:///a".to_owned())]);
                Part::InlineData { mime_type, data: vec![len as u8; len + 1], uri, annotations }
            }
            _ => Part::FileData { mime_type, file_uri: format!("gs://bucket/{len}"), annotations },
        }
    }
}

/// Versions of the in-memory service begin with 1 and are listed newest first.
#[tokio::test]
async fn random_calls_do_what_they_do_in_memory() {
    let (mine, theirs, mut random) = (ours(), InMemoryArtifactService::new(), Random(1));
    for call in 0..3000 {
        let session = random.one_of(&["s1", "s2"]);
        let name = random.one_of(&["a", "b.txt", "user:a", "user:", "\u{e9}", "../a", ""]);
        let version = random.one_of(&[None, None, Some(0), Some(1), Some(2)]);
        let theirs_of = |version: Option<i64>| version.map(|version| version + 1);
        match random.below(8) {
            0..=2 => {
                let part = random.part();
                let next =
                    theirs.versions(versions(session, name)).await.map_or(1, |found| found.versions[0] + 1);
                let explicit = random.one_of(&[None, Some(next)]);
                let saved = theirs.save(save(session, name, part.clone(), explicit)).await.ok();
                let own =
                    mine.save(save(session, name, part, explicit.map(|version| version - 1))).await.ok();
                assert_eq!(
                    theirs_of(own.map(|own| own.version)),
                    saved.map(|saved| saved.version),
                    "{call}: {name}"
                );
            }
            3..=4 => {
                let loaded =
                    theirs.load(load(session, name, theirs_of(version))).await.ok().map(|loaded| loaded.part);
                let own = mine.load(load(session, name, version)).await.ok().map(|own| own.part);
                assert!(own == loaded, "{call}: {name} {version:?}");
            }
            5 => {
                let found = theirs.list(list(session)).await.unwrap().file_names;
                assert_eq!(mine.list(list(session)).await.unwrap().file_names, found, "{call}");
            }
            6 => {
                let found = theirs.versions(versions(session, name)).await.ok().map(|found| found.versions);
                let own = mine.versions(versions(session, name)).await.ok().map(|own| own.versions);
                let own = own.map(|own| own.iter().rev().map(|version| version + 1).collect::<Vec<_>>());
                assert_eq!(own, found, "{call}: {name}");
            }
            _ if random.below(4) > 0 => {}
            _ => {
                theirs.delete(delete(session, name, None)).await.ok();
                mine.delete(delete(session, name, None)).await.ok();
            }
        }
    }
}

#[tokio::test]
async fn it_differs_where_the_store_does() {
    let service = ours();
    let refused = |error: adk_core::AdkError, category, code| {
        assert_eq!(
            (error.component, error.category, error.code),
            (ErrorComponent::Artifact, category, code),
            "{error}"
        );
    };
    let code = "artifact.invalid_input";
    // Versions stay as they are.
    let error = service.save(save("s", "a", text("x"), Some(1))).await.unwrap_err();
    refused(error, ErrorCategory::InvalidInput, code);
    assert_eq!(service.save(save("s", "a", text("x"), Some(0))).await.unwrap().version, 0);
    let error = service.save(save("s", "a", text("y"), Some(0))).await.unwrap_err();
    assert!(error.message.contains("the next is 1"), "{error}");
    let error = service.delete(delete("s", "a", Some(0))).await.unwrap_err();
    refused(error, ErrorCategory::Unsupported, "artifact.unsupported");
    assert_eq!(service.load(load("s", "a", Some(0))).await.unwrap().part, text("x"));
    // An artifact is a text, bytes or a file.
    let resource = EmbeddedResource::Text(TextResourceContents::new("file:///a", None, "x"));
    for part in
        [Part::EmbeddedResource { resource }, Part::Thinking { thinking: "hm".into(), signature: None }]
    {
        refused(
            service.save(save("s", "p", part, None)).await.unwrap_err(),
            ErrorCategory::InvalidInput,
            code,
        );
    }
    // A name may have slashes, as in the ADK for Python.
    service.save(save("s", "plots/a.png", text("x"), None)).await.unwrap();
    assert_eq!(service.list(list("s")).await.unwrap().file_names, ["a", "plots/a.png"]);
    // A reference opens what it refers to, and a tombstone counts as absent.
    let target = service
        .store()
        .artifact(Key::new("app", "u", "s"), "a", &seslite::ArtifactOpenOptions::new())
        .unwrap();
    let file_uri = target.info().uri().to_owned();
    let reference = Part::FileData { mime_type: String::new(), file_uri, annotations: None };
    service.save(save("s", "link", reference, None)).await.unwrap();
    assert_eq!(service.load(load("s", "link", None)).await.unwrap().part, text("x"));
    let mime_type = "application/octet-stream".into();
    let nothing = Part::InlineData { mime_type, data: Vec::new(), uri: None, annotations: None };
    service.save(save("s", "a", nothing, None)).await.unwrap();
    let error = service.load(load("s", "a", None)).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<seslite::Error>().unwrap();
    assert_eq!(source.code(), seslite::Code::NotFound);
    refused(error, ErrorCategory::NotFound, "artifact.not_found");
    refused(
        service.load(load("s", "none", None)).await.unwrap_err(),
        ErrorCategory::NotFound,
        "artifact.not_found",
    );
    refused(service.load(load("", "a", None)).await.unwrap_err(), ErrorCategory::InvalidInput, code);
}

#[tokio::test]
async fn sessions_and_artifacts_are_in_one_store() {
    let sessions = SesliteSessionService::open(":memory:").await.unwrap();
    let (store, key) = (sessions.store().clone(), Key::new("app", "u", "s"));
    // An artifact may be saved before its session, and goes with it.
    let artifacts: Arc<dyn ArtifactService> = Arc::new(sessions.artifacts());
    let scoped = ScopedArtifacts::new(Arc::clone(&artifacts), "app".into(), "u".into(), "s".into());
    assert_eq!(scoped.save("early", &text("x")).await.unwrap(), 0);
    store.create(key, None).unwrap();
    // What another program saved with an event is what the event names.
    let mut list_of_append = seslite::Artifacts::new(&store, key).unwrap();
    let options = ArtifactSaveOptions::new().mime_type("image/png").display_name("Chart");
    list_of_append.add("chart.png", b"png", &options).unwrap();
    list_of_append.add("odd", b"\xff", &ArtifactSaveOptions::new()).unwrap();
    list_of_append.add("gs", b"gs://b/f", &ArtifactSaveOptions::new().kind(ArtifactKind::Uri)).unwrap();
    store.append(key, r#"{"author":"agent"}"#, &AppendOptions::new().artifacts(&list_of_append)).unwrap();
    let request = adk_session::GetRequest {
        app_name: "app".into(),
        user_id: "u".into(),
        session_id: "s".into(),
        num_recent_events: None,
        after: None,
    };
    let delta = sessions.get(request).await.unwrap().events().all()[0].actions.artifact_delta.clone();
    assert_eq!(delta["chart.png"], 0);
    let named = load("s", "chart.png", Some(delta["chart.png"]));
    let annotations = Some(json!({"displayName": "Chart"}));
    let chart =
        Part::InlineData { mime_type: "image/png".into(), data: b"png".into(), uri: None, annotations };
    assert_eq!(artifacts.load(named).await.unwrap().part, chart);
    let bytes = Part::InlineData { mime_type: String::new(), data: vec![0xff], uri: None, annotations: None };
    assert_eq!(scoped.load("odd").await.unwrap(), bytes);
    assert!(
        matches!(scoped.load("gs").await.unwrap(), Part::FileData { file_uri, .. } if file_uri == "gs://b/f")
    );
    assert_eq!(scoped.list().await.unwrap(), ["chart.png", "early", "gs", "odd"]);
    let (app_name, user_id, session_id) = ("app".into(), "u".into(), "s".into());
    sessions.delete(adk_session::DeleteRequest { app_name, user_id, session_id }).await.unwrap();
    assert!(scoped.list().await.unwrap().is_empty());
    // It has the limits of its handle of the store.
    let cancel = seslite::Cancel::new(&store).unwrap();
    cancel.cancel();
    let limited = SesliteSessionService::new(store.with_limits(Limits::new().cancel(&cancel))).artifacts();
    let error = limited.save(save("s", "a", text("x"), None)).await.unwrap_err();
    assert_eq!((error.component, error.code), (ErrorComponent::Artifact, "artifact.interrupted"));
}

/// More versions and names than are read at a time.
#[tokio::test]
async fn long_lists_are_read_to_the_end() {
    let (service, key) = (ours(), Key::new("app", "u", "s"));
    let options = ArtifactSaveOptions::new().anyway();
    for n in 0..1001 {
        service.store().save_artifact(key, "many", b"x", &options).unwrap();
        service.store().save_artifact(key, &format!("name{n:04}"), b"x", &options).unwrap();
    }
    let found = service.versions(versions("s", "many")).await.unwrap().versions;
    assert!(found.iter().copied().eq(0..1001));
    let names = service.list(list("s")).await.unwrap().file_names;
    assert_eq!((names.len(), names[1001].as_str()), (1002, "name1000"));
}
