#![allow(dead_code)]

use seslite::{Code, Key, Result, Store};
use tempfile::TempDir;

pub const KEY: Key<'static> = Key { app: "app", user: "alice", session: Some("s1") };

/// A store in a temporary folder.
pub struct Fixture {
    pub store: Store,
    pub folder: TempDir,
}

pub fn fixture() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path().join("agents.db")).expect("the store opens");
    Fixture { store, folder }
}

pub fn event(id: &str, delta: &str) -> String {
    format!(r#"{{"id":"{id}","author":"agent","invocationId":"i1","actions":{{"stateDelta":{delta}}}}}"#)
}

#[track_caller]
pub fn refused<T>(result: Result<T>, code: Code) -> seslite::Error {
    match result {
        Ok(_) => panic!("it should be refused with {code:?}"),
        Err(error) => {
            assert_eq!(error.code(), code, "{error}");
            error
        }
    }
}
