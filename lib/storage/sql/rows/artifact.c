#include "storage/sql/rows/artifact.h"

#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

/* Contents to which nothing was written for this time are abandoned. Their writer gives up earlier. */
#define ABANDONED_US (2 * HOUR_US)

/* -------------------------------------------------------------------------------------------- the rows */

void ses__artifact_open(struct artifact_rows *rows, struct db *db, const struct artifact_owner *owner,
                        struct span name, int64_t version, ses_error *error)
{
    rows->owner = *owner;
    ses__query_open(&rows->query, db, STATEMENT_ARTIFACT_FIND, error,
                    VALUES(OWNER(owner->user_id), TEXT(owner->session), TEXT(name), INT(version)));
}

void ses__artifact_versions_open(struct artifact_rows *rows, struct db *db,
                                 const struct artifact_owner *owner, struct span name, int64_t version,
                                 int64_t limit, ses_error *error)
{
    rows->owner = *owner;
    ses__query_open(
        &rows->query, db, STATEMENT_ARTIFACT_VERSIONS, error,
        VALUES(OWNER(owner->user_id), TEXT(owner->session), TEXT(name), INT(version), INT(limit)));
}

void ses__artifact_names_open(struct artifact_rows *rows, struct db *db, const struct artifact_owner *owner,
                              struct span name, int64_t limit, ses_error *error)
{
    rows->owner = *owner;
    ses__query_open(&rows->query, db, STATEMENT_ARTIFACT_NAMES, error,
                    VALUES(OWNER(owner->user_id), TEXT(owner->session), TEXT(name), INT(limit)));
}

/* Finds the first version after that version of the name, in the order of names and versions. */
static void open_artifact_after(struct artifact_rows *rows, struct db *db, const struct artifact_owner *owner,
                                struct span name, int64_t version, ses_error *error)
{
    rows->owner = *owner;
    ses__query_open(&rows->query, db, STATEMENT_ARTIFACT_AFTER, error,
                    VALUES(INT(owner->user_id), TEXT(owner->session), TEXT(name), INT(version)));
}

bool ses__artifact_rows_next(struct artifact_rows *rows, struct artifact_row *row)
{
    struct query *query = &rows->query;
    const struct span *hash = &row->hash;

    if (!ses__query_row(query))
        return false;
    *row = (struct artifact_row){.name = ses__query_text(query, 0),
                                 .version = ses__query_int(query, 1),
                                 .created_us = ses__query_int(query, 2),
                                 .kind = ses__query_int(query, 3),
                                 .mime_type = ses__query_text(query, 4),
                                 .display_name = ses__query_text(query, 5),
                                 .metadata = ses__query_text(query, 6),
                                 .content_id = ses__query_int(query, 7),
                                 .size = ses__query_int(query, 8),
                                 .hash = ses__query_text(query, 9)};
    if (query->source == STATEMENT_ARTIFACT_FIND)
        row->address = ses__query_bytes(query, 10);
    const bool is_sound = ses__is_id(row->name) && row->version >= 0 &&
                          row->version <= MAX_ARTIFACT_VERSION && row->created_us >= TIMESTAMP_MIN &&
                          row->created_us <= TIMESTAMP_MAX && row->kind >= 0 && row->kind <= INT32_MAX &&
                          row->content_id > 0 && ses__query_type(query, 8) == SQL_INT && row->size >= 0 &&
                          row->size <= LARGEST_ARTIFACT && hash->ptr && hash->len == SHA256_HEX &&
                          strspn(hash->ptr, "0123456789abcdef") >= SHA256_HEX;
    if (query->code == SES_OK && !is_sound)
        ses__query_keep(
            query, ses__error_set(query->error, SES_CORRUPT,
                                  "%s: an artifact of user number %lld has an impossible row, or no contents",
                                  query->db->name, (long long)rows->owner.user_id));
    return query->code == SES_OK;
}

int ses__artifact_check_kind(struct db *db, const struct artifact_row *row, ses_error *error)
{
    return row->kind <= NEWEST_ARTIFACT_KIND
               ? SES_OK
               : ses__error_set(
                     error, SES_UNSUPPORTED,
                     "%s: the artifact \"%.*s\", version %lld, is of the kind %lld, which this seslite (%s) does not know: use a newer seslite",
                     db->name, (int)row->name.len, row->name.ptr, (long long)row->version,
                     (long long)row->kind, ses_version());
}

int ses__artifacts_any(struct db *db, const struct artifact_owner *owner, bool *any, ses_error *error)
{
    struct artifact_rows rows;
    struct artifact_row row;

    open_artifact_after(&rows, db, owner, (struct span){"", 0}, -1, error);
    *any = ses__artifact_rows_next(&rows, &row);
    return ses__query_end(&rows.query);
}

void ses__artifact_newest_open(struct artifact_rows *rows, struct db *db, const struct artifact_owner *owner,
                               struct span name, ses_error *error)
{
    ses__db_lock(db, SCOPE_USER, owner->user_id, true);
    ses__artifact_open(rows, db, owner, name, INT64_MAX, error);
}

int ses__artifact_newest_take(struct artifact_rows *rows, int64_t *next)
{
    struct query *query = &rows->query;
    struct artifact_row row;

    *next = 0;
    if (ses__artifact_rows_next(rows, &row))
        *next = row.version + 1;
    const int code = ses__query_end(query);
    return code == SES_OK && *next > MAX_ARTIFACT_VERSION
               ? ses__error_set(query->error, SES_LIMIT, "the artifact has had all versions below 2^32 - 1")
               : code;
}

int ses__artifact_next_version(struct db *db, const struct artifact_owner *owner, struct span name,
                               int64_t *version, ses_error *error)
{
    struct artifact_rows rows;

    ses__artifact_newest_open(&rows, db, owner, name, error);
    return ses__artifact_newest_take(&rows, version);
}

int ses__artifact_add(struct db *db, const struct artifact_owner *owner, const struct artifact_row *row,
                      ses_error *error)
{
    return ses__query_do(db, STATEMENT_ARTIFACT_ADD, error,
                         VALUES(INT(owner->user_id), TEXT(owner->session), TEXT(row->name), INT(row->version),
                                INT(row->created_us), INT(row->kind), TEXT(row->mime_type),
                                TEXT(row->display_name), TEXT(row->metadata), OWNER(row->content_id)));
}

int ses__artifact_without_session(struct db *db, struct artifact_owner *owner, char session[SES_ID_MAX],
                                  ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_ARTIFACTS_WITHOUT_SESSION, error,
                    VALUES(INT(owner->user_id), TEXT(owner->session)));
    const bool found = ses__query_row(&query);
    if (found) {
        const struct span name = ses__query_text(&query, 0);
        if (query.code == SES_OK && (!ses__is_id(name) || ses__span_order(name, owner->session) <= 0))
            ses__query_keep(&query, ses__refuse_stranger(db, "artifact", error));
        if (query.code == SES_OK)
            memcpy(session, name.ptr, owner->session.len = name.len);
    }
    const int code = ses__query_end(&query);
    return code == SES_OK && !found ? SES_NOTFOUND : code;
}

/* -------------------------------------------------------------------------------------------- contents */

void ses__blob_find(struct query *query, struct db *db, int64_t user_id, const struct blob *blob,
                    ses_error *error)
{
    ses__query_open(query, db, STATEMENT_CONTENT_FIND, error, VALUES(OWNER(user_id), STRING(blob->hash)));
}

int ses__blob_add_chunks(struct db *db, int64_t id, int64_t first, struct span bytes, ses_error *error)
{
    int code = SES_OK;

    for (size_t at = 0; at < bytes.len && code == SES_OK; at += CHUNK_BYTES) {
        const size_t left = bytes.len - at;
        const struct span chunk = {bytes.ptr + at, left < CHUNK_BYTES ? left : CHUNK_BYTES};
        code = ses__query_do(db, STATEMENT_CHUNK_ADD, error,
                             VALUES(OWNER(id), INT(first + (int64_t)(at / CHUNK_BYTES)), BYTES(chunk)));
    }
    return code;
}

/* Without a hash: a content that is being written, whose number is needed at once. Otherwise a server is not
 * waited for: 0 stands for the content that was added last. */
static int add_blob(struct db *db, int64_t user_id, const char *hash, int64_t size, int64_t now_us,
                    int64_t *id, ses_error *error)
{
    const bool waits = !hash || !ses__db_asks_ahead(db);
    struct query query;

    ses__query_open(&query, db, STATEMENT_CONTENT_ADD, error,
                    VALUES(INT(user_id), STRING(hash), INT(size), INT(hash ? 1 : 0), INT(now_us)));
    if (waits)
        (void)ses__query_row(&query);
    const int code = ses__query_end(&query);
    *id = waits ? ses__db_given(db) : 0;
    return code;
}

int ses__blob_share(struct db *db, int64_t user_id, int64_t id, ses_error *error)
{
    return ses__change_one(db, STATEMENT_CONTENT_USE, "artifact_contents", error,
                           VALUES(INT(id), INT(user_id), INT(1)));
}

int ses__blob_begin(struct db *db, int64_t user_id, const struct artifact_row *row, int64_t now_us,
                    int64_t *id, bool *found, ses_error *error)
{
    char hash[SHA256_HEX + 1];
    struct query query;
    int64_t size = row->size;

    ses__query_open(&query, db, STATEMENT_CONTENT_FIND, error, VALUES(INT(user_id), TEXT(row->hash)));
    *found = ses__query_row(&query);
    if (*found) {
        *id = ses__query_int(&query, 0);
        size = ses__query_int(&query, 1);
    }
    int code = ses__query_end(&query);
    if (code == SES_OK && size != row->size)
        code = ses__error_set(error, SES_INVALID, "the bytes with this hash are %lld, and not %lld",
                              (long long)size, (long long)row->size);
    if (code != SES_OK)
        return code;
    if (*found)
        return ses__blob_share(db, user_id, *id, error);
    memcpy(hash, row->hash.ptr, SHA256_HEX);
    hash[SHA256_HEX] = '\0';
    return add_blob(db, user_id, hash, row->size, now_us, id, error);
}

/* The statement must have changed the content that is being written. */
static int check_written(struct db *db, int code, ses_error *error)
{
    return code == SES_OK && ses__db_changed(db) == 0
               ? ses__error_set(
                     error, SES_NOTFOUND,
                     "what was written of the artifact is gone, because it took more than an hour or its user was deleted: save it again")
               : code;
}

int ses__blob_take_found(struct query *query, int64_t user_id, const struct blob *blob, int64_t now_us,
                         int64_t *id)
{
    struct db *db = query->db;
    ses_error *error = query->error;
    const bool found = ses__query_row(query);

    if (found)
        *id = ses__query_int(query, 0);
    const bool is_it = found && *id > 0 && ses__query_int(query, 1) == blob->size;
    int code = ses__end_found(query, found, is_it, "content");
    if (code == SES_OK)
        return ses__blob_share(db, user_id, *id, error);
    if (code != SES_NOTFOUND)
        return code;
    if (!blob->bytes) {
        *id = blob->written_id;
        code = ses__query_do(db, STATEMENT_CONTENT_FINISH, error,
                             VALUES(INT(*id), INT(user_id), STRING(blob->hash)));
        return check_written(db, code, error);
    }
    code = add_blob(db, user_id, blob->hash, blob->size, now_us, id, error);
    return code == SES_OK
               ? ses__blob_add_chunks(db, *id, 0, (struct span){blob->bytes, (size_t)blob->size}, error)
               : code;
}

int ses__blob_take(struct db *db, int64_t user_id, const struct blob *blob, int64_t now_us, int64_t *id,
                   ses_error *error)
{
    struct query query;

    ses__blob_find(&query, db, user_id, blob, error);
    return ses__blob_take_found(&query, user_id, blob, now_us, id);
}

int ses__blob_write(struct db *db, int64_t user_id, int64_t *id, int64_t written, struct span piece,
                    int64_t now_us, ses_error *error)
{
    int code = *id == 0 ? add_blob(db, user_id, NULL, 0, now_us, id, error) : SES_OK;

    if (code == SES_OK)
        code = ses__blob_add_chunks(db, *id, written / CHUNK_BYTES, piece, error);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_CONTENT_GROW, error,
                             VALUES(INT(*id), INT(user_id), INT(written + (int64_t)piece.len), INT(now_us)));
    return check_written(db, code, error);
}

int ses__blob_drop(struct db *db, int64_t user_id, int64_t id, ses_error *error)
{
    int code = ses__query_do(db, STATEMENT_CONTENT_DELETE, error, VALUES(INT(id), INT(user_id)));

    if (code == SES_OK && ses__db_changed(db) == 1)
        code = ses__query_do(db, STATEMENT_CHUNKS_DELETE, error, VALUES(INT(id)));
    return code;
}

static int64_t last_chunk(const struct blob_range *range)
{
    return (range->offset + (int64_t)range->len - 1) / CHUNK_BYTES;
}

void ses__blob_open(struct query *query, struct db *db, int64_t user_id, const struct blob_range *range,
                    ses_error *error)
{
    ses__query_open(query, db, STATEMENT_CHUNKS_READ, error,
                    VALUES(INT(range->row->content_id), INT(user_id), TEXT(range->row->hash),
                           INT(range->offset / CHUNK_BYTES), INT(last_chunk(range))));
}

int ses__blob_read(struct query *query, const struct blob_range *range, char *buffer)
{
    const int64_t last = last_chunk(range);
    const int64_t end = range->offset + (int64_t)range->len;
    int64_t number = range->offset / CHUNK_BYTES;
    bool sound = true;
    bool any = false;

    while (sound && number <= last && ses__query_row(query)) {
        const struct span chunk = ses__query_bytes(query, 1);
        const int64_t begin = number * CHUNK_BYTES;
        const int64_t left = range->row->size - begin;
        const int64_t size = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        any = true;
        sound = chunk.ptr && ses__query_int(query, 0) == number && (int64_t)chunk.len == size;
        if (sound) { /* the part of the chunk that is in the range */
            const int64_t from = range->offset > begin ? range->offset - begin : 0;
            const int64_t to = end - begin < size ? end - begin : size;
            memcpy(buffer + (begin + from - range->offset), chunk.ptr + from, (size_t)(to - from));
            number++;
        }
    }
    const int code = ses__query_end(query);
    if (code != SES_OK || number > last)
        return code;
    return any ? ses__error_set(query->error, SES_CORRUPT,
                                "%s: chunk %lld of content number %lld is missing, or has the wrong size",
                                query->db->name, (long long)number, (long long)range->row->content_id)
               : SES_NOTFOUND;
}

/* -------------------------------------------------------------------------------------------- removing */

int ses__contents_sweep(struct db *db, int64_t user_id, int64_t now_us, ses_error *error)
{
    const struct value *values = VALUES(OWNER(user_id), INT(now_us - ABANDONED_US));
    const int code = ses__query_do(db, STATEMENT_CHUNKS_SWEEP, error, values);
    return code == SES_OK ? ses__query_do(db, STATEMENT_CONTENTS_SWEEP, error, values) : code;
}

/* Contents that are being written stay. */
static int sweep_unused(struct db *db, int64_t user_id, ses_error *error)
{
    return ses__contents_sweep(db, user_id, INT64_MIN + ABANDONED_US, error);
}

/* When versions of the name were removed. */
static int forget_at_base(struct db *db, const struct artifact_owner *owner, struct span name,
                          ses_error *error)
{
    char key[sizeof BASE_ARTIFACT + SES_ID_MAX] = BASE_ARTIFACT;

    memcpy(key + sizeof BASE_ARTIFACT - 1, name.ptr, name.len);
    return ses__query_do(db, STATEMENT_BASE_ARTIFACT_FORGET, error,
                         VALUES(OWNER(owner->user_id), TEXT(owner->session), TEXT(name),
                                TEXT(((struct span){key, sizeof BASE_ARTIFACT - 1 + name.len}))));
}

int ses__artifacts_remove(struct db *db, const struct artifact_owner *owner, struct span name,
                          int64_t *removed, ses_error *error)
{
    int code = ses__query_do(db, STATEMENT_CONTENTS_USE, error,
                             VALUES(OWNER(owner->user_id), TEXT(owner->session), TEXT(name), INT(-1)));

    *removed = 0;
    /* Most sessions have none. Where an answer is far away, asking is as cheap as looking at it. */
    if (code == SES_OK && !ses__db_asks_ahead(db) && ses__db_changed(db) == 0)
        return SES_OK;
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_ARTIFACTS_REMOVE, error,
                             VALUES(OWNER(owner->user_id), TEXT(owner->session), TEXT(name)));
    if (code == SES_OK)
        *removed = ses__db_changed(db);
    ses__count_erased(db, artifacts);
    if (code == SES_OK && *removed > 0 && name.ptr)
        code = forget_at_base(db, owner, name, error);
    return code == SES_OK && *removed > 0 ? sweep_unused(db, owner->user_id, error) : code;
}

static int remove_artifact(struct db *db, const struct artifact_owner *owner, const struct artifact_row *row,
                           ses_error *error)
{
    int code = ses__change_one(
        db, STATEMENT_ARTIFACT_REMOVE, "artifacts", error,
        VALUES(INT(owner->user_id), TEXT(owner->session), TEXT(row->name), INT(row->version)));

    if (code == SES_OK && db->erased)
        db->erased->artifacts++;
    if (code == SES_OK)
        code = ses__change_one(db, STATEMENT_CONTENT_USE, "artifact_contents", error,
                               VALUES(INT(row->content_id), INT(owner->user_id), INT(-1)));
    if (code == SES_OK)
        code = forget_at_base(db, owner, row->name, error);
    return code == SES_OK ? sweep_unused(db, owner->user_id, error) : code;
}

int ses__artifact_remove_version(struct db *db, const struct artifact_owner *owner, struct span name,
                                 int64_t version, ses_error *error)
{
    struct artifact_rows rows;
    struct artifact_row row;

    ses__artifact_open(&rows, db, owner, name, version, error);
    if (ses__artifact_rows_next(&rows, &row) && row.version == version)
        ses__query_keep(&rows.query, remove_artifact(db, owner, &row, error));
    return ses__query_end(&rows.query);
}

int ses__artifacts_remove_of_session(struct db *db, const struct session_row *session, ses_error *error)
{
    char name[SES_ID_MAX];
    struct artifact_owner owner = {session->user_id, {name, 0}};
    struct query query;
    int64_t removed = 0;

    ses__query_open(&query, db, STATEMENT_SESSION_CALLED, error, VALUES(INT(session->id)));
    if (ses__query_row(&query)) {
        const struct span found = ses__query_text(&query, 0);
        if (query.code == SES_OK && !ses__is_id(found))
            ses__query_keep(&query, ses__refuse_stranger(db, "session", error));
        if (query.code == SES_OK)
            memcpy(name, found.ptr, owner.session.len = found.len);
    }
    const int code = ses__query_end(&query);
    return code == SES_OK && owner.session.len > 0
               ? ses__artifacts_remove(db, &owner, (struct span){NULL, 0}, &removed, error)
               : code;
}

int ses__artifacts_remove_of_user(struct db *db, int64_t user_id, ses_error *error)
{
    static const struct statement *const statements[] = {
        STATEMENT_USER_ARTIFACTS_DELETE, STATEMENT_USER_CHUNKS_DELETE, STATEMENT_USER_CONTENTS_DELETE};
    int code = SES_OK;

    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && code == SES_OK; i++) {
        code = ses__query_do(db, statements[i], error, VALUES(INT(user_id)));
        if (statements[i] == STATEMENT_USER_ARTIFACTS_DELETE)
            ses__count_erased(db, artifacts);
    }
    return code;
}

/* --------------------------------------------------------------------------------------------- copying */

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
        open_artifact_after(&rows, db, owner, name, version, error);
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

int ses__artifacts_copy(struct db *db, const struct artifact_owner *from, const struct artifact_owner *to,
                        int64_t now_us, ses_error *error)
{
    struct artifact_copying copying = {db, to, now_us};

    if (from->user_id != to->user_id)
        return ses__artifacts_each(db, from, copy_artifact, &copying, error);
    const int code = ses__query_do(db, STATEMENT_ARTIFACTS_COPY, error,
                                   VALUES(INT(from->user_id), TEXT(from->session), TEXT(to->session)));
    return code == SES_OK ? ses__query_do(db, STATEMENT_CONTENTS_USE, error,
                                          VALUES(INT(to->user_id), TEXT(to->session),
                                                 TEXT(((struct span){NULL, 0})), INT(1)))
                          : code;
}
