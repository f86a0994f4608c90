/*
 * Appending. One event is sent as a whole, with the commit, before anything is answered: the server keeps the
 * numbers that later statements need in variables. An append that has to look first takes two round trips:
 * one that asks for all that is stored, and one that writes.
 */
#include <mysqld_error.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/mysql/parts.h"
#include "storage/server/operations.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------ sent as a whole */

/* True for a single event that needs no more of what is stored than its session. */
static bool is_whole(const struct append_op *op)
{
    const struct event_draft *draft = op->count == 1 ? &op->drafts[0] : NULL;
    const bool looks = (op->expected && !op->anyway) || op->annotating || op->artifacts || op->lease != 0;
    const bool aims = draft && draft->row.rewinds_before.len > 0 && draft->row.rewinds_to == 0;

    return draft && !looks && !aims && !draft->partial && !draft->too_long;
}

/* Locks the session, if it is as expected and has room. A handle that is behind has to catch up first, even
 * if the caller does not insist. */
static void ask_session(struct query *query, struct db *db, const struct append_op *op, ses_error *error)
{
    const ses_key *key = op->session.key;
    const struct value version = op->snapshot ? INT(op->snapshot->row.version)
                                              : INT_IF(op->checks_version && !op->anyway, op->version);

    if (op->session.known)
        ses__query_open(query, db, STATEMENT_APPEND_BY_ID, error,
                        VALUES(INT(op->session.known->id), version, INT(op->max_events)));
    else
        ses__query_open(
            query, db, STATEMENT_APPEND_BY_KEY, error,
            VALUES(STRING(key->app), STRING(key->user), STRING(key->session), version, INT(op->max_events)));
}

/* Setting a key also locks its owner. */
static void ask_shared_key(struct db *db, const struct delta_op *op)
{
    static const struct statement *const statements[][2] = {
        [SCOPE_APP] = {STATEMENT_APPEND_APP_KEY, STATEMENT_APP_STATE_REMOVE},
        [SCOPE_USER] = {STATEMENT_APPEND_USER_KEY, STATEMENT_USER_STATE_REMOVE},
    };

    if (op->removes) {
        ses__db_lock(db, op->scope, 0, false);
        ses__remote_ask(db, statements[op->scope][1], VALUES(OWNER(0), TEXT(op->key)));
    } else {
        ses__remote_ask(db, statements[op->scope][0], VALUES(TEXT(op->key), TEXT(op->value)));
    }
}

/* Sets up to two keys of the session's state. */
static void ask_own_keys(struct db *db, const struct delta_op **ops)
{
    const struct delta_op *first = ops[0];
    const struct delta_op *second = ops[1];

    if (second)
        ses__remote_ask(db, STATEMENT_APPEND_SESSION_TWO,
                        VALUES(TEXT(first->key), TEXT(first->value), TEXT(second->key), TEXT(second->value)));
    else if (first)
        ses__remote_ask(db, STATEMENT_APPEND_SESSION_KEY, VALUES(TEXT(first->key), TEXT(first->value)));
    ops[0] = ops[1] = NULL;
}

/* As ses__delta_store does it. The order of the operations matters, since a key may be there twice. */
static void ask_keys(struct db *db, const struct delta *delta)
{
    const struct delta_op *waiting[2] = {NULL, NULL};

    for (size_t i = 0; i < delta->count; i++) {
        const struct delta_op *op = &delta->ops[i];
        if (ses__scope_is_shared(op->scope))
            ask_shared_key(db, op);
        else if (op->scope == SCOPE_SESSION && !op->removes)
            waiting[waiting[0] != NULL] = op;
        if (waiting[1] || (op->scope == SCOPE_SESSION && op->removes))
            ask_own_keys(db, waiting);
        if (op->scope == SCOPE_SESSION && op->removes)
            ses__remote_ask(db, STATEMENT_SESSION_STATE_REMOVE, VALUES(OWNER(0), TEXT(op->key)));
    }
    ask_own_keys(db, waiting);
}

static int run_whole(struct db *db, void *context, ses_error *error)
{
    struct append_op *op = context;
    const struct event_row *event = &op->drafts[0].row;
    const int64_t time_us = event->time_us;
    const bool rewinds = event->rewinds_before.len > 0; /* never live, so a compaction in it has no effect */
    struct my *my = ses__my_of(db);
    struct query session;

    ses__advance_free(&op->advance); /* of an earlier run */
    ses__my_join(my);
    ask_session(&session, db, op, error);
    ses__remote_ask(db, STATEMENT_APPEND_EVENT,
                    VALUES(TEXT(event->id), TEXT(event->invocation_id), TEXT(event->author),
                           TEXT(event->branch), INT(time_us), TEXT(event->body)));
    if (rewinds || event->compacts)
        ses__remote_ask(
            db, STATEMENT_APPEND_MARK,
            VALUES(INT(rewinds ? MARK_REWIND : MARK_COMPACTION), INT_IF(rewinds, event->rewinds_to)));
    ask_keys(db, &op->drafts[0].delta);
    if (op->takes_draft)
        ses__remote_ask(db, STATEMENT_DRAFT_DELETE, VALUES(OWNER(0)));
    if (op->answers)
        ses__remote_ask(db, STATEMENT_INBOX_REMOVE, VALUES(OWNER(0), STRING(op->answers)));
    ses__remote_ask(
        db, STATEMENT_APPEND_TOUCH,
        VALUES(INT(time_us), INT(ses__active_30s(time_us)), INT(op->now_us), INT(ses__hour_of(op->now_us))));
    int code = ses__remote_commit(db, error);
    /* Nothing has changed, and a job can say why: the session is not as expected, or an event of that id is
     * there. */
    const bool must_look =
        my->base.code == JOB_UNSUITED || my->number == ER_DUP_ENTRY || my->number == ER_BAD_NULL_ERROR;
    if (code != SES_OK && code != SES_UNKNOWN && must_look) {
        my->base.again = false;
        return JOB_UNSUITED;
    }
    if (code == SES_OK)
        code = ses__session_take(&session, &op->session, &op->before);
    if (code != SES_OK)
        return code;
    db->events = 1;
    return ses__append_take_stored(op, db, error);
}

int ses__mysql_append(struct storage *storage, struct append_op *op, ses_error *error)
{
    const struct mysql *own = (const struct mysql *)storage;
    const struct manner manner = {.writes = true,
                                  .deadline_us = ses__clock_steady_us() + own->server.config.timeout_us,
                                  .limits = &op->limits};
    int code = JOB_UNSUITED;

    if (is_whole(op))
        code = storage->engine->run(storage, &manner, run_whole, op, error);
    if (code == JOB_UNSUITED)
        code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);
    return code == SES_UNKNOWN ? ses__append_again(storage, manner.deadline_us, op, error) : code;
}
