#include "base/error.h"
#include "storage/sql/derived/derived.h"

int ses__feature_find(struct db *db, const char *name, bool *is_there, ses_error *error)
{
    int64_t one = 0;
    const int code = ses__query_number(db, STATEMENT_FEATURE_FIND, &one, error, VALUES(STRING(name)));

    *is_there = code == SES_OK;
    return code == SES_NOTFOUND ? SES_OK : code;
}

int ses__feature_enter(struct db *db, const char *name, enum feature_needs needs, ses_error *error)
{
    return ses__query_do(db, STATEMENT_FEATURE_ENTER, error, VALUES(STRING(name), INT(needs)));
}

int ses__feature_leave(struct db *db, const char *name, ses_error *error)
{
    const int code = ses__query_do(db, STATEMENT_FEATURE_LEAVE, error, VALUES(STRING(name)));

    return code == SES_OK ? ses__query_do(db, STATEMENT_DERIVED_FORGET, error, VALUES(STRING(name))) : code;
}

int ses__behind_find(struct db *db, const struct behind *behind, struct session_ids *ids, ses_error *error)
{
    const struct statement *statement = behind->session_id ? STATEMENT_BEHIND_SESSION
                                        : behind->user_id  ? STATEMENT_BEHIND_USER
                                        : behind->app_id   ? STATEMENT_BEHIND_APP
                                                           : STATEMENT_BEHIND_ANY;
    const int64_t of = behind->session_id ? behind->session_id
                       : behind->user_id  ? behind->user_id
                                          : behind->app_id;
    struct query query;

    ids->count = 0;
    ses__query_open(&query, db, statement, error,
                    VALUES(INT(behind->after), INT(MAX_SESSION_IDS), INT(of), STRING(behind->what)));
    while (ids->count < MAX_SESSION_IDS && ses__query_row(&query))
        ids->items[ids->count++] = ses__query_int(&query, 0);
    return ses__query_end(&query);
}

int ses__derived_lag(struct db *db, const char *what, int64_t *events, ses_error *error)
{
    return ses__query_number(db, STATEMENT_DERIVED_LAG, events, error, VALUES(STRING(what)));
}

int ses__derived_find(struct db *db, const char *what, const struct session_row *session,
                      struct derived_row *row, ses_error *error)
{
    struct query query;

    *row = (struct derived_row){0, false};
    ses__query_open(&query, db, STATEMENT_DERIVED_FIND, error, VALUES(INT(session->id), STRING(what)));
    if (ses__query_row(&query)) {
        row->seq = ses__query_int(&query, 0);
        row->current = ses__query_int(&query, 1) == ses__row_epoch(session);
    }
    return ses__query_end(&query);
}

int ses__derived_set(struct db *db, const char *what, const struct session_row *session, int64_t seq,
                     ses_error *error)
{
    return ses__query_do(db, STATEMENT_DERIVED_SET, error,
                         VALUES(INT(session->id), STRING(what), INT(seq), INT(ses__row_epoch(session))));
}

int ses__derived_leave(struct db *db, const char *what, int64_t session_id, ses_error *error)
{
    return ses__query_do(db, STATEMENT_DERIVED_LEAVE, error, VALUES(INT(session_id), STRING(what)));
}

void ses__deriving_init(struct deriving *work, const struct db *db, int64_t bytes)
{
    *work = (struct deriving){.bytes_left = bytes};
    ses__buffer_init(&work->words, db->allocator);
    ses__buffer_init(&work->text, db->allocator);
}

void ses__deriving_free(struct deriving *work)
{
    ses__buffer_free(&work->text);
    ses__buffer_free(&work->words);
}

/* ----------------------------------------------------- the tables of features, and whether they are there */

static bool begins_with(struct span text, const char *beginning, size_t len)
{
    return text.ptr && text.len >= len && memcmp(text.ptr, beginning, len) == 0;
}

/* SQLite keeps the SQL without the semicolon. When a table is altered, it edits the columns, so up to the
 * first comma the SQL stays as it was. A server keeps none. */
int ses__table_look(struct db *db, const char *name, const char *made, enum derived_table *table,
                    ses_error *error)
{
    const size_t len = strcspn(made, ";");
    struct query query;

    ses__query_open(&query, db, STATEMENT_TABLE_SQL, error, VALUES(STRING(name)));
    *table = TABLE_MISSING;
    if (ses__query_row(&query)) {
        const struct span sql = ses__query_text(&query, 0);
        if (ses__query_type(&query, 0) == SQL_NULL)
            *table = db->traits->keeps_table_sql ? TABLE_FOREIGN : TABLE_SOUND;
        else if (sql.len == len && begins_with(sql, made, len))
            *table = TABLE_SOUND;
        else
            *table = begins_with(sql, made, strcspn(made, ",") + 1) ? TABLE_CHANGED : TABLE_FOREIGN;
    }
    return ses__query_end(&query);
}

int ses__table_refuse(const struct db *db, const char *name, ses_error *error)
{
    return ses__error_set(error, SES_EXISTS,
                          "%s: a table %s that is not the store's own is in the way: rename it", db->name,
                          name);
}

int ses__table_unlink(struct db *db, const char *name, ses_error *error)
{
    return db->engine->unlink_table
               ? db->engine->unlink_table(db, name, error)
               : ses__error_set(error, SES_CORRUPT, "%s: the table %s cannot be dropped", db->name, name);
}

/* ------------------------------------------------------------------------------------------- used tokens */

int ses__usage_look(struct db *db, enum derived_table *table, ses_error *error)
{
    const char *const name = STATEMENT_USAGE_MAKE->name;
    return ses__table_look(db, "usage_sums", name + strlen(name) + 1, table, error);
}

static int find_usage(struct db *db, bool *is_named, enum derived_table *table, ses_error *error)
{
    const int code = ses__feature_find(db, USAGE_FEATURE, is_named, error);

    *table = TABLE_MISSING;
    return code == SES_OK && *is_named ? ses__usage_look(db, table, error) : code;
}

int ses__usage_find(struct db *db, bool *is_there, ses_error *error)
{
    enum derived_table table;
    const int code = find_usage(db, is_there, &table, error);

    *is_there = *is_there && table == TABLE_SOUND;
    return code;
}

int ses__usage_find_wish(struct db *db, bool *is_there, bool *is_wanted, ses_error *error)
{
    enum derived_table table;
    const int code = find_usage(db, is_wanted, &table, error);

    *is_there = *is_wanted && table == TABLE_SOUND;
    *is_wanted = *is_there || (*is_wanted && table == TABLE_MISSING);
    return code;
}

/* The rows go with that of `derived`, but other programs may delete that without foreign keys. */
int ses__usage_leave(struct db *db, int64_t session_id, ses_error *error)
{
    bool is_there = false;
    int code = db->traits->enforces_keys ? SES_OK : ses__usage_find(db, &is_there, error);

    if (code == SES_OK && is_there)
        code = ses__query_do(db, STATEMENT_USAGE_FORGET, error, VALUES(INT(session_id)));
    if (code == SES_OK)
        code = ses__derived_leave(db, USAGE_FEATURE, session_id, error);
    return ses__blame(db, BLAME_USAGE, code);
}

static int drop_usage_table(struct db *db, const char *name, const struct statement *drop, bool keeps_pages,
                            ses_error *error)
{
    return keeps_pages ? ses__table_unlink(db, name, error)
                       : ses__blame(db, BLAME_PAGES, ses__query_do(db, drop, error, NULL));
}

int ses__usage_drop_old(struct db *db, bool keeps_pages, ses_error *error)
{
    static const char beginning[] = "CREATE TABLE usage_counts (\n    session_id INTEGER NOT NULL,";
    enum derived_table table = TABLE_MISSING;
    int code = SES_OK;

    if (db->traits->keeps_table_sql) /* on a server, the upgrade has dropped it */
        code = ses__table_look(db, "usage_counts", beginning, &table, error);
    if (code != SES_OK || table != TABLE_CHANGED)
        return code;
    code = drop_usage_table(db, "usage_counts", STATEMENT_USAGE_COUNTS_DROP, keeps_pages, error);
    return code == SES_OK ? ses__feature_leave(db, "usage", error) : code;
}

/* The rows of the table refer to `derived`, and must go first. */
int ses__usage_drop(struct db *db, bool keeps_pages, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = ses__usage_drop_old(db, keeps_pages, error);

    if (code == SES_OK)
        code = ses__usage_look(db, &table, error);
    if (code == SES_OK && (table == TABLE_SOUND || table == TABLE_CHANGED))
        code = drop_usage_table(db, "usage_sums", STATEMENT_USAGE_DROP, keeps_pages, error);
    return code == SES_OK ? ses__feature_leave(db, USAGE_FEATURE, error) : code;
}

/* ------------------------------------------------------------------------------- filters of invocations */

int ses__filters_look(struct db *db, enum derived_table *table, ses_error *error)
{
    const char *const name = STATEMENT_FILTERS_MAKE->name;
    return ses__table_look(db, "invocation_filters", name + strlen(name) + 1, table, error);
}

int ses__filters_table_find(struct db *db, bool *is_there, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = SES_OK;

    *is_there = false;
    if (db->traits->has_filters)
        code = ses__feature_find(db, FILTERS_FEATURE, is_there, error);
    if (code == SES_OK && *is_there)
        code = ses__filters_look(db, &table, error);
    *is_there = *is_there && table == TABLE_SOUND;
    return code;
}

int ses__filters_drop(struct db *db, bool keeps_pages, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = db->traits->has_filters ? ses__filters_look(db, &table, error) : SES_OK;

    if (code == SES_OK && (table == TABLE_SOUND || table == TABLE_CHANGED))
        code = keeps_pages
                   ? ses__table_unlink(db, "invocation_filters", error)
                   : ses__blame(db, BLAME_PAGES, ses__query_do(db, STATEMENT_FILTERS_DROP, error, NULL));
    return code == SES_OK && db->traits->has_filters ? ses__feature_leave(db, FILTERS_FEATURE, error) : code;
}

/* Their rows would go with the session's, but other programs may delete that without foreign keys; and their
 * damage must not keep it from being removed, even if they are void. */
int ses__filters_leave(struct db *db, int64_t session_id, ses_error *error)
{
    enum derived_table table = TABLE_MISSING;
    int code = db->traits->has_filters ? ses__filters_look(db, &table, error) : SES_OK;

    if (code == SES_OK && table == TABLE_SOUND)
        code = ses__query_do(db, STATEMENT_FILTERS_FORGET, error, VALUES(INT(session_id), INT(INT64_MAX)));
    return ses__blame(db, BLAME_FILTERS, code);
}
