/* Opens a store. */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"

static const size_t DEFAULT_MAX_EVENT = (size_t)16 << 20;

enum { DEFAULT_BUSY_MS = 10000 };

int ses__check_path(const char *path, ses_error *error)
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

static int open_storage(ses_store *store, const ses_open_options *options,
                        const struct storage_opener *opener, ses_error *error)
{
    const struct storage_config config = {
        .path = store->path,
        .read_only = (options->flags & SES_OPEN_READ_ONLY) != 0,
        .must_exist = (options->flags & SES_OPEN_MUST_EXIST) != 0,
        .has_clock = options->clock != NULL,
        .timeout_us = ses__wait_us(options->busy_timeout_ms ? options->busy_timeout_ms : DEFAULT_BUSY_MS),
        .allocator = &store->allocator,
    };

    store->busy_timeout_us = config.timeout_us;
    store->timeout_ms = options->timeout_ms;
    store->is_shared = strcmp(store->path, ":memory:") != 0;
    return opener->open(opener->context, &config, options, &store->storage, error);
}

static bool store_init_locks(ses_store *store)
{
    bool lock = pthread_mutex_init(&store->lock, NULL) == 0;
    bool ended = lock && pthread_cond_init(&store->ended, NULL) == 0;
    bool uuids = ended && ses__uuid_source_init(&store->uuids);
    bool leases = uuids && ses__lease_queue_init(&store->leases);

    if (uuids && !leases)
        ses__uuid_source_free(&store->uuids);
    if (ended && !leases)
        (void)pthread_cond_destroy(&store->ended);
    if (lock && !leases)
        (void)pthread_mutex_destroy(&store->lock);
    return leases;
}

/* Makes the store without its storage. */
static int store_new(const char *path, const ses_open_options *options, const ses_allocator *allocator,
                     ses_store **store, ses_error *error)
{
    ses_store *fresh = ses__memory_zeroed(allocator, sizeof *fresh);
    char *path_copy = ses__memory_copy(allocator, path, strlen(path));

    if (!fresh || !path_copy || !store_init_locks(fresh)) {
        ses__memory_free(allocator, path_copy);
        ses__memory_free(allocator, fresh);
        return ses__error_nomem(error);
    }
    fresh->allocator = *allocator;
    fresh->path = path_copy;
    fresh->process = getpid();
    atomic_init(&fresh->references, 1);
    atomic_init(&fresh->closed, false);
    atomic_init(&fresh->followers, NULL);
    fresh->max_event_bytes = options->max_event_bytes ? options->max_event_bytes : DEFAULT_MAX_EVENT;
    fresh->max_session_events = options->max_session_events ? options->max_session_events : INT64_MAX;
    fresh->clock = options->clock ? options->clock : ses__clock_wall_us;
    fresh->clock_context = options->clock_context;
    fresh->trace = options->trace;
    fresh->trace_context = options->trace_context;
    fresh->make_id = options->make_id;
    fresh->make_id_context = options->make_id_context;
    *store = fresh;
    return ses__random_bytes(&fresh->seed, sizeof fresh->seed)
               ? SES_OK
               : ses__error_set(error, SES_IO, "the system provides no random bytes");
}

int ses__store_open(const char *path, const ses_open_options *given, const struct storage_opener *opener,
                    ses_store **store, ses_error *error)
{
    const unsigned known = SES_OPEN_READ_ONLY | SES_OPEN_MUST_EXIST | SES_OPEN_LINKED;
    ses_open_options options;
    ses_allocator allocator;
    ses_store *opened = NULL;
    int code = ses__check_path(path, error);

    if (code == SES_OK)
        code = ses__take_flagged(&options, sizeof options, given, known, "open options", error);
    if (code == SES_OK && options.max_event_bytes > LARGEST_MAX_EVENT)
        code = ses__error_set(error, SES_MISUSE, "open options: max_event_bytes is more than 512 MiB");
    if (code == SES_OK && options.max_session_events < 0)
        code = ses__error_set(error, SES_MISUSE, "open options: max_session_events is negative");
    if (code == SES_OK)
        code = ses__take_options(&allocator, sizeof allocator, options.allocator, "allocator", error);
    if (code == SES_OK && !options.allocator)
        ses__memory_default(&allocator);
    if (code == SES_OK && (!allocator.allocate || !allocator.resize || !allocator.release))
        code = ses__error_set(error, SES_MISUSE, "allocator: allocate, resize and release must all be given");
    if (code == SES_OK)
        code = store_new(path, &options, &allocator, &opened, error);
    if (code == SES_OK)
        code = open_storage(opened, &options, opener, error);
    if (code == SES_OK)
        *store = opened;
    else if (opened)
        ses__store_release(opened);
    return code;
}
