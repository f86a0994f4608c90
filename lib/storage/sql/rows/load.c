/* The rows of a session that come from elsewhere: copied from another within the file, or loaded. */
#include "base/error.h"
#include "model/event/artifacts.h"
#include "storage/sql/rows/parts.h"

/* Copies rows that belong to a session as a whole. */
static int copy_rows(struct db *db, const struct statement *statement, int64_t from, int64_t to,
                     ses_error *error)
{
    return ses__query_do(db, statement, error, VALUES(INT(from), INT(to)));
}

int ses__events_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;
    int code = ses__query_do(db, STATEMENT_EVENTS_COPY, error, VALUES(INT(from), INT(to), INT(last)));

    *count = ses__db_changed(db);
    if (code != SES_OK)
        return code;
    ses__mark_rows_open(&rows, db, from, last, error); /* marks are few, and each is checked */
    rows.any_kind = true;
    while (ses__mark_rows_next(&rows, &mark))
        ;
    code = ses__query_end(&rows.query);
    return code == SES_OK
               ? ses__query_do(db, STATEMENT_EVENT_MARKS_COPY, error, VALUES(INT(from), INT(to), INT(last)))
               : code;
}

int ses__log_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count, ses_error *error)
{
    int code = ses__events_copy(db, from, to, last, count, error);

    if (code == SES_OK)
        code = copy_rows(db, STATEMENT_BASE_STATE_COPY, from, to, error);
    return code == SES_OK ? copy_rows(db, STATEMENT_SESSION_LABELS_COPY, from, to, error) : code;
}

int ses__session_fill(struct db *db, const struct session_row *row, ses_error *error)
{
    return ses__change_one(
        db, STATEMENT_SESSION_FILL, "sessions", error,
        VALUES(INT(row->id), INT(row->last_seq), INT(row->event_count), INT(row->updated_us),
               INT(ses__active_of(row)), INT(row->base_seq), INT(row->details), INT(row->version),
               INT(row->changed_us),
               INT_IF(ses__is_ahead(row->updated_us, row->changed_us), ses__hour_of(row->changed_us))));
}

/* -------------------------------------------------------------------------------------------- loaded */

int ses__base_add(struct db *db, int64_t session_id, const struct base_value *base, size_t count,
                  ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < count && code == SES_OK; i++)
        code =
            ses__query_do(db, STATEMENT_BASE_STATE_ADD, error,
                          VALUES(INT(session_id), TEXT(base[i].name), TEXT(base[i].value), INT(base[i].seq)));
    return code;
}

struct span ses__base_artifact(const struct base_value *value, int64_t *version)
{
    const size_t prefix = sizeof BASE_ARTIFACT - 1;

    *version = ses__artifact_version_of(value->value);
    return (struct span){value->name.ptr + prefix, value->name.len - prefix};
}

struct base_walk {
    base_visitor *state;     /* NULL: keys of the state are left out */
    base_visitor *artifacts; /* NULL: artifacts are */
    void *context;
};

static int visit_base(struct db *db, const struct session_row *row, const struct base_walk *walk,
                      ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_BASE_STATE_ALL, error, VALUES(INT(row->id)));
    while (ses__query_row(&query)) {
        const struct base_value value = {ses__query_text(&query, 1), ses__query_text(&query, 2),
                                         ses__query_int(&query, 3)};
        bool sound = value.name.ptr && value.value.ptr && ses__query_int(&query, 0) == row->id &&
                     value.seq >= 0 && value.seq <= row->base_seq;
        const bool artifact = sound && ses__base_is_artifact(&value);
        base_visitor *visit = artifact ? walk->artifacts : walk->state;
        if (artifact) {
            int64_t version;
            const struct span name = ses__base_artifact(&value, &version);
            sound = name.len == 0 ? ses__span_is(value.value, (struct span){"null", 4})
                                  : ses__is_id(name) && version >= 0 && version <= MAX_ARTIFACT_VERSION;
        }
        if (query.code == SES_OK && !sound)
            query.code = ses__error_set(error, SES_CORRUPT,
                                        "%s: a row of base_state of session number %lld is out of place",
                                        db->name, (long long)row->id);
        else if (query.code == SES_OK && visit)
            query.code = visit(walk->context, &value, error);
    }
    return ses__query_end(&query);
}

int ses__base_visit(struct db *db, const struct session_row *row, base_visitor *visit, void *context,
                    ses_error *error)
{
    return visit_base(db, row, &(struct base_walk){visit, NULL, context}, error);
}

int ses__base_visit_artifacts(struct db *db, const struct session_row *row, base_visitor *visit,
                              void *context, ses_error *error)
{
    return visit_base(db, row, &(struct base_walk){NULL, visit, context}, error);
}

int ses__base_visit_all(struct db *db, const struct session_row *row, base_visitor *visit, void *context,
                        ses_error *error)
{
    return visit_base(db, row, &(struct base_walk){visit, visit, context}, error);
}
