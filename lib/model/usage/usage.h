/* The tokens that an event says a model call used, and sums of many calls. */
#ifndef SESLITE_MODEL_USAGE_USAGE_H
#define SESLITE_MODEL_USAGE_USAGE_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"

enum usage_count {
    USAGE_PROMPT,
    USAGE_CACHED,
    USAGE_CANDIDATES,
    USAGE_THOUGHTS,
    USAGE_TOOL_USE,
    USAGE_TOTAL,
    USAGE_COUNTS
};

/* A count that is higher, which JSON readers do not read exactly, is taken as absent. */
#define MAX_USAGE_COUNT ((INT64_C(1) << 53) - 1)

/* Sums of calls, or a single call. */
struct usage_sums {
    int64_t first_seq; /* of their events */
    int64_t last_seq;
    int64_t calls;
    int64_t odd; /* counts that are not whole numbers from 0 to MAX_USAGE_COUNT */
    int64_t first_us;
    int64_t last_us;
    int64_t counts[USAGE_COUNTS]; /* absent ones are 0, a sum that is too large is INT64_MAX */
};

/* The sums of no calls. */
#define NO_USAGE ((struct usage_sums){.first_seq = INT64_MAX, .first_us = INT64_MAX, .last_us = INT64_MIN})

/* Adds the sums of other calls. */
static inline void ses__usage_add(struct usage_sums *sums, const struct usage_sums *more)
{
    sums->first_seq = more->first_seq < sums->first_seq ? more->first_seq : sums->first_seq;
    sums->last_seq = more->last_seq > sums->last_seq ? more->last_seq : sums->last_seq;
    sums->calls += more->calls;
    sums->odd += more->odd;
    sums->first_us = more->first_us < sums->first_us ? more->first_us : sums->first_us;
    sums->last_us = more->last_us > sums->last_us ? more->last_us : sums->last_us;
    for (int i = 0; i < USAGE_COUNTS; i++) {
        const int64_t room = INT64_MAX - sums->counts[i];
        sums->counts[i] += more->counts[i] < room ? more->counts[i] : room;
    }
}

/* Sets `call`, but for its numbers and times, and gives its model: "" if it has none, or one that cannot be
 * an id. The name lies in the body or in the arena. `*found`: the event says what it used; otherwise nothing
 * is set. NOMEM. */
SESLITE_PRIVATE int ses__usage_read(struct span body, struct arena *arena, struct usage_sums *call,
                                    struct span *model, bool *found, ses_error *error);

/* The quarter of an hour in which a time lies, counted from 1970. */
static inline int64_t ses__usage_quarter(int64_t time_us)
{
    const int64_t quarter_us = INT64_C(900000000);
    return time_us / quarter_us - (time_us % quarter_us < 0);
}

/* ---- the calls of one session, by quarter of an hour and model */

struct usage_part {
    struct table_entry entry;
    int64_t quarter;
    struct span model;
    struct usage_sums sums;
};

struct usage_tally {
    const ses_allocator *allocator;
    struct hash_seed seed;
    struct hash_table parts;
    struct usage_sums total;
    struct arena arena;
    struct buffer key;
};

SESLITE_PRIVATE void ses__usage_tally_init(struct usage_tally *tally, const ses_allocator *allocator,
                                           struct hash_seed seed);
SESLITE_PRIVATE void ses__usage_tally_free(struct usage_tally *tally);
/* Adds a call. False: out of memory. */
SESLITE_PRIVATE bool ses__usage_tally_add(struct usage_tally *tally, const struct usage_sums *call,
                                          struct span model);
/* The sums of a model in a quarter. NULL: it has no calls there, or out of memory (key.failed). */
SESLITE_PRIVATE struct usage_part *ses__usage_tally_find(struct usage_tally *tally, int64_t quarter,
                                                         struct span model);

#endif
