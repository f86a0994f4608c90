/* Walks over the names of apps and users. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

void ses__name_rows_open(struct name_rows *rows, struct db *db, int64_t app_id, struct span after,
                         struct span prefix, int64_t limit, ses_error *error)
{
    struct query *query = &rows->query;
    const struct span passed = after.len > 0 ? after : (struct span){NULL, 0};
    const struct span first = ses__compare_texts(after, prefix) > 0 ? after : prefix;

    rows->prefix = prefix;
    rows->last_len = after.len;
    memcpy(rows->last, after.ptr, after.len);
    ses__query_open(query, db, app_id ? STATEMENT_USERS_NAMED : STATEMENT_APPS_NAMED, error,
                    VALUES(INT_IF(app_id != 0, app_id), TEXT(first), TEXT(passed), INT(limit)));
}

static bool has_prefix(struct span name, struct span prefix)
{
    return name.len >= prefix.len && memcmp(name.ptr, prefix.ptr, prefix.len) == 0;
}

bool ses__name_rows_next(struct name_rows *rows, int64_t *id)
{
    struct query *query = &rows->query;

    if (!ses__query_row(query))
        return false;
    *id = ses__query_int(query, 0);
    struct span name = ses__query_text(query, 1);
    if (query->code != SES_OK)
        return false;
    const struct span last = {rows->last, rows->last_len};
    if (*id < 1 || !name.ptr || !ses__is_id(name) || ses__compare_texts(last, name) >= 0) {
        query->code = ses__error_set(
            query->error, SES_CORRUPT, "%s: a row of %s is out of place, or its name is not an id",
            query->db->name, query->source == STATEMENT_APPS_NAMED ? "apps" : "users");
        return false;
    }
    memcpy(rows->last, name.ptr, name.len);
    rows->last[name.len] = '\0';
    rows->last_len = name.len;
    return has_prefix(name, rows->prefix); /* those that have it are side by side */
}
