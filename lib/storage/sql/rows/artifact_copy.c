/* Copies the artifacts of a session to another one. */
#include "base/error.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/parts.h"

/* Another user has bytes of its own, so that deleting one of the two removes all of its bytes. */
static int copy_artifact_bytes(struct db *db, const struct artifact_row *row, int64_t to_user, int64_t now_us,
                               int64_t *id, ses_error *error)
{
    struct query query;
    int code = SES_OK;

    ses__query_open(&query, db, STATEMENT_CONTENT_FIND, error, VALUES(INT(to_user), TEXT(row->hash)));
    const bool found = ses__query_row(&query);
    if (found)
        *id = ses__query_int(&query, 0);
    code = ses__query_end(&query);
    if (code != SES_OK)
        return code;
    if (found)
        return ses__blob_share(db, to_user, *id, error);
    code = ses__query_do(db, STATEMENT_CONTENT_ADD, error,
                         VALUES(INT(to_user), TEXT(row->hash), INT(row->size), INT(1), INT(now_us)));
    *id = ses__db_given(db);
    return code == SES_OK
               ? ses__query_do(db, STATEMENT_CHUNKS_COPY, error, VALUES(INT(row->content_id), INT(*id)))
               : code;
}

int ses__artifacts_each(struct db *db, const struct artifact_owner *owner, artifact_visitor *visit,
                        void *context, ses_error *error)
{
    char last[SES_ID_MAX];
    struct span name = {"", 0};
    int64_t version = -1;
    bool found = true;
    int code = SES_OK;

    while (found && code == SES_OK) {
        struct artifact_rows rows;
        struct artifact_row row;
        ses__artifact_after_open(&rows, db, owner, name, version, error);
        found = ses__artifact_rows_next(&rows, &row);
        if (found) {
            const int order = ses__span_order(row.name, name);
            ses__query_keep(&rows.query, order < 0 || (order == 0 && row.version <= version)
                                             ? ses__refuse_stranger(db, "artifact", error)
                                             : visit(context, &row, error));
            memcpy(last, row.name.ptr, row.name.len);
            name = (struct span){last, row.name.len};
            version = row.version;
        }
        code = ses__query_end(&rows.query);
    }
    return code;
}

struct artifact_copying {
    struct db *db;
    const struct artifact_owner *to;
    int64_t now_us;
};

/* Copies one version, with the texts of its row, which the query lends. */
static int copy_artifact(void *context, const struct artifact_row *row, ses_error *error)
{
    const struct artifact_copying *own = context;
    struct artifact_row copy = *row;
    const int code =
        copy_artifact_bytes(own->db, row, own->to->user_id, own->now_us, &copy.content_id, error);

    return code == SES_OK ? ses__artifact_add(own->db, own->to, &copy, error) : code;
}

static int copy_within_user(struct db *db, const struct artifact_owner *from, const struct artifact_owner *to,
                            ses_error *error)
{
    int code = ses__query_do(db, STATEMENT_ARTIFACTS_COPY, error,
                             VALUES(INT(from->user_id), TEXT(from->session), TEXT(to->session)));
    if (code == SES_OK)
        code = ses__query_do(
            db, STATEMENT_CONTENTS_USE, error,
            VALUES(INT(to->user_id), TEXT(to->session), TEXT(((struct span){NULL, 0})), INT(1)));
    return code;
}

int ses__artifacts_copy(struct db *db, const struct artifact_owner *from, const struct artifact_owner *to,
                        int64_t now_us, ses_error *error)
{
    struct artifact_copying copying = {db, to, now_us};

    return from->user_id == to->user_id ? copy_within_user(db, from, to, error)
                                        : ses__artifacts_each(db, from, copy_artifact, &copying, error);
}
