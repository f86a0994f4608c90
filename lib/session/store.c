#include "session/store.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "model/event/timestamp.h"
#include "session/followers.h"
#include "session/handle.h"

/* ----------------------------------------------------------------------------------------- arguments */

int ses__check_key(const ses_key *key, ses_error *error)
{
    int code = ses__check_argument(key, "key", error);
    if (code == SES_OK)
        code = ses__check_id(key->app, "app", error);
    if (code == SES_OK)
        code = ses__check_id(key->user, "user", error);
    if (code == SES_OK)
        code = ses__check_id(key->session, "session", error);
    return code;
}

int ses__check_owner(const char *app, const char *user, const char *session, ses_error *error)
{
    int code = ses__check_id(app, "app", error);

    if (code == SES_OK && user)
        code = ses__check_id(user, "user", error);
    return code == SES_OK && session ? ses__check_id(session, "session", error) : code;
}

int ses__check_prefix(const char *prefix, const char *what, ses_error *error)
{
    const size_t len = prefix ? strnlen(prefix, SES_ID_MAX + 1) : 0;

    return !prefix || (len <= SES_ID_MAX && ses__utf8_valid(prefix, len))
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "%s is longer than %d bytes, or not valid UTF-8", what,
                                SES_ID_MAX);
}

bool ses__key_copy(const ses_key *key, struct arena *arena, ses_key *copy)
{
    const size_t app_size = key->app ? strlen(key->app) + 1 : 0;
    const size_t user_size = key->user ? strlen(key->user) + 1 : 0;
    const size_t session_size = key->session ? strlen(key->session) + 1 : 0;
    char *names = ses__arena_new(arena, app_size + user_size + session_size + 1); /* never nothing */

    if (!names)
        return false;
    copy->app = key->app ? memcpy(names, key->app, app_size) : NULL;
    copy->user = key->user ? memcpy(names + app_size, key->user, user_size) : NULL;
    copy->session = key->session ? memcpy(names + app_size + user_size, key->session, session_size) : NULL;
    return true;
}

int ses__give_json(int code, char *made, size_t made_len, char **json, size_t *len)
{
    if (code != SES_OK) {
        ses_free(made);
        return code;
    }
    *json = made;
    if (len)
        *len = made_len;
    return made ? SES_OK : SES_ABSENT;
}

int ses__check_text(const ses_store *store, const char *text, size_t len, const char *what, struct span *span,
                    ses_error *error)
{
    size_t limit = store->max_event_bytes;
    int code = ses__check_argument(text, what, error);

    if (code == SES_OK) {
        if (len == SES_NUL)
            len = strnlen(text, limit + 1);
        if (len > limit)
            code =
                ses__error_set(error, SES_LIMIT, "the %s is longer than max_event_bytes, %zu", what, limit);
        *span = (struct span){text, len};
    }
    return code;
}

int ses__check_event_size(const ses_store *store, size_t len, size_t limit, ses_error *error)
{
    return len <= limit ? SES_OK : ses__error_set(error, SES_LIMIT, TOO_LONG_EVENT, store->max_event_bytes);
}

int ses__delete_options_take(ses_store *store, const ses_delete_options *given, unsigned known,
                             ses_delete_options *own, struct erasure *erasure, ses_error *error)
{
    const int code = ses__take_flagged(own, sizeof *own, given, SES_SECURE | known, "delete options", error);

    erasure->secure = (own->flags & SES_SECURE) != 0;
    erasure->limits = LIMITS_OF(store, *own);
    return code == SES_OK ? ses__receipt_begin(own->erased, erasure, error) : code;
}

int ses__receipt_begin(ses_erased *erased, struct erasure *erasure, ses_error *error)
{
    erasure->counts = erased != NULL;
    return erased ? ses__check_size(erased, "erased", error) : SES_OK;
}

void ses__receipt_end(ses_erased *erased, const struct erasure *erasure)
{
    if (erased)
        ses__give_output(erased, &erasure->erased, sizeof erasure->erased);
}

/* --------------------------------------------------------------------------------------- life of a store */

/* A call that is traced. Its limits point to its meter, which counts its work. */
struct traced {
    struct traced *next;
    const char *call;
    pthread_t thread;
    int64_t begun_us; /* by the steady clock */
    struct meter meter;
};

/* Without memory the call is not traced. */
static void trace_begin(ses_store *store, const char *call)
{
    struct traced *traced = ses__memory_zeroed(&store->allocator, sizeof *traced);

    if (!traced)
        return;
    traced->call = call;
    traced->thread = pthread_self();
    traced->begun_us = ses__clock_steady_us();
    (void)pthread_mutex_lock(&store->lock);
    traced->next = store->traced;
    store->traced = traced;
    (void)pthread_mutex_unlock(&store->lock);
}

/* With the lock held: returns the link to this thread's innermost call, which is NULL if that is not
 * traced. */
static struct traced **find_traced(ses_store *store)
{
    struct traced **at = &store->traced;

    while (*at && !pthread_equal((*at)->thread, pthread_self()))
        at = &(*at)->next;
    return at;
}

static void trace_end(ses_store *store, int code)
{
    (void)pthread_mutex_lock(&store->lock);
    struct traced **at = find_traced(store);
    struct traced *traced = *at;
    if (traced)
        *at = traced->next;
    (void)pthread_mutex_unlock(&store->lock);
    if (!traced)
        return;
    const int64_t took_us = ses__clock_steady_us() - traced->begun_us;
    const int64_t wait_us = traced->meter.wait_us < took_us ? traced->meter.wait_us : took_us;
    store->trace(store->trace_context, &(ses_trace){.call = traced->call,
                                                    .code = code,
                                                    .wait_us = wait_us,
                                                    .work_us = took_us - wait_us,
                                                    .bytes_in = traced->meter.bytes_in,
                                                    .bytes_out = traced->meter.bytes_out});
    ses__memory_free(&store->allocator, traced);
}

int ses__store_begin_as(ses_store *store, const char *call, ses_error *error)
{
    int code = ses__check_argument(store, "store", error);

    if (code == SES_OK && store->process != getpid())
        code = ses__error_set(error, SES_MISUSE,
                              "the store was opened by another process; stores do not survive a fork");
    if (code != SES_OK)
        return code;
    ses__error_clear(error);
    (void)pthread_mutex_lock(&store->lock);
    if (atomic_load(&store->closed))
        code = ses__error_set(error, SES_MISUSE, "%s: the store is closed", store->path);
    else
        store->calls++;
    (void)pthread_mutex_unlock(&store->lock);
    if (code == SES_OK && store->trace)
        trace_begin(store, call);
    return code;
}

int ses__store_begin_giving_as(ses_store *store, const char *call, void *output, const char *what,
                               ses_error *error)
{
    int code = ses__check_output(output, what, error);
    return code == SES_OK ? ses__store_begin_as(store, call, error) : code;
}

int ses__store_end(ses_store *store, int code)
{
    if (store->trace)
        trace_end(store, code);
    (void)pthread_mutex_lock(&store->lock);
    if (--store->calls == 0 && atomic_load(&store->closed))
        (void)pthread_cond_signal(&store->ended);
    (void)pthread_mutex_unlock(&store->lock);
    return code;
}

void ses__store_retain(ses_store *store)
{
    atomic_fetch_add(&store->references, 1);
}

void ses__store_release(ses_store *store)
{
    /* In a forked child the connections are the parent's: closing them there could damage the file. */
    if (atomic_fetch_sub(&store->references, 1) == 1 && store->process == getpid()) {
        ses_allocator allocator = store->allocator;
        struct followers *followers = atomic_load(&store->followers);
        if (followers)
            ses__followers_free(followers);
        if (store->storage)
            ses__door_release(store->storage);
        ses__uuid_source_free(&store->uuids);
        ses__lease_queue_free(&store->leases);
        (void)pthread_cond_destroy(&store->ended);
        (void)pthread_mutex_destroy(&store->lock);
        ses__memory_free(&allocator, store->path);
        ses__memory_free(&allocator, store);
    }
}

/* ---------------------------------------------------------------------------------------------- limits */

int64_t ses__wait_us(int64_t wait_ms)
{
    const int64_t longest_ms = INT64_MAX / 4000;

    return (wait_ms < 0 ? 0 : wait_ms > longest_ms ? longest_ms : wait_ms) * 1000;
}

struct limits ses__limits(ses_store *store, int64_t timeout_ms, ses_cancel *cancel)
{
    const int64_t limit_ms = timeout_ms ? timeout_ms : store->timeout_ms;
    struct traced *traced = NULL;

    if (store->trace) {
        (void)pthread_mutex_lock(&store->lock);
        traced = *find_traced(store);
        (void)pthread_mutex_unlock(&store->lock);
    }
    return (struct limits){.deadline_us = limit_ms > 0 ? ses__clock_steady_us() + ses__wait_us(limit_ms) : 0,
                           .cancel = cancel,
                           .meter = traced ? &traced->meter : NULL};
}

int ses__take_call_options(ses_store *store, const ses_call_options *options, struct limits *limits,
                           ses_error *error)
{
    ses_call_options own;
    int code = ses__take_flagged(&own, sizeof own, options, 0, "call options", error);

    *limits = LIMITS_OF(store, own);
    return code;
}

/* ------------------------------------------------------------------------------------------- time and ids */

int64_t ses__store_now(const ses_store *store)
{
    int64_t now = store->clock(store->clock_context);
    return now < TIMESTAMP_MIN ? TIMESTAMP_MIN : now > TIMESTAMP_MAX ? TIMESTAMP_MAX : now;
}

int ses__store_make_id(ses_store *store, char *id, ses_error *error)
{
    if (!store->make_id)
        return ses__uuid_make(&store->uuids, ses__store_now(store), id)
                   ? SES_OK
                   : ses__error_set(error, SES_IO, "the system provides no random bytes for an id");
    return store->make_id(store->make_id_context, id, SES_ID_MAX + 1) == 0
               ? ses__check_id(id, "made", error)
               : ses__error_set(error, SES_INVALID, "the store's make_id failed");
}

int ses_store_make_id(ses_store *store, char *id, size_t capacity, ses_error *error)
{
    char made[SES_ID_MAX + 1];
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__check_argument(id, "id", error);
    if (code == SES_OK)
        code = ses__store_make_id(store, made, error);
    if (code == SES_OK && strlen(made) >= capacity)
        code = ses__error_set(error, SES_LIMIT, "the id has %zu bytes and a NUL; there is room for %zu",
                              strlen(made), capacity);
    if (code == SES_OK)
        memcpy(id, made, strlen(made) + 1);
    return ses__store_end(store, code);
}

/* Interrupts calls that wait; with `closes`, also those that wait later. */
static void interrupt_waiting(ses_store *store, bool closes)
{
    struct followers *followers = atomic_load(&store->followers);

    ses__lease_queue_interrupt(&store->leases, closes);
    if (followers)
        ses__followers_interrupt(followers, closes);
}

void ses_close(ses_store *store)
{
    if (!store || store->process != getpid())
        return;
    (void)pthread_mutex_lock(&store->lock);
    atomic_store(&store->closed, true);
    (void)pthread_mutex_unlock(&store->lock);
    interrupt_waiting(store, true);
    (void)pthread_mutex_lock(&store->lock);
    while (store->calls > 0)
        (void)pthread_cond_wait(&store->ended, &store->lock);
    (void)pthread_mutex_unlock(&store->lock);
    struct followers *followers = atomic_load(&store->followers); /* a call may have opened the first */
    if (followers)
        ses__followers_stop(followers);
    ses__door_close(store->storage);
    ses__store_release(store);
}

const ses_allocator *ses__store_allocator(const ses_store *store)
{
    return store ? &store->allocator : NULL;
}

struct hash_seed ses__store_seed(const ses_store *store)
{
    return store->seed;
}

/* Begins a call that fills the caller's struct, up to its `size`. */
static int begin_output(ses_store *store, const char *call, const void *output, const char *what,
                        ses_error *error)
{
    int code = ses__store_begin_as(store, call, error);

    if (code != SES_OK)
        return code;
    code = ses__check_argument(output, what, error);
    if (code == SES_OK)
        code = ses__check_size(output, what, error);
    return code == SES_OK ? SES_OK : ses__store_end(store, code);
}

int ses_store_info(ses_store *store, ses_info *info, ses_error *error)
{
    ses_info filled = {0};
    int code = begin_output(store, __func__, info, "info", error);

    if (code != SES_OK)
        return code;
    ses__door_describe(store->storage, &filled);
    ses__give_output(info, &filled, sizeof filled);
    return ses__store_end(store, SES_OK);
}

int ses_store_space(ses_store *store, const ses_call_options *options, ses_space *space, ses_error *error)
{
    struct space_op op;
    int code = begin_output(store, __func__, space, "space", error);

    if (code != SES_OK)
        return code;
    code = ses__take_call_options(store, options, &op.limits, error);
    if (code == SES_OK)
        code = ses__door_space(store->storage, &op, error);
    if (code == SES_OK)
        ses__give_output(space, &(ses_space){.bytes = op.bytes, .free_bytes = op.free_bytes}, sizeof *space);
    return ses__store_end(store, code);
}

int ses_store_stats(ses_store *store, ses_stats *stats, ses_error *error)
{
    ses_stats filled = {0};
    int code = begin_output(store, __func__, stats, "stats", error);

    if (code != SES_OK)
        return code;
    ses__door_count(store->storage, &filled);
    ses__give_output(stats, &filled, sizeof filled);
    return ses__store_end(store, SES_OK);
}

int ses_store_interrupt(ses_store *store, ses_error *error)
{
    int code = ses__store_begin(store, error);
    if (code != SES_OK)
        return code;
    ses__door_interrupt(store->storage);
    interrupt_waiting(store, false);
    return ses__store_end(store, SES_OK);
}
