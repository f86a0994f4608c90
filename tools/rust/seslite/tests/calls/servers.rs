//! Stores on servers, by their addresses.

use seslite::Store;

#[test]
#[cfg(not(feature = "postgres"))]
fn an_address_without_the_engine_is_no_file() {
    for address in ["postgresql://user:secret@host/agents", "postgres://host/agents"] {
        let error = Store::open(address).err().expect("there is no such engine");
        assert_eq!(error.code(), seslite::Code::Misuse);
        assert!(error.to_string().contains("\"postgres\"") && !error.to_string().contains("secret"), "{error}");
    }
}

/// `test/postgres/with_server.sh` runs a command with a server that SESLITE_POSTGRES names.
#[test]
#[cfg(feature = "postgres")]
fn a_store_on_a_server_has_what_a_file_has() {
    let Ok(server) = std::env::var("SESLITE_POSTGRES") else {
        println!("skipped: SESLITE_POSTGRES names no server");
        return;
    };
    let address = format!("postgresql:///?{}", server.trim().replace(' ', "&"));
    let key = seslite::Key::new("app", "user", "s");
    let store = Store::open(&address).unwrap();
    let mut session = store.create(key, Some(r#"{"k":1}"#)).unwrap();
    session.append(r#"{"id":"e1","author":"user","actions":{"stateDelta":{"k":2}}}"#).unwrap();
    let again = Store::open(&address).unwrap().get(key).unwrap();
    assert_eq!(again.state().json().unwrap(), r#"{"k":2}"#);
    assert_eq!(again.events().next().unwrap().id(), "e1");
}
