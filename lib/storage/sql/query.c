#include "storage/sql/query.h"

#include <string.h>

void ses__query_bind_string(struct query *query, int parameter, const char *string)
{
    ses__query_bind_text(query, parameter, (struct span){string, strlen(string)});
}

int ses__query_run(struct db *db, const struct statement *source, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, source, error);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}
