/* Finds which events of a handle no rewind has taken back, without reading the log. */
#include "base/error.h"
#include "session/session.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/session.h"

struct live_reading {
    struct session_ref session;
    struct session_row row;
    struct live live;
};

/* The job. On a server the marks are asked for together with the session. */
static int run_live_reading(struct db *db, void *context, ses_error *error)
{
    struct live_reading *reading = context;
    struct mark_rows marks;
    struct query session;
    int code = ses__session_ask(&session, db, &reading->session, &reading->row, error);

    if (code == SES_OK)
        ses__mark_rows_open(&marks, db, reading->row.id, reading->session.known->last_seq, error);
    ses__db_ask_last(db);
    if (code == SES_OK)
        code = ses__session_take(&session, &reading->session, &reading->row);
    return code == SES_OK ? ses__mark_rows_take_live(&marks, reading->row.id, &reading->live) : code;
}

/* After a cut, the marks can be those of other events. */
static int check_known(const struct live_reading *reading, ses_error *error)
{
    if (ses__row_epoch(&reading->row) == ses__row_epoch(reading->session.known))
        return SES_OK;
    (void)ses__error_set(
        error, SES_STALE,
        "events were cut from the session since the handle was read: refresh it and try again");
    if (error)
        error->version = reading->row.version;
    return SES_STALE;
}

static int find_live(const struct session_call *call, const ses_call_options *options, unsigned char *live,
                     size_t count, ses_error *error)
{
    const struct event_list *events = &call->snapshot->events;
    struct live_reading reading = {.session = call->ref};
    struct limits limits;
    int code = ses__check_argument(live, "live", error);

    if (code == SES_OK && count < events->count)
        code =
            ses__error_set(error, SES_MISUSE, "there is room for %zu values, and the handle holds %zu events",
                           count, events->count);
    if (code == SES_OK)
        code = ses__take_call_options(call->store, options, &limits, error);
    if (code != SES_OK)
        return code;
    ses__live_init(&reading.live, &call->store->allocator);
    code = ses__run_within(call->store->storage, &limits, TO_READ, run_live_reading, &reading, error);
    if (code == SES_OK)
        code = check_known(&reading, error);
    for (size_t i = 0; code == SES_OK && i < events->count; i++) {
        const int64_t seq = events->items[i]->seq;
        live[i] = seq > reading.row.base_seq && ses__live_has(&reading.live, seq);
    }
    ses__live_free(&reading.live);
    return code;
}

int ses_session_live(ses_session *session, const ses_call_options *options, unsigned char *live, size_t count,
                     ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, ON(session), error);
    return code == SES_OK ? ses__call_end(&call, find_live(&call, options, live, count, error)) : code;
}
