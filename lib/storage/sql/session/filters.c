#include "storage/sql/session/filters.h"

#include "base/error.h"
#include "base/hash.h"
#include "storage/sql/rows/event.h"

enum {
    SEQ_BITS = 13, /* of a key: the place of the event; the others are of the hash */
    KEY_BYTES = 4,
    MOST_EVENTS = 1 << SEQ_BITS, /* numbers of a stretch */
    OPEN_PART = 0,               /* the last stretch: one filter has all events */
    FEW_UNKNOWN = 500            /* they are read in less than a millisecond */
};

/* The bytes of events that one transaction adds: about 50 ms, for which others wait. */
static const int64_t ADDED_BYTES = INT64_C(8) << 20;

/* --------------------------------------------------------------------------------------------- one filter */

/* Files are made of it: it never changes. */
static uint32_t hash_of_invocation(struct span invocation)
{
    const uint32_t hash = ses__hash32(HASH32_BASIS, invocation.ptr, invocation.len);
    return hash * UINT32_C(2654435769) >> SEQ_BITS;
}

static int part_of(uint32_t hash)
{
    return OPEN_PART + 1 + (int)(hash % (FILTER_PARTS - 1));
}

int ses__filter_part(struct span invocation)
{
    return part_of(hash_of_invocation(invocation));
}

static uint32_t key_at(struct span keys, size_t index)
{
    const unsigned char *at = (const unsigned char *)keys.ptr + KEY_BYTES * index;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

int64_t ses__filter_next(const struct filter *filter, struct span invocation, int64_t from)
{
    const uint32_t hash = hash_of_invocation(invocation);

    for (size_t i = 0; i < filter->keys.len / KEY_BYTES; i++) {
        const uint32_t key = key_at(filter->keys, i);
        const int64_t seq = filter->first + (key & (MOST_EVENTS - 1));
        if (key >> SEQ_BITS == hash && seq >= from)
            return seq;
    }
    return MAX_SEQ + 1;
}

/* The sum covers the place of the filter, so that another one's is not taken for it. */
static int64_t sum_of(int64_t session_id, const struct filter *filter)
{
    uint64_t sum =
        ses__sum64(ses__sum64((uint64_t)session_id, (uint64_t)filter->first), (uint64_t)filter->last);

    sum = ses__sum64(ses__sum64(sum, (uint64_t)filter->part), filter->keys.len);
    for (size_t i = 0; i < filter->keys.len / KEY_BYTES; i++)
        sum = ses__sum64(sum, key_at(filter->keys, i));
    return (int64_t)(sum >> 1);
}

void ses__filters_open(struct query *query, struct db *db, int64_t session_id, int part, int64_t seq,
                       ses_error *error)
{
    ses__query_open(query, db, STATEMENT_FILTERS_FROM, error, VALUES(INT(session_id), INT(part), INT(seq)));
}

bool ses__filter_read(struct query *query, int64_t session_id, int part, struct filter *filter)
{
    filter->part = part;
    filter->last = ses__query_int(query, 0);
    filter->first = ses__query_int(query, 1);
    filter->keys = ses__query_bytes(query, 3);
    return filter->keys.len % KEY_BYTES == 0 && filter->keys.len <= KEY_BYTES * MOST_EVENTS &&
           filter->first > 0 && filter->first <= filter->last &&
           ses__query_int(query, 2) == sum_of(session_id, filter);
}

/* Makes it where it is missing. `*is_there` is false if a table of somebody else's is in the way. */
static int make_table(struct db *db, bool *is_there, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = ses__filters_look(db, &table, error);

    if (code != SES_OK || table == TABLE_FOREIGN)
        return code;
    code = ses__filters_drop(db, false, error);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_FILTERS_MAKE, error, NULL);
    *is_there = code == SES_OK;
    return code == SES_OK ? ses__feature_enter(db, FILTERS_FEATURE, FEATURE_NEEDS_NOTHING, error) : code;
}

/* How far they have come; up to the base if they have to begin. */
static int find_progress(struct db *db, const struct session_row *row, struct derived_row *derived,
                         ses_error *error)
{
    const int code = ses__derived_find(db, FILTERS_FEATURE, row, derived, error);

    derived->current = derived->current && derived->seq > row->base_seq && derived->seq <= row->last_seq;
    if (!derived->current)
        derived->seq = row->base_seq;
    return code;
}

int ses__filters_find(struct db *db, const struct session_row *row, bool *are_there, ses_error *error)
{
    struct derived_row derived;
    int code = ses__filters_table_find(db, are_there, error);

    if (code == SES_OK && *are_there) {
        code = find_progress(db, row, &derived, error);
        *are_there = derived.current;
    }
    return code;
}

int ses__filters_are_behind(struct db *db, const struct session_row *row, bool *are_behind, ses_error *error)
{
    struct derived_row derived = {row->base_seq, false};
    bool is_there = false;
    int code = SES_OK;

    *are_behind = false;
    if (!db->traits->has_filters || row->last_seq - row->base_seq <= FEW_UNKNOWN)
        return SES_OK;
    code = ses__filters_table_find(db, &is_there, error);
    if (code == SES_OK && is_there)
        code = find_progress(db, row, &derived, error);
    *are_behind = row->last_seq - derived.seq > FEW_UNKNOWN;
    return code;
}

int ses__filters_keep(struct db *db, const struct session_row *before, const struct session_row *after,
                      ses_error *error)
{
    struct derived_row derived = {0, false};
    int code = db->traits->has_filters ? find_progress(db, before, &derived, error) : SES_OK;

    return code == SES_OK && derived.current
               ? ses__derived_set(db, FILTERS_FEATURE, after, derived.seq, error)
               : code;
}

/* ------------------------------------------------------------------------------------ bringing up to date */

/* The stretch that is being made. */
struct making {
    int64_t first;
    int64_t last;
    size_t count;
    uint32_t keys[MOST_EVENTS];
    char bytes[KEY_BYTES * MOST_EVENTS];
};

static bool is_full_stretch(const struct making *making)
{
    return making->last - making->first >= MOST_EVENTS - 1 || making->count == MOST_EVENTS;
}

/* Goes on with the stretch that ends at `seq`, if there is one. */
static int take_open(struct db *db, int64_t session_id, int64_t seq, struct making *making, ses_error *error)
{
    struct query query;
    struct filter filter;

    making->first = seq + 1;
    making->last = seq;
    ses__filters_open(&query, db, session_id, OPEN_PART, seq, error);
    if (ses__query_row(&query) && ses__filter_read(&query, session_id, OPEN_PART, &filter) &&
        filter.last == seq) {
        making->first = filter.first;
        making->count = filter.keys.len / KEY_BYTES;
        for (size_t i = 0; i < making->count; i++)
            making->keys[i] = key_at(filter.keys, i);
    }
    return ses__query_end(&query);
}

static int put_filter(struct db *db, int64_t session_id, struct making *making, int part, ses_error *error)
{
    struct filter filter = {part, making->first, making->last, {making->bytes, 0}};

    for (size_t i = 0; i < making->count; i++) {
        const uint32_t key = making->keys[i];
        if (part != OPEN_PART && part != part_of(key >> SEQ_BITS))
            continue;
        for (int byte = 0; byte < KEY_BYTES; byte++)
            making->bytes[filter.keys.len++] = (char)(key >> 8 * byte & 255);
    }
    return ses__query_do(db, STATEMENT_FILTER_PUT, error,
                         VALUES(INT(session_id), INT(part), INT(filter.last), INT(filter.first),
                                INT(sum_of(session_id, &filter)), BYTES(filter.keys)));
}

/* A full stretch is divided, so that a look for an invocation reads little of it. */
static int put_filters(struct db *db, int64_t session_id, struct making *making, ses_error *error)
{
    int code = ses__query_do(db, STATEMENT_FILTERS_FORGET, error, VALUES(INT(session_id), INT(OPEN_PART)));

    if (code == SES_OK && !is_full_stretch(making))
        return put_filter(db, session_id, making, OPEN_PART, error);
    for (int part = OPEN_PART + 1; part < FILTER_PARTS && code == SES_OK; part++)
        code = put_filter(db, session_id, making, part, error);
    return code;
}

static int add_events(struct db *db, const struct session_row *row, struct making *making, ses_error *error)
{
    int64_t bytes = ADDED_BYTES;
    struct event_rows rows;
    struct event_row event;
    bool more = true;

    ses__event_rows_open(&rows, db, row->id, making->last + 1, row->last_seq, WALK_FORWARD, error);
    while (bytes > 0 && !is_full_stretch(making) && (more = ses__event_rows_next(&rows, &event))) {
        making->last = event.seq - 1;
        if (is_full_stretch(making)) /* many events were cut before it */
            break;
        if (event.invocation_id.len > 0)
            making->keys[making->count++] =
                hash_of_invocation(event.invocation_id) << SEQ_BITS | (uint32_t)(event.seq - making->first);
        making->last = event.seq;
        bytes -= (int64_t)event.body.len;
    }
    if (!more) /* events that were cut may have come after it */
        making->last = row->last_seq;
    return ses__event_rows_close(&rows);
}

/* `*seq` becomes the last event that was added. */
static int advance_filters(struct db *db, const struct session_row *row, int64_t *seq, ses_error *error)
{
    struct making *making = ses__memory_zeroed(db->allocator, sizeof *making);

    if (!making)
        return ses__error_nomem(error);
    int code = take_open(db, row->id, *seq, making, error);
    if (code == SES_OK)
        code = add_events(db, row, making, error);
    if (code == SES_OK)
        code = put_filters(db, row->id, making, error);
    *seq = making->last;
    ses__memory_free(db->allocator, making);
    return code == SES_OK ? ses__derived_set(db, FILTERS_FEATURE, row, *seq, error) : code;
}

int ses__filters_advance(struct db *db, int64_t session_id, bool *more, ses_error *error)
{
    struct session_row row;
    struct derived_row derived;
    bool is_there = false;
    int code = ses__session_by_id(db, session_id, &row, error);

    *more = false;
    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code == SES_OK)
        code = ses__filters_table_find(db, &is_there, error);
    if (code == SES_OK && !is_there)
        code = make_table(db, &is_there, error);
    if (code != SES_OK || !is_there)
        return code;
    code = find_progress(db, &row, &derived, error);
    if (code == SES_OK && !derived.current)
        code = ses__query_do(db, STATEMENT_FILTERS_FORGET, error, VALUES(INT(session_id), INT(FILTER_PARTS)));
    if (code == SES_OK && derived.seq < row.last_seq)
        code = advance_filters(db, &row, &derived.seq, error);
    *more = derived.seq < row.last_seq;
    return code;
}

/* ------------------------------------------------------------------------------------------------ finding */

/* Looks at the events that the filter names, each of which may be another invocation's, or cut. */
static int find_within(struct db *db, const struct filter *filter, int64_t session_id, struct span invocation,
                       int64_t from, int64_t last, int64_t *seq, ses_error *error)
{
    int64_t at = ses__filter_next(filter, invocation, from);
    int code = SES_OK;

    for (; code == SES_OK && *seq == 0 && at <= last; at = ses__filter_next(filter, invocation, at + 1))
        code = ses__event_of_invocation(db, session_id, invocation, at, at, seq, error);
    return code;
}

/* Goes through the filters of a part, and reads what lies before and between them. `*from`: what is after the
 * last of them has yet to be read. */
static int find_by_part(struct db *db, int64_t session_id, struct span invocation, int part, int64_t *from,
                        int64_t last, int64_t *seq, ses_error *error)
{
    struct query query;
    struct filter filter;
    int code = SES_OK;

    ses__filters_open(&query, db, session_id, part, *from, error);
    while (code == SES_OK && *seq == 0 && *from <= last && ses__query_row(&query)) {
        if (!ses__filter_read(&query, session_id, part, &filter) || filter.last < *from)
            continue;
        if (filter.first > *from)
            code = ses__event_of_invocation(db, session_id, invocation, *from,
                                            filter.first <= last ? filter.first - 1 : last, seq, error);
        if (code == SES_OK && *seq == 0)
            code = find_within(db, &filter, session_id, invocation, *from, last, seq, error);
        *from = filter.last + 1;
    }
    const int ended = ses__query_end(&query);
    if (code != SES_OK || ended != SES_CORRUPT)
        return code != SES_OK ? code : ended;
    ses__error_clear(error); /* what they do not tell is read */
    return SES_OK;
}

int ses__invocation_find(struct db *db, const struct session_row *row, struct span invocation, int64_t first,
                         int64_t last, int64_t *seq, ses_error *error)
{
    bool are_there = false;
    int code = SES_OK;

    *seq = 0;
    if (last - first >= FEW_UNKNOWN && invocation.len > 0)
        code = ses__filters_find(db, row, &are_there, error);
    if (code == SES_OK && are_there)
        code = find_by_part(db, row->id, invocation, ses__filter_part(invocation), &first, last, seq, error);
    if (code == SES_OK && are_there && *seq == 0)
        code = find_by_part(db, row->id, invocation, OPEN_PART, &first, last, seq, error);
    return code == SES_OK && *seq == 0
               ? ses__event_of_invocation(db, row->id, invocation, first, last, seq, error)
               : code;
}
