/* The stored form of a session and of an event, as everything above the door sees it. */
#ifndef SESLITE_MODEL_EVENT_ROWS_H
#define SESLITE_MODEL_EVENT_ROWS_H

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

enum session_detail { DETAIL_PARENT = 0x1, DETAIL_TITLE = 0x2, DETAIL_LABELS = 0x4 };

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

#endif
