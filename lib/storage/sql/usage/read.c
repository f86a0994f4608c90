/* Reads the use of tokens: the sums of a session in the table, and the events that these lack. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/list.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/usage/usage.h"

enum { USAGE_SESSIONS = 200 };

/* Columns of usage_any and its like. */
enum {
    USAGE_ID,
    USAGE_APP_ID,
    USAGE_USER_ID,
    USAGE_VERSION,
    USAGE_LAST_SEQ,
    USAGE_BASE_SEQ,
    USAGE_COUNTED_SEQ,
    USAGE_EPOCH,
    USAGE_NAME,
    USAGE_USER,
    USAGE_APP
};

/* A row of the table of which only some calls belong to a row of the result: their events are read. */
struct usage_edge {
    struct usage_edge *next;
    const struct usage_session *session;
    int64_t quarter;
    int64_t first_seq;
    int64_t last_seq;
    struct span model;
};

/* Some sessions, in the order of their numbers. */
struct usage_batch {
    struct usage_walk *walk;
    struct db *db;
    struct arena names;
    struct arena texts; /* of an event */
    struct arena edge_arena;
    struct usage_edge *edges;
    size_t count;
    struct usage_session sessions[USAGE_SESSIONS];
    int64_t ids[USAGE_SESSIONS]; /* of those whose rows are read */
};

/* ------------------------------------------------------------------------------------------- sessions */

static int check_usage_session(const struct usage_batch *batch, const struct usage_session *session,
                               int64_t after, ses_error *error)
{
    const struct usage_walk *walk = batch->walk;
    const bool belongs = (walk->app_id == 0 || session->app_id == walk->app_id) &&
                         (walk->user_id == 0 || session->user_id == walk->user_id) &&
                         (walk->session_id == 0 || session->id == walk->session_id);

    if (!belongs)
        return ses__refuse_stranger(batch->db, "session", error);
    if (session->id > after && session->base_seq >= 0 && session->base_seq <= session->last_seq &&
        session->last_seq <= MAX_SEQ)
        return SES_OK;
    return ses__error_set(error, SES_CORRUPT, "%s: session number %lld has numbers that cannot be",
                          batch->db->name, (long long)session->id);
}

/* CORRUPT: it is not a name. */
static int take_usage_name(struct usage_batch *batch, struct query *query, int column, struct span *name)
{
    const struct span text = ses__query_text(query, column);

    if (query->code != SES_OK)
        return query->code;
    if (!ses__is_id(text))
        return ses__error_set(query->error, SES_CORRUPT,
                              "%s: a session, or an owner of one, has a name that is not an id",
                              batch->db->name);
    *name = (struct span){ses__arena_text(&batch->names, text.ptr, text.len), text.len};
    return name->ptr ? SES_OK : ses__error_nomem(query->error);
}

/* The last event whose calls are in the table and count. Those up to base_seq were pruned. */
static int64_t counted_seq(const struct usage_walk *walk, struct query *query,
                           const struct usage_session *session)
{
    const int64_t seq = ses__query_int(query, USAGE_COUNTED_SEQ);
    const struct session_row row = {.version = ses__query_int(query, USAGE_VERSION),
                                    .last_seq = session->last_seq};
    const bool is_current = walk->is_kept && ses__query_type(query, USAGE_COUNTED_SEQ) == SQL_INT &&
                            ses__query_int(query, USAGE_EPOCH) == ses__row_epoch(&row);

    return is_current && seq > session->base_seq && seq <= session->last_seq ? seq : 0;
}

static int take_usage_session(struct usage_batch *batch, struct query *query, int64_t after)
{
    const struct usage_walk *walk = batch->walk;
    struct usage_session *session = &batch->sessions[batch->count];

    *session = (struct usage_session){.id = ses__query_int(query, USAGE_ID),
                                      .app_id = ses__query_int(query, USAGE_APP_ID),
                                      .user_id = ses__query_int(query, USAGE_USER_ID),
                                      .last_seq = ses__query_int(query, USAGE_LAST_SEQ),
                                      .base_seq = ses__query_int(query, USAGE_BASE_SEQ)};
    session->counted_seq = counted_seq(walk, query, session);
    int code = check_usage_session(batch, session, after, query->error);
    if (code == SES_OK && walk->names)
        code = take_usage_name(batch, query, USAGE_NAME, &session->name);
    if (code == SES_OK && walk->names)
        code = take_usage_name(batch, query, USAGE_USER, &session->user);
    if (code == SES_OK && walk->names)
        code = take_usage_name(batch, query, USAGE_APP, &session->app);
    batch->count++;
    return code;
}

static int read_usage_sessions(struct usage_batch *batch, int64_t after, ses_error *error)
{
    const struct usage_walk *walk = batch->walk;
    const struct statement *statement = walk->session_id ? STATEMENT_USAGE_OF_SESSION
                                        : walk->user_id  ? STATEMENT_USAGE_OF_USER
                                        : walk->app_id   ? STATEMENT_USAGE_OF_APP
                                                         : STATEMENT_USAGE_ANY;
    const int64_t of = walk->session_id ? walk->session_id : walk->user_id ? walk->user_id : walk->app_id;
    const struct list_filter *filter = &walk->filter;
    struct value values[12 + PASS_VALUES] = {INT(of), INT(USAGE_SESSIONS), INT(filter->since_us),
                                             INT(filter->before_us)};
    struct prefix_end end;
    struct query query;

    batch->count = 0;
    ses__arena_reset(&batch->names);
    ses__label_values(values + 4, filter);
    values[7] = INT(after);
    values[8] = INT(walk->names);
    values[9] = values[10] = STRING(NULL);
    if (filter->id_prefix)
        ses__prefix_values(values + 9, filter, &end);
    ses__pass_values(values + 11, filter, filter->without_shelves);
    ses__query_open(&query, batch->db, statement, error, values);
    while (batch->count < USAGE_SESSIONS && ses__query_row(&query)) {
        ses__query_keep(&query, take_usage_session(batch, &query, after));
        after = batch->sessions[batch->count - 1].id;
    }
    return ses__query_end(&query);
}

/* ------------------------------------------------------------------------------------------ their events */

/* Reads the events after one number up to another. If there is an edge, only its calls are taken. */
static int walk_usage_events(struct usage_batch *batch, const struct usage_session *session, int64_t after,
                             int64_t last, const struct usage_edge *edge, ses_error *error)
{
    const struct usage_walk *walk = batch->walk;
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, batch->db, session->id, after + 1, last, WALK_FORWARD, error);
    while (ses__event_rows_next(&rows, &event)) {
        struct usage_sums call;
        struct span model;
        bool used = false;
        ses__arena_reset(&batch->texts);
        int code =
            ses__usage_of_event(&event, session->id, &batch->texts, &call, &model, &used, rows.query.error);
        if (edge && used)
            used = ses__usage_quarter(call.first_us) == edge->quarter && ses__span_is(model, edge->model);
        if (code == SES_OK && used)
            code = walk->visit(walk->context, session, &call, model, event.invocation_id, error);
        ses__query_keep(&rows.query, code);
    }
    return ses__event_rows_close(&rows);
}

/* -------------------------------------------------------------------------------------------- their sums */

static int add_edge(struct usage_batch *batch, const struct usage_session *session,
                    const struct usage_row *row, ses_error *error)
{
    const int64_t first =
        row->sums.first_seq > session->base_seq ? row->sums.first_seq : session->base_seq + 1;
    const char *model = ses__arena_text(&batch->edge_arena, row->model.ptr, row->model.len);
    struct usage_edge *edge = ses__arena_new(&batch->edge_arena, sizeof *edge);

    if (!model || !edge)
        return ses__error_nomem(error);
    *edge = (struct usage_edge){.next = batch->edges,
                                .session = session,
                                .quarter = row->quarter,
                                .first_seq = first,
                                .last_seq = row->sums.last_seq,
                                .model = {model, row->model.len}};
    batch->edges = edge;
    return SES_OK;
}

static int take_usage_row(struct usage_batch *batch, struct usage_session *session,
                          const struct usage_row *row, bool only_whole, ses_error *error)
{
    const struct usage_walk *walk = batch->walk;
    const bool is_whole = row->quarter == USAGE_OF_SESSION;

    if (row->sums.last_seq > session->counted_seq)
        return ses__usage_refuse(batch->db, session->id, error);
    if (is_whole) {
        session->total = row->sums;
        session->has_total = true;
    } else {
        ses__usage_add(&session->parts, &row->sums);
    }
    if (is_whole != only_whole)
        return SES_OK;
    enum usage_share share = walk->share(walk->context, &row->sums);
    /* Some of the events were pruned by a library that does not know the table. */
    if (share == USAGE_ALL && row->sums.first_seq <= session->base_seq)
        share = USAGE_PART;
    if (share == USAGE_ALL && row->sums.calls > 0)
        return walk->visit(walk->context, session, &row->sums, row->model, (struct span){"", 0}, error);
    if (share == USAGE_PART && is_whole)
        session->needs_parts = true;
    return share == USAGE_PART && !is_whole ? add_edge(batch, session, row, error) : SES_OK;
}

/* True if the rows of the session are all there, as far as the sums show. */
static bool are_rows_sound(const struct usage_session *session, bool only_whole)
{
    const struct usage_sums *total = &session->total;
    const struct usage_sums *parts = &session->parts;

    return session->has_total && total->first_seq <= session->base_seq + 1 &&
           total->last_seq == session->counted_seq &&
           (only_whole || (parts->calls == total->calls && parts->odd == total->odd &&
                           parts->first_us == total->first_us && parts->last_us == total->last_us &&
                           memcmp(parts->counts, total->counts, sizeof parts->counts) == 0));
}

static int read_rows(struct usage_batch *batch, const struct owner_list *ids, bool only_whole,
                     ses_error *error)
{
    size_t at = 0;
    struct usage_row row;
    struct query query;

    ses__usage_rows_open(&query, batch->db, ids, only_whole, error);
    while (ses__query_row(&query)) {
        const bool is_sound = ses__usage_row_read(&query, &row);
        while (at < batch->count && batch->sessions[at].id != row.session_id)
            at++;
        ses__query_keep(&query, is_sound && at < batch->count
                                    ? take_usage_row(batch, &batch->sessions[at], &row, only_whole, error)
                                    : ses__usage_refuse(batch->db, row.session_id, error));
    }
    int code = ses__query_end(&query);
    at = 0;
    for (size_t i = 0; i < ids->count && code == SES_OK; i++) {
        while (batch->sessions[at].id != ids->ids[i])
            at++;
        if (!are_rows_sound(&batch->sessions[at], only_whole))
            code = ses__usage_refuse(batch->db, ids->ids[i], error);
    }
    return code;
}

/* Reads the rows of whole sessions, if these suffice, then those of the sessions whose parts are needed, and
 * the events of rows that belong to the result in part. */
static int read_sums(struct usage_batch *batch, ses_error *error)
{
    struct owner_list ids = {batch->ids, 0};
    int code = SES_OK;

    batch->edges = NULL;
    ses__arena_reset(&batch->edge_arena);
    for (size_t i = 0; i < batch->count; i++) {
        struct usage_session *session = &batch->sessions[i];
        session->parts = NO_USAGE;
        session->needs_parts = session->counted_seq > 0 && batch->walk->by_part;
        if (session->counted_seq > 0)
            batch->ids[ids.count++] = session->id;
    }
    if (ids.count > 0 && !batch->walk->by_part)
        code = read_rows(batch, &ids, true, error);
    ids.count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->sessions[i].needs_parts)
            batch->ids[ids.count++] = batch->sessions[i].id;
    if (code == SES_OK && ids.count > 0)
        code = read_rows(batch, &ids, false, error);
    for (const struct usage_edge *edge = batch->edges; edge && code == SES_OK; edge = edge->next)
        if (edge->first_seq <= edge->last_seq)
            code = walk_usage_events(batch, edge->session, edge->first_seq - 1, edge->last_seq, edge, error);
    return code;
}

static int walk_batches(struct usage_batch *batch, ses_error *error)
{
    struct usage_walk *walk = batch->walk;
    int64_t after = 0;
    int code = SES_OK;

    do {
        code = read_usage_sessions(batch, after, error);
        if (code != SES_OK || batch->count == 0)
            return code;
        after = batch->sessions[batch->count - 1].id;
        for (size_t i = 0; i < batch->count && walk->stops_if_late && !walk->is_late; i++)
            walk->is_late = batch->sessions[i].counted_seq < batch->sessions[i].last_seq;
        if (walk->is_late)
            return SES_OK;
        code = read_sums(batch, error);
        for (size_t i = 0; i < batch->count && code == SES_OK; i++) { /* the events after the sums */
            const struct usage_session *session = &batch->sessions[i];
            const int64_t seq = session->counted_seq > 0 ? session->counted_seq : session->base_seq;
            if (seq < session->last_seq)
                code = walk_usage_events(batch, session, seq, session->last_seq, NULL, error);
        }
    } while (code == SES_OK && batch->count == USAGE_SESSIONS);
    return code;
}

int ses__usage_walk(struct db *db, struct usage_walk *walk, ses_error *error)
{
    struct usage_batch *batch = ses__memory_new(db->allocator, sizeof *batch);

    walk->is_late = false;
    if (!batch)
        return ses__error_nomem(error);
    batch->walk = walk;
    batch->db = db;
    ses__arena_init(&batch->names, db->allocator);
    ses__arena_init(&batch->texts, db->allocator);
    ses__arena_init(&batch->edge_arena, db->allocator);
    const int code = walk_batches(batch, error);
    ses__arena_free(&batch->edge_arena);
    ses__arena_free(&batch->texts);
    ses__arena_free(&batch->names);
    ses__memory_free(db->allocator, batch);
    return code;
}
