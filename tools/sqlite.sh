#!/bin/sh
# Prints the folder of SQLite's amalgamation, sqlite3.c and sqlite3.h, for packages that have SQLite in them.
# It is in the crate libsqlite3-sys, which cargo fetches into FOLDER, once.
#     sh tools/sqlite.sh FOLDER [CRATE]       (CRATE: another of its releases)
# Without cargo or the registry it says so on standard error, and fails.
set -eu
folder=$1
crate=${2:-0.40.0} # SQLite 3.54.1
found=$folder/$crate/vendor/libsqlite3-sys/sqlite3

missing() {
    echo "SQLite's sources cannot be had, for want of $1" >&2
    exit 1
}

if [ ! -e "$found/sqlite3.c" ]; then
    command -v cargo >/dev/null 2>&1 || missing cargo
    mkdir -p "$folder/$crate/src"
    : >"$folder/$crate/src/lib.rs"
    cat >"$folder/$crate/Cargo.toml" <<END
[package]
name = "sqlite"
version = "0.0.0"
edition = "2021"
[dependencies]
libsqlite3-sys = { version = "=$crate", default-features = false }
[workspace]
END
    (cd "$folder/$crate" && cargo vendor --quiet vendor >/dev/null) || missing "the crate libsqlite3-sys"
fi
echo "$found"
