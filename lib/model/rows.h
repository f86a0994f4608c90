/* What is stored of a session and of an event, as everything above the door sees it. */
#ifndef SESLITE_MODEL_ROWS_H
#define SESLITE_MODEL_ROWS_H

#include "base/common.h"

/* The ids are the engine's own. `id` names one life of a session: never that of another, even under the same name. */
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
    int64_t details;    /* DETAIL_*: what more is stored of it */
    int64_t changed_us; /* of the commit under way; it is not read */
};

enum session_detail { DETAIL_PARENT = 0x1, DETAIL_TITLE = 0x2, DETAIL_LABELS = 0x4 };

/* What appends leave as it is, and a cut moves. */
static inline int64_t ses__row_epoch(const struct session_row *row)
{
    return row->version - row->last_seq;
}

/* What a double holds exactly, as programs in other languages keep numbers. */
#define MAX_VERSION ((INT64_C(1) << 53) - 1)

/* A deleted session raises where all others begin. So a load takes no version that would leave them too few, and a
 * check names what is left once 2^40 or fewer are. */
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
    /* Only of an event on its way in. */
    struct span rewinds_before; /* an invocation; empty: this is no rewind */
    int64_t rewinds_to;         /* its first event, where that is known; else 0 */
    int64_t rewinds_after;      /* no event up to this number is of it, as far as that is known; else 0 */
    bool compacts;
};

#endif
