/* Forgetting what is remembered. */
#include "base/argument.h"
#include "base/error.h"
#include "memory/memory.h"
#include "model/event/rows.h"
#include "seslite_erase.h"
#include "session/handle.h"
#include "session/store.h"

struct forgetting {
    ses_store *store;
    const ses_key *key; /* which may have no session */
    struct limits limits;
    unsigned flags; /* of deletions */
    ses_erased erased;
    bool more; /* one of them returned SES_MORE */
};

static void add_receipt(ses_erased *sum, const ses_erased *one)
{
    sum->sessions += one->sessions;
    sum->events += one->events;
    sum->state_keys += one->state_keys;
    sum->artifacts += one->artifacts;
    sum->index_events += one->index_events;
    sum->derived_left += one->derived_left;
    if (one->forks_left > 0)
        sum->forks_left += one->forks_left;
}

static int delete_copies(struct forgetting *own, const char *id, ses_error *error)
{
    const ses_key key = {own->key->app, own->key->user, id};
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {
        .size = sizeof options, .flags = own->flags, .erased = &erased, LEFT_OF(&own->limits)};
    const int code = ses_delete(own->store, &key, &options, NULL, error);

    if (code < 0)
        return code;
    add_receipt(&own->erased, &erased);
    own->more = own->more || code == SES_MORE;
    return SES_OK;
}

static int forget_session(struct forgetting *own, const ses_session *session, ses_error *error)
{
    const ses_key key = {own->key->app, own->key->user, ses_session_id(session)};

    if (ses_session_kind(session) == SES_KIND_MEMORY)
        return delete_copies(own, key.session, error);
    const int code = ses__begun_remember(own->store, &key, 0, &own->limits, error);
    return code == SES_NOTFOUND ? SES_OK : code; /* it was deleted meanwhile */
}

static int visit_forgotten(void *context, const ses_page *page, size_t index, ses_error *error)
{
    return forget_session(context, ses_page_session(page, index), error);
}

/* Those with that label, or (NULL) all. */
static int forget_listed(struct forgetting *own, const char *label, const char *value, ses_error *error)
{
    const ses_filter filter = {.size = sizeof filter, .label = label, .label_value = value, .remembered = 1};
    const ses_list_options options = {.size = sizeof options,
                                      .order = SES_ORDER_CREATED,
                                      .flags = SES_LIST_NO_STATE,
                                      .filter = &filter,
                                      LEFT_OF(&own->limits)};

    return ses_list_each(own->store, own->key->app, own->key->user, &options, visit_forgotten, own, error);
}

/* The session, if it is of the kind memory, or not, as is said. */
static int forget_one(struct forgetting *own, const char *id, bool is_memory, ses_error *error)
{
    const ses_key key = {own->key->app, own->key->user, id};
    ses_session *session = NULL;
    int code = ses__memories_look(own->store, &key, &own->limits, &session, error);

    if (code == SES_OK && session && (ses_session_kind(session) == SES_KIND_MEMORY) == is_memory)
        code = forget_session(own, session, error);
    ses_session_close(session);
    return code;
}

static int forget(struct forgetting *own, const char *project, ses_error *error)
{
    const char *session = own->key->session;
    struct memory_place place;

    if (!session)
        return forget_listed(own, project ? MEMORY_PROJECT : NULL, project, error);
    ses__memories_place_of(&place, project, session);
    int code = forget_one(own, place.id, true, error);
    if (code == SES_OK && !project)
        code = forget_one(own, session, false, error);
    if (code == SES_OK && !project)
        code = forget_listed(own, MEMORY_SOURCE, session, error);
    return code;
}

static int forget_begun(ses_store *store, const ses_key *key, const char *project,
                        const ses_delete_options *given, ses_error *error)
{
    struct forgetting own = {.store = store, .key = key};
    struct erasure erasure;
    ses_delete_options options;
    int code = ses__check_argument(key, "key", error);

    if (code == SES_OK)
        code = ses__check_argument(key->user, "key: user", error);
    if (code == SES_OK)
        code = ses__check_owner(key->app, key->user, key->session, error);
    if (code == SES_OK)
        code = ses__memories_check_project(project, error);
    if (code == SES_OK)
        code = ses__delete_options_take(store, given, 0, &options, &erasure, error);
    if (code != SES_OK)
        return code;
    own.limits = LIMITS_OF(store, options);
    own.flags = options.flags;
    code = forget(&own, project, error);
    erasure.erased = own.erased;
    ses__receipt_end(options.erased, &erasure);
    return code == SES_OK && own.more ? SES_MORE : code;
}

int ses_memory_forget(ses_store *store, const ses_key *key, const char *project,
                      const ses_delete_options *options, ses_error *error)
{
    const int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, forget_begun(store, key, project, options, error)) : code;
}

/* ------------------------------------------------------------------------------------------ single events */

/* The rest of what is remembered of a conversation. */
struct rest {
    struct arena arena;
    ses_text *items;
    size_t count;
    size_t capacity;
};

static bool is_among(int64_t seq, const int64_t *seqs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seqs[i] == seq)
            return true;
    return false;
}

static int read_rest(const struct forgetting *own, int64_t last, const int64_t *seqs, size_t count,
                     struct rest *rest, ses_error *error)
{
    const ses_range range = {
        .size = sizeof range, .which = SES_RANGE_SEQ | SES_RANGE_LIVE, .first_seq = 1, .last_seq = last};
    const ses_cursor_options options = {.size = sizeof options, .range = &range, LEFT_OF(&own->limits)};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code = ses__begun_cursor_open(own->store, own->key, &options, false, &cursor, error);

    while (cursor && code >= 0) {
        code = ses__begun_cursor_next(cursor, &event, error);
        if (code != SES_ROW)
            break;
        if (is_among(event->seq, seqs, count))
            continue;
        const char *copy = ses__arena_text(&rest->arena, event->json, event->json_len);
        if (!copy || !LIST_GROW(rest->arena.allocator, rest))
            code = ses__error_nomem(error);
        else
            rest->items[rest->count++] = (ses_text){copy, event->json_len};
    }
    (void)ses_cursor_close(cursor, NULL); /* its failure is known */
    return code < 0 ? code : SES_OK;
}

/* The copies are made first, so that nothing is lost in between: an event that is there twice is found
 * once. */
static int forget_said(struct forgetting *own, int64_t last, const int64_t *seqs, size_t count,
                       ses_error *error)
{
    struct rest rest = {.count = 0};

    ses__arena_init(&rest.arena, ses__store_allocator(own->store));
    int code = read_rest(own, last, seqs, count, &rest, error);
    if (code == SES_OK)
        code = ses__memories_copy(own->store, own->key, rest.items, rest.count, &own->limits, error);
    if (code == SES_OK)
        code = ses__begun_remember(own->store, own->key, 0, &own->limits, error);
    ses__memory_free(rest.arena.allocator, rest.items);
    ses__arena_free(&rest.arena);
    return code;
}

static int forget_events_begun(ses_store *store, const ses_key *key, const int64_t *seqs, size_t count,
                               const ses_call_options *given, ses_error *error)
{
    struct forgetting own = {.store = store, .key = key};
    ses_session *session = NULL;
    int code = ses__take_call_options(store, given, &own.limits, error);

    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK && count > 0)
        code = ses__check_argument(seqs, "seqs", error);
    if (code == SES_OK)
        code = ses__memories_look(store, key, &own.limits, &session, error);
    if (code == SES_OK && !session)
        code = ses__error_set(error, SES_NOTFOUND, "there is no session '%s'", key->session);
    if (code == SES_OK && count > 0 && ses_session_kind(session) == SES_KIND_MEMORY) {
        const ses_redact_options options = {
            .size = sizeof options, .flags = SES_ANYWAY, .text = "", LEFT_OF(&own.limits)};
        code = ses_redact_by_key(store, key, seqs, count, &options, NULL, error);
    } else if (code == SES_OK && count > 0 && ses_session_remembered_seq(session) > 0) {
        code = forget_said(&own, ses_session_remembered_seq(session), seqs, count, error);
    }
    ses_session_close(session);
    return code;
}

int ses_memory_forget_events(ses_store *store, const ses_key *key, const int64_t *seqs, size_t count,
                             const ses_call_options *options, ses_error *error)
{
    const int code = ses__store_begin(store, error);
    return code == SES_OK
               ? ses__store_end(store, forget_events_begun(store, key, seqs, count, options, error))
               : code;
}
