/* A walk over all that is stored, in one transaction. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/query.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/parts.h"

/* The number of a user's sessions that are sorted at once. */
enum { SESSIONS_AT_ONCE = 10000 };

struct visit_run {
    struct db *db;
    const struct visit_op *op;
    bool surveys; /* it only finds out which format it needs */
    int format;
    struct snapshot details; /* of one session */
    struct arena initial;
};

static int note_base_artifact(void *context, const struct base_value *value, ses_error *error)
{
    (void)value;
    (void)error;
    *(bool *)context = true;
    return SES_OK;
}

/* ---------------------------------------------------------------------------------------------- artifacts */

/* The bytes that one query reads. */
enum { VISITED_AT_ONCE = 8 * CHUNK_BYTES };

struct artifact_visit {
    struct db *db;
    const struct visit_op *op;
    struct artifact_owner owner;
    char session[SES_ID_MAX + 1];
    char *bytes; /* NULL: none were read yet */
};

static int visit_bytes(struct artifact_visit *visit, const struct artifact_row *row, ses_error *error)
{
    const struct visit_op *op = visit->op;
    char hex[SHA256_HEX + 1];
    struct sha256 hash;
    struct query query;
    int code = SES_OK;

    if (!visit->bytes && !(visit->bytes = ses__memory_new(op->allocator, VISITED_AT_ONCE)))
        return ses__error_nomem(error);
    ses__sha256_init(&hash);
    for (int64_t offset = 0; offset < row->size && code == SES_OK; offset += VISITED_AT_ONCE) {
        const int64_t left = row->size - offset;
        const struct blob_range range = {row, offset,
                                         left < VISITED_AT_ONCE ? (size_t)left : VISITED_AT_ONCE};
        ses__blob_open(&query, visit->db, visit->owner.user_id, &range, error);
        code = ses__blob_read(&query, &range, visit->bytes);
        if (code == SES_OK)
            ses__sha256_add(&hash, visit->bytes, range.len);
        for (size_t at = 0; at < range.len && code == SES_OK; at += CHUNK_BYTES) {
            const struct span chunk = {visit->bytes + at,
                                       range.len - at < CHUNK_BYTES ? range.len - at : CHUNK_BYTES};
            code = ses__db_wait_anew(visit->db,
                                     op->visitor->bytes(op->context, offset + (int64_t)at, chunk, error));
        }
    }
    ses__sha256_end(&hash, hex);
    return code == SES_NOTFOUND || (code == SES_OK && memcmp(hex, row->hash.ptr, SHA256_HEX) != 0)
               ? ses__error_set(error, SES_CORRUPT,
                                "the bytes of the artifact \"%.*s\", version %lld, do not have its hash",
                                (int)row->name.len, row->name.ptr, (long long)row->version)
               : code;
}

static int visit_artifact(void *context, const struct artifact_row *row, ses_error *error)
{
    struct artifact_visit *visit = context;
    const struct visit_op *op = visit->op;
    ses_error why;

    if (ses__artifact_check_kind(visit->db, row, &why) != SES_OK)
        return ses__db_wait_anew(visit->db, op->visitor->left_out(op->context, &why, error));
    const int code =
        ses__db_wait_anew(visit->db, op->visitor->artifact(op->context, visit->session, row, error));

    return code == 1 ? visit_bytes(visit, row, error) : code;
}

static int visit_artifacts(struct db *db, const struct visit_op *op, const struct artifact_owner *owner,
                           ses_error *error)
{
    struct artifact_visit visit = {.db = db, .op = op, .owner = *owner};

    memcpy(visit.session, owner->session.ptr, owner->session.len);
    visit.session[owner->session.len] = '\0';
    const int code = ses__artifacts_each(db, owner, visit_artifact, &visit, error);
    ses__memory_free(op->allocator, visit.bytes);
    return code;
}

static int visit_user_artifacts(struct db *db, const struct visit_op *op, int64_t user_id, ses_error *error)
{
    char session[SES_ID_MAX] = "";
    struct artifact_owner owner = {user_id, {session, 0}};
    int code = visit_artifacts(db, op, &owner, error);

    while (code == SES_OK && !op->session) {
        code = ses__artifact_without_session(db, &owner, session, error);
        if (code == SES_NOTFOUND)
            return SES_OK;
        if (code == SES_OK)
            code = visit_artifacts(db, op, &owner, error);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------- shared state */

static int visit_shared(const struct visit_run *run, enum scope scope, int64_t owner, ses_error *error)
{
    const struct visit_op *op = run->op;
    struct key_order order = {.begun = false};
    struct query rows;
    struct span key;
    struct span value;

    ses__state_rows_open(&rows, run->db, scope, owner, error);
    while (ses__shared_rows_next(&rows, &order, &key, &value))
        ses__query_keep(&rows,
                        ses__db_wait_anew(run->db, op->visitor->shared(op->context, key, value, error)));
    return ses__query_end(&rows);
}

/* -------------------------------------------------------------------------------------------- sessions */

static int visit_events(const struct visit_run *run, const struct session_row *row, ses_error *error)
{
    const struct visit_op *op = run->op;
    struct event_rows rows;
    struct event_row event;
    int64_t count = 0;

    ses__event_rows_open(&rows, run->db, row->id, row->base_seq + 1, row->last_seq, WALK_FORWARD, error);
    while (ses__event_rows_next(&rows, &event)) {
        ses__query_keep(&rows.query,
                        ses__db_wait_anew(run->db, op->visitor->event(op->context, &event, error)));
        count++;
    }
    const int code = ses__event_rows_close(&rows);
    return code == SES_OK && count != row->event_count ? ses__refuse_event_count(run->db, row->id, error)
                                                       : code;
}

/* Texts that SQLite lends for one row only are copied first. */
static int read_visited_details(struct visit_run *run, const struct session_row *row,
                                struct visited_session *session, ses_error *error)
{
    struct snapshot *details = &run->details;

    ses__arena_reset(&details->arena);
    ses__arena_reset(&run->initial);
    details->row = *row;
    int code = ses__load_details_of(
        run->db, &(struct described){&details->row, session->key.app, details, &details->annotations}, error);
    if (code == SES_OK)
        code =
            ses__log_beginning(run->db, row->id, &run->initial, &session->initial, &session->origin, error);
    session->row = *row;
    session->parent = details->parent;
    session->parent_seq = details->parent_seq;
    session->child_of = details->child_of;
    session->annotations = &details->annotations;
    return code;
}

static int visit_whole_session(struct visit_run *run, const ses_key *key, const struct session_row *row,
                               ses_error *error)
{
    const struct visit_op *op = run->op;
    const struct store_visitor *visitor = op->visitor;
    struct visited_session session = {.key = *key};
    bool has = false;
    int code = SES_OK;

    if (run->surveys) { /* looks for parts of the session that readers of a lower format would leave out */
        if (row->base_seq > 0 && run->format < VISIT_FORMAT_SECOND)
            code = ses__base_visit_artifacts(run->db, row, note_base_artifact, &has, error);
        if (has || (row->details & (DETAIL_HIDDEN | DETAIL_REMEMBERED)))
            run->format = VISIT_FORMAT_SECOND;
        return code;
    }
    code = read_visited_details(run, row, &session, error);
    if (code == SES_OK)
        code = ses__db_wait_anew(run->db, visitor->session(op->context, &session, error));
    if (code == SES_OK && row->base_seq > 0)
        code = ses__base_visit(run->db, row, visitor->base, op->context, error);
    if (code == SES_OK && row->base_seq > 0)
        code = ses__base_visit_artifacts(run->db, row, visitor->base_artifact, op->context, error);
    if (code == SES_OK)
        code = visit_artifacts(run->db, op,
                               &(struct artifact_owner){row->user_id, ses__span_of(key->session)}, error);
    if (code == SES_OK)
        code = visit_events(run, row, error);
    return code == SES_OK ? ses__db_wait_anew(run->db, visitor->session_end(op->context, error)) : code;
}

/* Skips what is damaged if the caller wants that. The message gets names before it, which may be NULL. */
static int pass_damage(const struct visit_run *run, const ses_key *key, int code, ses_error *error)
{
    const struct visit_op *op = run->op;

    if (code != SES_CORRUPT || !op->skips)
        return code;
    if (run->surveys) { /* the walk itself reports it */
        ses__error_clear(error);
        return SES_OK;
    }
    const ses_error damage = *error;
    ses_error why;
    (void)ses__error_set(&why, code, "%.100s%s%.100s%s%.100s: %.1000s", key->app, key->user ? "/" : "",
                         key->user ? key->user : "", key->session ? "/" : "",
                         key->session ? key->session : "", damage.message);
    ses__error_clear(error);
    return ses__db_wait_anew(run->db, op->visitor->left_out(op->context, &why, error));
}

/* With `skips`, a session is given only if all of it could be read. */
static int visit_session(struct visit_run *run, const ses_key *key, const struct session_row *row,
                         ses_error *error)
{
    const struct visit_op *op = run->op;
    int code = SES_OK;

    if (op->skips) {
        op->visitor->rehearse(op->context, true);
        code = visit_whole_session(run, key, row, error);
        op->visitor->rehearse(op->context, false);
    }
    return code == SES_OK ? visit_whole_session(run, key, row, error) : pass_damage(run, key, code, error);
}

/* Visits a page of the app's sessions, or of a user's, after the position of the list, which moves on. */
static int visit_page(struct visit_run *run, const char *app, struct list_query *list, int64_t *count,
                      ses_error *error)
{
    char user_text[SES_ID_MAX + 1];
    char name_text[SES_ID_MAX + 1];
    const ses_key key = {app, user_text, name_text};
    struct list_rows rows;
    struct session_row row;
    struct span name;
    struct span user;

    *count = 0;
    row.id = 0;
    ses__list_rows_open(&rows, run->db, list, error);
    while (ses__list_rows_next(&rows, &row, &name, &user)) {
        memcpy(user_text, user.ptr, user.len);
        user_text[user.len] = '\0';
        memcpy(name_text, name.ptr, name.len);
        name_text[name.len] = '\0';
        ses__query_keep(&rows.query, visit_session(run, &key, &row, error));
        (*count)++;
    }
    const int code = ses__query_end(&rows.query);
    /* A row that is damaged was read, so that the list can go on after it. */
    const bool moves = row.id > (list->from_start ? 0 : list->after.session_id);
    list->from_start = false;
    list->after = (struct list_place){.name = {"", 0}, .session_id = row.id};
    if (code != SES_CORRUPT || !moves)
        return code;
    *count = list->limit;
    return pass_damage(run, &(ses_key){app, NULL, NULL}, code, error);
}

/* ------------------------------------------------------------------------------------------ users, apps */

static int visit_user(const struct visit_run *run, const char *app, const char *user, int64_t id,
                      ses_error *error)
{
    const struct visit_op *op = run->op;
    const ses_key key = {app, user, NULL};
    int code = ses__db_wait_anew(run->db, op->visitor->user(op->context, app, user, error));

    if (code == SES_OK)
        code = pass_damage(run, &key, visit_shared(run, SCOPE_USER, id, error), error);
    if (code == SES_OK && op->skips) {
        op->visitor->rehearse(op->context, true);
        code = visit_user_artifacts(run->db, op, id, error);
        op->visitor->rehearse(op->context, false);
        if (code != SES_OK)
            return pass_damage(run, &key, code, error);
    }
    return code == SES_OK ? visit_user_artifacts(run->db, op, id, error) : code;
}

static int visit_owners(const struct visit_run *run, const char *app, int64_t app_id, int64_t user_id,
                        ses_error *error)
{
    static const struct span all = {"", 0};
    const struct visit_op *op = run->op;
    struct name_rows rows;
    int64_t id = 0;
    int code = ses__db_wait_anew(run->db, op->visitor->app(op->context, app, error));

    if (code == SES_OK)
        code =
            pass_damage(run, &(ses_key){app, NULL, NULL}, visit_shared(run, SCOPE_APP, app_id, error), error);
    if (code != SES_OK)
        return code;
    if (user_id)
        return visit_user(run, app, op->user, user_id, error);
    ses__name_rows_open(&rows, run->db, app_id, all, all, INT64_MAX, error);
    while (ses__name_rows_next(&rows, &id))
        ses__query_keep(&rows.query, visit_user(run, app, rows.last, id, error));
    return ses__query_end(&rows.query);
}

static int visit_app(struct visit_run *run, const char *app, int64_t app_id, ses_error *error)
{
    static const struct list_filter all = {.since_us = INT64_MIN,
                                           .before_us = INT64_MAX,
                                           .changed_since_us = INT64_MIN,
                                           .changed_before_us = INT64_MAX};
    const struct visit_op *op = run->op;
    struct list_query list = {.whole_app = !op->user,
                              .app_id = app_id,
                              .order = SES_ORDER_CREATED,
                              .limit = op->user ? SESSIONS_AT_ONCE : INT64_MAX,
                              .from_start = true,
                              .filter = &all};
    const ses_key key = {app, op->user, op->session};
    struct user_row user = {0, 0};
    struct session_row row;
    int64_t count = list.limit;
    int code = op->user ? ses__owner_find(run->db, app, op->user, &user, error) : SES_OK;

    list.user_id = user.id;
    if (code == SES_NOTFOUND)
        code =
            ses__error_set(error, SES_NOTFOUND, "the app \"%.100s\" has no user \"%.100s\"", app, op->user);
    if (code == SES_OK && !op->only_sessions && !run->surveys)
        code = visit_owners(run, app, app_id, user.id, error);
    if (op->session) {
        if (code == SES_OK)
            code = ses__session_of(run->db, &(struct session_ref){&key, NULL}, &row, error);
        return code == SES_OK ? visit_session(run, &key, &row, error) : code;
    }
    /* SQLite sorts those of a user in memory. */
    while (code == SES_OK && count == list.limit)
        code = visit_page(run, app, &list, &count, error);
    return code;
}

static int visit_apps(struct visit_run *run, ses_error *error)
{
    static const struct span all = {"", 0};
    char name[SES_ID_MAX + 1] = "";
    int64_t id = 0;
    int code = SES_OK;

    /* One at a time: an app takes long, and rows.last lives no longer than its statement. */
    for (;;) {
        struct name_rows rows;
        ses__name_rows_open(&rows, run->db, 0, ses__span_of(name), all, 1, error);
        bool found = ses__name_rows_next(&rows, &id);
        if (found)
            memcpy(name, rows.last, rows.last_len + 1);
        code = ses__query_end(&rows.query);
        if (code == SES_OK && found)
            code = visit_app(run, name, id, error);
        if (code != SES_OK || !found)
            return code;
    }
}

static int visit_asked(struct visit_run *run, ses_error *error)
{
    const char *name = run->op->app;
    struct user_row app;

    if (!name)
        return visit_apps(run, error);
    const int code = ses__owner_find(run->db, name, NULL, &app, error);
    if (code == SES_NOTFOUND)
        return ses__error_set(error, code, "there is no app \"%.100s\"", name);
    return code == SES_OK ? visit_app(run, name, app.app_id, error) : code;
}

static int run_visit(struct db *db, void *context, ses_error *error)
{
    const struct visit_op *op = context;
    struct visit_run run = {.db = db, .op = op, .format = VISIT_FORMAT_FIRST};
    int code = ses__snapshot_init(&run.details, op->allocator, op->seed, error);

    ses__arena_init(&run.initial, op->allocator);
    if (code == SES_OK)
        code = ses__features_check(db, SES_UNSUPPORTED, error);
    if (code == SES_OK) { /* the format must be known before the first line */
        run.surveys = true;
        code = visit_asked(&run, error);
        run.surveys = false;
        if (code == SES_CORRUPT) { /* the walk itself reports damage */
            ses__error_clear(error);
            code = SES_OK;
        }
    }
    if (code == SES_OK)
        code = ses__db_wait_anew(db, op->visitor->begin(op->context, run.format, error));
    if (code == SES_OK)
        code = visit_asked(&run, error);
    ses__arena_free(&run.initial);
    ses__snapshot_free(&run.details);
    return code;
}

int ses__door_visit(struct storage *storage, struct visit_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, (struct manner){.alone = true, .may_be_behind = true},
                           run_visit, op, error);
}
