/* Deleting so that what is deleted cannot be found in the files any more. */
#include "storage/sqlite/parts.h"
#include "storage/sql/query.h"

/*
 * SQLite overwrites what it frees while `PRAGMA secure_delete` is on. The writing connection has it on as a rule, so that
 * the values which appends replace leave nothing behind that a later deletion would not find: that costs next to nothing,
 * as they free little. A deletion that need not be secure frees whole pages, and to overwrite them means to write them: it
 * is done as SQLite does it by itself, which depends on how it was built.
 */
enum overwriting { OVERWRITES_NOTHING = 0, OVERWRITES_ALL = 1, OVERWRITES_CELLS = 2 };

static int set_overwriting(struct connection *db, int64_t how, ses_error *error)
{
    static const char *const pragmas[] = {
        [OVERWRITES_NOTHING] = "PRAGMA secure_delete = OFF",
        [OVERWRITES_ALL] = "PRAGMA secure_delete = ON",
        [OVERWRITES_CELLS] = "PRAGMA secure_delete = FAST",
    };
    return ses__connection_execute(db, pragmas[how], "setting what is overwritten", error);
}

int ses__erase_setup(struct connection *db, ses_error *error)
{
    int code = ses__connection_read_int(db, "PRAGMA secure_delete", &db->overwriting, error);

    if (db->overwriting != OVERWRITES_NOTHING && db->overwriting != OVERWRITES_CELLS)
        db->overwriting = OVERWRITES_ALL;
    return code == SES_OK && db->overwriting != OVERWRITES_ALL ? set_overwriting(db, OVERWRITES_ALL, error)
                                                               : code;
}

struct deletion {
    bool secure;
    storage_job *job;
    void *context;
};

/* Other jobs may share the transaction, so it is set for this one alone. If it cannot be set again afterwards, the next
 * secure deletion does. */
static int run_plainly(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    const struct deletion *deletion = context;
    const bool differs = db->overwriting != OVERWRITES_ALL;
    int result = differs ? set_overwriting(db, db->overwriting, error) : SES_OK;

    if (result == SES_OK)
        result = deletion->job(&db->base, deletion->context, error);
    if (differs)
        (void)set_overwriting(db, OVERWRITES_ALL, NULL);
    return result;
}

static int run_securely(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    const struct deletion *deletion = context;
    int64_t how = OVERWRITES_ALL;
    int code = ses__connection_read_int(db, "PRAGMA secure_delete", &how, error);

    if (code == SES_OK && how != OVERWRITES_ALL)
        code = set_overwriting(db, OVERWRITES_ALL, error);
    base->removed_words = false;
    if (code == SES_OK)
        code = deletion->job(&db->base, deletion->context, error);
    /* FTS5 keeps what is removed from an index until it merges the parts of it. */
    const int merged =
        code >= 0 && base->removed_words ? ses__query_do(base, STATEMENT_INDEX_MERGE, error, NULL) : SES_OK;
    return merged == SES_OK ? code : merged;
}

static int run_erasing(struct db *db, void *context, ses_error *error)
{
    const struct deletion *deletion = context;
    return deletion->secure ? run_securely(db, context, error) : run_plainly(db, context, error);
}

int ses__sqlite_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                           ses_error *error)
{
    struct deletion deletion = {erasure->secure, job, context};
    const int result = ses__run_within(storage, &erasure->limits, TO_WRITE(0), run_erasing, &deletion, error);

    /* The deletion is committed, even if something keeps the log from being emptied. */
    erasure->unclean = erasure->secure && result >= 0 &&
                       ses__wal_empty((struct sqlite *)storage, &erasure->limits, NULL) != SES_OK;
    return result;
}
