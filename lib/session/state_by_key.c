/* Reading state by key, without a handle. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"

struct read_job {
    const ses_key *key;
    ses_store *store;
    const char *name; /* of one value; NULL: the whole state */
    char *json;
    size_t len;
};

static int keep_text(struct read_job *job, struct span text, ses_error *error)
{
    job->json = ses__memory_text(&job->store->allocator, text.len);
    if (job->json) {
        memcpy(job->json, text.ptr, text.len);
        job->len = text.len;
    }
    return job->json ? SES_OK : ses__error_nomem(error);
}

static int keep_value(void *context, struct span key, struct span value, ses_error *error)
{
    struct read_job *job = context;
    int code = ses__state_check_value(job->name, value, error);

    (void)key;
    if (code == SES_OK)
        code = keep_text(job, value, error);
    return code == SES_OK ? 1 : code; /* there are no more */
}

static int read_one(struct read_job *job, struct db *db, const struct session_row *row, ses_error *error)
{
    const struct span name = {job->name, strlen(job->name)};
    struct span key;
    enum scope scope = ses__scope_of(name, &key);
    int64_t owner = scope == SCOPE_APP ? row->app_id : scope == SCOPE_USER ? row->user_id : row->id;
    int code = SES_OK;

    if (scope != SCOPE_TEMP)
        code = ses__state_one(db, scope, owner, key, keep_value, job, error);
    return code == SES_OK && !job->json ? SES_ABSENT : code;
}

static int read_all(struct read_job *job, struct db *db, const struct session_row *row, ses_error *error)
{
    struct state state;
    struct span json = {NULL, 0};
    int code = ses__state_init(&state, &job->store->allocator, job->store->seed, error);

    if (code == SES_OK)
        code = ses__state_load(&state, db, SCOPE_APP, row->app_id, error);
    if (code == SES_OK)
        code = ses__state_load(&state, db, SCOPE_USER, row->user_id, error);
    if (code == SES_OK)
        code = ses__state_load(&state, db, SCOPE_SESSION, row->id, error);
    if (code == SES_OK)
        code = ses__state_to_json(&state, &json, error);
    if (code == SES_OK)
        code = keep_text(job, json, error);
    ses__state_free(&state);
    return code;
}

static int run_read(struct db *db, void *context, ses_error *error)
{
    struct read_job *job = context;
    struct session_row row;

    ses_free(job->json); /* of an earlier run */
    job->json = NULL;
    job->len = 0;
    int code = ses__session_find(db, job->key, &row, error);

    if (code == SES_NOTFOUND)
        (void)ses__no_such_session(job->key->app, job->key->user, job->key->session, error);
    else if (code == SES_OK && job->name)
        code = read_one(job, db, &row, error);
    else if (code == SES_OK)
        code = read_all(job, db, &row, error);
    return code;
}

static int read_by_key(struct read_job *job, char **json, size_t *len, ses_error *error)
{
    int code = ses__check_key(job->key, error);

    if (code == SES_OK && job->name)
        code = ses__scope_check_name((struct span){job->name, strlen(job->name)}, error);
    if (code == SES_OK)
        code = ses__storage_read(job->store->storage, run_read, job, error);
    if (code >= 0) {
        *json = job->json;
        if (len)
            *len = job->len;
    } else {
        ses_free(job->json);
    }
    return code;
}

int ses_read_state(ses_store *store, const ses_key *key, char **json, size_t *len, ses_error *error)
{
    struct read_job job = {.key = key, .store = store};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (json)
        *json = NULL;
    if (code == SES_OK)
        code = ses__check_argument(json, "json", error);
    if (begun) {
        code = code == SES_OK ? read_by_key(&job, json, len, error) : code;
        ses__store_end(store);
    }
    return code;
}

int ses_read_value(ses_store *store, const ses_key *key, const char *name, char **json, size_t *len,
                   ses_error *error)
{
    struct read_job job = {.key = key, .store = store, .name = name};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (json)
        *json = NULL;
    if (code == SES_OK)
        code = ses__check_argument(json, "json", error);
    if (code == SES_OK)
        code = ses__check_argument(name, "name", error);
    if (begun) {
        code = code == SES_OK ? read_by_key(&job, json, len, error) : code;
        ses__store_end(store);
    }
    return code;
}
