/* Reads the past state of a session: at a point of its log, or when it was created. */
#include "base/error.h"
#include "json/reader.h"
#include "session/session.h"
#include "storage/sql/session/jobs.h"

struct past_reading {
    const struct session_call *call;
    struct limits limits;
    bool initial; /* the state that the session was created with; the point does not count */
    bool shared;  /* with the shared keys that the session had written */
    struct point point;
    /* out */
    char *json; /* to be freed by ses_free in any case */
    size_t len;
};

static int keep_json(struct past_reading *reading, struct span text, ses_error *error)
{
    reading->json = ses__memory_text_of(&reading->call->store->allocator, text);
    reading->len = text.len;
    return reading->json ? SES_OK : ses__error_nomem(error);
}

/* Another program may have written it. */
static int check_initial(const struct session_row *row, struct span initial, ses_error *error)
{
    struct json_reader reader;
    int code = ses__json_start_object(&reader, initial, "it", NULL);

    if (code == SES_OK && (!ses__json_skip(&reader, NULL) || !ses__json_finish(&reader)))
        code = SES_JSON;
    return code == SES_OK ? SES_OK
                          : ses__error_set(error, SES_CORRUPT,
                                           "the initial state of session number %lld is no JSON object",
                                           (long long)row->id);
}

static int read_initial(struct db *db, struct past_reading *reading, const struct session_row *row,
                        ses_error *error)
{
    static const struct span empty = {"{}", 2};
    struct arena arena;
    struct span initial;

    ses__arena_init(&arena, db->allocator);
    int code = ses__log_initial(db, row->id, &arena, &initial, error);
    if (code == SES_OK && initial.ptr)
        code = check_initial(row, initial, error);
    if (code == SES_OK)
        code = keep_json(reading, initial.ptr ? initial : empty, error);
    ses__arena_free(&arena);
    return code;
}

static int read_replayed(struct db *db, struct past_reading *reading, const struct session_row *row,
                         int64_t seq, ses_error *error)
{
    struct replay replay;
    struct span json;
    int code = ses__replay_init(&replay, db->allocator, reading->call->store->seed, reading->shared, error);

    if (code == SES_OK)
        code = ses__log_replay(db, row, seq, &replay, error);
    if (code == SES_OK)
        code = ses__state_to_json(&replay.state, &json, error);
    if (code == SES_OK)
        code = keep_json(reading, json, error);
    ses__replay_free(&replay);
    return code;
}

static int run_past_reading(struct db *db, void *context, ses_error *error)
{
    struct past_reading *reading = context;
    const struct session_ref *ref = &reading->call->ref;
    struct session_row row;
    int64_t seq = 0;

    ses_free(reading->json); /* of an earlier run */
    reading->json = NULL;
    int code = ses__session_of(db, ref, &row, error);
    if (code == SES_OK && reading->initial)
        return read_initial(db, reading, &row, error);
    if (code == SES_OK)
        code = ses__log_check_epoch(ref, &row, error);
    if (code == SES_OK)
        code = ses__log_find_point(db, ref, &row, &reading->point, &seq, NULL, error);
    return code == SES_OK ? read_replayed(db, reading, &row, seq, error) : code;
}

static int read_past(struct past_reading *reading, char **json, size_t *len, ses_error *error)
{
    const int code = ses__run_within(reading->call->store->storage, &reading->limits, TO_READ,
                                     run_past_reading, reading, error);
    return ses__give_json(code, reading->json, reading->len, json, len);
}

static int read_as_of(const struct target *target, const ses_point *point, const ses_as_of_options *given,
                      char **json, size_t *len, ses_error *error)
{
    struct session_call call;
    struct past_reading reading = {.call = &call};
    ses_as_of_options options;
    int code = ses__check_output(json, "json", error);

    if (code == SES_OK)
        code = ses__call_begin(&call, target, error);
    if (code != SES_OK)
        return code;
    code = ses__take_flagged(&options, sizeof options, given, SES_AS_OF_SHARED, "as-of options", error);
    if (code == SES_OK)
        code = ses__point_take(point, &reading.point, error);
    reading.shared = (options.flags & SES_AS_OF_SHARED) != 0;
    reading.limits = LIMITS_OF(call.store, options);
    return ses__call_end(&call, code == SES_OK ? read_past(&reading, json, len, error) : code);
}

int ses_state_json_as_of(ses_session *session, const ses_point *point, const ses_as_of_options *options,
                         char **json, size_t *len, ses_error *error)
{
    return read_as_of(ON(session), point, options, json, len, error);
}

int ses_state_json_as_of_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                                const ses_as_of_options *options, char **json, size_t *len, ses_error *error)
{
    return read_as_of(AT(store, key), point, options, json, len, error);
}

static int read_first_state(const struct target *target, const ses_call_options *options, char **json,
                            size_t *len, ses_error *error)
{
    struct session_call call;
    struct past_reading reading = {.call = &call, .initial = true};
    int code = ses__check_output(json, "json", error);

    if (code == SES_OK)
        code = ses__call_begin(&call, target, error);
    if (code != SES_OK)
        return code;
    code = ses__take_call_options(call.store, options, &reading.limits, error);
    return ses__call_end(&call, code == SES_OK ? read_past(&reading, json, len, error) : code);
}

int ses_state_json_initial(ses_session *session, const ses_call_options *options, char **json, size_t *len,
                           ses_error *error)
{
    return read_first_state(ON(session), options, json, len, error);
}

int ses_state_json_initial_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                  char **json, size_t *len, ses_error *error)
{
    return read_first_state(AT(store, key), options, json, len, error);
}
