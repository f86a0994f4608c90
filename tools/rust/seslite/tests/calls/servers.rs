//! Stores on servers, by their addresses.

use seslite::Store;

#[cfg(not(all(feature = "postgres", feature = "mysql")))]
fn assert_refused(address: &str, feature: &str) {
    let error = Store::open(address).err().expect("there is no such engine");
    assert_eq!(error.code(), seslite::Code::Misuse);
    let text = error.to_string();
    assert!(text.contains(&format!("{feature:?}")) && !text.contains("secret"), "{text}");
}

#[test]
#[cfg(not(feature = "postgres"))]
fn an_address_of_postgresql_without_the_engine_is_no_file() {
    for address in ["postgresql://user:secret@host/agents", "postgres://host/agents"] {
        assert_refused(address, "postgres");
    }
}

#[test]
#[cfg(not(feature = "mysql"))]
fn an_address_of_mysql_without_the_engine_is_no_file() {
    for address in ["mysql://user:secret@host/agents", "mariadb://host/agents"] {
        assert_refused(address, "mysql");
    }
}

#[cfg(any(feature = "postgres", feature = "mysql"))]
fn assert_has_what_a_file_has(address: &str) {
    let key = seslite::Key::new("app", "user", "s");
    let store = Store::open(address).unwrap();
    let mut session = store.create(key, Some(r#"{"k":1}"#)).unwrap();
    session.append(r#"{"id":"e1","author":"user","actions":{"stateDelta":{"k":2}}}"#).unwrap();
    let again = Store::open(address).unwrap().get(key).unwrap();
    assert_eq!(again.state().json().unwrap(), r#"{"k":2}"#);
    assert_eq!(again.events().next().unwrap().id(), "e1");
}

/// `test/postgres/with_server.sh` runs a command with a server that SESLITE_POSTGRES names.
#[test]
#[cfg(feature = "postgres")]
fn a_store_on_postgresql_has_what_a_file_has() {
    match std::env::var("SESLITE_POSTGRES") {
        Ok(server) => {
            assert_has_what_a_file_has(&format!("postgresql:///?{}", server.trim().replace(' ', "&")))
        }
        Err(_) => println!("skipped: SESLITE_POSTGRES names no server"),
    }
}

/// `test/mysql/with_server.sh` runs a command with a server that SESLITE_MYSQL names, and makes the database
/// `unused` there.
#[test]
#[cfg(feature = "mysql")]
fn a_store_on_mysql_has_what_a_file_has() {
    match std::env::var("SESLITE_MYSQL") {
        Ok(server) => assert_has_what_a_file_has(&server.trim().replacen("/?", "/unused?", 1)),
        Err(_) => println!("skipped: SESLITE_MYSQL names no server"),
    }
}
