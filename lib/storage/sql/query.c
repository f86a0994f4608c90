#include "storage/sql/query.h"

#include <string.h>

struct value ses__string_value(const char *string)
{
    return TEXT(((struct span){string, string ? strlen(string) : 0}));
}

void ses__query_open(struct query *query, struct db *db, const struct statement *source, ses_error *error,
                     const struct value *values)
{
    const struct engine *engine = db->engine;

    *query = (struct query){.db = db, .source = source, .code = SES_OK, .error = error};
    engine->start(query);
    for (int parameter = 1; values && values->type != 0; values++, parameter++) {
        if (values->type == SQL_INT)
            engine->bind_int(query, parameter, values->number);
        else if (values->text.ptr)
            engine->bind_text(query, parameter, values->text);
        else if (values->owners)
            engine->bind_owners(query, parameter, values->owners);
    }
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
