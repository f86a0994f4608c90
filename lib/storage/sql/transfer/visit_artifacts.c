/* A walk over artifacts and their bytes. */
#include "storage/sql/transfer/visit.h"

#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* The bytes that one query reads. */
enum { VISITED_AT_ONCE = 8 * CHUNK_BYTES };

struct artifact_visit {
    struct db *db;
    const struct visit_op *op;
    struct artifact_owner owner;
    char session[SES_ID_MAX + 1];
    char *bytes; /* NULL: none were read yet */
};

/* ------------------------------------------------------------------------------------------------ bytes */

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

/* ------------------------------------------------------------------------------------------------- rows */

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

int ses__visit_artifacts(struct db *db, const struct visit_op *op, const struct artifact_owner *owner,
                         ses_error *error)
{
    struct artifact_visit visit = {.db = db, .op = op, .owner = *owner};

    memcpy(visit.session, owner->session.ptr, owner->session.len);
    visit.session[owner->session.len] = '\0';
    const int code = ses__artifacts_each(db, owner, visit_artifact, &visit, error);
    ses__memory_free(op->allocator, visit.bytes);
    return code;
}

int ses__visit_user_artifacts(struct db *db, const struct visit_op *op, int64_t user_id, ses_error *error)
{
    char session[SES_ID_MAX] = "";
    struct artifact_owner owner = {user_id, {session, 0}};
    int code = ses__visit_artifacts(db, op, &owner, error);

    while (code == SES_OK && !op->session) {
        code = ses__artifact_without_session(db, &owner, session, error);
        if (code == SES_NOTFOUND)
            return SES_OK;
        if (code == SES_OK)
            code = ses__visit_artifacts(db, op, &owner, error);
    }
    return code;
}
