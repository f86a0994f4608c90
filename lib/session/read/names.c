/* Pages of the names of apps and users. */
#include <string.h>

#include "base/error.h"
#include "session/store.h"

enum { NAMES_DEFAULT = 100, NAMES_MAX = 10000 };

struct ses_names {
    ses_store *store;
    struct arena arena;
    struct names_op op;
};

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
    fresh->op = (struct names_op){.limits = LIMITS_OF(store, options),
                                  .app = app,
                                  .after = options.after ? options.after : "",
                                  .prefix = options.prefix ? options.prefix : "",
                                  .limit = options.limit ? options.limit : NAMES_DEFAULT,
                                  .allocator = &store->allocator,
                                  .arena = &fresh->arena};
    code = ses__door_list_names(store->storage, &fresh->op, error);
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
    return names->op.count;
}

const char *ses_names_at(const ses_names *names, size_t index)
{
    return index < names->op.count ? names->op.items[index] : NULL;
}

const char *ses_names_after(const ses_names *names)
{
    return names->op.more ? names->op.items[names->op.count - 1] : NULL;
}

void ses_names_close(ses_names *names)
{
    if (names) {
        ses_store *store = names->store;
        ses__memory_free(&store->allocator, names->op.items);
        ses__arena_free(&names->arena);
        ses__memory_free(&store->allocator, names);
        ses__store_release(store);
    }
}
