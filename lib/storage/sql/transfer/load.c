/* Loading a session as it was, in one transaction. */
#include "storage/sql/transfer/load.h"

#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/rows/words.h"

/* ------------------------------------------------------------------------------------------ a new session */

/* Lines of versions before 0.3.0 have no number of origin. Then a fork, or a child, gets that of the session
 * that it names, if that is there and older. */
static int find_origin_by_name(const struct load_run *run, const ses_key *named, int64_t *origin,
                               ses_error *error)
{
    const ses_key key = {run->op->key->app, named->user, named->session};
    struct session_row parent;
    const int code = ses__session_find(run->db, &key, &parent, error);

    if (code != SES_OK || parent.created_us > run->row.created_us)
        return code == SES_NOTFOUND ? SES_OK : code;
    return ses__origin_find(run->db, parent.id, origin, error);
}

static int add_head(struct load_run *run, ses_error *error)
{
    const struct load_op *op = run->op;
    struct session_row *row = &run->row;
    int64_t origin = op->origin;
    int code = ses__details_add(run->db, row, op->initial, &op->annotating, error);

    if (code == SES_OK)
        code = ses__details_archive(run->db, row, op->annotating.archived_us, error);
    if (code == SES_OK && op->is_memory)
        code = ses__session_shelve(run->db, row, row->details | DETAIL_MEMORY, error);
    if (code == SES_OK && op->child_of)
        code = ses__details_make_child(run->db, row, op->child_of, error);
    if (code == SES_OK)
        code = ses__details_remember(run->db, row, op->annotating.remembered_seq, error);
    if (code == SES_OK && op->parent)
        code = ses__query_do(
            run->db, STATEMENT_PARENT_SET, error,
            VALUES(INT(row->id), STRING(op->parent->user), STRING(op->parent->session), INT(op->parent_seq)));
    row->details |= op->parent ? DETAIL_PARENT : 0;
    if (code == SES_OK && origin == 0 && (op->parent || op->child_of))
        code = find_origin_by_name(run, op->parent ? op->parent : op->child_of, &origin, error);
    if (code == SES_OK && origin > 0)
        code = ses__query_do(run->db, STATEMENT_ORIGIN_SET, error, VALUES(INT(row->id), INT(origin)));
    return code == SES_OK ? ses__base_add(run->db, row->id, op->base, op->base_count, error) : code;
}

/* Beside a session of that name, the new one has no name until it is whole. */
static int make_session(struct load_run *run, ses_error *error)
{
    const struct load_op *op = run->op;
    const ses_key nameless = {op->key->app, op->key->user, ""};
    int code = ses__session_add(run->db, run->known.id ? &nameless : op->key,
                                &(struct session_times){op->now_us, op->created_us, op->expires_us},
                                &run->row, error);

    run->holder = (struct session_row){.id = run->row.id};
    return code == SES_OK ? add_head(run, error) : code;
}

/* -------------------------------------------------------------------------------------- one that is there */

/* Makes a session with the events that the known one shares, and removes that one if it is replaced. Its
 * words and tokens can be in damaged tables. They are removed before more events are asked for, so that the
 * load can go on without these tables. */
static int begin_other(struct load_run *run, ses_error *error)
{
    int64_t count = 0;
    int code = make_session(run, error);

    if (code == SES_OK && run->shared_seq != run->op->base_seq) {
        run->holder.event_count = run->known.event_count;
        run->holder.last_seq = run->known.last_seq;
        code = ses__events_copy(run->db, run->known.id, run->row.id, run->shared_seq, &count, error);
    }
    if (code != SES_OK || run->op->outcome != SES_LOADED_REPLACED)
        return code;
    run->removes = true;
    code = ses__session_check_key(run->db, run->known.id, run->op->key, error);
    if (code == SES_OK)
        code = ses__session_remove(run->db, &run->known, error);
    if (code == SES_OK && run->db->removed_words)
        code = ses__index_write(run->db, false, error);
    run->removes = code != SES_OK;
    return code;
}

/* The known session is the same up to event `last`, and another one from there on: `what` differs, or event
 * `seq`. */
static int part_from_known(struct load_run *run, const char *what, int64_t last, int64_t seq,
                           ses_error *error)
{
    const ses_key *key = run->op->key;

    run->matches = false;
    if (!(run->op->flags & (SES_LOAD_REPLACE | SES_LOAD_RENAME))) {
        if (seq > 0)
            return ses__error_set(
                error, SES_EXISTS,
                "the session %.100s/%.100s/%.100s already exists, and is different: event %lld", key->app,
                key->user, key->session, (long long)seq);
        return ses__error_set(error, SES_EXISTS,
                              "the session %.100s/%.100s/%.100s already exists, and is different: the %s",
                              key->app, key->user, key->session, what);
    }
    run->op->outcome = run->op->flags & SES_LOAD_REPLACE ? SES_LOADED_REPLACED : SES_LOADED_RENAMED;
    run->shared_seq = last;
    return begin_other(run, error);
}

static int begin_known(struct load_run *run, ses_error *error)
{
    const char *difference = NULL;
    bool has_others = false;
    bool *annotates = run->op->flags & SES_LOAD_FOLLOW ? &run->annotates : NULL;
    int code = ses__load_compare_head(run, &run->known, &difference, annotates, error);

    if (code == SES_OK && !difference && run->op->artifacts) {
        code = ses__load_compare_artifacts(run, run->known.user_id, run->op->key->session, &has_others,
                                           &run->adds_artifacts, error);
        /* Artifacts that the known session lacks are like events that it lacks. */
        if (has_others || (run->adds_artifacts && !(run->op->flags & SES_LOAD_UPDATE)))
            difference = "artifacts";
    }
    if (code != SES_OK)
        return code;
    if (difference)
        return part_from_known(run, difference, run->op->base_seq, 0, error);
    run->matches = true;
    ses__event_rows_open(&run->walk, run->db, run->known.id, run->op->base_seq + 1, run->known.last_seq,
                         WALK_FORWARD, error);
    return SES_OK;
}

static void extend_known(struct load_run *run)
{
    run->matches = false;
    run->extends = true;
    run->row = run->known;
    run->holder = run->known;
    run->op->outcome = SES_LOADED_UPDATED;
}

/* Compares the event with the next of the known session, and its columns too, which may be copied. `before`
 * is the number of the event before it. If the known session has no more events, it may be the beginning of
 * the loaded one. */
static int match_with_known(struct load_run *run, const struct event_row *row, int64_t before,
                            ses_error *error)
{
    struct event_row known;
    bool found = ses__event_rows_next(&run->walk, &known);

    if (found && known.seq == row->seq && known.time_us == row->time_us && known.high_us == row->high_us &&
        ses__span_is(known.id, row->id) && ses__span_is(known.invocation_id, row->invocation_id) &&
        ses__span_is(known.body, row->body))
        return SES_OK;
    int code = ses__event_rows_close(&run->walk);
    run->walk.empty = true;
    if (code != SES_OK)
        return code;
    if (found)
        return part_from_known(run, "events", before, row->seq, error);
    if (!(run->op->flags & SES_LOAD_UPDATE) || row->seq <= run->known.last_seq)
        return part_from_known(run, "number of events", before, 0, error);
    extend_known(run);
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------------- events */

static int store_loaded(struct load_run *run, const struct event_row *row, ses_error *error)
{
    int code = ses__event_add(run->db, &run->holder, row, error);

    if (code == SES_EXISTS)
        return ses__error_set(error, SES_INVALID, "its id \"%.*s\" is that of an earlier event",
                              (int)(row->id.len < 100 ? row->id.len : 100), row->id.ptr);
    run->op->events++;
    return code;
}

static int take_event(struct load_run *run, struct event_draft *draft, ses_error *error)
{
    struct event_row *row = &draft->row;
    const int64_t before = run->times.seq;

    if (row->seq == 0)
        row->seq = before + 1;
    if (row->seq <= before)
        return ses__error_set(error, SES_INVALID, "its number is %lld, but the one before it is %lld",
                              (long long)row->seq, (long long)before);
    if (row->seq > MAX_SEQ)
        return ses__error_set(error, SES_LIMIT, "its number is above 2^32 - 1");
    if (run->count >= run->op->max_events)
        return ses__error_set(error, SES_LIMIT, "the session has more events than max_session_events allows");
    if (row->high_us == INT64_MIN)
        row->high_us = ses__update_times_after(&run->times, row->seq, row->time_us);
    if (!ses__update_times_allow(&run->times, row->seq, row->time_us, row->high_us) ||
        row->high_us > TIMESTAMP_MAX)
        return ses__error_set(error, SES_INVALID,
                              "the update time after it does not follow from the times before it");
    int code = ses__replay_delta(&run->replay, &draft->delta, row->seq, error);
    if (code != SES_OK)
        return code;
    ses__update_times_pass(&run->times, row->seq, row->high_us);
    run->count++;
    run->draft = draft;
    if (run->matches)
        code = match_with_known(run, row, before, error);
    if (code == SES_OK)
        run->draft = NULL;
    return code == SES_OK && run->row.id ? store_loaded(run, row, error) : code;
}

static int take_events(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;

    run->repeatable = false;
    for (;;) {
        struct event_draft *draft = NULL;
        int code = ses__db_wait_anew(run->db, op->next(op->context, &draft, error));
        run->ended = code == 0;
        if (code <= 0)
            return code;
        op->begun++;
        code = take_event(run, draft, error);
        op->refused = code == SES_INVALID || code == SES_LIMIT;
        if (code != SES_OK)
            return code;
    }
}

/* --------------------------------------------------------------------------------------------- the end */

static int check_end(struct load_run *run, ses_error *error)
{
    const struct load_op *op = run->op;

    if (op->last_seq && op->last_seq < run->times.seq)
        return ses__error_set(error, SES_INVALID, "last_seq is %lld, but the last event has the number %lld",
                              (long long)op->last_seq, (long long)run->times.seq);
    if (op->parent && op->parent_seq > (op->last_seq ? op->last_seq : run->times.seq))
        return ses__error_set(error, SES_INVALID, "parent_seq is above the last number of the session");
    if (op->updated_us != INT64_MIN && op->updated_us < ses__update_times_end(&run->times))
        return ses__error_set(error, SES_INVALID,
                              "updated_us is before the time of creation or that of an event");
    return ses__load_check_state(run, error);
}

/* All events have come, and the known session began with them. */
static int end_match(struct load_run *run, ses_error *error)
{
    struct event_row more;
    bool has_more = ses__event_rows_next(&run->walk, &more);
    int code = ses__event_rows_close(&run->walk);
    const char *difference = has_more ? "number of events" : ses__load_compare_end(run, &run->known);

    run->walk.empty = true;
    if (code == SES_OK && difference)
        return part_from_known(run, difference, run->times.seq, 0, error);
    if (run->adds_artifacts || run->annotates)
        extend_known(run);
    else
        run->op->outcome = SES_LOADED_EQUAL;
    run->only_annotates = code == SES_OK && run->annotates && !run->adds_artifacts;
    return code;
}

/* Above the versions of all sessions that were deleted; where it is ours that goes on, no event of it was
 * cut. */
static int settle_version(struct load_run *run, int64_t last_seq, ses_error *error)
{
    const struct load_op *op = run->op;
    struct session_row *row = &run->row;
    int64_t least = 0;
    int64_t version = op->version >= 0 ? op->version : run->count;

    if (run->extends) {
        row->version += last_seq - row->last_seq;
        return row->version <= MAX_VERSION
                   ? SES_OK
                   : ses__error_set(error, SES_LIMIT,
                                    "the session would be beyond the last version below 2^53");
    }
    int code = ses__version_first(run->db, row->user_id, &least, error);
    row->version = version > least ? version : least;
    return code;
}

static int write_end(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;
    struct session_row *row = &run->row;
    const int64_t last_seq = op->last_seq ? op->last_seq : run->times.seq;
    int code = settle_version(run, last_seq, error);

    row->last_seq = last_seq;
    row->event_count = run->count;
    row->updated_us = op->updated_us == INT64_MIN ? ses__update_times_end(&run->times) : op->updated_us;
    if (run->extends && row->updated_us < run->known.updated_us) /* it never goes back */
        row->updated_us = run->known.updated_us;
    row->base_seq = op->base_seq;
    row->changed_us = row->updated_us < op->now_us ? row->updated_us : op->now_us; /* it is idle since then */
    op->version_now = row->version;
    if (code == SES_OK)
        code = ses__session_fill(run->db, row, error);
    return code == SES_OK ? ses__session_state_restore(run->db, row, &run->replay.state, error) : code;
}

static int finish(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;
    int code = check_end(run, error);

    if (code == SES_OK && run->matches)
        code = end_match(run, error);
    if (code == SES_OK && run->row.id && op->outcome == SES_LOADED_RENAMED) {
        code = ses__load_find_name(run, error);
        op->events = op->outcome == SES_LOADED_EQUAL ? 0 : run->count; /* all are in the new session */
    }
    if (code == SES_OK && run->row.id &&
        (op->outcome == SES_LOADED_REPLACED || op->outcome == SES_LOADED_RENAMED))
        code = ses__change_one(run->db, STATEMENT_SESSION_NAME, "sessions", error,
                               VALUES(INT(run->row.id), STRING(op->name)));
    if (code == SES_OK && op->outcome == SES_LOADED_EQUAL)
        return run->row.id || run->staged > 0 ? LOAD_UNDONE : SES_OK;
    if (code == SES_OK && run->extends && run->annotates)
        code = ses__load_annotate(run, &run->row, error);
    if (code == SES_OK && op->artifacts)
        code = ses__load_settle_artifacts(run, error);
    return code == SES_OK && !run->only_annotates ? write_end(run, error) : code;
}

/* ------------------------------------------------------------------------------------------------ the job */

static int load_session(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;
    int code = ses__session_find(run->db, op->key, &run->known, error);

    if (code == SES_NOTFOUND) {
        run->known.id = 0;
        code = make_session(run, error);
        if (code == SES_OK && op->artifacts)
            code = ses__load_stage_artifacts(run, run->row.user_id, error);
    } else if (code == SES_OK) {
        op->version_now = run->known.version;
        if (op->artifacts)
            code = ses__load_stage_artifacts(run, run->known.user_id, error);
        if (code == SES_OK)
            code = begin_known(run, error);
    }
    if (code == SES_OK)
        code = take_events(run, error);
    return code == SES_OK ? finish(run, error) : code;
}

static int run_load(struct db *db, void *context, ses_error *error)
{
    struct load_run *run = context;
    struct load_op *op = run->op;

    if (run->db) /* it runs again */
        ses__replay_free(&run->replay);
    *run = (struct load_run){.db = db, .op = op, .repeatable = true, .walk = {.empty = true}};
    int code = ses__replay_init(&run->replay, db->allocator, op->seed, false, error);
    if (code == SES_OK && op->base_seq == 0)
        code = ses__replay_initial(&run->replay, op->initial, error);
    for (size_t i = 0; i < op->base_count && code == SES_OK; i++)
        code = ses__replay_put(&run->replay, op->base[i].name, op->base[i].value, op->base[i].seq, error);
    db->blamed = 0;
    db->removed_words = false;
    ses__update_times_begin(&run->times, op->created_us, op->base_seq, op->parent ? op->parent_seq : 0);
    memcpy(op->name, op->key->session, strlen(op->key->session) + 1);
    op->outcome = SES_LOADED_NEW;
    if (op->artifacts)
        op->artifacts->stored = 0;
    if (code == SES_OK)
        code = load_session(run, error);
    if (run->matches) { /* it has failed */
        int closed = ses__event_rows_close(&run->walk);
        code = code == SES_OK ? closed : code;
    }
    op->blamed = db->blamed;
    return code == SES_OK && (op->flags & SES_LOAD_DRY_RUN) ? LOAD_UNDONE : code;
}

/* Goes on where the known session could not be removed. */
static int load_rest(struct db *db, void *context, ses_error *error)
{
    struct load_run *run = context;
    const struct session_row known = run->known;

    run->db = db;
    db->blamed = 0;
    db->removed_words = false;
    int code = ses__session_find(db, run->op->key, &run->known, error);
    if (code == SES_NOTFOUND ||
        (code == SES_OK && (run->known.id != known.id || run->known.version != known.version)))
        code = ses__error_set(error, SES_CORRUPT, "the session was changed meanwhile");
    if (code == SES_OK)
        code = begin_other(run, error);
    if (code == SES_OK && run->draft)
        code = store_loaded(run, &run->draft->row, error);
    if (code == SES_OK && !run->ended)
        code = take_events(run, error);
    if (code == SES_OK)
        code = finish(run, error);
    run->op->blamed = db->blamed;
    return code == SES_OK && (run->op->flags & SES_LOAD_DRY_RUN) ? LOAD_UNDONE : code;
}

static int run_void(struct db *db, void *context, ses_error *error)
{
    struct load_op *op = context;
    int code = SES_OK;

    db->blamed = 0;
    if (op->blamed & BLAME_USAGE)
        code = ses__usage_drop(db, (op->blamed & BLAME_PAGES) != 0, error);
    if (code == SES_OK && op->blamed & BLAME_FILTERS)
        code = ses__filters_drop(db, (op->blamed & BLAME_PAGES) != 0, error);
    if (code == SES_OK && op->blamed & BLAME_WORDS)
        code = ses__index_void(db, error);
    op->blamed |= db->blamed;
    return code;
}

static int make_void(struct storage *storage, struct load_op *op)
{
    unsigned blamed;
    int code;

    do {
        blamed = op->blamed;
        code = ses__run_within(storage, &op->limits, TO_WRITE(0), run_void, op, NULL);
    } while (code == SES_CORRUPT && op->blamed != blamed);
    return code;
}

/* A load cannot be begun again, as a deletion is (storage/sql/session/run_delete.c), once its events were
 * asked for. It goes on after those that came. The bytes of artifacts cannot be asked for again: then the
 * next call succeeds. */
int ses__door_load(struct storage *storage, struct load_op *op, ses_error *error)
{
    struct load_run run = {.op = op};
    const struct manner first = {.writes = true, .alone = true, .repeatable = &run.repeatable};
    const struct manner alone = {.writes = true, .alone = true};
    unsigned voided = 0;
    int code = ses__run_within(storage, &op->limits, first, run_load, &run, error);

    while (code == SES_CORRUPT && run.removes && (op->blamed & ~voided & (BLAME_WORDS | BLAME_USAGE))) {
        voided |= op->blamed;
        if (make_void(storage, op) != SES_OK)
            break;
        if (run.staged > 0) {
            ses__error_prefix(
                error,
                "the index of words or the tally was damaged, and is not used any more: load the session again");
            break;
        }
        ses__error_clear(error);
        code = ses__run_within(storage, &op->limits, alone, load_rest, &run, error);
    }
    if (run.db)
        ses__replay_free(&run.replay);
    return code == LOAD_UNDONE ? SES_OK : code;
}
