/* Appending on a server: as a job that asks for all that it needs at once, and the end of an append that was
 * sent as a whole. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/server/operations.h"

/* ------------------------------------------------------------------------------------------- as a job */

/* Asks for all but the session's row, of which the number may not be known yet. */
static void ask_rest(struct append_asked *asked, struct db *db, const struct append_op *op, ses_error *error)
{
    if (op->lease != 0)
        ses__lease_ask(&asked->lease, db, 0, error);
    if (op->expected && !op->anyway)
        ses__state_seen_ask(asked->expected, db, op->expected, error);
    for (size_t i = 0; i < op->count && db->looks_first; i++) {
        const struct event_draft *draft = &op->drafts[i];
        if (!draft->partial && ses__append_can_be_stored(op, draft))
            ses__event_row_open(&asked->stored[i].rows, db, 0, draft->row.id, error);
    }
    if (op->artifacts && op->artifacts->ask)
        op->artifacts->ask(op->artifacts, db, error);
    if (op->annotating)
        ses__annotated_ask(&asked->annotated, db, 0, error);
    if (op->snapshot)
        ses__missed_ask(&asked->missed, db, &op->snapshot->row, INT64_MAX, error);
    if (op->snapshot && op->looks)
        ses__scopes_ask(asked->scopes, db, &op->snapshot->row, error);
}

static int compare_ids(const void *left, const void *right)
{
    return ses__span_order(*(const struct span *)left, *(const struct span *)right);
}

/* `*repeats`: two of the events have one id. The second is looked for before the first is there. */
static int find_repeats(const struct append_op *op, const ses_allocator *allocator, bool *repeats,
                        ses_error *error)
{
    struct span *ids = ses__memory_new(allocator, (op->count + 1) * sizeof *ids);
    size_t count = 0;

    *repeats = false;
    if (!ids)
        return ses__error_nomem(error);
    for (size_t i = 0; i < op->count; i++) {
        if (!op->drafts[i].partial)
            ids[count++] = op->drafts[i].row.id;
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        *repeats = *repeats || compare_ids(&ids[i - 1], &ids[i]) == 0;
    ses__memory_free(allocator, ids);
    return SES_OK;
}

static int run_asking(struct append_op *op, struct db *db, struct append_asked *asked, ses_error *error)
{
    struct query session;
    bool repeats;
    int code = find_repeats(op, db->allocator, &repeats, error);

    if (code != SES_OK)
        return code;
    db->looks_first = !repeats;
    (void)ses__session_ask(&session, db, &op->session, &op->before, error);
    ask_rest(asked, db, op, error);
    if (op->looks)
        ses__db_ask_last(db);
    code = ses__session_take(&session, &op->session, &op->before);
    op->row = op->before;
    op->asked = asked;
    if (code == SES_OK)
        code = ses__append_check_and_store(op, db, error);
    op->asked = NULL;
    return code;
}

int ses__append_ahead_job(struct db *db, void *context, ses_error *error)
{
    struct append_op *op = context;
    const size_t keys = op->expected && !op->anyway ? op->expected->count : 0;
    struct append_asked asked = {
        .expected = ses__memory_new(db->allocator, (keys + 1) * sizeof *asked.expected),
        .stored = ses__memory_new(db->allocator, (op->count + 1) * sizeof *asked.stored),
    };
    int code = asked.expected && asked.stored ? SES_OK : ses__error_nomem(error);

    ses__advance_free(&op->advance); /* of an earlier run */
    for (size_t i = 0; asked.stored && i < op->count; i++)
        asked.stored[i] = (struct stored_event_asked){.rows.empty = true};
    if (code == SES_OK)
        code = run_asking(op, db, &asked, error);
    ses__memory_free(db->allocator, asked.stored);
    ses__memory_free(db->allocator, asked.expected);
    return code;
}

/* ----------------------------------------------------------------------- the end of one sent as a whole */

/* The events are stored: a short lack of memory must not make it look otherwise. */
int ses__append_take_stored(struct append_op *op, const struct db *db, ses_error *error)
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

/* True if the code describes the session rather than the connection. */
static bool is_certain(int code)
{
    return code >= 0 || code == SES_STALE || code == SES_EXISTS || code == SES_LEASED ||
           code == SES_NOTFOUND || code == SES_LIMIT || code == SES_CORRUPT;
}

int ses__append_again(struct storage *storage, int64_t deadline_us, struct append_op *op, ses_error *error)
{
    const struct manner without_limits = {.writes = true, .deadline_us = deadline_us};
    int64_t last = 0;

    op->may_be_stored = true;
    int code = storage->engine->run(storage, &without_limits, ses__append_ahead_job, op, error);
    /* Events that are found were stored by this call. */
    for (size_t i = 0; i < op->count && code >= 0; i++) {
        if (op->results[i].status == SES_DUPLICATE) {
            op->results[i].status = SES_OK;
            last = op->results[i].seq;
        }
    }
    /* A handle has seen the events that others appended since. A caller without one has not: it gets the
     * version of its last event. */
    if (last > 0 && !op->snapshot)
        op->row.version -= op->row.last_seq - last;
    return is_certain(code)
               ? code
               : ses__error_set(error, SES_UNKNOWN, "%s",
                                "the server did not confirm the commit, and could not be asked again");
}
