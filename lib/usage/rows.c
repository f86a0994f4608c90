/* A page of rows. */
#include "usage/usage.h"

size_t ses_usage_rows_count(const ses_usage_rows *rows)
{
    return rows ? rows->count : 0;
}

const ses_usage_row *ses_usage_rows_at(const ses_usage_rows *rows, size_t index)
{
    return rows && index < rows->count ? rows->items[index] : NULL;
}

const ses_usage_row *ses_usage_rows_sum(const ses_usage_rows *rows)
{
    return rows ? &rows->sum : NULL;
}

const char *ses_usage_rows_token(const ses_usage_rows *rows)
{
    return rows ? rows->token : NULL;
}

void ses_usage_rows_close(ses_usage_rows *rows)
{
    if (!rows)
        return;
    ses_store *store = rows->store;
    ses__memory_free(&store->allocator, rows->token);
    ses__arena_free(&rows->arena);
    ses__memory_free(&store->allocator, rows);
    ses__store_release(store);
}
