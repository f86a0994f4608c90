/* Deletes the oldest events of a session. */
#include "base/error.h"
#include "session/session.h"
#include "session/followers.h"

static const int64_t DEFAULT_LIMIT = 10000;

static int take_prune_options(ses_store *store, const ses_prune_options *given, struct prune_op *op,
                              ses_erased **erased, ses_error *error)
{
    const unsigned known = SES_PRUNE_KEEP | SES_PRUNE_BEFORE | SES_PRUNE_SEQ | SES_PRUNE_COMPACTED;
    ses_prune_options own;
    int code = ses__take_options(&own, sizeof own, given, "prune options", error);

    if (code == SES_OK)
        code = ses__check_flags(own.which, known, "prune options, which", error);
    if (code == SES_OK)
        code = ses__check_flags(own.flags, SES_SECURE, "prune options", error);
    if (code != SES_OK)
        return code;
    if (own.which == 0)
        return ses__error_set(
            error, SES_INVALID,
            "prune options: `which` selects no events; set it to one or more of SES_PRUNE_*");
    if ((own.which & SES_PRUNE_KEEP) && own.keep < 0)
        return ses__error_set(error, SES_INVALID, "prune options: keep is negative");
    if ((own.which & SES_PRUNE_SEQ) && own.last_seq < 0)
        return ses__error_set(error, SES_INVALID, "prune options: last_seq is negative");
    if (own.limit < 0)
        return ses__error_set(error, SES_INVALID, "prune options: limit is negative");
    op->which = own.which;
    op->keep = own.which & SES_PRUNE_KEEP ? own.keep : 0;
    op->before_us = own.before_us;
    op->last_seq = own.last_seq;
    op->limit = own.limit > 0 ? own.limit : DEFAULT_LIMIT;
    op->erasure.secure = (own.flags & SES_SECURE) != 0;
    op->erasure.limits = LIMITS_OF(store, own);
    *erased = own.erased;
    return ses__receipt_begin(own.erased, &op->erasure, error);
}

/* Moves the handle's base. Its other contents stay, so it is as current as before. */
static void move_base_of_handle(struct snapshot *snapshot, const struct prune_op *op)
{
    struct session_row *row = &snapshot->row;

    row->base_seq = op->row.base_seq;
    row->event_count = op->row.version == row->version ? op->row.event_count : row->event_count - op->deleted;
}

static int prune(const struct target *target, const ses_prune_options *options, int64_t *deleted,
                 ses_error *error)
{
    struct prune_op op = {.deleted = 0};
    struct session_call call;
    ses_erased *erased = NULL;
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    op.session = call.ref;
    op.seed = call.store->seed;
    code = take_prune_options(call.store, options, &op, &erased, error);
    if (code == SES_OK)
        code = ses__door_prune(call.store->storage, &op, error);
    ses__followers_notify(call.store, code, &call.key);
    if (code < 0)
        return ses__call_end(&call, code);
    if (call.snapshot && op.deleted > 0)
        move_base_of_handle(call.snapshot, &op);
    if (deleted)
        *deleted = op.deleted;
    ses__receipt_end(erased, &op.erasure);
    return ses__call_end(&call, op.more || op.erasure.unclean ? SES_MORE : code);
}

int ses_prune(ses_session *session, const ses_prune_options *options, int64_t *deleted, ses_error *error)
{
    return prune(ON(session), options, deleted, error);
}

int ses_prune_by_key(ses_store *store, const ses_key *key, const ses_prune_options *options, int64_t *deleted,
                     ses_error *error)
{
    return prune(AT(store, key), options, deleted, error);
}
