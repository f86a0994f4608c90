/* Transactions that are sent whole: a session that is created, and events that are appended. The numbers that they need are
 * found, and computed, by the server. */
#include "storage/postgres/ahead.h"
#include "storage/postgres/announce_parts.h"
#include "storage/sql/rows_parts.h"

/* ------------------------------------------------------------------------------------------- creating */

/* The app and the user, unless they are there; then the user is the source. */
static void announce_owner(struct db *db, const ses_key *key)
{
    struct query query;
    struct user_row user;
    int64_t app;

    ses__query_start(&query, db, STATEMENT_APP_ADD, NULL);
    ses__query_bind_string(&query, 1, key->app);
    (void)ses__query_end(&query);
    (void)ses__app_find(db, key->app, &app, NULL);
    ses__ahead_from(ses__pg_of(db), 1);
    ses__query_start(&query, db, STATEMENT_USER_ADD, NULL);
    ses__query_bind_int(&query, 1, ses__announced_row.app_id);
    ses__query_bind_string(&query, 2, key->user);
    (void)ses__query_end(&query);
    ses__ahead_from_nothing(ses__pg_of(db));
    (void)ses__user_find(db, key->app, key->user, &user, NULL);
    ses__ahead_from(ses__pg_of(db), 1);
}

static void announce_row(struct db *db, const struct create_op *op)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_VERSION_FLOOR, NULL);
    ses__query_bind_int(&query, 1, ses__announced_row.user_id);
    (void)ses__query_end(&query);
    ses__ahead_answers(ses__pg_of(db), STATEMENT_SESSION_ADD);
    ses__ahead_as(ses__pg_of(db), 6, PG_ANY);
    ses__query_start(&query, db, STATEMENT_CREATE_SESSION, NULL);
    ses__query_bind_int(&query, 1, ses__announced_row.app_id);
    ses__query_bind_int(&query, 2, ses__announced_row.user_id);
    ses__query_bind_string(&query, 3, op->key->session);
    ses__query_bind_int(&query, 4, op->created_us);
    ses__query_bind_int(&query, 5, ses__hour_of(op->created_us));
    if (op->expires_us != INT64_MAX)
        ses__query_bind_int(&query, 7, op->expires_us);
    (void)ses__query_end(&query);
}

/* The session is looked for twice: before it is added, as the job does, and after that as the source of all else. */
void ses__announce_create(struct db *db, const void *context)
{
    const struct create_op *op = context;
    const struct annotations none = {.title = NULL};
    struct session_row row = ses__announced_row;

    (void)ses__session_find(db, op->key, &row, NULL);
    announce_owner(db, op->key);
    announce_row(db, op);
    ses__ahead_from_nothing(ses__pg_of(db));
    ses__announce_named(db, op->key);
    row = ses__announced_row;
    if (op->initial.ptr)
        (void)ses__details_add(db, row.id, op->initial, NULL);
    (void)ses__delta_store(db, op->delta, &row, 0, NULL);
    if (op->annotating.title || op->annotating.label_count > 0) {
        (void)ses__details_annotate(db, &row, &op->annotating, &none, NULL);
        ses__ahead_from_nothing(ses__pg_of(db));
        ses__announce_named(db, op->key); /* which now says what more there is of it */
    }
    if (op->snapshot)
        ses__announce_snapshot(db, &op->range);
}

/* ------------------------------------------------------------------------------------------ appending */

static int64_t count_new(const struct append_op *op)
{
    int64_t count = 0;

    for (size_t i = 0; i < op->count; i++)
        count += !op->drafts[i].partial;
    return count;
}

/* What has to look at the log, or at shared keys, before it stores does not. */
bool ses__append_fits(const void *context)
{
    const struct append_op *op = context;

    for (size_t i = 0; i < op->count; i++) {
        const struct event_draft *draft = &op->drafts[i];
        if (!draft->partial && (draft->row.rewinds_before.len > 0 || draft->row.compacts))
            return false;
    }
    return (op->anyway || !op->expected) && count_new(op) > 0;
}

/* A handle must be at the session's version, also if it does not insist: else it has to catch up. */
static void announce_guards(struct db *db, const struct append_op *op, int64_t id)
{
    const struct session_row *known = op->session.known;
    struct query query;
    int next = 2;

    ses__ahead_answers(ses__pg_of(db), known ? STATEMENT_SESSION_BY_ID : STATEMENT_SESSION_FIND);
    ses__query_start(&query, db, known ? STATEMENT_APPEND_BY_ID : STATEMENT_APPEND_BY_KEY, NULL);
    if (known) {
        ses__query_bind_int(&query, 1, id);
    } else {
        ses__query_bind_string(&query, 1, op->session.key->app);
        ses__query_bind_string(&query, 2, op->session.key->user);
        ses__query_bind_string(&query, 3, op->session.key->session);
        next = 4;
    }
    if (op->snapshot)
        ses__query_bind_int(&query, next, op->snapshot->row.version);
    else if (op->checks_version && !op->anyway)
        ses__query_bind_int(&query, next, op->version);
    ses__query_bind_int(&query, next + 1, count_new(op));
    ses__query_bind_int(&query, next + 2, op->most_events);
    (void)ses__query_end(&query);
    if (op->lease != 0) {
        ses__ahead_answers(ses__pg_of(db), STATEMENT_LEASE_FIND);
        ses__query_start(&query, db, STATEMENT_APPEND_LEASE, NULL);
        ses__query_bind_int(&query, 1, id);
        ses__query_bind_int(&query, 2, op->lease);
        (void)ses__query_end(&query);
    }
}

static void announce_key(struct db *db, const struct session_row *row, const struct delta_op *change,
                         int64_t place)
{
    static const struct statement *const sets[] = {
        [SCOPE_APP] = STATEMENT_APPEND_APP_KEY,
        [SCOPE_USER] = STATEMENT_APPEND_USER_KEY,
        [SCOPE_SESSION] = STATEMENT_APPEND_SESSION_KEY,
    };
    struct query query;

    ses__query_start(&query, db, sets[change->scope], NULL);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_text(&query, 2, change->key);
    ses__query_bind_text(&query, 3, change->value);
    ses__query_bind_int(&query, 4, place);
    (void)ses__query_end(&query);
}

static void announce_delta(struct db *db, const struct session_row *row, const struct delta *delta,
                           int64_t place)
{
    ses__delta_lock(db, delta, row);
    for (size_t i = 0; i < delta->count; i++) {
        const struct delta_op *change = &delta->ops[i];
        if (change->scope != SCOPE_TEMP && change->removes)
            (void)ses__state_remove(db, change->scope, row, change->key, NULL);
        else if (change->scope != SCOPE_TEMP)
            announce_key(db, row, change, place);
    }
}

/* `latest`: of the times up to this event. */
static void announce_event(struct db *db, const struct session_row *row, const struct event_row *event,
                           int64_t place, int64_t latest)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_APPEND_EVENT, NULL);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, place);
    ses__query_bind_text(&query, 3, event->id);
    ses__query_bind_text(&query, 4, event->invocation_id);
    ses__query_bind_text(&query, 5, event->author);
    if (event->branch.ptr)
        ses__query_bind_text(&query, 6, event->branch);
    ses__query_bind_int(&query, 7, event->time_us);
    ses__query_bind_int(&query, 8, latest);
    ses__query_bind_text(&query, 9, event->body);
    (void)ses__query_end(&query);
}

static void announce_touch(struct db *db, const struct session_row *row, int64_t count, int64_t latest)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_APPEND_TOUCH, NULL);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, count);
    ses__query_bind_int(&query, 3, latest);
    ses__query_bind_int(&query, 4, ses__hour_of(latest));
    (void)ses__query_end(&query);
}

void ses__announce_append(struct db *db, const void *context)
{
    const struct append_op *op = context;
    const struct session_row *row = op->session.known ? op->session.known : &ses__announced_row;
    int64_t latest = INT64_MIN + PG_STANDS;
    int64_t place = 0;

    db->looks_first = false; /* an id that is there already fails */
    if (!op->session.known)
        ses__announce_named(db, op->session.key);
    announce_guards(db, op, row->id);
    for (size_t i = 0; i < op->count; i++) {
        const struct event_draft *draft = &op->drafts[i];
        if (draft->partial)
            continue;
        latest = draft->row.time_us > latest ? draft->row.time_us : latest;
        announce_event(db, row, &draft->row, ++place, latest);
        announce_delta(db, row, &draft->delta, place);
    }
    announce_touch(db, row, place, latest);
}

/* --------------------------------------------------------------------------------- what is there already */

void ses__announce_stored(struct db *db, const void *context)
{
    const struct append_op *op = context;
    const struct session_row *row = op->session.known ? op->session.known : &ses__announced_row;
    struct lease_row lease;

    if (op->session.known)
        ses__announce_known(db, row);
    else
        ses__announce_named(db, op->session.key);
    if (op->lease != 0)
        (void)ses__lease_find(db, row->id, &lease, NULL);
    for (size_t i = 0; i < op->count; i++) {
        struct event_rows rows;
        if (op->drafts[i].partial || !op->drafts[i].has_id)
            continue;
        ses__event_row_open(&rows, db, row->id, op->drafts[i].row.id, NULL);
        (void)ses__event_rows_close(&rows);
    }
    if (op->snapshot)
        ses__announce_missed(db, row);
}

void ses__claim_append(void *context)
{
    const struct append_op *op = context;

    for (size_t i = 0; i < op->count; i++) {
        if (op->results[i].status == SES_DUPLICATE)
            op->results[i].status = SES_OK;
    }
}
