/* Lists the artifacts of a session, and the versions of one. */
#include <stdlib.h>
#include <string.h>

#include "artifact/artifact.h"
#include "base/error.h"
#include "base/memory.h"

enum { ARTIFACTS_DEFAULT = 100, ARTIFACTS_MAX = 10000 };

struct ses_artifact_list {
    ses_store *store;
    struct arena arena;
    struct artifact_info *items; /* in the arena */
    size_t count;
    bool more;
};

/* --------------------------------------------------------------------------------------------- the job */

struct listing {
    const struct artifact_call *call; /* without a name: lists names */
    const char *after;
    int64_t first_version;
    size_t limit;
    ses_artifact_list *list;
};

/* Opens the versions of a name, or the names of the session (or the user), or those of the user in
 * addition. */
static void open_part(struct artifact_rows *rows, struct db *db, const struct listing *listing,
                      const struct artifact_owner *owner, bool is_second, ses_error *error)
{
    const struct artifact_call *call = listing->call;
    const struct artifact_owner whose = {owner->user_id, is_second ? (struct span){"", 0} : owner->session};
    const int64_t limit = (int64_t)listing->limit + 1;

    if (call->name[0])
        ses__artifact_versions_open(rows, db, &whose, ses__span_of(call->name), listing->first_version - 1,
                                    limit, error);
    else
        ses__artifact_names_open(rows, db, &whose, ses__span_of(listing->after), limit, error);
}

/* Checks that the row is one of the part: the pages of a damaged table could go on without end. */
static int check_place(const struct listing *listing, const struct artifact_row *row, ses_error *error)
{
    if (listing->call->name[0] ? row->version >= listing->first_version
                               : ses__span_order(row->name, ses__span_of(listing->after)) > 0)
        return SES_OK;
    return ses__error_set(
        error, SES_CORRUPT, "%s: the artifact \"%.*s\", version %lld, is out of place in a list",
        listing->call->at.store->path, (int)row->name.len, row->name.ptr, (long long)row->version);
}

static int take_part(struct artifact_rows *rows, struct listing *listing, bool is_second, ses_error *error)
{
    ses_artifact_list *list = listing->list;
    struct artifact_call call = *listing->call;
    struct artifact_row row;

    call.of_user |= is_second;
    while (ses__artifact_rows_next(rows, &row)) {
        ses__query_keep(&rows->query, check_place(listing, &row, error));
        if (rows->query.code == SES_OK)
            ses__query_keep(&rows->query, ses__artifact_info_make(&list->items[list->count++], &row, &call,
                                                                  &list->arena, error));
    }
    return ses__query_end(&rows->query);
}

static int compare_artifact_names(const void *left, const void *right)
{
    return strcmp(((const struct artifact_info *)left)->shown.name,
                  ((const struct artifact_info *)right)->shown.name);
}

/* Asks a server for everything at once. */
static int list_parts(struct db *db, struct listing *listing, int parts, ses_error *error)
{
    const bool ahead = ses__db_asks_ahead(db);
    struct artifact_rows rows[2];
    struct artifact_owner owner;
    struct query user;
    int code = ses__artifact_ask_owner(&user, db, listing->call, &owner, error);

    for (int i = 0; i < parts && ahead; i++)
        open_part(&rows[i], db, listing, &owner, i == 1, error);
    if (code == SES_OK) {
        ses__db_ask_last(db);
        code = ses__artifact_take_owner(&user, &owner);
    }
    for (int i = 0; i < parts && code == SES_OK; i++) {
        if (!ahead)
            open_part(&rows[i], db, listing, &owner, i == 1, error);
        code = take_part(&rows[i], listing, i == 1, error);
    }
    return code;
}

static int run_listing(struct db *db, void *context, ses_error *error)
{
    struct listing *listing = context;
    ses_artifact_list *list = listing->list;
    const bool is_of_names = !listing->call->name[0];

    ses__arena_reset(&list->arena); /* of an earlier run */
    list->count = 0;
    list->more = false;
    list->items = ses__arena_new(&list->arena, 2 * (listing->limit + 1) * sizeof *list->items);
    if (!list->items)
        return ses__error_nomem(error);
    const int code = list_parts(db, listing, is_of_names && !listing->call->of_user ? 2 : 1, error);
    if (is_of_names)
        qsort(list->items, list->count, sizeof *list->items, compare_artifact_names);
    list->more = list->count > listing->limit;
    if (list->more)
        list->count = listing->limit;
    return code == SES_NOTFOUND ? SES_OK : code;
}

/* --------------------------------------------------------------------------------------------- the calls */

static int list_artifacts(const struct artifact_call *call, const ses_artifact_list_options *given,
                          ses_artifact_list **list, ses_error *error)
{
    ses_store *store = call->at.store;
    ses_artifact_list_options options;
    int code = ses__take_options(&options, sizeof options, given, "artifact list options", error);

    if (code == SES_OK && options.limit > ARTIFACTS_MAX)
        code =
            ses__error_set(error, SES_INVALID, "artifact list options: limit is more than %d", ARTIFACTS_MAX);
    if (code == SES_OK && options.first_version < 0)
        code = ses__error_set(error, SES_INVALID, "artifact list options: first_version is negative");
    if (code == SES_OK && options.after)
        code = ses__check_id(options.after, "artifact list options: after,", error);
    if (code != SES_OK)
        return code;
    ses_artifact_list *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    const struct limits limits = LIMITS_OF(store, options);
    struct listing listing = {.call = call,
                              .after = options.after ? options.after : "",
                              .first_version = options.first_version,
                              .limit = options.limit ? options.limit : ARTIFACTS_DEFAULT,
                              .list = fresh};
    code = ses__run_within(store->storage, &limits, TO_READ, run_listing, &listing, error);
    if (code == SES_OK)
        *list = fresh;
    else
        ses_artifact_list_close(fresh);
    return code;
}

static int list_at(const struct target *target, const char *name, const ses_artifact_list_options *options,
                   ses_artifact_list **list, ses_error *error)
{
    struct artifact_call call;
    int code = ses__check_output(list, "list", error);

    if (code == SES_OK)
        code = ses__artifact_begin(&call, target, name, error);
    return code == SES_OK ? ses__call_end(&call.at, list_artifacts(&call, options, list, error)) : code;
}

int ses_artifact_names(ses_session *session, const ses_artifact_list_options *options,
                       ses_artifact_list **list, ses_error *error)
{
    return list_at(ON(session), NULL, options, list, error);
}

int ses_artifact_names_by_key(ses_store *store, const ses_key *key, const ses_artifact_list_options *options,
                              ses_artifact_list **list, ses_error *error)
{
    return list_at(AT(store, key), NULL, options, list, error);
}

int ses_artifact_versions(ses_session *session, const char *name, const ses_artifact_list_options *options,
                          ses_artifact_list **list, ses_error *error)
{
    return list_at(ON(session), name ? name : "", options, list, error);
}

int ses_artifact_versions_by_key(ses_store *store, const ses_key *key, const char *name,
                                 const ses_artifact_list_options *options, ses_artifact_list **list,
                                 ses_error *error)
{
    return list_at(AT(store, key), name ? name : "", options, list, error);
}

size_t ses_artifact_list_count(const ses_artifact_list *list)
{
    return list->count;
}

const ses_artifact_info *ses_artifact_list_at(const ses_artifact_list *list, size_t index)
{
    return index < list->count ? &list->items[index].shown : NULL;
}

int ses_artifact_list_more(const ses_artifact_list *list)
{
    return list->more;
}

void ses_artifact_list_close(ses_artifact_list *list)
{
    if (list) {
        ses_store *store = list->store;
        ses__arena_free(&list->arena);
        ses__memory_free(&store->allocator, list);
        ses__store_release(store);
    }
}
