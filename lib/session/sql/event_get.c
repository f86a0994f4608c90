/* Reads one stored event by its id, and the number of events, without a handle and without reading the
 * log. */
#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/session.h"

struct event_reading {
    struct session_ref session;
    struct span id;
    const ses_allocator *allocator;
    /* out */
    int64_t seq;
    char *json; /* to be freed by ses_free in any case; NULL: there is no such event */
    size_t len;
};

/* The job. It queries the event together with the session, whose number is not known then on a server. */
static int run_event_reading(struct db *db, void *context, ses_error *error)
{
    struct event_reading *reading = context;
    struct event_rows rows;
    struct event_row event;
    struct session_row row;
    struct query session;

    ses_free(reading->json); /* of an earlier run */
    reading->json = NULL;
    int code = ses__session_ask(&session, db, &reading->session, &row, error);
    if (code == SES_OK)
        ses__event_row_open(&rows, db, row.id, reading->id, error);
    ses__db_ask_last(db);
    if (code == SES_OK)
        code = ses__session_take(&session, &reading->session, &row);
    if (code != SES_OK)
        return code;
    if (ses__event_rows_next(&rows, &event)) {
        reading->seq = event.seq;
        reading->len = event.body.len;
        if (event.seq > row.last_seq || event.seq <= row.base_seq)
            code = ses__error_set(
                error, SES_CORRUPT,
                "event %lld of session number %lld is not between its first and its last event",
                (long long)event.seq, (long long)row.id);
        else if (!(reading->json = ses__memory_text_of(reading->allocator, event.body)))
            code = ses__error_nomem(error);
        ses__query_keep(&rows.query, code);
    }
    return ses__event_rows_close(&rows);
}

static int read_event(ses_store *store, const ses_key *key, const char *id, const ses_call_options *options,
                      int64_t *seq, char **json, size_t *len, ses_error *error)
{
    struct event_reading reading = {.session = {key, NULL}, .allocator = &store->allocator, .json = NULL};
    struct limits limits;
    int code = ses__take_call_options(store, options, &limits, error);

    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__check_id(id, "event", error);
    if (code != SES_OK)
        return code;
    reading.id = (struct span){id, strlen(id)};
    code = ses__run_within(store->storage, &limits, TO_READ, run_event_reading, &reading, error);
    if (code == SES_OK && reading.json && seq)
        *seq = reading.seq;
    return ses__give_json(code, reading.json, reading.len, json, len);
}

int ses_event_get_by_key(ses_store *store, const ses_key *key, const char *id,
                         const ses_call_options *options, int64_t *seq, char **json, size_t *len,
                         ses_error *error)
{
    int code = ses__store_begin_giving(store, json, "json", error);
    return code == SES_OK ? ses__store_end(store, read_event(store, key, id, options, seq, json, len, error))
                          : code;
}

/* ------------------------------------------------------------------------------------------- the number */

struct event_counting {
    struct session_ref session;
    struct session_row row;
};

static int run_event_counting(struct db *db, void *context, ses_error *error)
{
    struct event_counting *counting = context;
    struct query session;
    int code = ses__session_ask(&session, db, &counting->session, &counting->row, error);

    ses__db_ask_last(db);
    return code == SES_OK ? ses__session_take(&session, &counting->session, &counting->row) : code;
}

static int count_events(ses_store *store, const ses_key *key, const ses_call_options *options, int64_t *count,
                        int64_t *version, ses_error *error)
{
    struct event_counting counting = {.session = {key, NULL}};
    struct limits limits;
    int code = ses__check_argument(count, "count", error);

    if (code == SES_OK)
        code = ses__take_call_options(store, options, &limits, error);
    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__run_within(store->storage, &limits, TO_READ, run_event_counting, &counting, error);
    if (code == SES_OK)
        *count = counting.row.event_count;
    if (code == SES_OK && version)
        *version = counting.row.version;
    return code;
}

int ses_event_count_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                           int64_t *count, int64_t *version, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, count_events(store, key, options, count, version, error))
                          : code;
}
