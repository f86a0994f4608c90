/* Creating, reading, refreshing and deleting sessions. */
#include <string.h>

#include "model/delta.h"
#include "base/error.h"
#include "session/session.h"
#include "model/timestamp.h"

/* A session's initial state: read, and made ready to be stored. */
struct initial_state {
    struct arena arena;
    struct delta delta;
    struct edits edits;
    struct span stored; /* without temp: keys; no text when it is empty */
};

static void initial_state_init(struct initial_state *initial, const ses_store *store)
{
    *initial = (struct initial_state){.stored = {NULL, 0}};
    ses__arena_init(&initial->arena, &store->allocator);
}

static void initial_state_free(struct initial_state *initial)
{
    const ses_allocator *allocator = initial->arena.allocator;
    ses__delta_free(&initial->delta, allocator);
    ses__edits_free(&initial->edits, allocator);
    ses__arena_free(&initial->arena);
}

static bool stores_something(const struct delta *delta)
{
    bool stores = false;
    for (size_t i = 0; i < delta->count; i++)
        stores = stores || delta->ops[i].scope != SCOPE_TEMP;
    return stores;
}

static int initial_state_read(struct initial_state *initial, struct span text, ses_error *error)
{
    struct json_reader reader;
    int code = SES_OK;

    ses__json_start(&reader, text.ptr, text.len);
    if (ses__json_peek(&reader) != JSON_OBJECT) {
        code = ses__json_check(text.ptr, text.len, error);
        if (code == SES_OK)
            code = ses__error_at(error, SES_INVALID, 0, "the state must be a JSON object");
    } else {
        code = ses__delta_read(&reader, &initial->arena, &initial->delta, &initial->edits, error);
        if (code == SES_OK && !ses__json_finish(&reader))
            code = ses__json_error(&reader, error);
    }
    if (code == SES_OK && stores_something(&initial->delta)) {
        initial->stored.ptr = ses__edits_apply(&initial->edits, &initial->arena, text, &initial->stored.len);
        if (!initial->stored.ptr)
            code = ses__error_nomem(error);
    }
    if (code != SES_OK)
        ses__error_prefix(error, "the initial state: ");
    return code;
}

struct create_job {
    const ses_key *key;
    const struct initial_state *initial;
    int64_t created_us;
    bool get_existing;
    struct range range;
    ses_session *session; /* to be filled; NULL: nobody wants it */
};

static int run_create(struct db *db, void *context, ses_error *error)
{
    struct create_job *job = context;
    const ses_key *key = job->key;
    struct session_row row;
    int result = ses__session_find(db, key, &row, error);
    int status = SES_OK;

    if (result == SES_NOTFOUND) {
        result = ses__session_add(db, key, job->created_us, job->initial->stored, &row, error);
        if (result == SES_OK)
            result = ses__delta_store(&job->initial->delta, db, &row, 0, error);
    } else if (result == SES_OK && job->get_existing) {
        status = SES_EXISTING;
    } else if (result == SES_OK) {
        result = ses__error_set(error, SES_EXISTS,
                                "there already is a session %.100s/%.100s/%.100s (app/user/session)",
                                key->app, key->user, key->session);
    }
    if (result == SES_OK && job->session)
        result = ses__session_load(job->session, db, &row, &job->range, error);
    return result == SES_OK ? status : result;
}

/* Most calls that may create find the session there: they need not wait for the writer. */
static int run_find_existing(struct db *db, void *context, ses_error *error)
{
    struct create_job *job = context;
    struct session_row row;
    int result = ses__session_find(db, job->key, &row, error);

    if (result == SES_OK && job->session)
        result = ses__session_load(job->session, db, &row, &job->range, error);
    return result == SES_OK ? SES_EXISTING : result;
}

static int create_or_find(ses_store *store, struct create_job *job, ses_error *error)
{
    int result = SES_NOTFOUND;
    if (job->get_existing)
        result = ses__storage_read(store->storage, run_find_existing, job, error);
    if (result == SES_NOTFOUND)
        result = ses__storage_write(store->storage, run_create, job, job->initial->stored.len, error);
    return result;
}

/* The arguments are checked; an id is made where none was given. */
static int create_session(ses_store *store, const ses_key *key, const struct initial_state *initial,
                          const ses_create_options *options, ses_session **session, ses_error *error)
{
    char made_id[SES_ID_MAX + 1];
    ses_key full = *key;
    struct create_job job = {.key = &full, .initial = initial, .get_existing = options->get_existing != 0};
    int result = ses__range_take(options->range, &job.range, error);

    job.created_us = options->create_us ? *options->create_us : ses__store_now(store);
    if (result == SES_OK && (job.created_us < TIMESTAMP_MIN || job.created_us > TIMESTAMP_MAX))
        result = ses__error_set(error, SES_INVALID, "the time of creation lies outside the years 0 to 9999");
    if (result == SES_OK && !full.session) {
        result = ses__store_make_id(store, made_id, error);
        full.session = made_id;
    }
    if (result == SES_OK)
        result = ses__check_key(&full, error);
    if (result == SES_OK && session)
        result = ses__session_new(store, &full, &job.session, error);
    if (result == SES_OK)
        result = create_or_find(store, &job, error);
    if (result >= 0 && session)
        *session = job.session;
    else
        ses_session_close(job.session);
    return result;
}

int ses_create_with(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                    const ses_create_options *given, ses_session **session, ses_error *error)
{
    ses_create_options options;
    struct span text = {"{}", 2};
    int result = ses__store_begin(store, error);
    const bool begun = result == SES_OK;

    if (session)
        *session = NULL;
    if (result == SES_OK)
        result = ses__check_argument(key, "key", error);
    if (result == SES_OK)
        result = ses__take_options(&options, sizeof options, given, "create options", error);
    if (result == SES_OK && state)
        result = ses__check_text(store, state, state_len, "state", &text, error);
    if (result == SES_OK) {
        struct initial_state initial;
        initial_state_init(&initial, store);
        result = initial_state_read(&initial, text, error);
        if (result == SES_OK)
            result = create_session(store, key, &initial, &options, session, error);
        initial_state_free(&initial);
    }
    if (begun)
        ses__store_end(store);
    return result;
}

int ses_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
               ses_session **session, ses_error *error)
{
    return ses_create_with(store, key, state, state_len, NULL, session, error);
}

int ses_get_or_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                      ses_session **session, ses_error *error)
{
    const ses_create_options options = {.size = sizeof options, .get_existing = 1};
    return ses_create_with(store, key, state, state_len, &options, session, error);
}

/* ------------------------------------------------------------------------------------------- reading */

struct get_job {
    const ses_key *key;
    struct range range;
    ses_session *session;
};

static int run_get(struct db *db, void *context, ses_error *error)
{
    struct get_job *job = context;
    struct session_row row;
    int code = ses__session_find(db, job->key, &row, error);

    if (code == SES_NOTFOUND)
        (void)ses__no_such_session(job->key->app, job->key->user, job->key->session, error);
    if (code == SES_OK)
        code = ses__session_load(job->session, db, &row, &job->range, error);
    return code;
}

int ses_get(ses_store *store, const ses_key *key, const ses_range *range, ses_session **session,
            ses_error *error)
{
    struct get_job job = {.key = key};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (session)
        *session = NULL;
    if (code == SES_OK)
        code = ses__check_argument(session, "session", error);
    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__range_take(range, &job.range, error);
    if (code == SES_OK)
        code = ses__session_new(store, key, &job.session, error);
    if (code == SES_OK)
        code = ses__storage_read(store->storage, run_get, &job, error);
    if (code == SES_OK)
        *session = job.session;
    else
        ses_session_close(job.session);
    if (begun)
        ses__store_end(store);
    return code;
}

struct refresh_job {
    ses_session *session;
    struct session_update update;
};

static int run_refresh(struct db *db, void *context, ses_error *error)
{
    struct refresh_job *job = context;
    struct session_update *update = &job->update;
    const ses_session *session = job->session;
    struct session_row row;

    ses__update_free(update); /* of an earlier run */
    int code = ses__update_init(update, job->session, error);
    if (code == SES_OK)
        code = ses__session_reload(session, db, &row, error);
    if (code == SES_NOTFOUND)
        (void)ses__no_such_session(session->app, session->user, session->id, error);
    if (code == SES_OK && row.version != session->row.version)
        code = ses__update_read_events(update, db, row.last_seq, error);
    if (code == SES_OK)
        code = ses__update_read_shared(update, db, error);
    if (code == SES_OK)
        code = ses__update_prepare(update, &row, error);
    return code;
}

int ses_refresh(ses_session *session, ses_error *error)
{
    struct refresh_job job = {.session = session};
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = ses__store_begin(session->store, error);
    const bool begun = code == SES_OK;
    if (code == SES_OK)
        code = ses__storage_read(session->store->storage, run_refresh, &job, error);
    if (code == SES_OK)
        ses__update_apply(&job.update);
    ses__update_free(&job.update);
    if (begun)
        ses__store_end(session->store);
    return code;
}

/* ------------------------------------------------------------------------------------------- deleting */

struct delete_job {
    const ses_key *key;
    int64_t deleted;
};

static int run_delete(struct db *db, void *context, ses_error *error)
{
    struct delete_job *job = context;
    struct session_row row;
    struct user_row user;
    int code = ses__session_find(db, job->key, &row, error);

    job->deleted = code == SES_OK ? 1 : 0;
    if (code ==
        SES_OK) /* which looks at the rows of the user and the app too: nothing of another's is deleted */
        code = ses__user_find(db, job->key->app, job->key->user, &user, error);
    if (code == SES_OK)
        code = ses__session_remove(db, row.id, error);
    else if (code == SES_NOTFOUND)
        code = SES_OK;
    return code;
}

int ses_delete(ses_store *store, const ses_key *key, int64_t *deleted, ses_error *error)
{
    struct delete_job job = {key, 0};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__storage_write(store->storage, run_delete, &job, 0, error);
    if (code == SES_OK && deleted)
        *deleted = job.deleted;
    if (begun)
        ses__store_end(store);
    return code;
}

struct delete_user_job {
    const char *app;
    const char *user;
    int64_t sessions;
    int64_t state_keys;
};

static int run_delete_user(struct db *db, void *context, ses_error *error)
{
    struct delete_user_job *job = context;
    struct user_row user;
    int code = ses__user_find(db, job->app, job->user, &user, error);

    job->sessions = 0;
    job->state_keys = 0;
    if (code == SES_OK)
        code = ses__user_remove(db, &user, &job->sessions, &job->state_keys, error);
    else if (code == SES_NOTFOUND)
        code = SES_OK;
    return code;
}

int ses_delete_user(ses_store *store, const char *app, const char *user, int64_t *sessions,
                    int64_t *state_keys, ses_error *error)
{
    struct delete_user_job job = {app, user, 0, 0};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (code == SES_OK)
        code = ses__check_id(app, "app", error);
    if (code == SES_OK)
        code = ses__check_id(user, "user", error);
    if (code == SES_OK)
        code = ses__storage_write(store->storage, run_delete_user, &job, 0, error);
    if (code == SES_OK && sessions)
        *sessions = job.sessions;
    if (code == SES_OK && state_keys)
        *state_keys = job.state_keys;
    if (begun)
        ses__store_end(store);
    return code;
}
