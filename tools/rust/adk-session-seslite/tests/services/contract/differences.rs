use super::{MEMORY, SQLITE};

/// Case, service, and the sentence of ours.
pub const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("create again", MEMORY, "An existing session is EXISTS, and nothing at all has changed"),
    ("create again", SQLITE, "Codes, not strings: its error is of no kind, ours session.exists"),
    ("order", SQLITE, "Events are ordered by sequence number (the order of commit), never by timestamp"),
    ("update time", MEMORY, "The session's last update time is the event's time, but never goes back"),
    ("update time", SQLITE, "The session's last update time is the event's time, but never goes back"),
    ("partial", MEMORY, "partial: true: nothing is stored or applied"),
    ("partial", SQLITE, "partial: true: nothing is stored or applied"),
    (
        "same event twice",
        MEMORY,
        "The same id again in the same session: equal bytes are an idempotent success",
    ),
    (
        "same event twice",
        SQLITE,
        "The same id again in the same session: equal bytes are an idempotent success",
    ),
    ("same id, other event", MEMORY, "The same id again in the same session: different bytes are EXISTS"),
    ("same id, other event", SQLITE, "Codes, not strings: its error is of no kind, ours session.exists"),
    ("append to none", MEMORY, "The wrong user or app is the same as absent: NOTFOUND"),
    ("append to none", SQLITE, "The wrong user or app is the same as absent: NOTFOUND"),
    (
        "bare id of two users",
        MEMORY,
        "No call takes a bare session id; where the trait does, one that is not unique is refused",
    ),
    ("bare id of two users", SQLITE, "Codes, not strings: its error is of no kind, ours session.ambiguous"),
    (
        "shared state",
        SQLITE,
        "app: shared by all users and sessions of the app; user: by all sessions of that user",
    ),
    ("list", MEMORY, "list: merged state, no events"),
    ("rewind", MEMORY, "Cut: own state becomes what it was there (the initial state included)"),
    ("rewind", SQLITE, "Cut: own state becomes what it was there (the initial state included)"),
    ("rewind to nowhere", MEMORY, "A point that is not there is NOTFOUND"),
    ("rewind to nowhere", SQLITE, "A point that is not there is NOTFOUND"),
    (
        "tombstone",
        MEMORY,
        "The string value \"__ADK_SENTINEL_REMOVED__\", in exactly that spelling, removes the key",
    ),
    (
        "tombstone",
        SQLITE,
        "The string value \"__ADK_SENTINEL_REMOVED__\", in exactly that spelling, removes the key",
    ),
    (
        "whole event",
        SQLITE,
        "Every other byte of the event is stored as it came (its table has no column for all fields)",
    ),
    ("bad ids", SQLITE, "Ids: valid UTF-8, 1 to 512 bytes, no NUL. Anything else is INVALID, at every call"),
    ("bad ids", MEMORY, "Ids: valid UTF-8, 1 to 512 bytes, no NUL. Anything else is INVALID, at every call"),
    ("long state key", MEMORY, "State keys: valid UTF-8, at most 512 bytes after the prefix, no NUL"),
    ("long state key", SQLITE, "State keys: valid UTF-8, at most 512 bytes after the prefix, no NUL"),
];
