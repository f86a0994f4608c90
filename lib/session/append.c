/* Appending events: one at a time or in batches, through a handle or by key. */
#include <string.h>

#include "base/error.h"
#include "model/event.h"
#include "model/expected.h"
#include "session/session.h"

/* One call. The drafts are read and sealed before the job; the job stores them. */
struct append_job {
    ses_store *store;
    ses_session *session; /* NULL: by key */
    const ses_key *key;
    bool checks_version;
    bool anyway;
    int64_t version; /* that the caller believes the session to have */
    bool expects;    /* shared keys to be as in `expected` */
    struct expected expected;
    struct event_draft *drafts;
    ses_appended *results; /* one for each draft */
    size_t count;
    size_t at; /* the event at work, for the message */
    struct session_row before;
    struct session_row row;
    bool catches_up;
    struct session_update update;
};

/* ---------------------------------------------------------------------------------------- inside the job */

static int find_session(struct append_job *job, struct db *db, ses_error *error)
{
    const ses_session *session = job->session;
    int code = session ? ses__session_reload(session, db, &job->before, error)
                       : ses__session_find(db, job->key, &job->before, error);

    if (code == SES_NOTFOUND && session)
        (void)ses__no_such_session(session->app, session->user, session->id, error);
    else if (code == SES_NOTFOUND)
        (void)ses__no_such_session(job->key->app, job->key->user, job->key->session, error);
    job->row = job->before;
    return code;
}

struct comparison {
    struct append_job *job;
    struct event_draft *draft;
    int64_t seq; /* of the stored event with that id; 0: there is none */
};

static int compare_stored(void *context, const struct event_row *stored, ses_error *error)
{
    struct comparison *comparison = context;
    int same = ses__event_is(comparison->draft, stored, error);

    if (same == 0)
        same = ses__error_set(
            error, SES_EXISTS,
            "the session has another event with the id \"%.*s\", number %lld; an id names one event",
            (int)(stored->id.len < 100 ? stored->id.len : 100), stored->id.ptr, (long long)stored->seq);
    else if (same > 0 && stored->seq > comparison->job->row.last_seq)
        same =
            ses__error_set(error, SES_CORRUPT, "event %lld of session number %lld lies behind its last, %lld",
                           (long long)stored->seq, (long long)comparison->job->row.id,
                           (long long)comparison->job->row.last_seq);
    else if (same > 0)
        comparison->seq = stored->seq;
    return same < 0 ? same : SES_OK;
}

/* Is this very event there already? `*seq` is its number, or 0. EXISTS: another one has its id. */
static int find_stored(struct append_job *job, struct db *db, struct event_draft *draft, int64_t *seq,
                       ses_error *error)
{
    struct comparison comparison = {job, draft, 0};
    int code = ses__event_by_id(db, job->row.id, draft->row.id, compare_stored, &comparison, error);
    *seq = comparison.seq;
    return code;
}

static int say_stale(const struct append_job *job, const char *changed, ses_error *error)
{
    return changed ? ses__error_set(
                         error, SES_STALE,
                         "the shared key \"%.200s\" is no longer what the caller has seen: read it again "
                         "and compute anew, or append with SES_APPEND_ANYWAY",
                         changed)
                   : ses__error_set(
                         error, SES_STALE,
                         "the session is at version %lld and the caller at %lld: refresh and look again, "
                         "or append with SES_APPEND_ANYWAY",
                         (long long)job->row.version, (long long)job->version);
}

/* Another writer has been here: `changed` names the shared key, NULL the session itself. A retry of what is stored
 * already is fine; anything else is STALE. */
static int check_stale(struct append_job *job, struct db *db, const char *changed, ses_error *error)
{
    int code = SES_OK;

    for (job->at = 0; job->at < job->count && code == SES_OK; job->at++) {
        struct event_draft *draft = &job->drafts[job->at];
        int64_t seq = 0;
        if (draft->partial)
            continue;
        if (draft->has_id)
            code = find_stored(job, db, draft, &seq, error);
        if (code == SES_OK && seq == 0)
            code = say_stale(job, changed, error);
    }
    return code;
}

/* What the caller has seen must still be so: the version of the session, and the shared keys he expects. */
static int check_seen(struct append_job *job, struct db *db, ses_error *error)
{
    bool behind = job->checks_version && job->row.version != job->version;
    struct span changed = {NULL, 0};
    int code = SES_OK;

    if (job->expects && !behind)
        code = ses__expected_compare(&job->expected, db, &job->row, &changed, error);
    if (code == SES_OK && (behind || changed.ptr))
        code = check_stale(job, db, changed.ptr, error);
    return code;
}

static int note_duplicate(struct append_job *job, struct event_draft *draft, ses_appended *result,
                          int64_t seq, ses_error *error)
{
    int code = SES_OK;

    result->status = SES_DUPLICATE;
    result->seq = seq;
    /* When the handle meets the event only now, its temp: values are new to it as well. */
    if (job->session && seq > job->session->row.last_seq && seq <= job->before.last_seq)
        code = ses__update_add_temp(&job->update, draft, error);
    return code;
}

static int store_event(struct append_job *job, struct db *db, struct event_draft *draft, ses_appended *result,
                       ses_error *error)
{
    struct session_row *row = &job->row;
    int64_t high = draft->row.time_us > row->updated_us ? draft->row.time_us : row->updated_us;
    int code = SES_OK;

    draft->row.seq = row->last_seq + 1;
    draft->row.high_us = high;
    if (draft->row.seq > STORAGE_MAX_SEQ)
        code = ses__error_set(error, SES_LIMIT, "the session has had 2^32 - 1 events; start another");
    else if (row->version >= STORAGE_MAX_VERSION)
        code =
            ses__error_set(error, SES_LIMIT, "the session is at the last version below 2^53; start another");
    if (code == SES_OK)
        code = ses__event_add(db, row->id, &draft->row, error);
    if (code == SES_EXISTS) {
        int64_t seq = 0;
        code = find_stored(job, db, draft, &seq, error);
        if (code == SES_OK && seq == 0) /* nothing is stored, and nothing was */
            code = ses__error_set(error, SES_CORRUPT,
                                  "the place of event %lld of session number %lld is taken by another event",
                                  (long long)draft->row.seq, (long long)row->id);
        if (code == SES_OK)
            code = note_duplicate(job, draft, result, seq, error);
    } else if (code == SES_OK) {
        code = ses__delta_store(&draft->delta, db, row, draft->row.seq, error);
        row->last_seq++;
        row->version++;
        row->event_count++;
        row->updated_us = high;
        result->status = SES_OK;
        result->seq = draft->row.seq;
        if (code == SES_OK && job->session)
            code = ses__update_add_event(&job->update, draft, job->catches_up ? SCOPE_SESSION : SCOPE_APP,
                                         error);
    }
    result->time_us = draft->row.time_us;
    return code;
}

static int store_events(struct append_job *job, struct db *db, ses_error *error)
{
    int code = SES_OK;

    for (job->at = 0; job->at < job->count && code == SES_OK; job->at++) {
        if (!job->drafts[job->at].partial)
            code = store_event(job, db, &job->drafts[job->at], &job->results[job->at], error);
    }
    if (code == SES_OK && job->row.version != job->before.version)
        code = ses__session_touch(db, &job->before, &job->row, error);
    return code;
}

static int run_append(struct db *db, void *context, ses_error *error)
{
    struct append_job *job = context;
    ses_session *session = job->session;

    ses__update_free(&job->update); /* of an earlier run */
    int code = find_session(job, db, error);
    bool behind = code == SES_OK && session && job->row.version != session->row.version;

    job->catches_up = behind;
    if (code == SES_OK && !job->anyway)
        code = check_seen(job, db, error);
    if (code == SES_OK && session)
        code = ses__update_init(&job->update, session, error);
    if (code == SES_OK && behind)
        code = ses__update_read_events(&job->update, db, job->row.last_seq, error);
    if (code == SES_OK)
        code = store_events(job, db, error);
    if (code == SES_OK && behind)
        code = ses__update_read_shared(&job->update, db, error);
    if (code == SES_OK && session)
        code = ses__update_prepare(&job->update, &job->row, error);
    return code;
}

/* ---------------------------------------------------------------------------------------- around the job */

static int give_id(struct append_job *job, struct event_draft *draft, ses_appended *result, ses_error *error)
{
    char id[SES_ID_MAX + 1];
    int code = ses__store_make_id(job->store, id, error);

    if (code == SES_OK) {
        draft->row.id.len = strlen(id);
        draft->row.id.ptr = ses__arena_text(&draft->arena, id, draft->row.id.len);
        if (!draft->row.id.ptr)
            code = ses__error_nomem(error);
        else if (draft->row.id.len < sizeof result->made_id)
            memcpy(result->made_id, id, draft->row.id.len + 1);
    }
    return code;
}

/* Reads one event and gives it what it lacks. */
static int prepare_draft(struct append_job *job, const ses_text *event, struct event_draft *draft,
                         ses_appended *result, ses_error *error)
{
    struct span text;
    int code = ses__check_text(job->store, event->text, event->len, "event", &text, error);

    *result = (ses_appended){0};
    if (code == SES_OK)
        code = ses__event_read(draft, text, error);
    if (code == SES_OK && draft->partial) {
        result->status = SES_PARTIAL;
    } else if (code == SES_OK) {
        if (!draft->has_time)
            draft->row.time_us = ses__store_now(job->store);
        if (!draft->has_id)
            code = give_id(job, draft, result, error);
        if (code == SES_OK)
            code = ses__event_seal(draft, error);
    }
    return code;
}

static bool all_partial(const struct append_job *job)
{
    bool all = true;
    for (size_t i = 0; i < job->count; i++)
        all = all && job->drafts[i].partial;
    return all;
}

static int append_prepared(struct append_job *job, ses_error *error)
{
    int code = SES_OK;
    size_t bytes = 0;

    for (size_t i = 0; i < job->count; i++)
        bytes += job->drafts[i].row.body.len;
    if (!all_partial(job))
        code = ses__storage_write(job->store->storage, run_append, job, bytes, error);

    if (code == SES_OK && job->update.session)
        ses__update_apply(&job->update);
    for (size_t i = 0; i < job->count && code == SES_OK; i++) {
        if (job->results[i].status != SES_PARTIAL)
            job->results[i].version = job->row.version;
    }
    ses__update_free(&job->update);
    return code;
}

/* Tells which event of a batch was refused. */
static void name_event(ses_error *error, const struct append_job *job, size_t index)
{
    if (error)
        error->index = (int64_t)index;
    ses__error_prefix(error, "event %zu of %zu: ", index, job->count);
}

static int append_texts(struct append_job *job, const ses_text *events, bool is_batch, ses_error *error)
{
    size_t ready = 0;
    int code = SES_OK;

    for (size_t i = 0; i < job->count; i++)
        ses__event_draft_init(&job->drafts[i], &job->store->allocator);
    while (ready < job->count && code == SES_OK) {
        code = prepare_draft(job, &events[ready], &job->drafts[ready], &job->results[ready], error);
        if (code == SES_OK)
            ready++;
        else if (is_batch)
            name_event(error, job, ready);
    }
    if (code == SES_OK) {
        code = append_prepared(job, error);
        if (code < 0 && is_batch && (code == SES_EXISTS || code == SES_STALE))
            name_event(error, job, job->at - 1);
    }
    for (size_t i = 0; i < job->count; i++)
        ses__event_draft_free(&job->drafts[i]);
    return code;
}

static int take_expected(struct append_job *job, const ses_append_options *options, ses_error *error)
{
    struct span text;
    int code = ses__check_span(options->expected, options->expected_len, "expected", &text, error);

    if (code == SES_OK) {
        job->expects = true;
        code = ses__expected_read(&job->expected, &job->store->allocator, text, error);
    }
    return code;
}

static int take_append_options(struct append_job *job, const ses_append_options *given, ses_error *error)
{
    ses_append_options options;
    int code = ses__take_options(&options, sizeof options, given, "append options", error);

    if (code == SES_OK)
        code =
            ses__check_flags(options.flags, SES_APPEND_ANYWAY | SES_APPEND_VERSION, "append options", error);
    if (code == SES_OK && job->session && (options.flags & SES_APPEND_VERSION))
        code = ses__error_set(
            error, SES_MISUSE,
            "append options: SES_APPEND_VERSION goes with a key; a handle has its own version");
    if (code == SES_OK && (options.flags & SES_APPEND_VERSION) && (options.flags & SES_APPEND_ANYWAY))
        code = ses__error_set(error, SES_MISUSE,
                              "append options: SES_APPEND_ANYWAY and SES_APPEND_VERSION contradict");
    if (code == SES_OK) {
        job->anyway = (options.flags & SES_APPEND_ANYWAY) != 0;
        job->checks_version = job->session || (options.flags & SES_APPEND_VERSION);
        job->version = job->session ? job->session->row.version : options.version;
        if (options.expected && !job->anyway)
            code = take_expected(job, &options, error);
    }
    return code;
}

static void release_options(struct append_job *job)
{
    if (job->expects)
        ses__expected_free(&job->expected);
}

static int append_one(struct append_job *job, const char *event, size_t event_len,
                      const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    const ses_text text = {event, event_len};
    struct event_draft draft;
    ses_appended result;
    int code = take_append_options(job, options, error);

    if (code == SES_OK) {
        job->drafts = &draft;
        job->results = &result;
        job->count = 1;
        code = append_texts(job, &text, false, error);
    }
    release_options(job);
    if (code == SES_OK) {
        if (appended)
            *appended = result;
        code = result.status;
    }
    return code;
}

static int append_many(struct append_job *job, const ses_text *events, size_t count,
                       const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    const ses_allocator *allocator = &job->store->allocator;
    int code = count ? ses__check_argument(events, "events", error) : SES_OK;

    if (code == SES_OK)
        code = take_append_options(job, options, error);
    if (code == SES_OK && count > 0) {
        bool fits = count < SIZE_MAX / (sizeof *job->drafts + sizeof *job->results);
        job->count = count;
        job->drafts = fits ? ses__memory_new(allocator, count * sizeof *job->drafts) : NULL;
        job->results = fits ? ses__memory_new(allocator, count * sizeof *job->results) : NULL;
        if (job->drafts && job->results)
            code = append_texts(job, events, true, error);
        else
            code = ses__error_nomem(error);
        if (code == SES_OK && appended)
            memcpy(appended, job->results, count * sizeof *appended);
        ses__memory_free(allocator, job->results);
        ses__memory_free(allocator, job->drafts);
    }
    release_options(job);
    return code;
}

/* -------------------------------------------------------------------------------------------- the calls */

static int enter_session(struct append_job *job, ses_session *session, ses_error *error)
{
    int code = ses__session_check(session, error);
    if (code == SES_OK)
        code = ses__store_begin(session->store, error);
    if (code == SES_OK)
        *job = (struct append_job){.store = session->store, .session = session};
    return code;
}

static int enter_key(struct append_job *job, ses_store *store, const ses_key *key, ses_error *error)
{
    int code = ses__store_begin(store, error);
    if (code == SES_OK) {
        *job = (struct append_job){.store = store, .key = key};
        code = ses__check_key(key, error);
        if (code != SES_OK)
            ses__store_end(store);
    }
    return code;
}

int ses_append(ses_session *session, const char *event, size_t event_len, const ses_append_options *options,
               ses_appended *appended, ses_error *error)
{
    struct append_job job;
    int code = enter_session(&job, session, error);
    if (code == SES_OK) {
        code = append_one(&job, event, event_len, options, appended, error);
        ses__store_end(job.store);
    }
    return code;
}

int ses_append_by_key(ses_store *store, const ses_key *key, const char *event, size_t event_len,
                      const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct append_job job;
    int code = enter_key(&job, store, key, error);
    if (code == SES_OK) {
        code = append_one(&job, event, event_len, options, appended, error);
        ses__store_end(job.store);
    }
    return code;
}

int ses_append_batch(ses_session *session, const ses_text *events, size_t count,
                     const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct append_job job;
    int code = enter_session(&job, session, error);
    if (code == SES_OK) {
        code = append_many(&job, events, count, options, appended, error);
        ses__store_end(job.store);
    }
    return code;
}

int ses_append_batch_by_key(ses_store *store, const ses_key *key, const ses_text *events, size_t count,
                            const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct append_job job;
    int code = enter_key(&job, store, key, error);
    if (code == SES_OK) {
        code = append_many(&job, events, count, options, appended, error);
        ses__store_end(job.store);
    }
    return code;
}
