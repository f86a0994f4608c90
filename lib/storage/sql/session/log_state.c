/* The state at a point of a log. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"

/* ----------------------------------------------------------------------------------- from the beginning */

static int replay_initial(struct db *db, const struct session_row *row, struct replay *replay,
                          ses_error *error)
{
    struct arena arena;
    struct span initial;

    ses__arena_init(&arena, db->allocator);
    int code = ses__log_initial(db, row->id, &arena, &initial, error);
    if (code == SES_OK)
        code = ses__replay_initial(replay, initial, error);
    ses__arena_free(&arena);
    return code;
}

static int put_base_value(void *context, const struct base_value *value, ses_error *error)
{
    return ses__replay_put(context, value->name, value->value, value->seq, error);
}

/* The state before the first event. */
static int replay_beginning(struct db *db, const struct session_row *row, struct replay *replay,
                            ses_error *error)
{
    return row->base_seq > 0 ? ses__base_visit(db, row, put_base_value, replay, error)
                             : replay_initial(db, row, replay, error);
}

int ses__log_replay_events(struct db *db, const struct session_row *row, int64_t first, int64_t last,
                           struct replay *replay, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, db, row->id, first, last, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, ses__replay_event(replay, &event, error));
    return ses__event_rows_close(&rows);
}

static int replay_forward(struct db *db, const struct session_row *row, int64_t seq, struct replay *replay,
                          ses_error *error)
{
    const int code = replay_beginning(db, row, replay, error);
    return code == SES_OK ? ses__log_replay_events(db, row, row->base_seq + 1, seq, replay, error) : code;
}

/* ----------------------------------------------------------------------------------------- from the end */

/* Own keys that events after the point have changed. `seq` of an entry is 0 until its value at the point is
 * known. */
struct wanted {
    struct db *db;
    const struct session_row *row;
    struct replay *replay; /* gets the values */
    struct state keys;
    size_t left; /* keys whose value is not known */
};

static int want(struct wanted *wanted, struct span name, ses_error *error)
{
    static const struct span nothing = {"", 0};

    if (ses__state_find(&wanted->keys, name))
        return SES_OK;
    wanted->left++;
    return ses__state_put(&wanted->keys, name, nothing, error);
}

/* `seq` does not count. */
static int want_changed(struct wanted *wanted, const struct delta *delta, int64_t seq, ses_error *error)
{
    int code = SES_OK;

    (void)seq;
    for (size_t i = 0; i < delta->count && code == SES_OK; i++) {
        if (delta->ops[i].scope == SCOPE_SESSION)
            code = want(wanted, delta->ops[i].name, error);
    }
    return code;
}

/* The last operation on a key counts. */
static int take_last(struct wanted *wanted, const struct delta *delta, int64_t seq, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = delta->count; i > 0 && code == SES_OK; i--) {
        struct delta_op *op = &delta->ops[i - 1];
        struct state_entry *entry =
            op->scope == SCOPE_SESSION ? ses__state_find(&wanted->keys, op->name) : NULL;
        if (!entry || entry->seq != 0)
            continue;
        entry->seq = seq;
        wanted->left--;
        code = ses__replay_delta(wanted->replay, &(struct delta){op, 1, 1}, seq, error);
    }
    return code;
}

typedef int on_changes(struct wanted *wanted, const struct delta *delta, int64_t seq, ses_error *error);

/* Events that change no key are not read. */
static int walk_changes(struct wanted *wanted, const struct event_row *row, on_changes *take,
                        ses_error *error)
{
    struct replay *replay = wanted->replay;

    if (!ses__stored_event_may_change(row))
        return SES_OK;
    ses__arena_reset(&replay->arena);
    const int code = ses__stored_event_read(&replay->event, row, STORED_DELTA, error);
    return code == SES_OK ? take(wanted, &replay->event.delta, row->seq, error) : code;
}

/* A key that no later event has changed has its value of now. */
static int take_now(struct wanted *wanted, struct own_rows *rows, int64_t seq, ses_error *error)
{
    struct span key;
    struct span value;
    int64_t set;

    while (ses__own_rows_next(rows, &key, &value, &set)) {
        if (set > seq) /* in a damaged store its event need not say so */
            ses__query_keep(&rows->query, want(wanted, key, error));
        else if (!ses__state_find(&wanted->keys, key))
            ses__query_keep(&rows->query, ses__replay_put(wanted->replay, key, value, set, error));
    }
    return rows->query.code;
}

/* The keys that no event before the point has changed. */
static int take_beginning(struct wanted *wanted, ses_error *error)
{
    struct replay beginning;
    const struct replay *replay = wanted->replay;
    struct state_entry *const *keys = ses__state_sorted(&wanted->keys);
    int code = ses__replay_init(&beginning, replay->arena.allocator, replay->state.seed, false, error);

    if (code == SES_OK && !keys)
        code = ses__error_nomem(error);
    if (code == SES_OK)
        code = replay_beginning(wanted->db, wanted->row, &beginning, error);
    for (size_t i = 0; code == SES_OK && i < ses__state_count(&wanted->keys); i++) {
        const struct span name = ses__state_entry_span(keys[i]);
        const struct state_entry *entry = keys[i]->seq == 0 ? ses__state_find(&beginning.state, name) : NULL;
        if (entry)
            code = ses__replay_put(wanted->replay, name, ses__state_entry_value(entry), entry->seq, error);
    }
    ses__replay_free(&beginning);
    return code;
}

/* All is asked for before any of it is read; on a file, the rest is not read where nothing is wanted. */
static int walk_back(struct wanted *wanted, int64_t seq, struct arena *names, ses_error *error)
{
    static const struct few_events few = {50, INT64_C(1) << 20};
    const struct session_row *row = wanted->row;
    struct event_rows later;
    struct own_rows now;
    struct event_rows earlier;
    struct event_row event;

    ses__event_rows_open(&later, wanted->db, row->id, seq + 1, row->last_seq, WALK_FORWARD_BODIES, error);
    ses__own_rows_open(&now, wanted->db, row->id, names, error);
    ses__event_rows_open_few(&earlier, wanted->db, row->id, row->base_seq + 1, seq, &few,
                             WALK_BACKWARD_BODIES, error);
    while (ses__event_rows_next(&later, &event))
        ses__query_keep(&later.query, walk_changes(wanted, &event, want_changed, error));
    int code = ses__event_rows_close(&later);
    if (code == SES_OK)
        code = take_now(wanted, &now, seq, error);
    const int ended = ses__query_end(&now.query);
    while (code == SES_OK && wanted->left > 0 && ses__event_rows_next(&earlier, &event))
        ses__query_keep(&earlier.query, walk_changes(wanted, &event, take_last, error));
    const int closed = ses__event_rows_close(&earlier);
    if (code == SES_OK)
        code = ended != SES_OK ? ended : closed;
    return code == SES_OK && wanted->left > 0 ? take_beginning(wanted, error) : code;
}

static int replay_backward(struct db *db, const struct session_row *row, int64_t seq, struct replay *replay,
                           ses_error *error)
{
    struct wanted wanted = {.db = db, .row = row, .replay = replay};
    struct arena names;
    int code = ses__state_init(&wanted.keys, db->allocator, replay->state.seed, error);

    ses__arena_init(&names, db->allocator);
    if (code == SES_OK)
        code = walk_back(&wanted, seq, &names, error);
    ses__arena_free(&names);
    ses__state_free(&wanted.keys);
    return code;
}

/* Where a key was set long ago, the walk from the end also goes to the beginning: it must not take much
 * longer then. On a server one page of events takes as long as any. */
static bool is_near_end(const struct db *db, const struct session_row *row, int64_t seq)
{
    const int64_t before = seq - row->base_seq;

    return before > db->traits->page && before / 8 >= row->last_seq - seq;
}

int ses__log_replay(struct db *db, const struct session_row *row, int64_t seq, struct replay *replay,
                    ses_error *error)
{
    return replay->from == SCOPE_SESSION && is_near_end(db, row, seq)
               ? replay_backward(db, row, seq, replay, error)
               : replay_forward(db, row, seq, replay, error);
}
