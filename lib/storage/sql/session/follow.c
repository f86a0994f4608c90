/* Reads the changes to a session, or to the sessions of a user, an app or the store, after known places. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

struct follow_run {
    struct follow_op *op;
    struct db *db;
    ses_error *error;
    size_t bytes; /* of the events */
    bool full;    /* of events */
};

static bool page_is_full(const struct follow_run *run)
{
    return run->full || (!run->op->opens && run->op->count >= run->op->max_events);
}

/* Without a name, those of the session are looked up, if there is news to tell of it. */
static int add_followed(struct follow_run *run, enum follow_news news, struct span name,
                        struct follow_place place)
{
    struct follow_op *op = run->op;
    ses_key names = {NULL, NULL, NULL};
    int code = LIST_GROW(op->allocator, op) ? SES_OK : ses__error_nomem(run->error);

    if (code == SES_OK && name.ptr) {
        names.session = ses__arena_text(op->arena, name.ptr, name.len);
        code = names.session ? SES_OK : ses__error_nomem(run->error);
    } else if (code == SES_OK && !op->opens && news != FOLLOW_GONE) {
        code = ses__session_names(run->db, place.session_id, op->arena, &names, run->error);
    }
    if (code == SES_OK)
        op->items[op->count++] = (struct followed){
            .news = news, .name = names.session, .app = names.app, .user = names.user, .place = place};
    return code;
}

/* Adds the events of the last item, up to the session's last. */
static int add_news(struct follow_run *run, const struct session_row *row)
{
    struct follow_op *op = run->op;
    struct followed *item = &op->items[op->count - 1];
    struct event_rows rows;
    struct event_row event;

    const struct few_events few = {(int64_t)(op->max_events - op->events->count),
                                   (int64_t)(op->max_bytes - run->bytes)};

    ses__event_rows_open_few(&rows, run->db, row->id, item->place.seq + 1, row->last_seq, &few, WALK_FORWARD,
                             run->error);
    while (!run->full && ses__event_rows_next(&rows, &event)) {
        if (!ses__event_list_add(op->events, op->allocator, ses__event_copy(op->arena, &event)))
            ses__query_keep(&rows.query, ses__error_nomem(run->error));
        item->events++;
        item->place.seq = event.seq;
        run->bytes += event.body.len;
        run->full = op->events->count >= op->max_events || run->bytes >= op->max_bytes;
    }
    if (!run->full)
        item->place.seq = row->last_seq;
    else if (item->place.seq < row->last_seq && row->updated_us < op->since_us)
        op->leaves_old = true;
    return ses__event_rows_close(&rows);
}

/* `known` NULL: the session is new, and all of it has yet to be given. */
static int look_at_session(struct follow_run *run, const struct session_row *row, struct span name,
                           const struct follow_known *known)
{
    const struct follow_place now = {row->id, ses__row_epoch(row), row->last_seq};
    const struct follow_place from =
        known ? known->place : (struct follow_place){now.session_id, now.epoch, 0};

    if (row->updated_us > run->op->newest_us)
        run->op->newest_us = row->updated_us;
    if (run->op->opens)
        return add_followed(run, FOLLOW_EVENTS, name, now);
    if (from.session_id != now.session_id || from.epoch != now.epoch || from.seq > now.seq ||
        from.seq < row->base_seq) /* the log no longer leads on from there */
        return add_followed(run, FOLLOW_RESET, name, now);
    if (known && from.seq == now.seq)
        return SES_OK;
    int code = add_followed(run, FOLLOW_EVENTS, name, from);
    return code == SES_OK ? add_news(run, row) : code;
}

/* ---------------------------------------------------------------------------------------- one session */

static int follow_session(struct follow_run *run)
{
    const struct follow_op *op = run->op;
    const struct session_ref ref = {op->key, NULL};
    const struct follow_known *known = op->opens ? NULL : op->known;
    struct session_row row;
    int code = ses__session_of(run->db, &ref, &row, run->error);

    if (code == SES_OK && known && row.id != known->place.session_id)
        code = ses__no_such_session(op->key, run->error);
    if (code != SES_OK)
        return code;
    return look_at_session(run, &row, ses__span_of(op->key->session), known);
}

/* ------------------------------------------------------------------------------------ a user's sessions */

/* By names, or where there are none, by numbers. */
static int compare_known(const struct follow_known *known, struct span name, int64_t id)
{
    if (known->name)
        return ses__span_order(ses__span_of(known->name), name);
    return (known->place.session_id > id) - (known->place.session_id < id);
}

/* The first that is known with a name, or number, after that one. */
static size_t first_known_after(const struct follow_op *op, struct span name, int64_t id)
{
    size_t low = 0;
    size_t high = op->known_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_known(&op->known[middle], name, id) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* NULL: the session is not known. */
static const struct follow_known *find_known(const struct follow_op *op, struct span name, int64_t id)
{
    const size_t after = first_known_after(op, name, id);
    return after > 0 && compare_known(&op->known[after - 1], name, id) == 0 ? &op->known[after - 1] : NULL;
}

static const struct span by_number = {NULL, 0};

/* Reports the known sessions before that name, or number, as gone; without either all that are left. */
static int pass_gone(struct follow_run *run, size_t *at, struct span name, int64_t id)
{
    const struct follow_op *op = run->op;
    int code = SES_OK;

    while (code == SES_OK && !page_is_full(run) && *at < op->known_count &&
           ((!name.ptr && id == 0) || compare_known(&op->known[*at], name, id) < 0)) {
        const struct follow_known *gone = &op->known[(*at)++];
        code = add_followed(run, FOLLOW_GONE, gone->name ? ses__span_of(gone->name) : by_number, gone->place);
    }
    return code;
}

static int pass_followed(struct follow_run *run, size_t *at, const struct session_row *row, struct span name)
{
    const struct follow_op *op = run->op;
    int code = pass_gone(run, at, name, row->id);

    if (code != SES_OK || page_is_full(run))
        return code;
    const bool is_known = *at < op->known_count && compare_known(&op->known[*at], name, row->id) == 0;
    return look_at_session(run, row, name, is_known ? &op->known[(*at)++] : NULL);
}

static int follow_user(struct follow_run *run)
{
    const ses_key *key = run->op->key;
    size_t at = first_known_after(run->op, ses__span_of(run->op->after), 0);
    struct named_rows rows;
    struct session_row row;
    struct user_row user;
    int code = ses__owner_find(run->db, key->app, key->user, &user, run->error);

    if (code == SES_OK) {
        ses__named_rows_open(&rows, run->db, &user, run->op->after, run->error);
        while (!page_is_full(run) && ses__named_rows_next(&rows, &row))
            ses__query_keep(&rows.query,
                            pass_followed(run, &at, &row, (struct span){rows.last, rows.last_len}));
        code = ses__query_end(&rows.query);
    }
    if (code != SES_OK && code != SES_NOTFOUND)
        return code;
    return pass_gone(run, &at, by_number, 0);
}

/* ----------------------------------------------------------------------------- those of an app, or of all */

/* Those that are not recent are not gone. */
static int pass_numbered(struct follow_run *run, size_t *at, const struct session_row *row)
{
    return run->op->is_recent ? look_at_session(run, row, by_number, find_known(run->op, by_number, row->id))
                              : pass_followed(run, at, row, by_number);
}

static int follow_wide(struct follow_run *run)
{
    const struct follow_op *op = run->op;
    size_t at = first_known_after(op, by_number, op->after_id);
    struct numbered_rows rows = {.since_us = op->is_recent ? op->since_us : INT64_MIN, .last = op->after_id};
    struct user_row app = {.app_id = 0};
    struct session_row row;
    int code = op->key->app ? ses__owner_find(run->db, op->key->app, NULL, &app, run->error) : SES_OK;

    if (code == SES_OK) {
        rows.app_id = app.app_id;
        ses__numbered_rows_open(&rows, run->db, run->error);
        while (!page_is_full(run) && ses__numbered_rows_next(&rows, &row))
            ses__query_keep(&rows.query, pass_numbered(run, &at, &row));
        code = ses__query_end(&rows.query);
    }
    if (code != SES_OK && code != SES_NOTFOUND)
        return code;
    return op->is_recent ? SES_OK : pass_gone(run, &at, by_number, 0);
}

/* ------------------------------------------------------------------------------------ those that are told */

static const char *next_text(const char **at)
{
    const char *text = *at;

    *at += strlen(text) + 1;
    return text;
}

/* Without its row, the number of a session that is not there is not known. */
static int look_at_told(struct follow_run *run, const ses_key *key)
{
    struct follow_op *op = run->op;
    const struct session_ref ref = {key, NULL};
    const struct span name = op->key->user ? ses__span_of(key->session) : by_number;
    struct session_row row;
    int code = ses__session_of(run->db, &ref, &row, run->error);

    if (code == SES_OK)
        return look_at_session(run, &row, name, find_known(op, name, row.id));
    if (code != SES_NOTFOUND)
        return code;
    const struct follow_known *known = name.ptr ? find_known(op, name, 0) : NULL;
    op->lacks_told = op->lacks_told || !name.ptr;
    return known ? add_followed(run, FOLLOW_GONE, name, known->place) : SES_OK;
}

/* Only the sessions of which there were notifications. */
static int follow_notified(struct follow_run *run)
{
    const struct follow_op *op = run->op;
    const char *const end = op->told + op->told_len;
    int code = SES_OK;

    for (const char *at = op->told; code == SES_OK && at < end && !page_is_full(run);) {
        ses_key key = *op->key;
        if (!op->key->user) {
            key.app = next_text(&at);
            key.user = next_text(&at);
        }
        key.session = next_text(&at);
        code = look_at_told(run, &key);
    }
    return code;
}

static int run_follow(struct db *db, void *context, ses_error *error)
{
    struct follow_op *op = context;
    struct follow_run run = {.op = op, .db = db, .error = error};

    ses__arena_reset(op->arena); /* of an earlier run */
    op->events->count = 0;
    op->count = 0;
    op->lacks_told = false;
    op->leaves_old = false;
    int code = op->key->session ? follow_session(&run)
               : op->told       ? follow_notified(&run)
               : op->key->user  ? follow_user(&run)
                                : follow_wide(&run);
    op->more = page_is_full(&run);
    return code;
}

int ses__door_follow(struct storage *storage, struct follow_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, run_follow, op, error);
}
