/* Reads the use of tokens: the sheets of a session in the table, and the events after these. */
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

/* Some sessions, in the order of their numbers. */
struct usage_batch {
    struct usage_walk *walk;
    struct db *db;
    struct crc32_tables sums;
    struct arena names;
    struct arena models;
    size_t count;
    struct usage_session sessions[USAGE_SESSIONS];
    int64_t counted[USAGE_SESSIONS]; /* the numbers of those that the table has */
    size_t counted_count;
    struct usage_sheet sheet;
    struct span invocations[USAGE_SHEET_CALLS];
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

static int take_usage_names(struct usage_batch *batch, struct query *query, struct usage_session *session)
{
    int code = take_usage_name(batch, query, USAGE_NAME, &session->name);

    if (code == SES_OK)
        code = take_usage_name(batch, query, USAGE_USER, &session->user);
    return code == SES_OK ? take_usage_name(batch, query, USAGE_APP, &session->app) : code;
}

/* Does the table hold calls of it that count? Those up to base_seq were pruned. */
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
        code = take_usage_names(batch, query, session);
    if (session->counted_seq > 0)
        batch->counted[batch->counted_count++] = session->id;
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
    struct value values[12] = {INT(of), INT(USAGE_SESSIONS), INT(filter->since_us), INT(filter->before_us)};
    struct prefix_end end;
    struct query query;

    batch->count = batch->counted_count = 0;
    ses__arena_reset(&batch->names);
    ses__label_values(values + 4, filter);
    values[7] = INT(after);
    values[8] = INT(walk->names);
    values[9] = values[10] = STRING(NULL);
    if (filter->id_prefix)
        ses__prefix_values(values + 9, filter, &end);
    ses__query_open(&query, batch->db, statement, error, values);
    while (batch->count < USAGE_SESSIONS && ses__query_row(&query)) {
        ses__query_keep(&query, take_usage_session(batch, &query, after));
        after = batch->sessions[batch->count - 1].id;
    }
    return ses__query_end(&query);
}

/* ------------------------------------------------------------------------------------------- their calls */

static int give_sheet(struct usage_batch *batch, const struct usage_session *session,
                      const struct span *invocations, ses_error *error)
{
    const struct usage_walk *walk = batch->walk;
    return batch->sheet.count == 0 && !batch->sheet.packed.ptr
               ? SES_OK
               : walk->visit(walk->context, session, &batch->sheet, invocations, error);
}

/* The events after that one. */
static int walk_usage_events(struct usage_batch *batch, const struct usage_session *session, int64_t seq,
                             ses_error *error)
{
    struct usage_sheet *sheet = &batch->sheet;
    struct event_rows rows;
    struct event_row event;

    ses__usage_sheet_begin(sheet, session->id, seq + 1);
    ses__arena_reset(&batch->models);
    ses__event_rows_open(&rows, batch->db, session->id, seq + 1, session->last_seq, WALK_FORWARD, error);
    while (ses__event_rows_next(&rows, &event)) {
        bool used = false;
        int code = ses__usage_take_event(sheet, &event, &batch->models, &used, error);
        if (code == SES_OK && used) {
            struct span *invocation = &batch->invocations[sheet->count - 1];
            const struct span text = event.invocation_id;
            *invocation = (struct span){ses__arena_text(&batch->models, text.ptr, text.len), text.len};
            code = invocation->ptr ? SES_OK : ses__error_nomem(error);
        }
        if (code == SES_OK && ses__usage_sheet_is_full(sheet)) {
            code = give_sheet(batch, session, batch->invocations, error);
            ses__usage_sheet_begin(sheet, session->id, event.seq + 1);
            ses__arena_reset(&batch->models);
        }
        ses__query_keep(&rows.query, code);
    }
    const int code = ses__event_rows_close(&rows);
    return code == SES_OK ? give_sheet(batch, session, batch->invocations, error) : code;
}

/* Leaves out the calls of events that were pruned, by a library that does not know the table. */
static void drop_pruned(struct usage_sheet *sheet, int64_t base_seq)
{
    size_t pruned = 0;

    while (pruned < sheet->count && sheet->calls[pruned].seq <= base_seq)
        pruned++;
    sheet->count -= pruned;
    memmove(sheet->calls, sheet->calls + pruned, sheet->count * sizeof *sheet->calls);
}

static bool sums_are_enough(const struct usage_walk *walk, const struct usage_sheet *sheet)
{
    return walk->takes_sums && walk->takes_sums(walk->context, sheet);
}

/* The next sheet of the session, of which the calls up to `*seq` were read. */
static int take_sheet(struct usage_batch *batch, const struct usage_session *session, struct query *query,
                      int64_t *seq)
{
    struct usage_sheet *sheet = &batch->sheet;
    const int64_t first = ses__query_int(query, 1);

    ses__usage_sheet_begin(sheet, session->id, first);
    sheet->last = ses__query_int(query, 2);
    /* The first may begin with events that were pruned. */
    const bool follows = *seq == 0 ? first > 0 && first <= session->base_seq + 1 : first == *seq + 1;
    if (!follows || sheet->last > session->counted_seq ||
        !ses__usage_sheet_read_sums(sheet, &batch->sums, ses__query_bytes(query, 3)))
        return ses__usage_refuse(batch->db, session->id, query->error);
    *seq = sheet->last;
    const bool has_pruned = sheet->first <= session->base_seq;
    if ((has_pruned || !sums_are_enough(batch->walk, sheet)) &&
        !ses__usage_sheet_read_calls(sheet, &batch->sums))
        return ses__usage_refuse(batch->db, session->id, query->error);
    if (has_pruned)
        drop_pruned(sheet, session->base_seq);
    return give_sheet(batch, session, NULL, query->error);
}

/* The next session of the batch that the table has, from `*at` on. */
static const struct usage_session *next_counted(const struct usage_batch *batch, size_t *at)
{
    while (*at < batch->count && batch->sessions[*at].counted_seq == 0)
        ++*at;
    return *at < batch->count ? &batch->sessions[(*at)++] : NULL;
}

/* The sheets come session by session, and those of a session without a gap, up to where they are said to. */
static int read_sheets(struct usage_batch *batch, ses_error *error)
{
    const struct owner_list ids = {batch->counted, batch->counted_count};
    size_t at = 0;
    const struct usage_session *session = next_counted(batch, &at);
    int64_t seq = 0;
    struct query query;

    if (!session)
        return SES_OK;
    ses__query_open(&query, batch->db, STATEMENT_USAGE_OF_SESSIONS, error, VALUES(OWNERS(&ids)));
    while (session && ses__query_row(&query)) {
        if (ses__query_int(&query, 0) != session->id)
            ses__query_keep(&query, ses__usage_refuse(batch->db, session->id, error));
        else
            ses__query_keep(&query, take_sheet(batch, session, &query, &seq));
        if (query.code == SES_OK && seq == session->counted_seq) {
            session = next_counted(batch, &at);
            seq = 0;
        }
    }
    const int code = ses__query_end(&query);
    return code == SES_OK && session ? ses__usage_refuse(batch->db, session->id, error) : code;
}

static int read_after_sheets(struct usage_batch *batch, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < batch->count && code == SES_OK; i++) {
        const struct usage_session *session = &batch->sessions[i];
        const int64_t seq =
            session->counted_seq > 0 && !batch->walk->reads_events ? session->counted_seq : session->base_seq;
        if (seq < session->last_seq)
            code = walk_usage_events(batch, session, seq, error);
    }
    return code;
}

static bool lacks_calls(const struct usage_batch *batch)
{
    bool lacks = false;

    for (size_t i = 0; i < batch->count && !lacks; i++)
        lacks = batch->sessions[i].counted_seq < batch->sessions[i].last_seq;
    return lacks;
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
        walk->is_late = walk->stops_if_late && lacks_calls(batch);
        if (walk->is_late)
            return SES_OK;
        if (!walk->reads_events)
            code = read_sheets(batch, error);
        if (code == SES_OK && !walk->reads_table)
            code = read_after_sheets(batch, error);
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
    ses__crc32_prepare(&batch->sums);
    ses__arena_init(&batch->names, db->allocator);
    ses__arena_init(&batch->models, db->allocator);
    const int code = walk_batches(batch, error);
    ses__arena_free(&batch->models);
    ses__arena_free(&batch->names);
    ses__memory_free(db->allocator, batch);
    return code;
}
