/* Walking the events of a session, a page at a time. */
#include <string.h>

#include "base/error.h"
#include "session/session.h"

/* A page is full with so many events, or with so many bytes. */
enum { PAGE_EVENTS = 64, PAGE_BYTES = 256 * 1024 };

struct ses_cursor {
    ses_store *store;
    int64_t session_id;
    bool backward;
    struct range range; /* what is left of it: the walk shrinks it */
    struct arena arena; /* the page */
    ses_event *page[PAGE_EVENTS];
    size_t count;
    size_t next;
    size_t bytes;
    bool full;
    int code; /* the first failure */
    ses_error failure;
};

/* ------------------------------------------------------------------------------------------ opening */

struct open_job {
    const ses_key *key;
    ses_cursor *cursor;
    struct range wanted;
    int64_t first; /* the oldest event of the range */
};

static int note_first(void *context, const struct event_row *row, ses_error *error)
{
    struct open_job *job = context;
    (void)error;
    job->first = row->seq;
    return SES_OK;
}

/* Ends the range at the events that are there now; walking forward, it also begins at the first that counts. */
static int run_open(struct db *db, void *context, ses_error *error)
{
    struct open_job *job = context;
    struct range *range = &job->cursor->range;
    struct session_row row;
    int code = ses__session_find(db, job->key, &row, error);

    if (code == SES_NOTFOUND)
        (void)ses__no_such_session(job->key->app, job->key->user, job->key->session, error);
    if (code == SES_OK) {
        bool seeks =
            !job->cursor->backward && (job->wanted.newest != INT64_MAX || job->wanted.since_us != INT64_MIN);
        job->cursor->session_id = row.id;
        *range = job->wanted;
        if (range->last_seq > row.last_seq)
            range->last_seq = row.last_seq;
        if (seeks) {
            job->first = INT64_MAX;
            code = ses__range_walk(db, row.id, range, WALK_BACKWARD_TIMES, note_first, job, error);
            range->first_seq = job->first;
            range->newest = INT64_MAX;
        }
    }
    return code;
}

int ses_cursor_open(ses_store *store, const ses_key *key, const ses_cursor_options *given,
                    ses_cursor **cursor, ses_error *error)
{
    ses_cursor_options options;
    struct open_job job = {.key = key};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (cursor)
        *cursor = NULL;
    if (code == SES_OK)
        code = ses__check_argument(cursor, "cursor", error);
    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "cursor options", error);
    if (code == SES_OK) {
        job.cursor = ses__memory_zeroed(&store->allocator, sizeof *job.cursor);
        code = job.cursor ? SES_OK : ses__error_nomem(error);
    }
    if (code == SES_OK) {
        job.cursor->store = store;
        ses__store_retain(store);
        ses__arena_init(&job.cursor->arena, &store->allocator);
        job.cursor->backward = options.backward != 0;
        code = ses__range_take(options.range, &job.wanted, error);
    }
    if (code == SES_OK)
        code = ses__storage_read(store->storage, run_open, &job, error);
    if (code == SES_OK)
        *cursor = job.cursor;
    else
        (void)ses_cursor_close(job.cursor, NULL); /* it has met no failure of its own */
    if (begun)
        ses__store_end(store);
    return code;
}

/* ------------------------------------------------------------------------------------------- walking */

static int add_to_page(void *context, const struct event_row *row, ses_error *error)
{
    ses_cursor *cursor = context;
    ses_event *event = ses__event_copy(&cursor->arena, row);
    int result = SES_OK;

    if (!event) {
        result = ses__error_nomem(error);
    } else {
        cursor->page[cursor->count++] = event;
        cursor->bytes += row->body.len;
        cursor->full = cursor->count == PAGE_EVENTS || cursor->bytes >= PAGE_BYTES;
        result = cursor->full ? 1 : SES_OK;
    }
    return result;
}

static int add_if_in_range(void *context, const struct event_row *row, ses_error *error)
{
    const ses_cursor *cursor = context;
    return row->time_us >= cursor->range.since_us ? add_to_page(context, row, error) : SES_OK;
}

static int run_page(struct db *db, void *context, ses_error *error)
{
    ses_cursor *cursor = context;
    const struct range *range = &cursor->range;
    struct session_row row;

    ses__arena_reset(&cursor->arena);
    cursor->count = 0;
    cursor->bytes = 0;
    cursor->full = false;
    int code = ses__session_by_id(db, cursor->session_id, &row, error);

    if (code == SES_NOTFOUND)
        (void)ses__error_set(error, code, "the session was deleted while a cursor walked its events");
    else if (code == SES_OK && cursor->backward)
        code = ses__range_walk(db, cursor->session_id, range, WALK_BACKWARD, add_to_page, cursor, error);
    else if (code == SES_OK && !range->none)
        code = ses__events_walk(db, cursor->session_id, range->first_seq, range->last_seq, WALK_FORWARD,
                                add_if_in_range, cursor, error);
    return code;
}

/* Takes what the page holds out of the range. */
static void shrink_range(ses_cursor *cursor)
{
    struct range *range = &cursor->range;

    if (!cursor->full) {
        range->none = true;
    } else if (cursor->backward) {
        range->last_seq = cursor->page[cursor->count - 1]->seq - 1;
        if (range->newest != INT64_MAX)
            range->newest -= (int64_t)cursor->count;
    } else {
        range->first_seq = cursor->page[cursor->count - 1]->seq + 1;
    }
}

static int read_page(ses_cursor *cursor, ses_error *error)
{
    cursor->next = 0;
    int code = ses__storage_read(cursor->store->storage, run_page, cursor, error);
    if (code == SES_OK)
        shrink_range(cursor);
    else
        cursor->count = 0;
    return code;
}

/* The next event, reading a page when one is due. What fails is kept, to be told again and by the close. */
static int next_event(ses_cursor *cursor, const ses_event **event)
{
    int result = cursor->code;

    if (result == SES_OK)
        result = ses__store_begin(cursor->store, &cursor->failure);
    const bool begun = result == SES_OK;
    if (result == SES_OK && cursor->next == cursor->count && !cursor->range.none)
        result = read_page(cursor, &cursor->failure);
    if (begun)
        ses__store_end(cursor->store);
    cursor->code = result;
    if (result == SES_OK && cursor->next < cursor->count) {
        *event = cursor->page[cursor->next++];
        result = SES_ROW;
    }
    return result;
}

int ses_cursor_next(ses_cursor *cursor, const ses_event **event, ses_error *error)
{
    int result = ses__check_argument(cursor, "cursor", error);

    if (event)
        *event = NULL;
    if (result == SES_OK)
        result = ses__check_argument(event, "event", error);
    if (result == SES_OK) {
        ses__error_clear(error);
        result = next_event(cursor, event);
        if (result < 0 && error)
            *error = cursor->failure;
    }
    return result;
}

int ses_cursor_close(ses_cursor *cursor, ses_error *error)
{
    int code = SES_OK;

    ses__error_clear(error);
    if (cursor) {
        ses_store *store = cursor->store;
        code = cursor->code;
        if (code != SES_OK && error)
            *error = cursor->failure;
        ses__arena_free(&cursor->arena);
        ses__memory_free(&store->allocator, cursor);
        ses__store_release(store);
    }
    return code;
}
