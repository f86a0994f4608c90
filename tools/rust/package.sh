#!/bin/sh
# Makes the packages of the crates and builds each from its package, which has the amalgamation and needs
# nothing around it.
#     sh tools/rust/package.sh BUILD [CARGO-OPTION...]     (from the top of the repository, after `make amalgamation`)
set -eu
build=$1
shift
folder=tools/rust/seslite-sys/amalgamation
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$folder"
(cd "$build/amalgamation" && cp seslite.c seslite.h seslite_agent.h seslite_artifact.h seslite_draft.h seslite_erase.h seslite_history.h seslite_inbox.h seslite_live.h seslite_memory.h seslite_mysql.c seslite_mysql.h seslite_postgres.c seslite_postgres.h seslite_search.h seslite_transfer.h seslite_usage.h "$OLDPWD/$folder/")
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/$build/rust}
export CARGO_TARGET_DIR
# The folder is not in the repository, so the tree is not clean.
(cd tools/rust && cargo package --workspace --locked --allow-dirty "$@")
ls "$CARGO_TARGET_DIR"/package/*.crate
