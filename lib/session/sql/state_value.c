/* Reads the stored value of one state key, without a handle. */
#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"

struct value_reading {
    struct session_ref session;
    const char *name;
    enum scope scope;
    struct span state_key;
    const ses_allocator *allocator;
    /* out */
    char *json; /* to be freed by ses_free in any case; NULL: there is no such key */
    size_t len;
};

/* The job. It queries the value together with the session, whose number is not known then on a server. */
static int run_reading(struct db *db, void *context, ses_error *error)
{
    struct value_reading *reading = context;
    const bool stored = reading->scope != SCOPE_TEMP; /* temp: never is */
    struct session_row row;
    struct query session;
    struct query rows;
    struct span key;
    struct span value;

    ses_free(reading->json); /* of an earlier run */
    reading->json = NULL;
    int code = ses__session_ask(&session, db, &reading->session, &row, error);
    if (code == SES_OK && stored)
        ses__state_row_open(&rows, db, reading->scope, ses__scope_owner(reading->scope, &row),
                            reading->state_key, error);
    ses__db_ask_last(db);
    if (code == SES_OK)
        code = ses__session_take(&session, &reading->session, &row);
    if (code != SES_OK || !stored)
        return code;
    if (ses__state_rows_next(&rows, &key, &value)) {
        code = ses__state_check_value(reading->name, value, error);
        if (code == SES_OK && !(reading->json = ses__memory_text_of(reading->allocator, value)))
            code = ses__error_nomem(error);
        reading->len = value.len;
        ses__query_keep(&rows, code);
    }
    return ses__query_end(&rows);
}

static int read_value(ses_store *store, const ses_key *key, const char *name, const ses_call_options *options,
                      char **json, size_t *len, ses_error *error)
{
    struct value_reading reading = {
        .session = {key, NULL}, .name = name, .allocator = &store->allocator, .json = NULL};
    struct limits limits;
    int code = ses__take_call_options(store, options, &limits, error);

    if (code == SES_OK)
        code = ses__check_argument(name, "name", error);
    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__scope_check_name(ses__span_of(name), error);
    if (code != SES_OK)
        return code;
    reading.scope = ses__scope_of(ses__span_of(name), &reading.state_key);
    code = ses__run_within(store->storage, &limits, TO_READ, run_reading, &reading, error);
    return ses__give_json(code, reading.json, reading.len, json, len);
}

int ses_state_get_by_key(ses_store *store, const ses_key *key, const char *name,
                         const ses_call_options *options, char **json, size_t *len, ses_error *error)
{
    int code = ses__store_begin_giving(store, json, "json", error);
    return code == SES_OK ? ses__store_end(store, read_value(store, key, name, options, json, len, error))
                          : code;
}
