/* The tokens that an event says a model call used, and sheets of many of them, as they are stored. */
#ifndef SESLITE_MODEL_USAGE_USAGE_H
#define SESLITE_MODEL_USAGE_USAGE_H

#include "base/crc32.h"
#include "base/memory.h"

enum usage_count {
    USAGE_PROMPT,
    USAGE_CACHED,
    USAGE_CANDIDATES,
    USAGE_THOUGHTS,
    USAGE_TOOL_USE,
    USAGE_TOTAL,
    USAGE_COUNTS
};

/* A count that is higher, which JSON readers do not read exactly, is none. */
#define MAX_USAGE_COUNT ((INT64_C(1) << 53) - 1)

struct usage_call {
    int64_t seq; /* of the event */
    int64_t time_us;
    uint32_t model;               /* its place in the sheet's list of models */
    uint32_t odd;                 /* counts that are not whole numbers from 0 to MAX_USAGE_COUNT */
    int64_t counts[USAGE_COUNTS]; /* -1: absent */
};

/* Sets the counts of the event, and gives its model: "" if it has none, or one that cannot be an id. The name lies in the
 * body or in the arena. `*found`: the event says what it used; else nothing is set. NOMEM. */
SESLITE_PRIVATE int ses__usage_read(struct span body, struct arena *arena, struct usage_call *call,
                                    struct span *model, bool *found, ses_error *error);

/* ---- sheet.c */

/* A row of about a kilobyte stays on its page, with others. (Measured: of fewer calls, a total takes longer; of more, each
 * row is on a page of its own.) */
enum { USAGE_SHEET_CALLS = 56 };

/* The sums of the calls of one model, which has at least one. */
struct usage_sums {
    int64_t calls;
    int64_t odd;
    int64_t first_us;
    int64_t last_us;
    int64_t counts[USAGE_COUNTS]; /* absent ones are 0 */
};

/* The calls of the events from one number to another, both included. */
struct usage_sheet {
    int64_t session_id;
    int64_t first;
    int64_t last;
    size_t model_count;
    size_t count;
    struct span models[USAGE_SHEET_CALLS];
    struct usage_sums sums[USAGE_SHEET_CALLS]; /* of these; set by reading */
    struct span packed;  /* the calls, while they are not read; without text: they are */
    uint32_t packed_sum; /* the CRC-32 that they have */
    struct usage_call calls[USAGE_SHEET_CALLS]; /* in the order of their events */
};

/* Empties it. It has no calls of a session from that number on. */
SESLITE_PRIVATE void ses__usage_sheet_begin(struct usage_sheet *sheet, int64_t session_id, int64_t first);
static inline bool ses__usage_sheet_is_full(const struct usage_sheet *sheet)
{
    return sheet->count == USAGE_SHEET_CALLS;
}
/* Adds a call to one that is not full. A model that is new there is copied into the arena. False: out of memory. */
SESLITE_PRIVATE bool ses__usage_sheet_add(struct usage_sheet *sheet, const struct usage_call *call,
                                          struct span model, struct arena *arena);
/* Appends the stored form to the buffer. */
SESLITE_PRIVATE void ses__usage_sheet_write(const struct usage_sheet *sheet, const struct crc32_tables *sums,
                                            struct buffer *bytes);
/* Reads its sums. The session and the numbers are set before; names of models and calls stay where the bytes are. False: these
 * are not the bytes of such a sheet. */
SESLITE_PRIVATE bool ses__usage_sheet_read_sums(struct usage_sheet *sheet, const struct crc32_tables *sums,
                                                struct span bytes);
/* Then reads its calls. */
SESLITE_PRIVATE bool ses__usage_sheet_read_calls(struct usage_sheet *sheet, const struct crc32_tables *sums);
/* True if the sums are those of the calls. */
SESLITE_PRIVATE bool ses__usage_sheet_agrees(const struct usage_sheet *sheet);
/* Reads sums and calls. */
static inline bool ses__usage_sheet_read(struct usage_sheet *sheet, const struct crc32_tables *sums,
                                         struct span bytes)
{
    return ses__usage_sheet_read_sums(sheet, sums, bytes) && ses__usage_sheet_read_calls(sheet, sums);
}

#endif
