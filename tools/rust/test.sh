#!/bin/sh
# Builds and tests the crates, where the toolchain and the registry are, and says what is missing. From the top of the
# repository, as `make client-rust`. CARGO_TARGET_DIR is build/rust unless it is set.
set -eu
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/build/rust}
SESLITE_COMMAND=${SESLITE_COMMAND:-$PWD/build/tools/seslite/seslite}
export CARGO_TARGET_DIR SESLITE_COMMAND
skip() {
    echo "skipped: the crates for Rust, for want of $1"
    exit 0
}
command -v cargo >/dev/null 2>&1 || skip "cargo (https://rustup.rs)"
minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
cd tools/rust
cargo fetch --quiet --locked || skip "the packages of crates.io"
if [ "$minor" -ge 95 ]; then
    cargo test --quiet --locked --workspace
    exit
fi
[ "$minor" -ge 85 ] || skip "Rust 1.85 or newer: this is 1.$minor"
echo "skipped: adk-session-seslite, since adk-session needs Rust 1.95 and this is 1.$minor"
cargo test --quiet --locked -p seslite-sys -p seslite
