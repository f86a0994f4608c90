/* Appending in one round trip: everything is sent, with the commit, before anything is answered. The server
 * finds and computes the numbers that later statements need. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "model/event/timestamp.h"
#include "storage/postgres/parts.h"
#include "storage/server/operations.h"
#include "storage/sql/rows/parts.h"

/* An append that is being sent. */
struct sending {
    struct db *db;
    struct append_op *op;
    const struct session_row *row; /* number 0: only its key is known */
    int64_t count;                 /* of events to store */
    int64_t latest_us;             /* the latest time of these */
    int64_t before; /* the number before that of the first, counted from the session's last event */
};

/* True if the append needs more of what is stored than its session and its events. */
static bool reads_before_writing(const struct append_op *op)
{
    return (op->expected && !op->anyway) || op->annotating || op->artifacts;
}

/* False: the append must first read the log (for the target of a rewind, or for an event that can only be a
 * retry), shared keys or labels, so it cannot be sent as a whole. */
static bool prepare(struct sending *sending, struct append_op *op)
{
    static const struct session_row unknown = {.id = 0};
    bool whole = !reads_before_writing(op);

    *sending = (struct sending){
        .op = op, .row = op->session.known ? op->session.known : &unknown, .latest_us = TIMESTAMP_MIN};
    for (size_t i = 0; i < op->count; i++) {
        const struct event_draft *draft = &op->drafts[i];
        const struct event_row *row = &draft->row;
        if (draft->partial)
            continue;
        whole = whole && !draft->too_long && (row->rewinds_before.len == 0 || row->rewinds_to > 0);
        sending->count++;
        sending->latest_us = row->time_us > sending->latest_us ? row->time_us : sending->latest_us;
    }
    sending->before = sending->count == 1 ? -1 : 0; /* a single event is counted already */
    return whole && sending->count > 0;
}

/* ------------------------------------------------------------------------------------------- the session */

/* The version that the session must have. A handle that is behind has to catch up first, even if the caller
 * does not insist. */
static struct value version_of(const struct append_op *op)
{
    return op->snapshot ? INT(op->snapshot->row.version)
                        : INT_IF(op->checks_version && !op->anyway, op->version);
}

/* Locks the session, if it is as expected and has room. A single event is also counted in the session's row:
 * only these statements take the last parameters. */
static void ask_guard(struct query *query, const struct sending *sending, ses_error *error)
{
    const struct append_op *op = sending->op;
    const ses_key *key = op->session.key;
    const int64_t time_us = sending->latest_us;
    const bool one = sending->count == 1;

    if (op->session.known)
        ses__query_open(query, sending->db, one ? STATEMENT_APPEND_ONE : STATEMENT_APPEND_BY_ID, error,
                        VALUES(INT(op->session.known->id), version_of(op), INT(sending->count),
                               INT(op->max_events), INT(time_us), INT(ses__active_30s(time_us)),
                               INT(op->now_us), INT(ses__hour_of(op->now_us))));
    else
        ses__query_open(query, sending->db, one ? STATEMENT_APPEND_ONE_NAMED : STATEMENT_APPEND_BY_KEY, error,
                        VALUES(STRING(key->app), STRING(key->user), STRING(key->session), version_of(op),
                               INT(sending->count), INT(op->max_events), INT(time_us),
                               INT(ses__active_30s(time_us)), INT(op->now_us),
                               INT(ses__hour_of(op->now_us))));
}

/* ------------------------------------------------------------------------------------------- its rows */

/* A rewind is never live, so a compaction in it has no effect. */
static void ask_events(const struct sending *sending)
{
    const struct append_op *op = sending->op;
    const struct value session = OWNER(sending->row->id);
    int64_t place = sending->before;
    int64_t latest_us = TIMESTAMP_MIN; /* up to the event */

    for (size_t i = 0; i < op->count; i++) {
        const struct event_row *event = &op->drafts[i].row;
        const bool rewinds = event->rewinds_before.len > 0;
        if (op->drafts[i].partial)
            continue;
        place++;
        latest_us = event->time_us > latest_us ? event->time_us : latest_us;
        ses__remote_ask(sending->db, STATEMENT_APPEND_EVENT,
                        VALUES(session, INT(place), TEXT(event->id), TEXT(event->invocation_id),
                               TEXT(event->author), TEXT(event->branch), INT(event->time_us), INT(latest_us),
                               TEXT(event->body)));
        if (rewinds || event->compacts)
            ses__remote_ask(sending->db, STATEMENT_APPEND_MARK,
                            VALUES(session, INT(place), INT(rewinds ? MARK_REWIND : MARK_COMPACTION),
                                   INT_IF(rewinds, event->rewinds_to)));
    }
}

/* ------------------------------------------------------------------------------------------- its keys */

/* The changes of all events, and room for those that one statement takes. */
struct key_changes {
    struct delta all; /* in the order of the events */
    int64_t *places;  /* of their events */
    const struct delta_op **last;
    size_t count;
    struct span *keys;
    struct span *values;
    int64_t *numbers;
};

static bool collect(struct key_changes *changes, struct arena *arena, const struct sending *sending,
                    size_t limit)
{
    int64_t place = sending->before;

    *changes = (struct key_changes){.all.ops = ses__arena_new(arena, limit * sizeof *changes->all.ops),
                                    .places = ses__arena_new(arena, limit * sizeof *changes->places),
                                    .last = ses__arena_new(arena, limit * sizeof *changes->last),
                                    .keys = ses__arena_new(arena, limit * sizeof *changes->keys),
                                    .values = ses__arena_new(arena, limit * sizeof *changes->values),
                                    .numbers = ses__arena_new(arena, limit * sizeof *changes->numbers)};
    if (!changes->all.ops || !changes->places || !changes->last || !changes->keys || !changes->values ||
        !changes->numbers)
        return false;
    for (size_t i = 0; i < sending->op->count; i++) {
        const struct event_draft *draft = &sending->op->drafts[i];
        place += !draft->partial;
        for (size_t at = 0; at < draft->delta.count && !draft->partial; at++) {
            changes->places[changes->all.count] = place;
            changes->all.ops[changes->all.count++] = draft->delta.ops[at];
        }
    }
    changes->count = ses__delta_settle(&changes->all, changes->last);
    return true;
}

/* One statement sets the keys of a scope, or removes them, however many there are. */
static void ask_scope(const struct sending *sending, struct key_changes *changes, enum scope scope,
                      bool removes)
{
    static const struct statement *const statements[][2] = {
        [SCOPE_APP] = {STATEMENT_APPEND_APP_KEYS, STATEMENT_REMOVE_APP_KEYS},
        [SCOPE_USER] = {STATEMENT_APPEND_USER_KEYS, STATEMENT_REMOVE_USER_KEYS},
        [SCOPE_SESSION] = {STATEMENT_APPEND_SESSION_KEYS, STATEMENT_REMOVE_SESSION_KEYS},
    };
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++) {
        const struct delta_op *op = changes->last[i];
        if (op->scope == scope && op->removes == removes) {
            changes->keys[count] = op->key;
            changes->values[count] = op->value;
            changes->numbers[count++] = changes->places[op - changes->all.ops];
        }
    }
    if (count == 0)
        return;
    const struct text_list keys = {changes->keys, count};
    const struct text_list values = {changes->values, count};
    const struct owner_list places = {changes->numbers, count};
    if (removes && scope != SCOPE_SESSION)
        ses__db_lock(sending->db, scope, ses__scope_owner(scope, sending->row), false);
    ses__remote_ask(sending->db, statements[scope][removes],
                    VALUES(OWNER(sending->row->id), TEXTS(&keys), TEXTS(&values), OWNERS(&places)));
}

/* Sets and removes the keys of the events: each once, as the last event leaves it. Their order prevents
 * deadlocks between appends to the same keys. */
static void ask_keys(const struct sending *sending)
{
    const struct append_op *op = sending->op;
    struct key_changes changes;
    struct arena arena;
    size_t limit = 0;

    for (size_t i = 0; i < op->count; i++)
        limit += op->drafts[i].delta.count;
    if (limit == 0)
        return;
    ses__arena_init(&arena, sending->db->allocator);
    if (!collect(&changes, &arena, sending, limit))
        ses__remote_fail(ses__remote_of(sending->db), SES_NOMEM, "an append");
    for (enum scope scope = SCOPE_APP; scope < SCOPE_TEMP; scope++) {
        ask_scope(sending, &changes, scope, false);
        ask_scope(sending, &changes, scope, true);
    }
    ses__arena_free(&arena);
}

/* -------------------------------------------------------------------------------------------- the whole */

static int run_append(struct db *db, void *context, ses_error *error)
{
    struct sending *sending = context;
    struct append_op *op = sending->op;
    struct remote *remote = ses__remote_of(db);
    const int64_t latest_us = sending->latest_us;
    struct query guard;

    ses__advance_free(&op->advance); /* of an earlier run */
    sending->db = db;
    ask_guard(&guard, sending, error);
    if (op->lease != 0)
        ses__remote_ask(db, STATEMENT_APPEND_LEASE, VALUES(OWNER(sending->row->id), INT(op->lease)));
    ask_events(sending);
    ask_keys(sending);
    if (op->takes_draft)
        ses__remote_ask(db, STATEMENT_DRAFT_DELETE, VALUES(OWNER(sending->row->id)));
    if (op->answers)
        ses__remote_ask(db, STATEMENT_INBOX_REMOVE, VALUES(OWNER(sending->row->id), STRING(op->answers)));
    if (sending->count > 1)
        ses__remote_ask(db, STATEMENT_APPEND_TOUCH,
                        VALUES(OWNER(sending->row->id), INT(sending->count), INT(latest_us),
                               INT(ses__active_30s(latest_us)), INT(op->now_us),
                               INT(ses__hour_of(op->now_us))));
    int code = ses__remote_commit(db, error);
    if (code == SES_CORRUPT &&
        strcmp(remote->error.sqlstate, "23505") == 0) { /* an event is stored already */
        remote->again = false;
        code = JOB_UNSUITED;
    }
    if (code == SES_OK)
        code = ses__session_take(&guard, &op->session, &op->before);
    if (code != SES_OK)
        return code;
    db->events = sending->count;
    return ses__append_take_stored(op, db, error);
}

/* If an event is there already, or the caller is behind, nothing is to be written: the first job that asks
 * only looks. Its transaction still locks the session, so that its commit waits for the standbys to which an
 * event that is there may not have come yet. */
int ses__postgres_append(struct storage *storage, struct append_op *op, ses_error *error)
{
    const struct postgres *own = (const struct postgres *)storage;
    const struct manner manner = {.writes = true,
                                  .deadline_us = ses__clock_steady_us() + own->server.config.timeout_us,
                                  .limits = &op->limits};
    struct sending sending;
    int code = JOB_UNSUITED;

    if (prepare(&sending, op))
        code = storage->engine->run(storage, &manner, run_append, &sending, error);
    if (code == JOB_UNSUITED && !op->anyway && !reads_before_writing(op)) {
        op->looks = true;
        code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);
        op->looks = false;
    }
    if (code == JOB_UNSUITED || code == JOB_MUST_GO_ON)
        code = storage->engine->run(storage, &manner, ses__append_ahead_job, op, error);
    return code == SES_UNKNOWN ? ses__append_again(storage, manner.deadline_us, op, error) : code;
}
