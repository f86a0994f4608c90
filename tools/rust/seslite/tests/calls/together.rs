//! One file that other programs use at the same time: the command, which is C, and other processes with this
//! crate.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{event, fixture, KEY};
use seslite::*;

fn command() -> Option<PathBuf> {
    let path = std::env::var_os("SESLITE_COMMAND").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../build/tools/seslite/seslite")
    });
    path.exists().then_some(path)
}

#[test]
fn the_command_and_this_crate_use_one_file_at_once() {
    let Some(command) = command() else {
        eprintln!("skipped: the command seslite is not built (make command, or SESLITE_COMMAND=...)");
        return;
    };
    let f = fixture();
    let path = f.folder.path().join("agents.db");
    let path = path.to_str().unwrap();
    let mut session = f.store.create(KEY, None).unwrap();
    session.append(&event("from-rust", r#"{"k":1}"#)).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(&command).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // C reads what Rust has open, while Rust goes on appending.
    assert!(run(&["-f", path, "events", "s1", "--jsonl"]).contains("from-rust"));
    let mut follower = f.store.follow(Key::user("app", "alice"), FollowOptions::new().only_new()).unwrap();
    let other = Store::open(":memory:").unwrap();
    let mut theirs = other.create(Key::new("app", "alice", "s2"), None).unwrap();
    theirs.append(&event("from-c", r#"{"k":2}"#)).unwrap();
    let mut lines = Vec::new();
    other.export(&ExportOptions::default(), &mut lines).unwrap();
    let file = f.folder.path().join("in.jsonl");
    std::fs::write(&file, lines).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..50 {
                session.append(&event(&format!("e{n}"), "{}")).unwrap();
            }
        });
        // C writes while Rust writes.
        run(&["-f", path, "import", file.to_str().unwrap()]);
        writer.join().unwrap();
    });
    assert_eq!(f.store.get(Key::new("app", "alice", "s2")).unwrap().event(0).unwrap().id(), "from-c");
    let mut seen = Vec::new();
    while let Followed::Event { event, session } = follower.next(Some(Duration::from_secs(1))).unwrap() {
        seen.push((session.to_owned(), event.id().to_owned()));
    }
    assert_eq!(seen.len(), 51);
    assert!(seen.contains(&("s2".to_owned(), "from-c".to_owned())));
    run(&["-f", path, "check"]);
}

#[test]
fn an_app_and_the_store_are_followed() {
    let f = fixture();
    let mut app = f.store.follow_all(Some("app"), FollowOptions::new()).unwrap();
    let mut all = f.store.follow_all(None, FollowOptions::new()).unwrap();
    for key in [Key::new("app", "u1", "s"), Key::new("other", "u2", "s")] {
        f.store.create(key, None).unwrap().append("{}").unwrap();
    }
    let wait = Some(Duration::from_secs(10));
    let (key, followed) = app.next_with_key(wait).unwrap();
    assert_eq!(key, Some(Key::new("app", "u1", "s")));
    assert!(matches!(followed, Followed::Event { session: "s", .. }));
    let (key, followed) = app.next_with_key(Some(Duration::ZERO)).unwrap();
    assert!(key.is_none() && matches!(followed, Followed::Nothing));
    for user in ["u1", "u2"] {
        assert_eq!(all.next_with_key(wait).unwrap().0.unwrap().user, user);
    }
    assert!(all.place().is_err());
}

/// The example program, which cargo builds with the tests.
fn together() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join(format!("together{}", std::env::consts::EXE_SUFFIX))
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lines that a program prints, as they come.
fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || out.lines().map_while(|line| line.ok()).try_for_each(|line| sender.send(line)));
    receiver
}

#[test]
fn three_programs_append_to_a_session_and_the_command_follows_it() {
    const EVENTS: usize = 50;
    let f = fixture();
    let path = f.folder.path().join("agents.db");
    f.store.create(KEY, None).unwrap();
    let mut command = command().map(|command| {
        let arguments = ["tail", "--jsonl", "--follow", "--newest", "1000", "s1"];
        Running(
            Command::new(command)
                .arg("-f")
                .arg(&path)
                .args(arguments)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap(),
        )
    });
    let seen_by_c = command.as_mut().map(|running| lines(&mut running.0));
    let names = ["one", "two", "three"];
    let programs = names.map(|name| {
        let mut program = Command::new(together());
        program.arg(&path).args(["app", "alice", "s1", &EVENTS.to_string(), name]).stdout(Stdio::piped());
        thread::spawn(move || program.output().unwrap())
    });
    for program in programs {
        let output = program.join().unwrap();
        assert!(output.status.success(), "{output:?}");
        let counts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(names.iter().all(|name| counts[name] == EVENTS), "{counts}");
    }
    let session = f.store.get(KEY).unwrap();
    assert_eq!(session.event_count(), names.len() * EVENTS);
    for name in names {
        assert_eq!(session.state().int(name).unwrap(), Some(EVENTS as i64));
    }
    let Some(seen_by_c) = seen_by_c else {
        eprintln!("skipped: the command seslite is not built (make command, or SESLITE_COMMAND=...)");
        return;
    };
    for event in session.events() {
        let line = seen_by_c.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(line.contains(event.id()), "{line}");
    }
}
