/* Appending in one round trip: everything is sent, with the commit, before anything is answered. The server finds and
 * computes the numbers that later statements need. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/postgres/append_keys.h"
#include "storage/postgres/parts.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/session/jobs.h"

static int64_t count_new(const struct append_op *op)
{
    int64_t count = 0;

    for (size_t i = 0; i < op->count; i++)
        count += !op->drafts[i].partial;
    return count;
}

/* An append that must first read the log (for the target of a rewind, or for an event that can only be a retry) or shared
 * keys cannot be sent as a whole. */
static bool can_be_whole(const struct append_op *op)
{
    for (size_t i = 0; i < op->count; i++) {
        const struct event_draft *draft = &op->drafts[i];
        const bool aims = draft->row.rewinds_before.len > 0 && draft->row.rewinds_to == 0;
        if (!draft->partial && (aims || draft->too_long))
            return false;
    }
    return (op->anyway || !op->expected) && count_new(op) > 0;
}

/* ------------------------------------------------------------------------------------------- the session */

/* The version that the session must have. A handle that is behind has to catch up first, even if the caller does not
 * insist. */
static struct value version_of(const struct append_op *op)
{
    return op->snapshot ? INT(op->snapshot->row.version)
                        : INT_IF(op->checks_version && !op->anyway, op->version);
}

/* Locks the session, if it is as expected and has room. */
static void ask_guard(struct query *query, struct db *db, const struct append_op *op, ses_error *error)
{
    const ses_key *key = op->session.key;
    const int64_t count = count_new(op);

    if (op->session.known)
        ses__query_open(query, db, STATEMENT_APPEND_BY_ID, error,
                        VALUES(INT(op->session.known->id), version_of(op), INT(count), INT(op->max_events)));
    else
        ses__query_open(query, db, STATEMENT_APPEND_BY_KEY, error,
                        VALUES(STRING(key->app), STRING(key->user), STRING(key->session), version_of(op),
                               INT(count), INT(op->max_events)));
    ses__query_ask(query);
}

/* The same for a single event, which is counted in the session's row by the same statement. */
static void ask_guard_of_one(struct query *query, struct db *db, const struct append_op *op, int64_t time_us,
                             ses_error *error)
{
    const ses_key *key = op->session.key;
    const int64_t active = ses__active_30s(time_us);
    const int64_t hour = ses__hour_of(op->now_us);

    if (op->session.known)
        ses__query_open(query, db, STATEMENT_APPEND_ONE, error,
                        VALUES(INT(op->session.known->id), version_of(op), INT(op->max_events), INT(time_us),
                               INT(active), INT(op->now_us), INT(hour)));
    else
        ses__query_open(query, db, STATEMENT_APPEND_ONE_NAMED, error,
                        VALUES(STRING(key->app), STRING(key->user), STRING(key->session), version_of(op),
                               INT(op->max_events), INT(time_us), INT(active), INT(op->now_us), INT(hour)));
    ses__query_ask(query);
}

/* The only event of the append; NULL if there are more. */
static const struct event_draft *only_draft(const struct append_op *op)
{
    const struct event_draft *found = NULL;

    for (size_t i = 0; i < op->count; i++) {
        if (op->drafts[i].partial)
            continue;
        if (found)
            return NULL;
        found = &op->drafts[i];
    }
    return found;
}

/* ------------------------------------------------------------------------------------------- its rows */

/* Divides by zero if the session's lease has another token. */
static int ask_lease(struct db *db, int64_t id, int64_t token, ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_APPEND_LEASE, error, VALUES(OWNER(id), INT(token)));
    return ses__query_end(&query);
}

/* `latest` is the latest time up to this event. */
static int add_event(struct db *db, int64_t id, const struct event_row *event, int64_t place, int64_t latest,
                     ses_error *error)
{
    return ses__query_do(db, STATEMENT_APPEND_EVENT, error,
                         VALUES(OWNER(id), INT(place), TEXT(event->id), TEXT(event->invocation_id),
                                TEXT(event->author), TEXT(event->branch), INT(event->time_us), INT(latest),
                                TEXT(event->body)));
}

/* A rewind is never live, so a compaction in it has no effect. */
static int add_mark(struct db *db, int64_t id, const struct event_row *event, int64_t place, ses_error *error)
{
    const bool rewinds = event->rewinds_before.len > 0;

    if (!rewinds && !event->compacts)
        return SES_OK;
    return ses__query_do(db, STATEMENT_APPEND_MARK, error,
                         VALUES(OWNER(id), INT(place), INT(rewinds ? MARK_REWIND : MARK_COMPACTION),
                                INT_IF(rewinds, event->rewinds_to)));
}

/* `place` is that of the session's last event, which the events come after. */
static int add_events(struct db *db, const struct append_op *op, int64_t id, int64_t place, int64_t *latest,
                      ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        const struct event_row *event = &op->drafts[i].row;
        if (op->drafts[i].partial)
            continue;
        *latest = event->time_us > *latest ? event->time_us : *latest;
        code = add_event(db, id, event, ++place, *latest, error);
        if (code == SES_OK)
            code = add_mark(db, id, event, place, error);
    }
    return code;
}

static int touch(struct db *db, const struct append_op *op, int64_t id, int64_t latest, ses_error *error)
{
    return ses__query_do(db, STATEMENT_APPEND_TOUCH, error,
                         VALUES(OWNER(id), INT(count_new(op)), INT(latest), INT(ses__active_30s(latest)),
                                INT(op->now_us), INT(ses__hour_of(op->now_us))));
}

static int ask_all(struct query *guard, struct db *db, const struct append_op *op, ses_error *error)
{
    const struct event_draft *only = only_draft(op);
    const struct session_row unknown = {.id = 0};
    const struct session_row *row = op->session.known ? op->session.known : &unknown;
    const int64_t before = only ? -1 : 0; /* a single event is counted already */
    int64_t latest = TIMESTAMP_MIN;
    int code = SES_OK;

    if (only)
        ask_guard_of_one(guard, db, op, only->row.time_us, error);
    else
        ask_guard(guard, db, op, error);
    if (op->lease != 0)
        code = ask_lease(db, row->id, op->lease, error);
    if (code == SES_OK)
        code = add_events(db, op, row->id, before, &latest, error);
    if (code == SES_OK)
        code = ses__append_keys(db, row, op, before, error);
    return code == SES_OK && !only ? touch(db, op, row->id, latest, error) : code;
}

/* -------------------------------------------------------------------------------------------- the answer */

/* False without an error: there is no such session, and nothing is stored. */
static bool take_guard(struct query *guard, struct append_op *op, int *code)
{
    const bool found = ses__query_row(guard);

    if (found)
        ses__session_row_read(guard, &op->before);
    *code = ses__query_end(guard);
    if (*code == SES_OK && found)
        *code = ses__session_row_check(&op->before, guard->db, guard->error);
    return found;
}

/* The events are stored: a short lack of memory must not make it look otherwise. */
static int take_stored(struct append_op *op, const struct db *db, ses_error *error)
{
    int code = SES_NOMEM;

    for (int tries = 0; tries < 3 && code == SES_NOMEM; tries++) {
        ses__advance_free(&op->advance);
        code = ses__append_stored(op, error);
    }
    return code == SES_NOMEM
               ? ses__error_set(error, SES_UNKNOWN, "%s: the events are stored, but memory ran out", db->name)
               : code;
}

static int run_append(struct db *db, void *context, ses_error *error)
{
    struct append_op *op = context;
    struct pg *pg = ses__pg_of(db);
    struct query guard;

    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ask_all(&guard, db, op, error);
    if (code == SES_OK)
        code = ses__pg_commit(pg, error);
    if (code != SES_OK) {
        /* A guard has failed, or an event is stored already. */
        const bool unsuited =
            strcmp(pg->error.sqlstate, "22012") == 0 || strcmp(pg->error.sqlstate, "23505") == 0;
        pg->again = pg->again && !unsuited;
        return code != SES_UNKNOWN && unsuited ? PG_UNSUITED : code;
    }
    if (!take_guard(&guard, op, &code))
        return code == SES_OK ? ses__no_such_session(op->session.key, error) : code;
    db->events = count_new(op);
    return code == SES_OK ? take_stored(op, db, error) : code;
}

/* ---------------------------------------------------------------------------------- an unknown outcome */

/* True if the code describes the session rather than the connection. */
static bool is_certain(int code)
{
    return code >= 0 || code == SES_STALE || code == SES_EXISTS || code == SES_LEASED ||
           code == SES_NOTFOUND || code == SES_LIMIT || code == SES_CORRUPT;
}

/* Events that are found were stored by this call. A handle has seen what others appended since. A caller without one has
 * not: it gets the version of its last event. */
static void claim(struct append_op *op)
{
    int64_t last = 0;

    for (size_t i = 0; i < op->count; i++) {
        if (op->results[i].status == SES_DUPLICATE) {
            op->results[i].status = SES_OK;
            last = op->results[i].seq;
        }
    }
    if (last > 0 && !op->snapshot)
        op->row.version -= op->row.last_seq - last;
}

/* Looks the events up by their ids, and stores those that are not there, as long as there is time. */
static int append_again(struct storage *storage, struct append_op *op, int64_t deadline_us, ses_error *error)
{
    const struct manner manner = {.writes = true, .bytes = op->bytes, .deadline_us = deadline_us};

    op->may_be_stored = true;
    int code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);
    if (code >= 0)
        claim(op);
    return is_certain(code)
               ? code
               : ses__error_set(error, SES_UNKNOWN, "%s",
                                "the server did not confirm the commit, and could not be asked again");
}

/* An event that is there already, or a caller that is behind: nothing is to be written. The transaction locks the session all
 * the same, so that its commit waits for the standbys to which an event that is there may not have come yet. */
static int look(struct storage *storage, struct append_op *op, int64_t deadline_us, ses_error *error)
{
    const struct manner manner = {.writes = true, .deadline_us = deadline_us};

    op->looks = true;
    const int code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);
    op->looks = false;
    return code;
}

int ses__postgres_append(struct storage *storage, struct append_op *op, ses_error *error)
{
    const struct postgres *own = (const struct postgres *)storage;
    const int64_t deadline_us = ses__clock_steady_us() + own->config.timeout_us;
    const struct manner manner = {.writes = true, .bytes = op->bytes, .deadline_us = deadline_us};
    int code = can_be_whole(op) ? storage->engine->run(storage, &manner, run_append, op, error) : PG_UNSUITED;

    if (code == PG_UNSUITED && !op->anyway && !op->expected)
        code = look(storage, op, deadline_us, error);
    if (code == PG_UNSUITED || code == PG_MUST_GO_ON)
        code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);
    return code == SES_UNKNOWN ? append_again(storage, op, deadline_us, error) : code;
}
