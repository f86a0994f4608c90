/* The use of tokens by the view of a file, and by the library. */
#ifndef SESLITE_TEST_USAGE_H
#define SESLITE_TEST_USAGE_H

#include "open.h"
#include "seslite_usage.h"

static inline char *usage_of_view(const char *path)
{
    return raw_text(
        path,
        "SELECT app, user, session, day, model, calls, coalesce(prompt, 0), coalesce(cached, 0),"
        " coalesce(candidates, 0), coalesce(thoughts, 0), coalesce(tool_use, 0), coalesce(total, 0) FROM usage"
        " ORDER BY app, user, session, day, model");
}

static inline char *usage_of_store(ses_store *store)
{
    const ses_usage_options options = {.size = sizeof options,
                                       .flags = SES_USAGE_BY_APP | SES_USAGE_BY_USER | SES_USAGE_BY_SESSION |
                                                SES_USAGE_BY_DAY | SES_USAGE_BY_MODEL,
                                       .limit = 10000};
    struct text out = {NULL, 0};
    ses_usage_rows *rows = NULL;
    ses_error error;

    text_add(&out, "", 0);
    assert_ok(ses_store_usage(store, NULL, &options, &rows, &error));
    assert_null(ses_usage_rows_token(rows));
    for (size_t i = 0; i < ses_usage_rows_count(rows); i++) {
        const ses_usage_row *row = ses_usage_rows_at(rows, i);
        text_printf(&out, "%s|%s|%s|%s|%s|%lld|%lld|%lld|%lld|%lld|%lld|%lld\n", row->app, row->user,
                    row->session, row->day, row->model, (long long)row->calls, (long long)row->prompt,
                    (long long)row->cached, (long long)row->candidates, (long long)row->thoughts,
                    (long long)row->tool_use, (long long)row->total);
    }
    ses_usage_rows_close(rows);
    return out.data;
}

static inline void compare_with_view(ses_store *store, const char *path)
{
    char *expected = usage_of_view(path);
    char *given = usage_of_store(store);

    assert_string_equal(given, expected);
    free(given);
    free(expected);
}

#endif
