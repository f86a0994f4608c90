#!/bin/sh
# Generates seslite-sys/src/bindings.rs from the headers, with bindgen-cli 0.72.1 (`cargo install bindgen-cli
# --version 0.72.1`).
#     sh tools/rust/bindings.sh [OUTPUT]
# The numbers of the layout assertions are those of 64-bit systems.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-tools/rust/seslite-sys/src/bindings.rs}
${BINDGEN:-bindgen} include/seslite_agent.h \
    --allowlist-item '(ses|SES)_.*' --no-prepend-enum-name --default-enum-style consts --no-doc-comments \
    --blocklist-item SES_NUL --rust-target 1.77 --rust-edition 2021 --use-core --merge-extern-blocks --sort-semantically -- -Iinclude -include seslite_artifact.h -include seslite_draft.h -include seslite_inbox.h -include seslite_memory.h -include seslite_usage.h -include seslite_erase.h |
    sed -e 's/^#\[allow(clippy::unnecessary_operation, clippy::identity_op)\]/#[cfg(target_pointer_width = "64")]\n&/' >"$out.new"
mv "$out.new" "$out"
