#include "session/store.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/timestamp.h"
#include "session/handle.h"

static const size_t DEFAULT_MAX_EVENT = (size_t)16 << 20;
static const size_t LARGEST_MAX_EVENT = (size_t)512 << 20;

enum { DEFAULT_READERS = 4, MAX_READERS = 64, DEFAULT_BUSY_MS = 10000 };

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

/* --------------------------------------------------------------------------------------- life of a store */

static int refuse_closed_store(const ses_store *store, ses_error *error)
{
    return ses__error_set(error, SES_MISUSE, "%s: the store is closed", store->path);
}

int ses__store_enter(const ses_store *store, ses_error *error)
{
    int code = ses__check_argument(store, "store", error);
    if (code == SES_OK && store->process != getpid())
        code = ses__error_set(error, SES_MISUSE,
                              "the store was opened by another process; stores do not survive a fork");
    else if (code == SES_OK && atomic_load(&store->closed))
        code = refuse_closed_store(store, error);
    if (code == SES_OK)
        ses__error_clear(error);
    return code;
}

int ses__store_begin(ses_store *store, ses_error *error)
{
    int code = ses__store_enter(store, error);

    if (code == SES_OK) {
        (void)pthread_mutex_lock(&store->lock);
        if (atomic_load(&store->closed)) /* just now */
            code = refuse_closed_store(store, error);
        else
            store->calls++;
        (void)pthread_mutex_unlock(&store->lock);
    }
    return code;
}

void ses__store_end(ses_store *store)
{
    (void)pthread_mutex_lock(&store->lock);
    if (--store->calls == 0 && atomic_load(&store->closed))
        (void)pthread_cond_signal(&store->ended);
    (void)pthread_mutex_unlock(&store->lock);
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
        if (store->storage)
            store->storage->engine->release(store->storage);
        ses__uuid_source_free(&store->uuids);
        (void)pthread_cond_destroy(&store->ended);
        (void)pthread_mutex_destroy(&store->lock);
        ses__memory_free(&allocator, store->path);
        ses__memory_free(&allocator, store);
    }
}

int64_t ses__store_now(const ses_store *store)
{
    int64_t now = store->clock(store->clock_context);
    return now < TIMESTAMP_MIN ? TIMESTAMP_MIN : now > TIMESTAMP_MAX ? TIMESTAMP_MAX : now;
}

int ses__store_make_id(ses_store *store, char *id, ses_error *error)
{
    int code = SES_OK;

    if (!store->make_id) {
        if (!ses__uuid_make(&store->uuids, ses__store_now(store), id))
            code = ses__error_set(error, SES_IO, "the system provides no random bytes for an id");
    } else if (store->make_id(store->id_context, id, SES_ID_MAX + 1) != 0) {
        code = ses__error_set(error, SES_INVALID, "the store's make_id failed");
    } else {
        code = ses__check_id(id, "made", error);
    }
    return code;
}

int ses_store_make_id(ses_store *store, char *id, size_t capacity, ses_error *error)
{
    char made[SES_ID_MAX + 1];
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (code == SES_OK)
        code = ses__check_argument(id, "id", error);
    if (code == SES_OK)
        code = ses__store_make_id(store, made, error);
    if (code == SES_OK && strlen(made) >= capacity)
        code = ses__error_set(error, SES_LIMIT, "the id has %zu bytes and a NUL; there is room for %zu",
                              strlen(made), capacity);
    if (code == SES_OK)
        memcpy(id, made, strlen(made) + 1);
    if (begun)
        ses__store_end(store);
    return code;
}

static int check_allocator(const ses_allocator *given, ses_allocator *own, ses_error *error)
{
    int code = SES_OK;
    if (!given) {
        ses__memory_default(own);
    } else {
        code = ses__take_options(own, sizeof *own, given, "allocator", error);
        if (code == SES_OK && (!own->allocate || !own->resize || !own->release))
            code = ses__error_set(error, SES_MISUSE,
                                  "allocator: allocate, resize and release must all be given");
    }
    return code;
}

static int check_options(const ses_open_options *options, ses_error *error)
{
    int code =
        ses__check_flags(options->flags, SES_OPEN_READ_ONLY | SES_OPEN_MUST_EXIST, "open options", error);

    if (code == SES_OK && options->synchronous != SES_SYNC_FULL && options->synchronous != SES_SYNC_NORMAL)
        code = ses__error_set(error, SES_MISUSE, "open options: synchronous is not one of SES_SYNC_*");
    if (code == SES_OK && (options->journal < SES_JOURNAL_AUTO || options->journal > SES_JOURNAL_ROLLBACK))
        code = ses__error_set(error, SES_MISUSE, "open options: journal is not one of SES_JOURNAL_*");
    if (code == SES_OK && options->checkpoint != SES_CHECKPOINT_AUTO &&
        options->checkpoint != SES_CHECKPOINT_EXTERNAL)
        code = ses__error_set(error, SES_MISUSE, "open options: checkpoint is not one of SES_CHECKPOINT_*");
    if (code == SES_OK && options->max_event_bytes > LARGEST_MAX_EVENT)
        code = ses__error_set(error, SES_MISUSE, "open options: max_event_bytes is more than 512 MiB");
    if (code == SES_OK && options->max_readers > MAX_READERS)
        code = ses__error_set(error, SES_MISUSE, "open options: max_readers is more than %d", MAX_READERS);
    return code;
}

static int check_path(const char *path, ses_error *error)
{
    int code = ses__check_argument(path, "path", error);
    if (code == SES_OK && path[0] == '\0')
        code = ses__error_set(error, SES_INVALID, "the path is empty");
    else if (code == SES_OK && strncmp(path, "file:", 5) == 0)
        code =
            ses__error_set(error, SES_INVALID,
                           "%s: expected a path, not a URI (for a file of this name use ./%s)", path, path);
    return code;
}

static int open_storage(ses_store *store, const ses_open_options *options, ses_error *error)
{
    const int64_t longest_ms = INT64_MAX / 4000;
    int64_t busy_ms = options->busy_timeout_ms == 0 ? DEFAULT_BUSY_MS : options->busy_timeout_ms;
    const struct sqlite_config config = {
        .path = store->path,
        .in_memory = strcmp(store->path, ":memory:") == 0,
        .read_only = (options->flags & SES_OPEN_READ_ONLY) != 0,
        .must_exist = (options->flags & SES_OPEN_MUST_EXIST) != 0,
        .synchronous = options->synchronous,
        .journal = options->journal,
        .checkpoint = options->checkpoint,
        .busy_timeout_us = (busy_ms < 0            ? 0
                            : busy_ms > longest_ms ? longest_ms
                                                   : busy_ms) *
                           1000,
        .max_readers = options->max_readers ? options->max_readers : DEFAULT_READERS,
        .allocator = &store->allocator,
    };
    int code = SES_OK;

    if (config.in_memory && (config.read_only || config.must_exist))
        code = ses__error_set(error, SES_MISUSE, "a store in memory is always new and writable");
    if (code == SES_OK)
        code = ses__sqlite_open(&config, &store->storage, error);
    return code;
}

static void set_callbacks(ses_store *store, const ses_open_options *options)
{
    store->max_event_bytes = options->max_event_bytes ? options->max_event_bytes : DEFAULT_MAX_EVENT;
    store->clock = options->clock ? options->clock : ses__clock_wall_us;
    store->clock_context = options->clock_context;
    store->make_id = options->make_id;
    store->id_context = options->id_context;
}

static bool store_init_locks(ses_store *store)
{
    bool lock = pthread_mutex_init(&store->lock, NULL) == 0;
    bool ended = lock && pthread_cond_init(&store->ended, NULL) == 0;
    bool uuids = ended && ses__uuid_source_init(&store->uuids);

    if (ended && !uuids)
        (void)pthread_cond_destroy(&store->ended);
    if (lock && !uuids)
        (void)pthread_mutex_destroy(&store->lock);
    return uuids;
}

/* Everything but the file. */
static int store_new(const char *path, const ses_open_options *options, const ses_allocator *allocator,
                     ses_store **store, ses_error *error)
{
    size_t path_len = strlen(path);
    ses_store *fresh = ses__memory_zeroed(allocator, sizeof *fresh);
    char *path_copy = ses__memory_new(allocator, path_len + 1);
    int code = SES_OK;

    if (!fresh || !path_copy || !store_init_locks(fresh)) {
        ses__memory_free(allocator, path_copy);
        ses__memory_free(allocator, fresh);
        code = ses__error_nomem(error);
    } else {
        memcpy(path_copy, path, path_len + 1);
        fresh->allocator = *allocator;
        fresh->path = path_copy;
        fresh->process = getpid();
        atomic_init(&fresh->references, 1);
        atomic_init(&fresh->closed, false);
        set_callbacks(fresh, options);
        *store = fresh;
        if (!ses__random_bytes(&fresh->seed, sizeof fresh->seed))
            code = ses__error_set(error, SES_IO, "the system provides no random bytes");
    }
    return code;
}

int ses_open(const char *path, const ses_open_options *given, ses_store **store, ses_error *error)
{
    ses_open_options options;
    ses_allocator allocator;
    ses_store *opened = NULL;
    int code = ses__check_argument(store, "store", error);

    ses__error_clear(code == SES_OK ? error : NULL);
    if (code == SES_OK)
        *store = NULL;
    if (code == SES_OK)
        code = check_path(path, error);
    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "open options", error);
    if (code == SES_OK)
        code = check_options(&options, error);
    if (code == SES_OK)
        code = check_allocator(options.allocator, &allocator, error);
    if (code == SES_OK)
        code = store_new(path, &options, &allocator, &opened, error);
    if (code == SES_OK)
        code = open_storage(opened, &options, error);
    if (code == SES_OK)
        *store = opened;
    else if (opened)
        ses__store_release(opened);
    return code;
}

void ses_close(ses_store *store)
{
    if (store && store->process == getpid()) {
        (void)pthread_mutex_lock(&store->lock);
        atomic_store(&store->closed, true);
        while (store->calls > 0)
            (void)pthread_cond_wait(&store->ended, &store->lock);
        (void)pthread_mutex_unlock(&store->lock);
        store->storage->engine->close(store->storage);
        ses__store_release(store);
    }
}

const ses_allocator *ses__store_allocator(const ses_store *store)
{
    return store ? &store->allocator : NULL;
}

/* An output struct of the caller's, which says how much of it there is. */
static int check_output(const void *output, const char *what, ses_error *error)
{
    size_t size = 0;
    int code = ses__check_argument(output, what, error);

    if (code == SES_OK)
        memcpy(&size, output, sizeof size);
    if (code == SES_OK && size <= sizeof size)
        code =
            ses__error_set(error, SES_MISUSE, "%s: the member `size` is not set to sizeof the struct", what);
    return code;
}

/* Fills as much as the caller's version of the struct has; its size stays. */
static void give_output(void *output, const void *filled, size_t filled_size)
{
    size_t size;
    memcpy(&size, output, sizeof size);
    if (size > filled_size)
        size = filled_size;
    memcpy((char *)output + sizeof size, (const char *)filled + sizeof size, size - sizeof size);
}

int ses_store_info(ses_store *store, ses_info *info, ses_error *error)
{
    ses_info filled = {0};
    int code = ses__store_begin(store, error);
    const bool begun = code == SES_OK;

    if (code == SES_OK)
        code = check_output(info, "info", error);
    if (code == SES_OK) {
        store->storage->engine->describe(store->storage, &filled);
        give_output(info, &filled, sizeof filled);
    }
    if (begun)
        ses__store_end(store);
    return code;
}

int ses_store_stats(ses_store *store, ses_stats *stats, ses_error *error)
{
    ses_stats filled = {0};
    int code = ses__store_begin(store, error);
    if (code != SES_OK)
        return code;
    code = check_output(stats, "stats", error);
    if (code == SES_OK) {
        store->storage->engine->count(store->storage, &filled);
        give_output(stats, &filled, sizeof filled);
    }
    ses__store_end(store);
    return code;
}

int ses_store_interrupt(ses_store *store, ses_error *error)
{
    int code = ses__store_begin(store, error);
    if (code == SES_OK) {
        store->storage->engine->interrupt(store->storage);
        ses__store_end(store);
    }
    return code;
}
