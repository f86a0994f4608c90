/* Adds, lists and removes inputs. */
#include "inbox/inbox.h"

#include <string.h>

#include "base/error.h"
#include "json/reader.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/event.h"

enum { WAITING_DEFAULT = 1000, INPUTS_DEFAULT = 100, INPUTS_MAX = 10000 };

/* ---------------------------------------------------------------------------------------------- adding */

struct adding {
    const ses_key *key;
    const char *request;
    struct span body;
    bool creates;
    int64_t max_waiting;
    int64_t now_us;
    bool is_there; /* out: the input waits already, or is an event */
};

/* The queries about what is there. */
struct adding_asked {
    struct query same;
    struct query count;
    struct event_rows events;
};

static void ask_what_waits(struct adding_asked *asked, struct db *db, const struct adding *own,
                           int64_t session_id, ses_error *error)
{
    ses__query_open(&asked->same, db, STATEMENT_INBOX_FIND, error,
                    VALUES(OWNER(session_id), STRING(own->request)));
    ses__query_open(&asked->count, db, STATEMENT_INBOX_COUNT, error, VALUES(OWNER(session_id)));
    ses__event_row_open(&asked->events, db, session_id, ses__span_of(own->request), error);
}

static int take_what_waits(struct adding_asked *asked, struct adding *own, ses_error *error)
{
    struct event_row event;
    int64_t waiting = 0;

    if (ses__query_row(&asked->same)) {
        const struct span body = ses__query_text(&asked->same, 0);
        own->is_there = body.len == own->body.len && memcmp(body.ptr, own->body.ptr, body.len) == 0;
        if (asked->same.code == SES_OK && !own->is_there)
            ses__query_keep(
                &asked->same,
                ses__error_set(error, SES_EXISTS,
                               "an input with the request \"%.100s\" waits already, with a different body",
                               own->request));
    }
    int code = ses__query_end(&asked->same);
    if (code == SES_OK && ses__query_row(&asked->count))
        waiting = ses__query_int(&asked->count, 0);
    if (code == SES_OK)
        code = ses__query_end(&asked->count);
    if (code == SES_OK) {
        own->is_there = ses__event_rows_next(&asked->events, &event) || own->is_there;
        code = ses__event_rows_close(&asked->events);
    }
    if (code == SES_OK && !own->is_there && waiting >= own->max_waiting)
        code =
            ses__error_set(error, SES_LIMIT, "%lld inputs wait in the session, as many as max_waiting allows",
                           (long long)waiting);
    return code;
}

static int run_adding(struct db *db, void *context, ses_error *error)
{
    struct adding *own = context;
    const struct session_ref ref = {own->key, NULL};
    struct session_row row = {.id = 0};
    const struct session_times times = {own->now_us, own->now_us, INT64_MAX};
    struct adding_asked asked;
    struct query session;
    int code = ses__session_ask(&session, db, &ref, &row, error);

    own->is_there = false;
    if (code == SES_OK)
        ask_what_waits(&asked, db, own, row.id, error);
    if (code == SES_OK)
        code = ses__session_take(&session, &ref, &row);
    if (code == SES_OK)
        code = take_what_waits(&asked, own, error);
    else if (code == SES_NOTFOUND && own->creates)
        code = ses__session_add(db, own->key, &times, &row, error);
    return code == SES_OK && !own->is_there
               ? ses__query_do(db, STATEMENT_INBOX_ADD, error,
                               VALUES(INT(row.id), INT(row.app_id), STRING(own->request), INT(own->now_us),
                                      TEXT(own->body)))
               : code;
}

static int add_input(ses_store *store, struct adding *own, const char *body, size_t len,
                     const ses_inbox_add_options *given, ses_error *error)
{
    ses_inbox_add_options options;
    int code = ses__check_key(own->key, error);

    if (code == SES_OK)
        code = ses__check_id(own->request, "request", error);
    if (code == SES_OK)
        code = ses__take_flagged(&options, sizeof options, given, SES_INBOX_CREATES, "inbox options", error);
    if (code == SES_OK && options.max_waiting < 0)
        code = ses__error_set(error, SES_INVALID, "inbox options: max_waiting is negative");
    if (code == SES_OK)
        code = ses__check_text(store, body, len, "body", &own->body, error);
    if (code == SES_OK)
        code = ses__json_check(own->body.ptr, own->body.len, error);
    if (code != SES_OK)
        return code;
    const struct limits limits = LIMITS_OF(store, options);
    own->creates = (options.flags & (unsigned)SES_INBOX_CREATES) != 0;
    own->max_waiting = options.max_waiting ? options.max_waiting : WAITING_DEFAULT;
    own->now_us = ses__store_now(store);
    code = ses__run_within(store->storage, &limits, TO_WRITE(own->body.len), run_adding, own, error);
    if (code == SES_OK && own->is_there)
        return SES_DUPLICATE;
    if (code == SES_OK || code == SES_UNKNOWN)
        ses__lease_queue_wake(&store->leases, own->key);
    return code;
}

int ses_inbox_add(ses_store *store, const ses_key *key, const char *request, const char *body, size_t len,
                  const ses_inbox_add_options *options, ses_error *error)
{
    struct adding own = {.key = key, .request = request};
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, add_input(store, &own, body, len, options, error)) : code;
}

/* -------------------------------------------------------------------------------------------- removing */

struct removing {
    const ses_key *key;
    const char *request;
    bool was_there; /* out */
};

static int run_removing(struct db *db, void *context, ses_error *error)
{
    struct removing *own = context;
    const struct session_ref ref = {own->key, NULL};
    struct session_row row;
    struct query session;
    struct query same;
    int code = ses__session_ask(&session, db, &ref, &row, error);

    if (code == SES_OK)
        ses__query_open(&same, db, STATEMENT_INBOX_FIND, error, VALUES(OWNER(row.id), STRING(own->request)));
    if (code == SES_OK)
        code = ses__session_take(&session, &ref, &row);
    if (code != SES_OK)
        return code;
    own->was_there = ses__query_row(&same);
    code = ses__query_end(&same);
    return code == SES_OK && own->was_there ? ses__inbox_remove(db, row.id, own->request, error) : code;
}

static int remove_input(ses_store *store, struct removing *own, const ses_call_options *options,
                        ses_error *error)
{
    struct limits limits;
    int code = ses__check_key(own->key, error);

    if (code == SES_OK)
        code = ses__check_id(own->request, "request", error);
    if (code == SES_OK)
        code = ses__take_call_options(store, options, &limits, error);
    if (code == SES_OK)
        code = ses__run_within(store->storage, &limits, TO_WRITE(0), run_removing, own, error);
    return code == SES_OK && !own->was_there ? SES_UNCHANGED : code;
}

int ses_inbox_remove(ses_store *store, const ses_key *key, const char *request,
                     const ses_call_options *options, ses_error *error)
{
    struct removing own = {.key = key, .request = request};
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, remove_input(store, &own, options, error)) : code;
}

/* --------------------------------------------------------------------------------------------- a page */

int ses__inbox_check(const ses_key *whose, ses_key *key, ses_error *error)
{
    *key = whose ? *whose : (ses_key){NULL, NULL, NULL};
    if (whose && whose->session && !whose->user)
        return ses__error_set(error, SES_MISUSE, "the key has a session, but no user");
    return whose ? ses__check_owner(key->app, key->user, key->session, error) : SES_OK;
}

int ses__inputs_new(ses_store *store, ses_inputs **inputs, ses_error *error)
{
    *inputs = ses__memory_zeroed(&store->allocator, sizeof **inputs);
    if (!*inputs)
        return ses__error_nomem(error);
    (*inputs)->store = store;
    ses__store_retain(store);
    ses__arena_init(&(*inputs)->arena, &store->allocator);
    return SES_OK;
}

int ses__inbox_find(struct db *db, const ses_key *key, struct inbox_range *range, ses_error *error)
{
    struct session_row session;
    struct user_row owner;
    int code = SES_OK;

    range->of = key->session ? INBOX_OF_SESSION : key->app ? INBOX_OF_APP : INBOX_OF_STORE;
    if (key->session) {
        code = ses__session_find(db, key, &session, error);
        range->owner = session.id;
    } else if (key->app) {
        code = ses__owner_find(db, key->app, key->user, &owner, error);
        range->owner = owner.app_id;
        range->user_id = owner.id;
    }
    return code;
}

static bool add_to_page(ses_inputs *inputs, const struct inbox_row *row)
{
    struct arena *arena = &inputs->arena;
    const ses_input input = {.app = ses__arena_text(arena, row->app.ptr, row->app.len),
                             .user = ses__arena_text(arena, row->user.ptr, row->user.len),
                             .session = ses__arena_text(arena, row->session.ptr, row->session.len),
                             .request = ses__arena_text(arena, row->request.ptr, row->request.len),
                             .body = ses__arena_text(arena, row->body.ptr, row->body.len),
                             .body_len = row->body.len,
                             .added_us = row->added_us,
                             .place = row->id};

    if (!input.app || !input.user || !input.session || !input.request || !input.body ||
        !LIST_GROW(&inputs->store->allocator, inputs))
        return false;
    inputs->items[inputs->count++] = input;
    return true;
}

int ses__inputs_fill(ses_inputs *inputs, struct query *rows)
{
    struct inbox_row row;

    ses__arena_reset(&inputs->arena); /* of an earlier run */
    inputs->count = 0;
    while (ses__inbox_next(rows, &row)) {
        if (!add_to_page(inputs, &row))
            ses__query_keep(rows, ses__error_nomem(rows->error));
    }
    return ses__query_end(rows);
}

struct inbox_listing {
    const ses_key *key;
    struct inbox_range range;
    ses_inputs *inputs;
};

static int run_inbox_listing(struct db *db, void *context, ses_error *error)
{
    struct inbox_listing *own = context;
    struct query rows;
    const int code = ses__inbox_find(db, own->key, &own->range, error);

    own->inputs->count = 0;
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    ses__inbox_ask(&rows, db, &own->range, error);
    ses__db_ask_last(db);
    return ses__inputs_fill(own->inputs, &rows);
}

static int list_inbox(ses_store *store, const ses_key *whose, const ses_inbox_list_options *given,
                      ses_inputs **inputs, ses_error *error)
{
    ses_inbox_list_options options;
    struct inbox_listing own = {.inputs = NULL};
    ses_key key;
    int code = ses__inbox_check(whose, &key, error);

    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "inbox list options", error);
    if (code == SES_OK && options.limit > INPUTS_MAX)
        code = ses__error_set(error, SES_INVALID, "inbox list options: limit is more than %d", INPUTS_MAX);
    if (code == SES_OK && options.after < 0)
        code = ses__error_set(error, SES_INVALID, "inbox list options: after is negative");
    if (code == SES_OK)
        code = ses__inputs_new(store, &own.inputs, error);
    if (code != SES_OK)
        return code;
    const struct limits limits = LIMITS_OF(store, options);
    own.key = &key;
    own.range.after = options.after;
    own.range.limit = options.limit ? (int64_t)options.limit : INPUTS_DEFAULT;
    code = ses__run_within(store->storage, &limits, TO_READ, run_inbox_listing, &own, error);
    if (code == SES_OK)
        *inputs = own.inputs;
    else
        ses_inputs_close(own.inputs);
    return code;
}

int ses_inbox_list(ses_store *store, const ses_key *whose, const ses_inbox_list_options *options,
                   ses_inputs **inputs, ses_error *error)
{
    int code = ses__store_begin_giving(store, inputs, "inputs", error);
    return code == SES_OK ? ses__store_end(store, list_inbox(store, whose, options, inputs, error)) : code;
}

size_t ses_inputs_count(const ses_inputs *inputs)
{
    return inputs->count;
}

const ses_input *ses_inputs_at(const ses_inputs *inputs, size_t index)
{
    return index < inputs->count ? &inputs->items[index] : NULL;
}

void ses_inputs_close(ses_inputs *inputs)
{
    if (inputs) {
        ses_store *store = inputs->store;
        ses__memory_free(&store->allocator, inputs->items);
        ses__arena_free(&inputs->arena);
        ses__memory_free(&store->allocator, inputs);
        ses__store_release(store);
    }
}
