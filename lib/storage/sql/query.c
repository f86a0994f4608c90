#include "storage/sql/query.h"

#include "base/clock.h"
#include "base/error.h"

struct value ses__string_value(const char *string)
{
    return TEXT(ses__span_of(string));
}

void ses__query_open(struct query *query, struct db *db, const struct statement *source, ses_error *error,
                     const struct value *values)
{
    *query = (struct query){.db = db, .source = source, .code = SES_OK, .error = error};
    db->engine->start(query, values);
}

int ses__query_do(struct db *db, const struct statement *source, ses_error *error, const struct value *values)
{
    struct query query;

    ses__query_open(&query, db, source, error, values);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

int ses__query_number(struct db *db, const struct statement *source, int64_t *number, ses_error *error,
                      const struct value *values)
{
    struct query query;

    ses__query_open(&query, db, source, error, values);
    const bool found = ses__query_row(&query);
    *number = found ? ses__query_int(&query, 0) : 0;
    const int code = ses__query_end(&query);
    return code == SES_OK && !found ? SES_NOTFOUND : code;
}

int ses__db_wait_anew(struct db *db, int code)
{
    db->deadline_us = ses__limits_until(db->limits, ses__clock_steady_us() + db->timeout_us);
    return code;
}

/* --------------------------------------------------------------- features that this library does not know */

enum { MAX_SHOWN = 100 };

/* Any other number: the store must not be opened. */
enum { NEEDS_NOTHING = 1, NEEDS_READING = 2 };

int ses__feature_refuse(const char *store, struct span feature, int code, ses_error *error)
{
    const char *const remedy = code == SES_READONLY ? "open the store read-only, or use a newer seslite"
                               : code == SES_UNSUPPORTED
                                   ? "an export would leave it out; use a newer seslite, or a backup"
                                   : "use a newer seslite";

    if (code == SES_OK)
        return SES_OK;
    return ses__error_set(
        error, code, "%s: the store uses the feature \"%.*s\", which this seslite (%s) does not know: %s",
        store, (int)(feature.len < MAX_SHOWN ? feature.len : MAX_SHOWN), feature.ptr ? feature.ptr : "",
        ses_version(), remedy);
}

int ses__features_check(struct db *db, int denied, ses_error *error)
{
    struct query query;
    int code = SES_OK;

    ses__query_open(&query, db, STATEMENT_FEATURES_UNKNOWN, error, NULL);
    while (code != SES_TOONEW && ses__query_row(&query)) {
        const int64_t needs = ses__query_int(&query, 1);
        const int refusal = needs == NEEDS_NOTHING ? SES_OK : needs == NEEDS_READING ? denied : SES_TOONEW;
        if (refusal != SES_OK)
            code = ses__feature_refuse(db->name, ses__query_text(&query, 0), refusal, error);
    }
    ses__query_keep(&query, code);
    return ses__query_end(&query);
}

/* ----------------------------------------------- how a store ends, which every engine does in its own way */

void ses__door_close(struct storage *storage)
{
    storage->engine->close(storage);
}

void ses__door_release(struct storage *storage)
{
    storage->engine->release(storage);
}
