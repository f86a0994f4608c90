//! Compiles the amalgamation of seslite. A package brings it; in the repository it is made here.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    // Only packages have this file. So a package never looks at what happens to lie around it.
    let folder = if here.join("Cargo.toml.orig").exists() {
        println!("cargo:rerun-if-changed=amalgamation");
        here.join("amalgamation")
    } else {
        make_amalgamation(&here.join("../../.."))
    };

    let mut build = cc::Build::new();
    build
        .file(folder.join("seslite.c"))
        .include(&folder)
        .std("c11")
        .flag_if_supported("-pthread")
        .warnings(false);
    if let Some(include) = env::var_os("DEP_SQLITE3_INCLUDE") {
        build.include(include);
    }
    if env::var_os("CARGO_FEATURE_POSTGRES").is_some() {
        build.file(folder.join("seslite_postgres.c")).include(libpq_headers());
        println!("cargo:rustc-link-lib=pq");
    }
    if env::var_os("CARGO_FEATURE_MYSQL").is_some() {
        build.file(folder.join("seslite_mysql.c")).include(mariadb_headers());
        println!("cargo:rustc-link-lib=mariadb");
    }
    build.compile("seslite");
    println!("cargo:rustc-link-lib=pthread");
    println!("cargo:include={}", folder.display());
}

/// Where the headers of libpq are: as PQ_INCLUDE says, or pg_config.
fn libpq_headers() -> PathBuf {
    println!("cargo:rerun-if-env-changed=PQ_INCLUDE");
    if let Some(folder) = env::var_os("PQ_INCLUDE") {
        return PathBuf::from(folder);
    }
    match Command::new("pg_config").arg("--includedir").output() {
        Ok(output) if output.status.success() => PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()),
        other => panic!(
            "the feature postgres needs pg_config (Debian: libpq-dev), or PQ_INCLUDE in the environment: {other:?}"
        ),
    }
}

/// Where mysql.h of MariaDB's client library is: as MARIADB_INCLUDE says, or mariadb_config.
fn mariadb_headers() -> PathBuf {
    println!("cargo:rerun-if-env-changed=MARIADB_INCLUDE");
    if let Some(folder) = env::var_os("MARIADB_INCLUDE") {
        return PathBuf::from(folder);
    }
    let output = Command::new("mariadb_config").arg("--include").output();
    let flags = output
        .as_ref()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    match flags.split_whitespace().find_map(|flag| flag.strip_prefix("-I")) {
        Some(folder) => PathBuf::from(folder),
        None => panic!(
            "the feature mysql needs mariadb_config (Debian: libmariadb-dev), or MARIADB_INCLUDE in the environment: {output:?}"
        ),
    }
}

/// `make amalgamation` of the repository, into OUT_DIR, so that nothing is written next to the sources.
fn make_amalgamation(repository: &Path) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("seslite");
    for source in [
        "include",
        "lib",
        "sql",
        "tools/amalgamate.sh",
        "tools/book.awk",
        "tools/embed.awk",
        "tools/embed_scripts.awk",
        "tools/embed_server.awk",
    ] {
        println!("cargo:rerun-if-changed={}", repository.join(source).display());
    }
    let status = Command::new("make")
        .current_dir(repository)
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .env_remove("MAKELEVEL")
        .args(["--silent", "amalgamation"])
        .arg(format!("B={}", out.display()))
        .status();
    match status {
        Ok(status) if status.success() => out.join("amalgamation"),
        other => panic!(
            "`make amalgamation` in {} failed ({other:?}). In the repository, the crate needs make, sh and awk; its \
             package needs none of them.",
            repository.display()
        ),
    }
}
