/* The rows of artifacts and of their contents, inside a transaction. */
#ifndef SESLITE_STORAGE_SQL_ROWS_ARTIFACT_H
#define SESLITE_STORAGE_SQL_ROWS_ARTIFACT_H

#include "base/sha256/sha256.h"
#include "storage/sql/rows/session.h"

/* The owner of artifacts: a session, by the application's id, or with the id "" the user. */
struct artifact_owner {
    int64_t user_id; /* 0: the user that this transaction finds, where everything is asked for at once */
    struct span session;
};

/* A walk over rows, which ends with ses__query_end. */
struct artifact_rows {
    struct query query;
    struct artifact_owner owner;
};
/* The newest version of the name up to `version`. */
SESLITE_PRIVATE void ses__artifact_open(struct artifact_rows *rows, struct db *db,
                                        const struct artifact_owner *owner, struct span name, int64_t version,
                                        ses_error *error);
/* The versions of the name above `version`, in order. */
SESLITE_PRIVATE void ses__artifact_versions_open(struct artifact_rows *rows, struct db *db,
                                                 const struct artifact_owner *owner, struct span name,
                                                 int64_t version, int64_t limit, ses_error *error);
/* The names after `name`, in order, each with its newest version. */
SESLITE_PRIVATE void ses__artifact_names_open(struct artifact_rows *rows, struct db *db,
                                              const struct artifact_owner *owner, struct span name,
                                              int64_t limit, ses_error *error);
/* Moves the owner on to the next name, kept in `session`, under which artifacts are, but no session.
 * NOTFOUND, without a message: there is none. */
SESLITE_PRIVATE int ses__artifact_without_session(struct db *db, struct artifact_owner *owner,
                                                  char session[SES_ID_MAX], ses_error *error);
/* UNSUPPORTED: a later version has made it. Such a row is listed, copied and removed, but its bytes are not
 * read. */
enum { NEWEST_ARTIFACT_KIND = 2 };
SESLITE_PRIVATE int ses__artifact_check_kind(struct db *db, const struct artifact_row *row, ses_error *error);
/* `any`: the owner has artifacts. */
SESLITE_PRIVATE int ses__artifacts_any(struct db *db, const struct artifact_owner *owner, bool *any,
                                       ses_error *error);
SESLITE_PRIVATE bool ses__artifact_rows_next(struct artifact_rows *rows, struct artifact_row *row);

/* The version that comes next, which nobody else adds meanwhile. LIMIT: there is none any more. */
SESLITE_PRIVATE int ses__artifact_next_version(struct db *db, const struct artifact_owner *owner,
                                               struct span name, int64_t *version, ses_error *error);
/* The same in two steps: looks for the newest version, and ends the query. */
SESLITE_PRIVATE void ses__artifact_newest_open(struct artifact_rows *rows, struct db *db,
                                               const struct artifact_owner *owner, struct span name,
                                               ses_error *error);
SESLITE_PRIVATE int ses__artifact_newest_take(struct artifact_rows *rows, int64_t *next);
SESLITE_PRIVATE int ses__artifact_add(struct db *db, const struct artifact_owner *owner,
                                      const struct artifact_row *row, ses_error *error);

/* ------------------------------------------------------------------------------------------ contents */

/* Bytes to store. */
struct blob {
    char hash[SHA256_HEX + 1];
    int64_t size;
    const char *bytes;  /* NULL: they were written already, as the content ... */
    int64_t written_id; /* ... with this number */
};

/* Stores the bytes for one artifact more, or finds them stored. `*id` may become 0, for ses__artifact_add.
 * NOTFOUND: the content that was written has been swept meanwhile. */
SESLITE_PRIVATE int ses__blob_take(struct db *db, int64_t user_id, const struct blob *blob, int64_t now_us,
                                   int64_t *id, ses_error *error);
/* The same in two steps: looks for the bytes, and ends the query. */
SESLITE_PRIVATE void ses__blob_find(struct query *query, struct db *db, int64_t user_id,
                                    const struct blob *blob, ses_error *error);
SESLITE_PRIVATE int ses__blob_take_found(struct query *query, int64_t user_id, const struct blob *blob,
                                         int64_t now_us, int64_t *id);
/* The row's content has one artifact more. */
SESLITE_PRIVATE int ses__blob_share(struct db *db, int64_t user_id, int64_t id, ses_error *error);
/* Writes a content piece by piece, in several transactions. Each piece but the last has whole chunks. `*id`
 * is 0 before the first, and `written` is what was written before. NOTFOUND as above. */
SESLITE_PRIVATE int ses__blob_write(struct db *db, int64_t user_id, int64_t *id, int64_t written,
                                    struct span piece, int64_t now_us, ses_error *error);
/* Drops what was written, if no artifact has it yet. */
SESLITE_PRIVATE int ses__blob_drop(struct db *db, int64_t user_id, int64_t id, ses_error *error);

/* In one transaction: finds the bytes stored, or adds a content for one artifact whose chunks come next.
 * INVALID: those stored have another size. */
SESLITE_PRIVATE int ses__blob_begin(struct db *db, int64_t user_id, const struct artifact_row *row,
                                    int64_t now_us, int64_t *id, bool *found, ses_error *error);
/* Adds the bytes in chunks, from the one with the number `first` on. */
SESLITE_PRIVATE int ses__blob_add_chunks(struct db *db, int64_t id, int64_t first, struct span bytes,
                                         ses_error *error);

/* Reads `len` bytes from `offset` on, one at least, all of which the row has. */
struct blob_range {
    const struct artifact_row *row;
    int64_t offset;
    size_t len;
};
SESLITE_PRIVATE void ses__blob_open(struct query *query, struct db *db, int64_t user_id,
                                    const struct blob_range *range, ses_error *error);
/* Ends the query. NOTFOUND (without a message): the content is gone. CORRUPT: a chunk is missing or has
 * another size. */
SESLITE_PRIVATE int ses__blob_read(struct query *query, const struct blob_range *range, char *buffer);

/* ---- copying */
/* Gives the function each version, in a query of its own: its bytes may take long. */
typedef int artifact_visitor(void *context, const struct artifact_row *row, ses_error *error);
SESLITE_PRIVATE int ses__artifacts_each(struct db *db, const struct artifact_owner *owner,
                                        artifact_visitor *visit, void *context, ses_error *error);
/* Copies all versions of a session to one that has none. */
SESLITE_PRIVATE int ses__artifacts_copy(struct db *db, const struct artifact_owner *from,
                                        const struct artifact_owner *to, int64_t now_us, ses_error *error);

/* ------------------------------------------------------------------------------------------- removing */

/* Removes the versions of a name (without a pointer: all) and counts them; and the contents that nothing has
 * any more. */
SESLITE_PRIVATE int ses__artifacts_remove(struct db *db, const struct artifact_owner *owner, struct span name,
                                          int64_t *removed, ses_error *error);
/* Removes that version of the name, if there is one, with its contents if nothing else has them. */
SESLITE_PRIVATE int ses__artifact_remove_version(struct db *db, const struct artifact_owner *owner,
                                                 struct span name, int64_t version, ses_error *error);
/* Removes contents of the user that nothing has any more, and those of which the writing was abandoned. */
SESLITE_PRIVATE int ses__contents_sweep(struct db *db, int64_t user_id, int64_t now_us, ses_error *error);
/* Removes the artifacts of a session or user that is about to be removed. */
SESLITE_PRIVATE int ses__artifacts_remove_of_session(struct db *db, const struct session_row *session,
                                                     ses_error *error);
SESLITE_PRIVATE int ses__artifacts_remove_of_user(struct db *db, int64_t user_id, ses_error *error);

#endif
