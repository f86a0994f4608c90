/* Leases: a look at the row first, and a write only where that changes it. */
#include <string.h>

#include "model/event/timestamp.h"
#include "storage/sql/rows/session.h"

/* ---------------------------------------------------------------------------------------------- taking */

static int64_t lease_end(int64_t now_us, int64_t duration_us)
{
    return duration_us < TIMESTAMP_MAX - now_us ? now_us + duration_us : TIMESTAMP_MAX;
}

/* The outcome of an attempt. */
enum lease_step {
    STEP_NONE,   /* it is refused, and nothing changes */
    STEP_GIVE,   /* the owner gets it, with a new token */
    STEP_EXTEND, /* the owner had it last, and keeps its token */
    STEP_SET     /* nobody gets it; precedence changes */
};

/* The owner of the attempt has precedence, until then; or nobody has. */
static void set_precedence(struct lease_row *row, const char *owner, int64_t until_us)
{
    memcpy(row->next_owner, owner, strlen(owner) + 1);
    row->next_until_us = until_us;
}

static bool is_held(const struct lease_row *row, int64_t now_us)
{
    return row->until_us != 0 && row->until_us > now_us; /* released: 0, whatever the clock shows */
}

/* Clocks are read before the lock is waited for, so that they may seem to go back by so much. */
static const int64_t CLOCK_SLACK_US = 1000000;

/* A lease that was taken in the future shows that the clock was set back. It then lasts for its duration from now on, and
 * not until the clock is there again. */
static bool follow_clock_back(struct lease_row *row, int64_t now_us)
{
    const int64_t duration_us = row->until_us - row->taken_us;

    if (row->until_us == 0 || row->taken_us - now_us <= CLOCK_SLACK_US)
        return false;
    row->taken_us = now_us;
    row->until_us = lease_end(now_us, duration_us);
    return true;
}

/* For how long somebody still has precedence: 0 if it is for longer than it is given, as when the clock was set back. */
static int64_t precedence_left(const struct lease_row *row, int64_t now_us)
{
    const int64_t left = row->next_owner[0] ? row->next_until_us - now_us : 0;
    return left > 0 && left <= LEASE_PRECEDENCE_US ? left : 0;
}

/* Has another than the owner precedence? */
static bool others_are_next(const struct lease_row *row, const struct lease_take_op *op)
{
    return precedence_left(row, op->now_us) > 0 && strcmp(row->next_owner, op->owner) != 0;
}

static enum lease_step refuse_attempt(struct lease_take_op *op, struct lease_row *row)
{
    const bool is_next = strcmp(row->next_owner, op->owner) == 0;

    op->held_until_us = is_held(row, op->now_us) ? row->until_us : row->next_until_us;
    if (op->attempt != LEASE_REGISTER || others_are_next(row, op))
        return STEP_NONE;
    op->registered = true;
    if (is_next && precedence_left(row, op->now_us) > LEASE_PRECEDENCE_US / 2)
        return STEP_NONE;
    set_precedence(row, op->owner, op->now_us + LEASE_PRECEDENCE_US);
    return STEP_SET;
}

static enum lease_step give_up(const struct lease_take_op *op, struct lease_row *row)
{
    if (strcmp(row->next_owner, op->owner) != 0)
        return STEP_NONE;
    set_precedence(row, "", 0);
    return STEP_SET;
}

static enum lease_step decide_by_clock(struct lease_take_op *op, struct lease_row *row)
{
    const bool is_own = row->token > 0 && strcmp(row->owner, op->owner) == 0;
    const bool held = is_held(row, op->now_us);

    op->taken = false;
    op->registered = false;
    if (op->attempt == LEASE_GIVE_UP)
        return give_up(op, row);
    if (held ? !is_own : op->attempt == LEASE_EXTEND || others_are_next(row, op))
        return refuse_attempt(op, row);
    op->taken = true;
    row->taken_us = op->now_us;
    row->until_us = lease_end(op->now_us, op->duration_us);
    if (!held)
        set_precedence(row, "", 0);
    if (is_own)
        return STEP_EXTEND;
    memcpy(row->owner, op->owner, strlen(op->owner) + 1);
    return STEP_GIVE;
}

/* Decides about the attempt, and makes `row` what it is to be. */
static enum lease_step decide_attempt(struct lease_take_op *op, struct lease_row *row)
{
    const bool moved = follow_clock_back(row, op->now_us);
    const enum lease_step step = decide_by_clock(op, row);

    return moved && step == STEP_NONE ? STEP_SET : step;
}

static int find_lease(struct db *db, const ses_key *key, struct lease_row *row, int64_t *now_us,
                      ses_error *error)
{
    const struct session_ref ref = {key, NULL};
    struct session_row session;
    struct query asked;
    struct query lease;
    int code = ses__session_ask(&asked, db, &ref, &session, error);

    if (code != SES_OK)
        return code;
    ses__lease_ask(&lease, db, session.id, error);
    code = ses__session_take(&asked, &ref, &session);
    return code == SES_OK ? ses__lease_take(&lease, session.id, row, now_us) : code;
}

enum { MUST_WRITE = 1 };

static int run_look(struct db *db, void *context, ses_error *error)
{
    struct lease_take_op *op = context;
    struct lease_row row;
    int code = find_lease(db, op->key, &row, &op->now_us, error);

    return code == SES_OK && decide_attempt(op, &row) != STEP_NONE ? MUST_WRITE : code;
}

static int run_take(struct db *db, void *context, ses_error *error)
{
    struct lease_take_op *op = context;
    struct lease_row row;
    int code = find_lease(db, op->key, &row, &op->now_us, error);

    if (code != SES_OK)
        return code;
    const enum lease_step step = decide_attempt(op, &row);
    if (step == STEP_GIVE)
        code = ses__lease_give(db, &row, error);
    else if (step != STEP_NONE)
        code = ses__lease_set(db, &row, error);
    if (op->taken)
        op->lease = (ses_lease){.token = row.token, .until_us = row.until_us};
    return code;
}

int ses__door_lease_take(struct storage *storage, struct lease_take_op *op, ses_error *error)
{
    /* Of a store that is read-only the write reports it. Far away, a look that nothing speaks for would be one more wait. */
    const bool looks = !storage->read_only && (op->looks || !storage->engine->ask_last);
    int result = looks ? ses__run_within(storage, &op->limits, TO_READ, run_look, op, error) : MUST_WRITE;

    return result == MUST_WRITE ? ses__run_within(storage, &op->limits, TO_WRITE(0), run_take, op, error)
                                : result;
}

/* -------------------------------------------------------------------------------- renewing, releasing */

static int run_set_lease(struct db *db, void *context, ses_error *error)
{
    struct lease_op *op = context;
    struct lease_row row;
    int code = find_lease(db, op->key, &row, &op->now_us, error);

    if (code == SES_OK && row.token != op->token)
        code = ses__not_leased(op->token, error);
    op->until_us = op->duration_us > 0 ? lease_end(op->now_us, op->duration_us) : 0;
    if (code != SES_OK || row.until_us == op->until_us)
        return code;
    row.taken_us = op->now_us;
    row.until_us = op->until_us;
    return ses__lease_set(db, &row, error);
}

int ses__door_lease_set(struct storage *storage, struct lease_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_WRITE(0), run_set_lease, op, error);
}
