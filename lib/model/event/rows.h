/* The stored form of a session, of its events and artifacts, as everything above the door sees it. */
#ifndef SESLITE_MODEL_EVENT_ROWS_H
#define SESLITE_MODEL_EVENT_ROWS_H

#include <string.h>

#include "base/common.h"

/* The ids are the engine's own. An `id` is never used again, even if a session of the same name is
 * created. */
struct session_row {
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t version;
    int64_t last_seq;
    int64_t event_count;
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us; /* INT64_MAX: never */
    int64_t base_seq;   /* events up to this one were pruned; 0: none */
    int64_t details;    /* DETAIL_*: which details are stored */
    int64_t changed_us; /* of the commit under way; read back only for lists */
};

enum session_detail {
    DETAIL_PARENT = 0x1,
    DETAIL_TITLE = 0x2,
    DETAIL_LABELS = 0x4,
    DETAIL_ARCHIVED = 0x8,
    DETAIL_CHILD = 0x10, /* never together with the next */
    DETAIL_MEMORY = 0x20,
    DETAIL_REMEMBERED = 0x40, /* a part of a conversation, or of a child */
    /* Lists that show only conversations that are not archived show no session that has one of these. */
    DETAIL_HIDDEN = DETAIL_ARCHIVED | DETAIL_CHILD | DETAIL_MEMORY
};

/* The shelf of a session is the number made of its DETAIL_HIDDEN and DETAIL_REMEMBERED, in units of the
 * lowest. A filter leaves out a set of shelves, in which bit n is shelf n. */
enum shelves { SHELF_COUNT = 16, SHELVES_SHOWN = 0x101, SHELVES_HIDDEN = 0xfefe };

static inline unsigned ses__kind_of(int64_t details)
{
    return details & DETAIL_MEMORY  ? SES_KIND_MEMORY
           : details & DETAIL_CHILD ? SES_KIND_CHILD
                                    : SES_KIND_CONVERSATION;
}

/* The part of the version that appends do not change, and a cut does. */
static inline int64_t ses__row_epoch(const struct session_row *row)
{
    return row->version - row->last_seq;
}

/* A double holds numbers up to this exactly, and programs in other languages keep numbers as doubles. */
#define MAX_VERSION ((INT64_C(1) << 53) - 1)

/* Deleting a session raises the version at which all later sessions begin. So a load rejects a version that
 * would leave them too few, and a check reports when 2^40 or fewer are left. */
#define MAX_LOADED_VERSION (INT64_C(1) << 52)
#define LATE_VERSION (MAX_VERSION - (INT64_C(1) << 40))

/* As many events as a session can have. */
#define MAX_SEQ INT64_C(0xFFFFFFFF)

struct event_row {
    int64_t seq;
    int64_t time_us;
    int64_t high_us; /* the latest time_us up to and including this event */
    struct span id;
    struct span invocation_id;
    struct span author;
    struct span branch; /* without text: none */
    struct span body;
    /* Only for an event that is being appended. */
    struct span rewinds_before; /* an invocation; empty: not a rewind */
    int64_t rewinds_to;         /* its first event, if known; otherwise 0 */
    int64_t rewinds_after;      /* no event up to this number belongs to it; 0: not known */
    bool compacts;
};

/* A key of the state at the base of a log, with its prefix. Since no such key has the prefix temp:, this one
 * stands before the name of an artifact of the session, whose value is the version that the pruned events
 * have named last. Alone it has the value null, and says that they have named no others. */
struct base_value {
    struct span name;
    struct span value;
    int64_t seq; /* of the event that had set it */
};
#define BASE_ARTIFACT "temp:"
static inline bool ses__base_is_artifact(const struct base_value *value)
{
    return value->name.len >= sizeof BASE_ARTIFACT - 1 &&
           memcmp(value->name.ptr, BASE_ARTIFACT, sizeof BASE_ARTIFACT - 1) == 0;
}

enum {
    CHUNK_BYTES = 65536,
    MAX_CHUNKS = 1 << 20 /* of one content */
};
#define LARGEST_ARTIFACT ((int64_t)CHUNK_BYTES * MAX_CHUNKS)
#define MAX_ARTIFACT_VERSION (MAX_SEQ - 1)

/* A version of an artifact. The texts are borrowed. Those without a pointer are absent. */
struct artifact_row {
    struct span name;
    int64_t version;
    int64_t created_us;
    int64_t kind; /* enum ses_artifact_kind */
    struct span mime_type;
    struct span display_name;
    struct span metadata;
    int64_t size;
    struct span hash;
    int64_t content_id; /* a number of the storage's */
    struct span
        address; /* found by ses__artifact_open, if the contents are one that may lead to an artifact */
};

#endif
