/* Reads the changes to a session, or to the sessions of a user, after known places. */
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

static int add_followed(struct follow_run *run, enum follow_news news, struct span name,
                        struct follow_place place)
{
    struct follow_op *op = run->op;
    const char *copy = LIST_GROW(op->allocator, op) ? ses__arena_text(op->arena, name.ptr, name.len) : NULL;

    if (!copy)
        return ses__error_nomem(run->error);
    op->items[op->count++] = (struct followed){.news = news, .name = copy, .place = place};
    return SES_OK;
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
    return ses__event_rows_close(&rows);
}

/* `known` NULL: the session is new, and all of it has yet to be given. */
static int look_at_session(struct follow_run *run, const struct session_row *row, struct span name,
                           const struct follow_known *known)
{
    const struct follow_place now = {row->id, ses__row_epoch(row), row->last_seq};
    const struct follow_place from =
        known ? known->place : (struct follow_place){now.session_id, now.epoch, 0};

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

static int compare_known(const struct follow_known *known, struct span name)
{
    return ses__span_order(ses__span_of(known->name), name);
}

/* The first that is known with a name after that one. */
static size_t first_known_after(const struct follow_op *op, struct span name)
{
    size_t low = 0;
    size_t high = op->known_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_known(&op->known[middle], name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Reports the known sessions before that name, or (without a name) all that are left, as gone. */
static int pass_gone(struct follow_run *run, size_t *at, struct span name)
{
    const struct follow_op *op = run->op;
    int code = SES_OK;

    while (code == SES_OK && !page_is_full(run) && *at < op->known_count &&
           (!name.ptr || compare_known(&op->known[*at], name) < 0)) {
        const struct follow_known *gone = &op->known[(*at)++];
        code = add_followed(run, FOLLOW_GONE, ses__span_of(gone->name), gone->place);
    }
    return code;
}

static int pass_followed(struct follow_run *run, size_t *at, const struct session_row *row, struct span name)
{
    const struct follow_op *op = run->op;
    int code = pass_gone(run, at, name);

    if (code != SES_OK || page_is_full(run))
        return code;
    const bool is_known = *at < op->known_count && compare_known(&op->known[*at], name) == 0;
    return look_at_session(run, row, name, is_known ? &op->known[(*at)++] : NULL);
}

static int follow_user(struct follow_run *run)
{
    const ses_key *key = run->op->key;
    size_t at = first_known_after(run->op, ses__span_of(run->op->after));
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
    return pass_gone(run, &at, (struct span){NULL, 0});
}

/* Only the sessions of which there were notifications. */
static int follow_notified(struct follow_run *run)
{
    const struct follow_op *op = run->op;
    const char *const end = op->told + op->told_len;
    struct session_row row;
    int code = SES_OK;

    for (const char *name = op->told; code == SES_OK && name < end && !page_is_full(run);
         name += strlen(name) + 1) {
        const struct span text = ses__span_of(name);
        const ses_key key = {op->key->app, op->key->user, name};
        const struct session_ref ref = {&key, NULL};
        const size_t after = first_known_after(op, text);
        const bool is_known = after > 0 && compare_known(&op->known[after - 1], text) == 0;
        const struct follow_known *known = is_known ? &op->known[after - 1] : NULL;
        code = ses__session_of(run->db, &ref, &row, run->error);
        if (code == SES_OK)
            code = look_at_session(run, &row, text, known);
        else if (code == SES_NOTFOUND)
            code = known ? add_followed(run, FOLLOW_GONE, text, known->place) : SES_OK;
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
    int code = op->key->session ? follow_session(&run) : op->told ? follow_notified(&run) : follow_user(&run);
    op->more = page_is_full(&run);
    return code;
}

int ses__door_follow(struct storage *storage, struct follow_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, run_follow, op, error);
}
