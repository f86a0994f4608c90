/* Pages of sessions. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "session/read/filter.h"
#include "session/session.h"
#include "session/token.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 10000, PREVIEW_DEFAULT = 200, PREVIEW_MAX = 4096 };

struct ses_page {
    ses_store *store;
    struct arena arena;
    ses_session **sessions;
    size_t count;
    const ses_preview *previews; /* one each session, in the arena; NULL: none */
    char *token;
};

/* Makes the handles of a page, which take over its snapshots. */
static int adopt_all(ses_page *page, struct list_op *op, ses_error *error)
{
    ses_store *store = page->store;
    int code = SES_OK;

    page->sessions = ses__memory_new(&store->allocator, (op->count + 1) * sizeof(ses_session *));
    if (!page->sessions)
        return ses__error_nomem(error);
    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        struct listed *listed = &op->items[i];
        const ses_key key = {op->app, listed->user, listed->name};
        code = ses__session_adopt(store, &key, &listed->snapshot, &page->sessions[page->count], error);
        if (code == SES_OK)
            page->count++;
    }
    return code;
}

/* -------------------------------------------------------------------------------------------- tokens */

/* The hash of the options that must be the same in the call that makes a token and in the one that takes
 * it. */
static uint32_t hash_of_list(const struct list_op *op)
{
    const unsigned char order = (unsigned char)op->order;
    uint32_t hash = ses__hash32_name(ses__hash32(HASH32_BASIS, &order, 1), op->app);

    hash = ses__filter_add_text(hash, 'u', op->user);
    return ses__filter_hash(hash, &op->filter);
}

static int take_token(struct list_op *op, const char *token, ses_error *error)
{
    struct list_place *place = &op->after;
    struct buffer bytes;
    struct span name;
    int code = SES_OK;

    ses__buffer_init(&bytes, op->arena->allocator);
    const bool good =
        ses__token_read(token, hash_of_list(op), &bytes, &name) &&
        ses__token_get_signed(&name, &place->time_us) && ses__token_get_signed(&name, &place->user_id) &&
        ses__token_get_signed(&name, &place->session_id) && name.len > 0 && name.len <= SES_ID_MAX &&
        !memchr(name.ptr, '\0', name.len) && ses__utf8_valid(name.ptr, name.len);
    if (good)
        place->name = (struct span){ses__arena_text(op->arena, name.ptr, name.len), name.len};
    if (bytes.failed || (good && !place->name.ptr))
        code = ses__error_nomem(error);
    else if (!good)
        code = ses__error_set(error, SES_INVALID,
                              "the token is not from a list of this app, user, order and filter");
    ses__buffer_free(&bytes);
    return code;
}

/* --------------------------------------------------------------------------------------------- pages */

static int read_into_page(ses_page *page, struct list_op *op, const char *token, ses_error *error)
{
    op->arena = &page->arena;
    int code = token ? take_token(op, token, error) : SES_OK;
    if (code != SES_OK)
        return code;
    code = ses__door_list(page->store->storage, op, error);
    if (code == SES_OK)
        code = adopt_all(page, op, error);
    page->previews = op->previews;
    ses__list_op_free(op, &page->store->allocator);
    if (code != SES_OK || !op->more)
        return code;
    const ses_session *last = page->sessions[page->count - 1];
    const struct session_row *row = &last->snapshot.row;
    struct buffer bytes;
    ses__token_begin(&bytes, &page->store->allocator);
    ses__token_put_signed(&bytes, op->order == SES_ORDER_CHANGED ? row->changed_us : row->updated_us);
    ses__token_put_signed(&bytes, row->user_id);
    ses__token_put_signed(&bytes, row->id);
    ses__buffer_add_word(&bytes, last->key.session);
    page->token = ses__token_end(&bytes, hash_of_list(op));
    return page->token ? SES_OK : ses__error_nomem(error);
}

static int list_sessions(ses_store *store, struct list_op *op, const ses_list_options *given, ses_page **page,
                         ses_error *error)
{
    ses_list_options options;
    int code = ses__take_options(&options, sizeof options, given, "list options", error);

    if (code == SES_OK)
        code = ses__check_owner(op->app, op->user, NULL, error);
    if (code == SES_OK && (options.order < SES_ORDER_NEWEST || options.order > SES_ORDER_CHANGED))
        code = ses__error_set(error, SES_MISUSE, "list options: order is not one of SES_ORDER_*");
    if (code == SES_OK && options.limit > LIST_MAX)
        code = ses__error_set(error, SES_INVALID, "list options: limit is more than %d", LIST_MAX);
    if (code == SES_OK)
        code = ses__check_flags(options.flags, SES_LIST_NO_STATE | SES_LIST_PREVIEW, "list options", error);
    if (code == SES_OK && options.preview_bytes > PREVIEW_MAX)
        code = ses__error_set(error, SES_INVALID, "list options: preview_bytes is more than %d", PREVIEW_MAX);
    if (code == SES_OK)
        code = ses__filter_take(options.filter, op->app, op->user, &op->filter, error);
    if (code != SES_OK)
        return code;
    op->no_state = (options.flags & SES_LIST_NO_STATE) != 0;
    if (options.flags & SES_LIST_PREVIEW)
        op->preview_bytes = options.preview_bytes ? options.preview_bytes : PREVIEW_DEFAULT;
    op->order = options.order;
    op->limit = options.limit ? options.limit : LIST_DEFAULT;
    op->from_start = options.token == NULL;
    op->seed = store->seed;
    op->limits = LIMITS_OF(store, options);
    ses_page *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    code = read_into_page(fresh, op, options.token, error);
    if (code == SES_OK)
        *page = fresh;
    else
        ses_page_close(fresh);
    return code;
}

int ses_list(ses_store *store, const char *app, const char *user, const ses_list_options *options,
             ses_page **page, ses_error *error)
{
    struct list_op op = {.app = app, .user = user};
    int code = ses__store_begin_giving(store, page, "page", error);
    return code == SES_OK ? ses__store_end(store, list_sessions(store, &op, options, page, error)) : code;
}

static int visit_listed(const ses_page *page, ses_session_visitor *visit, void *context, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < page->count && code == SES_OK; i++) {
        ses_error own;
        ses__error_clear(&own);
        code = visit(context, page, i, &own);
        if (code != SES_OK && code != SES_MORE)
            code = ses__error_called(error, code, 0, &own, "visits sessions");
    }
    return code;
}

static int visit_pages(ses_store *store, const struct list_op *op, ses_list_options *options,
                       ses_session_visitor *visit, void *context, ses_error *error)
{
    ses_page *last = NULL; /* has the token */
    int code;

    do {
        struct list_op fresh = *op;
        ses_page *page = NULL;
        code = list_sessions(store, &fresh, options, &page, error);
        ses_page_close(last);
        last = page;
        if (code == SES_OK)
            code = visit_listed(page, visit, context, error);
        options->token = page ? page->token : NULL;
    } while (code == SES_OK && options->token);
    ses_page_close(last);
    return code;
}

int ses_list_each(ses_store *store, const char *app, const char *user, const ses_list_options *options,
                  ses_session_visitor *visit, void *context, ses_error *error)
{
    const struct list_op op = {.app = app, .user = user};
    ses_list_options own;
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__take_options(&own, sizeof own, options, "list options", error);
    own.size = sizeof own;
    if (code == SES_OK && !visit)
        code = ses__error_set(error, SES_MISUSE, "the argument `visit` is NULL");
    if (code == SES_OK)
        code = visit_pages(store, &op, &own, visit, context, error);
    return ses__store_end(store, code);
}

size_t ses_page_count(const ses_page *page)
{
    return page->count;
}

const ses_session *ses_page_session(const ses_page *page, size_t index)
{
    return index < page->count ? page->sessions[index] : NULL;
}

int64_t ses_page_changed_us(const ses_page *page, size_t index)
{
    return index < page->count ? page->sessions[index]->snapshot.row.changed_us : 0;
}

const ses_preview *ses_page_preview(const ses_page *page, size_t index)
{
    return page->previews && index < page->count ? &page->previews[index] : NULL;
}

const char *ses_page_token(const ses_page *page)
{
    return page->token;
}

void ses_page_close(ses_page *page)
{
    if (page) {
        ses_store *store = page->store;
        for (size_t i = 0; i < page->count; i++)
            ses_session_close(page->sessions[i]);
        ses__memory_free(&store->allocator, page->sessions);
        ses__memory_free(&store->allocator, page->token);
        ses__arena_free(&page->arena);
        ses__memory_free(&store->allocator, page);
        ses__store_release(store);
    }
}
