#!/bin/sh
# Builds and tests the crates, where the toolchain and the registry are, and says what is missing. From the
# top of the repository, as `make client-rust`. CARGO_TARGET_DIR is build/rust unless it is set.
# SESLITE_RUST_FULL=1 also makes the documentation, without a warning.
set -eu
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/build/rust}
SESLITE_COMMAND=${SESLITE_COMMAND:-$PWD/build/tools/seslite/seslite}
export CARGO_TARGET_DIR SESLITE_COMMAND
# The examples of the READMEs keep their stores in it: they must not find one of an earlier run.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
chmod 711 "$TMPDIR" # the user to whom root gives a test's server passes through it
skip() {
    echo "skipped: the crates for Rust, for want of $1"
    exit 0
}
command -v cargo >/dev/null 2>&1 || skip "cargo (https://rustup.rs)"
minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
cd tools/rust
cargo fetch --quiet --locked || skip "the packages of crates.io"
! cargo fmt --version >/dev/null 2>&1 || cargo fmt --all --check
[ "$minor" -ge 85 ] || skip "Rust 1.85 or newer: this is 1.$minor"
if [ "$minor" -ge 95 ]; then
    cargo test --quiet --locked --workspace
    [ -z "${SESLITE_RUST_FULL:-}" ] || RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps
else
    echo "skipped: adk-session-seslite, since adk-session needs Rust 1.95 and this is 1.$minor"
    cargo test --quiet --locked -p seslite-sys -p seslite
fi

# Stores on a server, where the rest of the project is built with them.
if [ -n "${SESLITE_WITH_POSTGRES:-}" ]; then
    (cd ../.. && sh test/postgres/with_server.sh cargo test --quiet --locked --manifest-path tools/rust/Cargo.toml -p seslite \
        --features postgres --test calls -- servers)
fi
if [ -n "${SESLITE_WITH_MYSQL:-}" ]; then
    (cd ../.. && sh test/mysql/with_server.sh cargo test --quiet --locked --manifest-path tools/rust/Cargo.toml -p seslite \
        --features mysql --test calls -- servers)
fi

# The oldest Rust that Cargo.toml names: by itself, or at least by what the lints know of the standard
# library.
if cargo +1.85 --version >/dev/null 2>&1; then
    CARGO_TARGET_DIR=$CARGO_TARGET_DIR/oldest cargo +1.85 check --quiet --locked -p seslite-sys -p seslite
elif cargo clippy --version >/dev/null 2>&1; then
    cargo clippy --quiet --locked -p seslite-sys -p seslite -- -A warnings -A clippy::all -D clippy::incompatible_msrv
else
    echo "skipped: whether Rust 1.85 is enough, for want of it and of clippy"
fi

# Whether one program can have the crate and another user of SQLite: links = "sqlite3" allows one
# libsqlite3-sys. It is only resolved, not built.
beside=$CARGO_TARGET_DIR/beside
mkdir -p "$beside/src"
: >"$beside/src/lib.rs"
for other in 'rusqlite = "0.32"' 'rusqlite = "0.41"' 'sqlx = { version = "0.9", features = ["sqlite"] }'; do
    printf '[workspace]\n[package]\nname = "beside"\nedition = "2021"\n[dependencies]\nseslite = { path = "%s" }\n%s\n' \
        "$PWD/seslite" "$other" >"$beside/Cargo.toml"
    rm -f "$beside/Cargo.lock"
    cargo generate-lockfile --quiet --manifest-path "$beside/Cargo.toml"
done
