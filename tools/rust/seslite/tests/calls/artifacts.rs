//! Artifacts: saved, read, listed, deleted, and appended with an event.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;

use crate::common::{event, fixture, refused, Fixture, KEY};
use seslite::*;

const USER: Key<'static> = Key { app: "app", user: "alice", session: None };

fn with_session() -> (Fixture, Session) {
    let f = fixture();
    let session = f.store.create(KEY, None).unwrap();
    (f, session)
}

fn plain() -> ArtifactSaveOptions<'static> {
    ArtifactSaveOptions::new()
}

fn newest() -> ArtifactOpenOptions {
    ArtifactOpenOptions::new()
}

/// Bytes that are not the same twice.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Gives so many bytes, in pieces of all sizes, and then fails.
struct Failing {
    left: usize,
    fail: fn() -> io::Result<usize>,
    interrupted: bool,
}

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = buffer.len().min(self.left).min(self.left % 5000 + 1);
        if count == 0 {
            return (self.fail)();
        }
        buffer[..count].fill(7);
        self.left -= count;
        Ok(count)
    }
}

fn failing(left: usize, fail: fn() -> io::Result<usize>) -> Failing {
    Failing { left, fail, interrupted: false }
}

#[test]
fn an_artifact_has_versions_and_says_what_they_are() {
    let (f, mut session) = with_session();
    let options =
        plain().mime_type("image/png").display_name("Chart").metadata(r#"{"a": 1.10}"#).created_us(5);
    assert_eq!(session.save_artifact("chart.png", b"one", &options).unwrap(), 0);
    let text = plain().kind(ArtifactKind::Text);
    assert_eq!(f.store.save_artifact(KEY, "chart.png", "zw\u{f6}lf".as_bytes(), &text).unwrap(), 1);

    let mut first = session.artifact("chart.png", &newest().version(0)).unwrap();
    assert_eq!(first.read_all().unwrap(), b"one");
    let info = first.info();
    assert_eq!((info.name(), info.version(), info.size(), info.created_us()), ("chart.png", 0, 3, 5));
    assert_eq!(
        (info.kind(), info.mime_type(), info.display_name()),
        (ArtifactKind::Bytes, Some("image/png"), Some("Chart"))
    );
    assert_eq!(info.metadata().unwrap(), Some(r#"{"a": 1.10}"#));
    assert_eq!(info.hash(), "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
    assert!(info.uri().starts_with("artifact://apps/app/"), "{info:?}");
    let mut second = f.store.artifact(KEY, "chart.png", &newest()).unwrap();
    assert_eq!((second.info().version(), second.info().kind()), (1, ArtifactKind::Text));
    assert_eq!((second.info().mime_type(), second.info().metadata().unwrap()), (None, None));
    assert_eq!(second.read_all().unwrap(), "zw\u{f6}lf".as_bytes());

    refused(session.artifact("chart.png", &newest().version(2)), Code::NotFound);
    refused(session.save_artifact("t", b"\xff", &text), Code::Invalid);
    refused(session.save_artifact("t", b"x", &plain().metadata("[]")), Code::Invalid);
    refused(session.save_artifact("t", b"xx", &plain().max_bytes(1)), Code::Limit);
    refused(session.save_artifact("a\0b", b"x", &plain()), Code::Invalid);
    refused(f.store.save_artifact(Key::new("app", "alice", "none"), "t", b"", &plain()), Code::NotFound);
    assert_eq!(
        f.store.save_artifact(Key::new("app", "alice", "none"), "t", b"", &plain().anyway()).unwrap(),
        0
    );
}

#[test]
fn an_open_artifact_reads_and_seeks_as_a_file_does() {
    let (f, mut session) = with_session();
    let bytes = noise(200_000);
    session.save_artifact("noise", &bytes, &plain()).unwrap();
    let mut artifact = session.artifact("noise", &newest()).unwrap();
    let mut file = Cursor::new(&bytes);
    let moves = [
        SeekFrom::Start(65_530),
        SeekFrom::Current(-70_000),
        SeekFrom::End(-3),
        SeekFrom::Current(10),
        SeekFrom::End(-300_000),
        SeekFrom::Start(u64::MAX),
        SeekFrom::Current(1),
        SeekFrom::Start(1 << 62),
        SeekFrom::Current(-(1 << 62)),
        SeekFrom::Start(199_999),
    ];
    for to in moves {
        assert_eq!(artifact.seek(to).ok(), file.seek(to).ok(), "{to:?}");
        let (mut ours, mut theirs) = ([0; 100], [0; 100]);
        assert_eq!(artifact.read(&mut ours).unwrap(), file.read(&mut theirs).unwrap(), "{to:?}");
        assert_eq!((ours, artifact.stream_position().unwrap()), (theirs, file.position()), "{to:?}");
    }
    assert_eq!(artifact.read(&mut []).unwrap(), 0);
    assert_eq!(artifact.read_all().unwrap(), bytes);
    // It moves between threads, may outlive the session, and says so when it is deleted, or the store is
    // closed.
    drop(session);
    let mut artifact = thread::spawn(move || {
        artifact.rewind().unwrap();
        artifact
    })
    .join()
    .unwrap();
    assert_eq!(f.store.delete_artifact(KEY, "noise", &DeleteOptions::new()).unwrap().count, 1);
    let error = artifact.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert_eq!(Error::from(error).code(), Code::NotFound);
    drop(f);
    refused(artifact.read_all(), Code::Misuse);
    assert_eq!(artifact.info().name(), "noise");
}

#[test]
fn a_reader_of_any_length_is_saved() {
    let (f, mut session) = with_session();
    for len in [0, 1, 65_536, 5_000_000] {
        let bytes = noise(len);
        let version = session.save_artifact_from("noise", &bytes[..], &plain()).unwrap();
        let mut saved = session.artifact("noise", &newest()).unwrap();
        assert_eq!((saved.info().version(), saved.read_all().unwrap() == bytes), (version, true), "{len}");
        // An artifact is a reader itself.
        saved.rewind().unwrap();
        f.store.save_artifact_from(USER, "copy", &mut saved, &plain()).unwrap();
        let copy = f.store.artifact(KEY, "user:copy", &newest()).unwrap();
        assert_eq!(copy.info().hash(), saved.info().hash());
    }
    refused(session.save_artifact_from("noise", io::repeat(1), &plain().max_bytes(9_000_000)), Code::Limit);
    assert_eq!(session.artifact_versions("noise", 0, 0).unwrap().len(), 4);
}

#[test]
fn the_failure_of_a_reader_is_that_of_the_call() {
    let (f, mut session) = with_session();
    let mut artifacts = Artifacts::new(&f.store, KEY).unwrap();
    for left in [0, 70_000, 4_500_000] {
        let full = || failing(left, || Err(io::Error::other("the disk is gone")));
        let error = refused(session.save_artifact_from("a", full(), &plain()), Code::Io);
        assert_eq!(error.message(), "artifact \"a\": the disk is gone");
        refused(f.store.save_artifact_from(USER, "a", full(), &plain()), Code::Io);
        refused(artifacts.add_from("a", full(), &plain()), Code::Io);
        // An error of the library that a reader returns keeps its code.
        let own = failing(left, || Err(io::Error::other(Error::new(Code::Leased, "mine"))));
        let error = refused(session.save_artifact_from("a", own, &plain()), Code::Leased);
        assert_eq!(error.message(), "artifact \"a\": mine");
        let panicking = || failing(left, || panic!("in read"));
        for panicked in [
            catch_unwind(AssertUnwindSafe(|| drop(session.save_artifact_from("a", panicking(), &plain())))),
            catch_unwind(AssertUnwindSafe(|| drop(artifacts.add_from("a", panicking(), &plain())))),
        ] {
            assert_eq!(*panicked.unwrap_err().downcast_ref::<&str>().unwrap(), "in read");
        }
    }
    // Nothing of it is there, and a reader that ends is saved.
    assert!(session.artifact_names(None, 0).unwrap().is_empty());
    assert_eq!(session.save_artifact_from("a", failing(70_000, || Ok(0)), &plain()).unwrap(), 0);
    assert_eq!(f.store.check(CheckLevel::Log, 0, |_| true).unwrap(), 0);
}

#[test]
fn names_and_versions_are_listed_in_pages() {
    let (f, mut session) = with_session();
    f.store.save_artifact(USER, "of the user", b"", &plain()).unwrap();
    f.store.save_artifact(KEY, "user:too", b"", &plain()).unwrap();
    for name in ["b", "a", "b"] {
        session.save_artifact(name, name.as_bytes(), &plain()).unwrap();
    }
    let names = |list: ArtifactList| {
        list.iter().map(|info| (info.name().to_owned(), info.version())).collect::<Vec<_>>()
    };
    let own = |name: &str, version| (name.to_owned(), version);
    let all = [own("a", 0), own("b", 1), own("user:of the user", 0), own("user:too", 0)];
    assert_eq!(names(session.artifact_names(None, 0).unwrap()), all);
    assert_eq!(names(f.store.artifact_names(KEY, None, 0).unwrap()), all);
    assert_eq!(names(f.store.artifact_names(USER, None, 0).unwrap()), all[2..]);
    let page = session.artifact_names(Some("a"), 1).unwrap();
    assert!(page.more() && page.get(1).is_none());
    assert_eq!(names(page), all[1..2]);
    let page = f.store.artifact_versions(KEY, "b", 1, 0).unwrap();
    assert!(!page.more());
    assert_eq!(names(page), [own("b", 1)]);
    assert_eq!(session.delete_artifact("b", &DeleteOptions::new().secure()).unwrap().count, 2);
    assert_eq!(f.store.delete_artifact(USER, "too", &DeleteOptions::new()).unwrap().count, 1);
    assert_eq!(f.store.delete_artifact(KEY, "b", &DeleteOptions::new()).unwrap().count, 0);
    assert_eq!(names(session.artifact_names(None, 0).unwrap()), [own("a", 0), own("user:of the user", 0)]);
}

#[test]
fn an_event_and_its_artifacts_are_stored_together() {
    let (f, mut session) = with_session();
    let mut artifacts = Artifacts::new(&f.store, KEY).unwrap();
    {
        // The list copies what it is given.
        let (name, mime_type) = (String::from("a"), String::from("text/plain"));
        artifacts.add(&name, &noise(10), &plain().mime_type(&mime_type).created_us(9)).unwrap();
    }
    artifacts.add_from("long", &noise(4_500_000)[..], &plain()).unwrap();
    artifacts.add("user:u", b"u", &plain()).unwrap();
    artifacts.add("a", b"second", &plain()).unwrap();
    assert!(session.artifact_names(None, 0).unwrap().is_empty());

    // The same list after a failure.
    f.store.append(KEY, &event("other", "{}"), &AppendOptions::new()).unwrap();
    let (text, options) = (event("e1", "{}"), AppendOptions::new().artifacts(&artifacts));
    refused(session.append_with(&text, &options), Code::Stale);
    assert!(session.artifact_names(None, 0).unwrap().is_empty());
    session.refresh().unwrap();
    session.append_with(&text, &options).unwrap();
    let versions: Vec<_> = (0..5).map(|index| artifacts.version(index)).collect();
    assert_eq!(versions, [Some(0), Some(0), Some(0), Some(1), None]);
    assert_eq!(session.append_with(&text, &options).unwrap().status, Status::Duplicate);
    let stored = session.event(1).unwrap().json().unwrap();
    assert!(stored.contains(r#""artifactDelta":{"long":0,"user:u":0,"a":1}"#), "{stored}");
    let mut first = session.artifact("a", &newest().version(0)).unwrap();
    assert_eq!((first.read_all().unwrap(), first.info().created_us()), (noise(10), 9));
    assert_eq!(first.info().mime_type(), Some("text/plain"));
    assert_eq!(session.artifact("long", &newest()).unwrap().read_all().unwrap(), noise(4_500_000));

    // Another event gets the next versions, also on another thread.
    let (artifacts, store) = (artifacts, f.store.clone());
    let version = thread::spawn(move || {
        store.append(KEY, &event("e2", "{}"), &AppendOptions::new().artifacts(&artifacts)).unwrap();
        artifacts.version(3)
    });
    assert_eq!(version.join().unwrap(), Some(3));

    let mut others = Artifacts::new(&f.store, Key::new("app", "alice", "other")).unwrap();
    others.add("a", b"", &plain()).unwrap();
    let options = AppendOptions::new().artifacts(&others);
    refused(f.store.append(KEY, &event("e3", "{}"), &options), Code::Misuse);
    refused(f.store.append_batch(KEY, &["{}"], &options), Code::Misuse);
    refused(Artifacts::new(&f.store, USER), Code::Misuse);
    // A list may outlive its store.
    let lonely = Artifacts::new(&f.store, KEY).unwrap();
    drop((session, f));
    drop(lonely);
}

#[test]
fn artifacts_have_the_limits_of_their_handle() {
    let (f, mut session) = with_session();
    session.save_artifact("a", &noise(100), &plain()).unwrap();
    let cancel = Cancel::new(&f.store).unwrap();
    let limits = Limits::new().cancel(&cancel);
    let store = f.store.with_limits(limits.clone());
    let mut open = store.artifact(KEY, "a", &newest()).unwrap();
    let mut artifacts = Artifacts::new(&store, KEY).unwrap();
    artifacts.add("b", b"b", &plain()).unwrap();
    session.set_limits(limits);
    cancel.cancel();
    let ended = |code: Option<Code>| assert_eq!(code, Some(Code::Interrupted));
    fn code<T>(result: Result<T>) -> Option<Code> {
        result.err().map(|error| error.code())
    }
    ended(code(store.save_artifact(KEY, "a", b"", &plain())));
    ended(code(store.save_artifact_from(KEY, "a", io::empty(), &plain())));
    ended(code(store.artifact(KEY, "a", &newest())));
    ended(code(store.artifact_names(KEY, None, 0)));
    ended(code(store.artifact_versions(KEY, "a", 0, 0)));
    ended(code(store.delete_artifact(KEY, "a", &DeleteOptions::new())));
    ended(code(session.save_artifact("a", b"", &plain())));
    ended(code(session.save_artifact_from("a", io::empty(), &plain())));
    ended(code(session.artifact("a", &newest())));
    ended(code(session.artifact_names(None, 0)));
    ended(code(session.artifact_versions("a", 0, 0)));
    ended(code(session.delete_artifact("a", &DeleteOptions::new())));
    ended(code(open.read_all()));
    ended(code(artifacts.add_from("c", io::repeat(1), &plain().max_bytes(1 << 30))));
    cancel.reset();
    drop((store, session, cancel));
    // Now they alone have the handle.
    assert_eq!(open.read_all().unwrap(), noise(100));
    f.store.append(KEY, "{}", &AppendOptions::new().artifacts(&artifacts)).unwrap();
    assert_eq!(f.store.artifact_versions(KEY, "a", 0, 0).unwrap().len(), 1);
}

#[test]
fn lists_of_artifacts_move_and_are_not_shared() {
    fn moves<T: Send>() {}
    moves::<Artifact>();
    moves::<ArtifactList>();
    moves::<Artifacts>();
}

#[test]
fn large_inline_data_becomes_artifacts_and_comes_back_for_a_model() {
    let (f, mut session) = with_session();
    let event = |data: &str| {
        format!(
            r#"{{"author":"user","content":{{"role":"user","parts":[{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}]}}}}"#
        )
    };
    let mut artifacts = Artifacts::new(&f.store, KEY).unwrap();
    artifacts.offload(5).unwrap();
    for data in ["AAAAAAAA", "AAAA"] {
        session.append_with(&event(data), &AppendOptions::new().artifacts(&artifacts)).unwrap();
    }
    assert_eq!(session.artifact_names(None, 0).unwrap().len(), 1);
    let contents = |context: Context| -> Vec<_> {
        context.iter().map(|(_, content)| content.unwrap().contains("inlineData")).collect()
    };
    assert_eq!(contents(session.context(true).unwrap()), [false, true]);
    for (bytes, inlined) in [(5, false), (6, true)] {
        let options = ContextOptions::new().visible().inline_bytes(bytes);
        assert_eq!(contents(session.context_with(&options).unwrap()), [inlined, true]);
        assert_eq!(contents(f.store.context_with(KEY, &options).unwrap()), [inlined, true]);
    }
    // The same for programs that do not read artifacts.
    let stored = session.event(0).unwrap().json().unwrap().to_owned();
    assert!(stored.contains("fileData"));
    for bytes in [0, 6] {
        let inlined = f.store.inline_artifacts(KEY, &stored, bytes).unwrap().unwrap();
        assert!(inlined.contains(r#""data":"AAAAAAAA""#) && !inlined.contains("fileData"), "{inlined}");
        assert_eq!(&*session.inline_artifacts(&stored, bytes).unwrap().unwrap(), &*inlined);
    }
    assert!(session.inline_artifacts(&stored, 5).unwrap().is_none());
    assert!(f.store.inline_artifacts(KEY, "{}", 0).unwrap().is_none());
    refused(session.inline_artifacts("{", 0), Code::Json);
    refused(f.store.inline_artifacts(KEY, &stored, -1), Code::Invalid);
    let negative = ContextOptions::new().inline_bytes(-1);
    refused(session.context_with(&negative), Code::Invalid);
    refused(artifacts.offload(-1), Code::Invalid);
}
