/* Walks the events of a session, a page at a time. */
#include <string.h>

#include "base/error.h"
#include "session/session.h"

/* A page is full with this many events, or this many bytes. */
enum { PAGE_EVENTS = 64, PAGE_BYTES = 256 * 1024 };

enum {
    SETTLING_EVENTS = 500, /* are read in less than a millisecond */
    LAST_EVENTS = 200,     /* as many as the last turns have, as a rule */
    SETTLING_MS = 20       /* for which a writer is waited for */
};

struct ses_cursor {
    ses_store *store;
    struct arena names; /* holds the key */
    ses_key key;
    struct session_row row; /* the session as of the first page */
    struct live live;
    struct page_op op;
    struct arena arena; /* holds the page */
    struct event_list page;
    size_t next;
    int64_t timeout_ms; /* of each call on it */
    ses_cancel *cancel;
    int code; /* the first failure */
    ses_error failure;
};

/* ------------------------------------------------------------------------------------------ a page */

static int read_page(ses_cursor *cursor, ses_error *error)
{
    struct page_op *op = &cursor->op;

    cursor->next = 0;
    int code = ses__door_page(cursor->store->storage, op, error);
    if (code == SES_NOTFOUND && !op->first)
        (void)ses__error_set(error, code, "the session was deleted while a cursor walked its events");
    if (code != SES_OK) {
        cursor->page.count = 0;
    } else if (op->first) {
        cursor->row = op->row;
        op->session.known = &cursor->row;
        op->first = false;
    }
    return code;
}

/* ------------------------------------------------------------------------------------------ opening */

static int cursor_new(ses_store *store, const ses_key *key, bool backward, ses_cursor **cursor,
                      ses_error *error)
{
    ses_cursor *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    ses__arena_init(&fresh->names, &store->allocator);
    ses__live_init(&fresh->live, &store->allocator);
    fresh->op = (struct page_op){.session = {&fresh->key, NULL},
                                 .first = true,
                                 .backward = backward,
                                 .max_events = PAGE_EVENTS,
                                 .max_bytes = PAGE_BYTES,
                                 .allocator = &store->allocator,
                                 .live = &fresh->live,
                                 .arena = &fresh->arena,
                                 .events = &fresh->page};
    *cursor = fresh;
    return ses__key_copy(key, &fresh->names, &fresh->key) ? SES_OK : ses__error_nomem(error);
}

int ses__begun_cursor_open(ses_store *store, const ses_key *key, const ses_cursor_options *given,
                           bool after_settled, ses_cursor **cursor, ses_error *error)
{
    ses_cursor_options options;
    ses_cursor *fresh = NULL;
    int code = ses__check_key(key, error);
    if (code == SES_OK)
        code =
            ses__take_flagged(&options, sizeof options, given, SES_CURSOR_BACKWARD, "cursor options", error);
    if (code == SES_OK)
        code = cursor_new(store, key, (options.flags & SES_CURSOR_BACKWARD) != 0, &fresh, error);
    if (code == SES_OK)
        code = ses__range_take(options.range, &fresh->op.range, error);
    if (code == SES_OK) {
        fresh->timeout_ms = options.timeout_ms;
        fresh->cancel = options.cancel;
        fresh->op.limits = LIMITS_OF(store, options);
        fresh->op.after_settled = after_settled;
        code = read_page(fresh, error);
    }
    if (code == SES_OK)
        *cursor = fresh;
    else
        (void)ses_cursor_close(fresh, NULL); /* it has no failure of its own yet */
    return code;
}

int ses_cursor_open(ses_store *store, const ses_key *key, const ses_cursor_options *options,
                    ses_cursor **cursor, ses_error *error)
{
    int code = ses__store_begin_giving(store, cursor, "cursor", error);
    return code == SES_OK
               ? ses__store_end(store, ses__begun_cursor_open(store, key, options, false, cursor, error))
               : code;
}

/* A turn that is taken back must not take the event with it. */
bool ses__cursor_may_settle(const ses_cursor *cursor, int64_t seq)
{
    return seq - cursor->op.settled >= SETTLING_EVENTS && cursor->row.last_seq - seq >= LAST_EVENTS;
}

/* Nothing is lost if others write just now: a later walk keeps it. */
void ses__begun_cursor_settle(const ses_cursor *cursor, int64_t seq)
{
    const struct limits limits = ses__limits(cursor->store, SETTLING_MS, NULL);

    (void)ses__door_settle(cursor->store->storage, &limits, &cursor->row, seq, NULL);
}

/* ------------------------------------------------------------------------------------------- walking */

static int keep_failure(ses_cursor *cursor, int code, ses_error *error)
{
    cursor->code = code;
    if (code < 0 && error)
        *error = cursor->failure;
    return code;
}

int ses__begun_cursor_next(ses_cursor *cursor, const ses_event **event, ses_error *error)
{
    int code = cursor->code;

    if (code == SES_OK && cursor->next == cursor->page.count && !cursor->op.range.none)
        code = read_page(cursor, &cursor->failure);
    if (code != SES_OK || cursor->next == cursor->page.count)
        return keep_failure(cursor, code, error);
    *event = cursor->page.items[cursor->next++];
    return SES_ROW;
}

int ses_cursor_next(ses_cursor *cursor, const ses_event **event, ses_error *error)
{
    int result = ses__check_output(event, "event", error);

    if (result == SES_OK)
        result = ses__check_argument(cursor, "cursor", error);
    if (result != SES_OK)
        return result;
    if (cursor->code != SES_OK)
        return keep_failure(cursor, cursor->code, error);
    result = ses__store_begin(cursor->store, &cursor->failure);
    if (result != SES_OK)
        return keep_failure(cursor, result, error);
    if (cursor->next == cursor->page.count)
        cursor->op.limits = LIMITS_OF(cursor->store, *cursor);
    return ses__store_end(cursor->store, ses__begun_cursor_next(cursor, event, error));
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
        ses__arena_free(&cursor->names);
        ses__live_free(&cursor->live);
        ses__memory_free(&store->allocator, cursor->page.items);
        ses__memory_free(&store->allocator, cursor);
        ses__store_release(store);
    }
    return code;
}
