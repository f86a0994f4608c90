/* Counts sessions. */
#include "session/read/filter.h"
#include "session/store.h"
#include "storage/sql/rows/list.h"

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
        code = ses__filter_take(filter, counting->user, &counting->filter, error);
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
