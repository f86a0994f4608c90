/* ses_redact. */
#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"
#include "erase/erase.h"
#include "json/reader.h"
#include "json/writer.h"
#include "session/followers.h"
#include "session/session.h"
#include "storage/sql/session/jobs.h"

struct redact_op {
    struct session_ref session;
    bool checks_version;
    int64_t version;
    bool counts; /* nothing is changed */
    struct snapshot *snapshot;
    struct erasure erasure;
    struct redaction asked;
    struct arena arena; /* of the options */
    /* out */
    struct advance advance;
    bool changed; /* or would be */
    bool undone;  /* it was only counted, and is rolled back */
    ses_erased erased;
};

/* ------------------------------------------------------------------------------------------ what is asked */

/* Sorts the numbers, each once. */
static int take_seqs(struct redact_op *op, const int64_t *seqs, size_t count, ses_error *error)
{
    struct redaction *asked = &op->asked;

    if (!seqs)
        return count == 0 ? SES_OK : ses__error_set(error, SES_MISUSE, "seqs is NULL, but count is not 0");
    for (size_t i = 0; i < count; i++) {
        if (seqs[i] < 0)
            return ses__error_set(error, SES_INVALID, "the number of an event is negative: %lld",
                                  (long long)seqs[i]);
        if (seqs[i] == 0 && !asked->state)
            return ses__error_set(
                error, SES_INVALID,
                "number 0 is the state that the session was created with, and needs SES_REDACT_STATE");
    }
    int64_t *own =
        count < SIZE_MAX / sizeof *own ? ses__arena_new(&op->arena, (count + 1) * sizeof *own) : NULL;
    if (!own)
        return ses__error_nomem(error);
    if (count > 0)
        memcpy(own, seqs, count * sizeof *own);
    qsort(own, count, sizeof *own, ses__compare_seqs);
    for (size_t i = 0; i < count; i++) {
        if (asked->seq_count == 0 || own[i] != own[asked->seq_count - 1])
            own[asked->seq_count++] = own[i];
    }
    asked->seqs = own;
    return SES_OK;
}

static int take_replacement(struct redact_op *op, const char *given, ses_error *error)
{
    struct redaction *asked = &op->asked;
    const struct span plain = ses__span_of(given ? given : "[redacted]");
    struct buffer json;

    if (plain.len > SES_ID_MAX || !ses__utf8_valid(plain.ptr, plain.len))
        return ses__error_set(error, SES_INVALID,
                              "redact options: text is not UTF-8, or longer than %d bytes", SES_ID_MAX);
    ses__buffer_init(&json, op->arena.allocator);
    ses__json_add_named(&json, "{\"redacted\":", plain);
    ses__buffer_add(&json, "}", 1);
    asked->object.ptr = json.failed ? NULL : ses__arena_text(&op->arena, json.data, json.len);
    asked->object.len = json.len;
    ses__buffer_free(&json);
    if (!asked->object.ptr)
        return ses__error_nomem(error);
    const size_t before = sizeof "{\"redacted\":" - 1;
    asked->text = (struct span){asked->object.ptr + before, asked->object.len - before - 1};
    asked->plain.len = plain.len;
    asked->plain.ptr = ses__arena_text(&op->arena, plain.ptr, plain.len);
    return asked->plain.ptr ? SES_OK : ses__error_nomem(error);
}

static int take_given_content(struct redact_op *op, const ses_store *store, const ses_redact_options *options,
                              ses_error *error)
{
    struct redaction *asked = &op->asked;
    struct span content;

    if (!options->content)
        return SES_OK;
    if (options->find)
        return ses__error_set(error, SES_MISUSE, "redact options: content and find exclude each other");
    if (asked->seq_count != 1 || asked->seqs[0] == 0)
        return ses__error_set(error, SES_INVALID, "redact options: content is for one event");
    int code = ses__check_text(store, options->content, options->content_len, "redact options: content",
                               &content, error);
    if (code == SES_OK)
        code = ses__json_check_within(content.ptr, content.len, 1, &asked->content, error);
    if (code == SES_OK && ses__json_type_of(asked->content) != JSON_OBJECT)
        code = ses__error_set(error, SES_INVALID, "redact options: content is not a JSON object");
    return code;
}

static int take_redact_options(struct session_call *call, const ses_redact_options *given,
                               ses_redact_options *own, struct redact_op *op, ses_error *error)
{
    const unsigned known = (unsigned)SES_REDACT_STATE | (unsigned)SES_REDACT_FORKS |
                           (unsigned)SES_REDACT_DRY_RUN | (unsigned)SES_REDACT_NAMES | (unsigned)SES_ANYWAY |
                           (unsigned)SES_AT_VERSION | (unsigned)SES_SECURE;
    const ses_store *store = call->store;
    int code = ses__take_flagged(own, sizeof *own, given, known, "redact options", error);

    if (code == SES_OK)
        code = ses__call_take_version(call, own->flags, own->version, "redact options", error);
    if (code != SES_OK)
        return code;
    op->checks_version = call->checks_version && !call->anyway;
    op->version = call->version;
    op->counts = (own->flags & (unsigned)SES_REDACT_DRY_RUN) != 0;
    op->erasure = (struct erasure){.limits = LIMITS_OF(call->store, *own),
                                   .secure = (own->flags & SES_SECURE) != 0 && !op->counts,
                                   .alone = own->find != NULL || op->counts,
                                   .counts = true,
                                   .drops_void = true};
    op->asked = (struct redaction){.allocator = &store->allocator,
                                   .key = &call->key,
                                   .state = (own->flags & (unsigned)SES_REDACT_STATE) != 0,
                                   .forks = (own->flags & (unsigned)SES_REDACT_FORKS) != 0,
                                   .names = (own->flags & (unsigned)SES_REDACT_NAMES) != 0,
                                   .secure = op->erasure.secure,
                                   .find = own->find,
                                   .find_context = own->find_context,
                                   .max_event_bytes = store->max_event_bytes + EVENT_ALLOWANCE,
                                   .now_us = ses__store_now(store)};
    return SES_OK;
}

/* -------------------------------------------------------------------------------------------------- jobs */

static void begin_redacting(struct redacting *run, struct db *db, const struct redact_op *op,
                            const struct session_row *row)
{
    ses__redacting_init(run, db, &op->asked);
    run->row = *row;
    (void)memcpy(run->name, op->session.key->session, strlen(op->session.key->session) + 1);
}

/* All that is replaced is overwritten before anything becomes shorter. */
static int redact_all(struct redacting *run, struct redact_op *op, struct redacting **copies,
                      ses_error *error)
{
    struct advance *advance = &op->advance;
    int code = ses__redacting_plan(run, error);
    const bool changes = code == SES_OK && ses__redacting_changes(run);

    if (changes)
        code = ses__redacting_blank(run, error);
    if (code == SES_OK && op->asked.forks)
        code = ses__copies_plan(run, false, copies, error);
    if (code == SES_OK && changes)
        code = ses__redacting_write(run, error);
    if (code == SES_OK)
        code = ses__copies_write(run, *copies, error);
    op->changed = changes || run->counts.sessions > 0;
    op->erased = run->counts;
    op->erased.artifacts = run->db->erased->artifacts;
    op->erased.index_events = run->db->erased->index_events;
    if (code != SES_OK || !changes || !op->snapshot)
        return code;
    code = ses__read_advance(run->db, advance, op->snapshot, &run->row, error); /* for the handle */
    advance->annotates = ses__names_go(run);
    return code == SES_OK && advance->annotates
               ? ses__load_details_of(
                     run->db, &(struct described){.row = &run->row, .annotations = &advance->annotations},
                     error)
               : code;
}

/* To count, the redaction is done and rolled back. */
static int run_redact(struct db *db, void *context, ses_error *error)
{
    struct redact_op *op = context;
    struct redacting *copies = NULL;
    struct session_row row;
    struct redacting run;

    op->undone = false;
    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ses__session_of(db, &op->session, &row, error);
    if (code == SES_OK)
        code = ses__log_check_epoch(&op->session, &row, error);
    if (code == SES_OK && op->checks_version && row.version != op->version)
        code = ses__log_set_stale_error(&row, op->version, "SES_ANYWAY", error);
    if (code != SES_OK)
        return code;
    begin_redacting(&run, db, op, &row);
    code = redact_all(&run, op, &copies, error);
    ses__copies_free(copies);
    ses__redacting_free(&run);
    op->undone = code == SES_OK && op->counts;
    return op->undone ? SES_INTERRUPTED : code;
}

/* Counts the sessions that have copies which are left. */
static int count_copies(struct db *db, void *context, ses_error *error)
{
    struct redact_op *op = context;
    struct session_row row;
    struct redacting *none = NULL;
    struct redacting run;
    int code = ses__session_of(db, &op->session, &row, error);

    if (code != SES_OK)
        return code;
    begin_redacting(&run, db, op, &row);
    code = ses__copies_plan(&run, true, &none, error);
    op->erased.forks_left = run.counts.forks_left;
    ses__redacting_free(&run);
    return code;
}

static int redact_in(struct storage *storage, struct redact_op *op, bool wants_receipt, ses_error *error)
{
    const struct manner looking = {.alone = op->erasure.alone};
    int code = ses__run_delete(storage, &op->erasure, run_redact, op, error);

    if (code < 0 && op->undone) {
        ses__error_clear(error);
        code = SES_OK;
    }
    if (op->erasure.keeps_void)
        op->erased.derived_left = op->erased.events;
    if (code != SES_OK || !wants_receipt || op->asked.forks)
        return code;
    /* It is redacted by now, so the call does not fail any more. */
    if (ses__run_within(storage, &op->erasure.limits, looking, count_copies, op, NULL) != SES_OK)
        op->erased.forks_left = -1;
    return code;
}

/* ------------------------------------------------------------------------------------------------ calls */

static int redact_taken(struct session_call *call, struct redact_op *op, ses_erased *erased, ses_error *error)
{
    const ses_key app = {call->key.app, NULL, NULL};
    int code = redact_in(call->store->storage, op, erased != NULL, error);

    if (!op->counts)
        ses__followers_notify(call->store, code, op->asked.forks ? &app : &call->key);
    if (code == SES_OK && call->session && op->advance.snapshot && !op->counts)
        ses__advance_apply(&op->advance);
    ses__advance_free(&op->advance);
    if (code != SES_OK)
        return code;
    if (erased)
        ses__give_output(erased, &op->erased, sizeof op->erased);
    return op->erasure.unclean ? SES_MORE : op->changed ? SES_OK : SES_UNCHANGED;
}

static int redact(const struct target *target, const int64_t *seqs, size_t count,
                  const ses_redact_options *options, ses_erased *erased, ses_error *error)
{
    struct session_call call;
    struct redact_op op = {.changed = false};
    ses_redact_options own;
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    op.session = call.ref;
    op.snapshot = call.snapshot;
    ses__arena_init(&op.arena, &call.store->allocator);
    code = erased ? ses__check_size(erased, "erased", error) : SES_OK;
    if (code == SES_OK)
        code = take_redact_options(&call, options, &own, &op, error);
    if (code == SES_OK)
        code = take_seqs(&op, seqs, count, error);
    if (code == SES_OK && op.asked.names && (!op.asked.state || !op.asked.find || op.asked.seqs))
        code =
            ses__error_set(error, SES_MISUSE,
                           "redact options: SES_REDACT_NAMES needs SES_REDACT_STATE, find, and all events");
    if (code == SES_OK)
        code = take_replacement(&op, own.text, error);
    if (code == SES_OK)
        code = take_given_content(&op, call.store, &own, error);
    if (code == SES_OK)
        code = redact_taken(&call, &op, erased, error);
    ses__arena_free(&op.arena);
    return ses__call_end(&call, code);
}

int ses_redact(ses_session *session, const int64_t *seqs, size_t count, const ses_redact_options *options,
               ses_erased *erased, ses_error *error)
{
    return redact(ON(session), seqs, count, options, erased, error);
}

int ses_redact_by_key(ses_store *store, const ses_key *key, const int64_t *seqs, size_t count,
                      const ses_redact_options *options, ses_erased *erased, ses_error *error)
{
    return redact(AT(store, key), seqs, count, options, erased, error);
}
