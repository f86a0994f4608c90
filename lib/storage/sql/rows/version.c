/* Where the versions of new sessions begin. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

static int read_floor(struct db *db, int64_t user_id, int64_t *floor, ses_error *error)
{
    struct query query;
    ses__query_open(&query, db, STATEMENT_VERSION_FLOOR, error, VALUES(INT(user_id)));
    bool sound = ses__query_row(&query);
    if (sound)
        *floor = ses__query_int(&query, 0);
    sound = sound && *floor >= 0 && *floor <= MAX_VERSION + 1 && !ses__query_row(&query);
    int code = ses__query_end(&query);
    if (code == SES_OK && !sound)
        code = ses__error_set(
            error, SES_CORRUPT,
            "%s: the table version_floor does not hold one row with a number from 0 to 2^53", db->name);
    return code;
}

static int write_floor(struct db *db, int64_t user_id, int64_t floor, ses_error *error)
{
    return ses__query_do(db, STATEMENT_VERSION_FLOOR_RAISE, error, VALUES(INT(floor), INT(user_id)));
}

int ses__version_first(struct db *db, int64_t user_id, int64_t *version, ses_error *error)
{
    int code = read_floor(db, user_id, version, error);
    if (code == SES_OK && *version > MAX_VERSION)
        code = ses__error_set(
            error, SES_LIMIT,
            "%s: all versions below 2^53 are used up: export the sessions and import them into a new store",
            db->name);
    return code;
}

int ses__version_pass(struct db *db, int64_t user_id, int64_t version, ses_error *error)
{
    int64_t floor = 0;
    int code = read_floor(db, user_id, &floor, error);
    return code == SES_OK && version >= floor ? write_floor(db, user_id, version + 1, error) : code;
}
