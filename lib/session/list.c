/* Pages of sessions. */
#include <string.h>

#include "base/error.h"
#include "session/list_token.h"
#include "session/session.h"

enum { LIST_DEFAULT = 100, LIST_MOST = 10000 };

struct ses_list_page {
    ses_store *store;
    struct arena arena;
    ses_session **sessions;
    size_t count;
    size_t capacity;
    const char *token;
};

struct list_job {
    struct list_identity identity;
    struct list_query query;
    size_t limit;
    ses_list_page *page;
    struct db *db;
    bool more; /* there is a session behind the page's last */
};

/* The session of the page that shows the same user's state already; NULL: none yet. */
static const ses_session *find_shown(const ses_list_page *page, int64_t user_id)
{
    const ses_session *found = NULL;
    for (size_t i = page->count; i > 0 && !found; i--) {
        if (page->sessions[i - 1]->row.user_id == user_id)
            found = page->sessions[i - 1];
    }
    return found;
}

/* App and user state are read once a page and shared. */
static int load_state(struct list_job *job, ses_session *session, ses_error *error)
{
    const ses_list_page *page = job->page;
    const struct session_row *row = &session->row;
    const ses_session *same_user = find_shown(page, row->user_id);
    int code = SES_OK;

    if (page->count > 0)
        ses__state_share(&session->state, &page->sessions[0]->state, SCOPE_APP);
    else
        code = ses__state_load(&session->state, job->db, SCOPE_APP, row->app_id, error);
    if (code == SES_OK && same_user)
        ses__state_share(&session->state, &same_user->state, SCOPE_USER);
    else if (code == SES_OK)
        code = ses__state_load(&session->state, job->db, SCOPE_USER, row->user_id, error);
    if (code == SES_OK)
        code = ses__state_load(&session->state, job->db, SCOPE_SESSION, row->id, error);
    return code;
}

static int add_session(void *context, const struct session_row *row, struct span name, struct span user,
                       ses_error *error)
{
    struct list_job *job = context;
    ses_list_page *page = job->page;
    const ses_key key = {job->identity.app, user.ptr, name.ptr};
    ses_session *session = NULL;
    int result = SES_OK;

    if (page->count == job->limit) {
        job->more = true;
        result = 1;
    } else {
        void *sessions = page->sessions;
        result = ses__session_new(page->store, &key, &session, error);
        if (result == SES_OK) {
            session->row = *row;
            result = load_state(job, session, error);
        }
        if (result == SES_OK && !ses__memory_grow(&page->store->allocator, &sessions, &page->capacity,
                                                  page->count + 1, sizeof(ses_session *)))
            result = ses__error_nomem(error);
        page->sessions = sessions;
        if (result == SES_OK)
            page->sessions[page->count++] = session;
        else
            ses_session_close(session);
    }
    return result;
}

static int run_list(struct db *db, void *context, ses_error *error)
{
    struct list_job *job = context;
    const struct list_identity *identity = &job->identity;
    struct user_row user;
    int code;

    while (job->page->count > 0) /* of an earlier run */
        ses_session_close(job->page->sessions[--job->page->count]);
    job->more = false;
    job->db = db;
    if (identity->user) {
        code = ses__user_find(db, identity->app, identity->user, &user, error);
        job->query.user_id = user.id;
        job->query.app_id = user.app_id;
    } else {
        code = ses__app_find(db, identity->app, &job->query.app_id, error);
    }
    if (code == SES_OK)
        code = ses__sessions_list(db, &job->query, add_session, job, error);
    else if (code == SES_NOTFOUND)
        code = SES_OK;
    return code;
}

/* The place behind the page's last session. */
static int make_token(struct list_job *job, ses_error *error)
{
    ses_list_page *page = job->page;
    const ses_session *last = page->sessions[page->count - 1];
    const struct list_place place = {
        last->row.updated_us, {last->id, strlen(last->id)}, last->row.user_id, last->row.id};
    page->token = ses__list_token_write(&job->identity, &place, &page->arena);
    return page->token ? SES_OK : ses__error_nomem(error);
}

static int page_new(ses_store *store, ses_list_page **page, ses_error *error)
{
    ses_list_page *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (fresh) {
        fresh->store = store;
        ses__store_retain(store);
        ses__arena_init(&fresh->arena, &store->allocator);
        *page = fresh;
    }
    return fresh ? SES_OK : ses__error_nomem(error);
}

static int list_sessions(ses_store *store, struct list_job *job, const char *token, ses_error *error)
{
    int code = page_new(store, &job->page, error);

    if (code == SES_OK && token)
        code = ses__list_token_read(&job->identity, token, &job->page->arena, &job->query.after, error);
    if (code == SES_OK)
        code = ses__storage_read(store->storage, run_list, job, error);
    if (code == SES_OK && job->more)
        code = make_token(job, error);
    return code;
}

int ses_list(ses_store *store, const char *app, const char *user, const ses_list_options *given,
             ses_list_page **page, ses_error *error)
{
    ses_list_options options;
    struct list_job job = {.identity = {app, user, 0}};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (page)
        *page = NULL;
    if (code == SES_OK)
        code = ses__check_argument(page, "page", error);
    if (code == SES_OK)
        code = ses__check_id(app, "app", error);
    if (code == SES_OK && user)
        code = ses__check_id(user, "user", error);
    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "list options", error);
    if (code == SES_OK && (options.order < SES_ORDER_NEWEST || options.order > SES_ORDER_CREATED))
        code = ses__error_set(error, SES_MISUSE, "list options: order is not one of SES_ORDER_*");
    if (code == SES_OK && options.limit > LIST_MOST)
        code = ses__error_set(error, SES_INVALID, "list options: limit is more than %d", LIST_MOST);
    if (code == SES_OK) {
        job.identity.order = options.order;
        job.limit = options.limit ? options.limit : LIST_DEFAULT;
        job.query = (struct list_query){.whole_app = user == NULL,
                                        .order = options.order,
                                        .limit = (int64_t)job.limit + 1,
                                        .from_start = options.token == NULL};
        code = list_sessions(store, &job, options.token, error);
    }
    if (code == SES_OK)
        *page = job.page;
    else
        ses_list_close(job.page);
    if (begun)
        ses__store_end(store);
    return code;
}

size_t ses_list_count(const ses_list_page *page)
{
    return page->count;
}

const ses_session *ses_list_session(const ses_list_page *page, size_t index)
{
    return index < page->count ? page->sessions[index] : NULL;
}

const char *ses_list_token(const ses_list_page *page)
{
    return page->token;
}

void ses_list_close(ses_list_page *page)
{
    if (page) {
        ses_store *store = page->store;
        for (size_t i = 0; i < page->count; i++)
            ses_session_close(page->sessions[i]);
        ses__memory_free(&store->allocator, page->sessions);
        ses__arena_free(&page->arena);
        ses__memory_free(&store->allocator, page);
        ses__store_release(store);
    }
}
