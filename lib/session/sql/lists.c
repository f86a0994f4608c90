/* Pages of the names of apps and users, and the number of sessions. */
#include "base/error.h"
#include "session/read/filter.h"
#include "session/store.h"
#include "storage/sql/rows/list.h"
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
    while (ses__name_rows_next(&rows, &id)) {
        const char *name = NULL;
        page->more = page->count == reading->limit;
        if (page->more)
            break;
        if (LIST_GROW(&page->store->allocator, page))
            name = ses__arena_text(&page->arena, rows.last, rows.last_len);
        if (name)
            page->items[page->count++] = name;
        else
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    return ses__query_end(&rows.query);
}

static int list_names(ses_store *store, const char *app, const ses_names_options *given, ses_names **names,
                      ses_error *error)
{
    ses_names_options options;
    int code = ses__take_options(&options, sizeof options, given, "names options", error);

    if (code == SES_OK && options.limit > NAMES_MAX)
        code = ses__error_set(error, SES_INVALID, "names options: limit is more than %d", NAMES_MAX);
    if (code == SES_OK && options.after)
        code = ses__check_id(options.after, "names options: after,", error);
    if (code == SES_OK)
        code = ses__check_prefix(options.prefix, "names options: the prefix", error);
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

/* ------------------------------------------------------------------------- the number of sessions */

struct session_counting {
    const char *app;
    const char *user; /* NULL: all */
    struct list_filter filter;
    int64_t count; /* out */
};

static int run_session_counting(struct db *db, void *context, ses_error *error)
{
    struct session_counting *counting = context;
    const struct list_filter *filter = &counting->filter;
    struct list_query query = {.filter = filter, .whole_app = counting->user == NULL};
    struct user_row row;
    struct query owner;

    counting->count = 0;
    if (filter->since_us >= filter->before_us)
        return SES_OK;
    ses__owner_ask(&owner, db, counting->app, counting->user, error);
    int code = ses__owner_take(&owner, &row);
    query.app_id = row.app_id;
    query.user_id = row.id;
    if (code == SES_OK)
        code = ses__list_count_all(db, &query, &counting->count, error);
    return code == SES_NOTFOUND ? SES_OK : code;
}

static int count_sessions(ses_store *store, struct session_counting *counting, const ses_filter *filter,
                          const ses_call_options *options, int64_t *count, ses_error *error)
{
    struct limits limits;
    int code = ses__check_argument(count, "count", error);

    if (code == SES_OK)
        code = ses__take_call_options(store, options, &limits, error);
    if (code == SES_OK)
        code = ses__check_owner(counting->app, counting->user, NULL, error);
    if (code == SES_OK)
        code = ses__filter_take(filter, counting->app, counting->user, &counting->filter, error);
    if (code == SES_OK)
        code =
            ses__run_within(store->storage, &limits, TO_READ_BEHIND, run_session_counting, counting, error);
    if (code == SES_OK)
        *count = counting->count;
    return code;
}

int ses_list_count(ses_store *store, const char *app, const char *user, const ses_filter *filter,
                   const ses_call_options *options, int64_t *count, ses_error *error)
{
    struct session_counting counting = {.app = app, .user = user};
    const int code = ses__store_begin(store, error);

    return code == SES_OK
               ? ses__store_end(store, count_sessions(store, &counting, filter, options, count, error))
               : code;
}
