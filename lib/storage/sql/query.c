#include "storage/sql/query.h"

#include "base/clock.h"

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
