/* Pages of the names of apps and users. */
#include <string.h>

#include "base/error.h"
#include "session/store.h"
#include "storage/sql/rows/session.h"

enum { NAMES_DEFAULT = 100, NAMES_MAX = 10000 };

struct ses_names {
    ses_store *store;
    struct arena arena;
    const char **items;
    size_t count;
    size_t capacity;
    bool more; /* there are names after the last */
};

struct names_reading {
    ses_names *page;    /* is filled */
    const char *app;    /* NULL: the apps */
    const char *after;  /* "": from the first on */
    const char *prefix; /* "": any */
    size_t limit;
};

static int add_listed_name(ses_names *page, const struct name_rows *rows, ses_error *error)
{
    const char *name = LIST_GROW(&page->store->allocator, page)
                           ? ses__arena_text(&page->arena, rows->last, rows->last_len)
                           : NULL;

    if (!name)
        return ses__error_nomem(error);
    page->items[page->count++] = name;
    return SES_OK;
}

static int run_names_reading(struct db *db, void *context, ses_error *error)
{
    const struct names_reading *reading = context;
    ses_names *page = reading->page;
    struct name_rows rows;
    struct user_row app = {0, 0};
    int64_t id = 0;

    ses__arena_reset(&page->arena);
    page->count = 0;
    page->more = false;
    int code = reading->app ? ses__owner_find(db, reading->app, NULL, &app, error) : SES_OK;
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    ses__name_rows_open(&rows, db, app.app_id, ses__span_of(reading->after), ses__span_of(reading->prefix),
                        (int64_t)reading->limit + 1, error);
    while (!page->more && ses__name_rows_next(&rows, &id)) {
        page->more = page->count == reading->limit;
        if (!page->more)
            ses__query_keep(&rows.query, add_listed_name(page, &rows, error));
    }
    return ses__query_end(&rows.query);
}

static int take_names_options(const ses_names_options *given, ses_names_options *own, ses_error *error)
{
    int code = ses__take_options(own, sizeof *own, given, "names options", error);

    if (code == SES_OK && own->limit > NAMES_MAX)
        code = ses__error_set(error, SES_INVALID, "names options: limit is more than %d", NAMES_MAX);
    if (code == SES_OK && own->after)
        code = ses__check_id(own->after, "names options: after,", error);
    return code == SES_OK ? ses__check_prefix(own->prefix, "names options: the prefix", error) : code;
}

static int list_names(ses_store *store, const char *app, const ses_names_options *given, ses_names **names,
                      ses_error *error)
{
    ses_names_options options;
    int code = take_names_options(given, &options, error);
    if (code != SES_OK)
        return code;
    ses_names *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    const struct limits limits = LIMITS_OF(store, options);
    struct names_reading reading = {.page = fresh,
                                    .app = app,
                                    .after = options.after ? options.after : "",
                                    .prefix = options.prefix ? options.prefix : "",
                                    .limit = options.limit ? options.limit : NAMES_DEFAULT};
    code = ses__run_within(store->storage, &limits, TO_READ_BEHIND, run_names_reading, &reading, error);
    if (code == SES_OK)
        *names = fresh;
    else
        ses_names_close(fresh);
    return code;
}

int ses_list_apps(ses_store *store, const ses_names_options *options, ses_names **names, ses_error *error)
{
    int code = ses__store_begin_giving(store, names, "names", error);
    return code == SES_OK ? ses__store_end(store, list_names(store, NULL, options, names, error)) : code;
}

int ses_list_users(ses_store *store, const char *app, const ses_names_options *options, ses_names **names,
                   ses_error *error)
{
    int code = ses__store_begin_giving(store, names, "names", error);
    if (code != SES_OK)
        return code;
    code = ses__check_id(app, "app", error);
    if (code == SES_OK)
        code = list_names(store, app, options, names, error);
    return ses__store_end(store, code);
}

size_t ses_names_count(const ses_names *names)
{
    return names->count;
}

const char *ses_names_at(const ses_names *names, size_t index)
{
    return index < names->count ? names->items[index] : NULL;
}

const char *ses_names_after(const ses_names *names)
{
    return names->more ? names->items[names->count - 1] : NULL;
}

void ses_names_close(ses_names *names)
{
    if (names) {
        ses_store *store = names->store;
        ses__memory_free(&store->allocator, names->items);
        ses__arena_free(&names->arena);
        ses__memory_free(&store->allocator, names);
        ses__store_release(store);
    }
}
