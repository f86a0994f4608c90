/* The pool of reading connections: opened when first needed, up to a limit, and kept. */
#include "base/clock.h"
#include "storage/sqlite/parts.h"

static const int64_t LOOK_INTERVAL_US = 1000000;
static const int64_t WATCH_WAIT_US = 20000;

/* With the lock held. An idle one, or (then *db is NULL) the right to open one. */
static int reserve(struct sqlite *storage, struct connection **db, const struct limits *limits,
                   int64_t deadline, ses_error *error)
{
    const int64_t begun_us = ses__clock_steady_us();
    struct readers *readers = &storage->readers;
    unsigned limit = storage->config.max_readers;
    bool in_time = true;
    int code = SES_OK;

    while (!readers->idle && readers->open >= limit && in_time) {
        storage->counts.reader_waits++;
        in_time = ses__limits_wait(limits, &readers->given_back, &storage->lock, deadline);
    }
    *db = readers->idle;
    if (*db) {
        readers->idle = (*db)->next_idle;
        readers->in_use++;
    } else if (readers->open < limit) {
        readers->open++;
        readers->in_use++;
    } else {
        code = ses__refuse_busy(&storage->config, limits, begun_us, "all reading connections are", error);
    }
    return code;
}

/* With the lock held. `db` NULL: the one that was reserved could not be opened. */
static void give_back(struct sqlite *storage, struct connection *db)
{
    struct readers *readers = &storage->readers;

    readers->in_use--;
    if (db) {
        db->next_idle = readers->idle;
        readers->idle = db;
        ses__connection_count(db, &storage->counts);
    } else {
        readers->open--;
    }
    (void)pthread_cond_signal(&readers->given_back);
}

static int open_reserved(struct sqlite *storage, const struct limits *limits, struct connection **db,
                         ses_error *error)
{
    int code = ses__connection_open(&storage->config, CONNECTION_READER, limits, db, error);

    (void)pthread_mutex_lock(&storage->lock);
    if (code == SES_OK) {
        (*db)->next_open = storage->readers.all;
        storage->readers.all = *db;
    } else {
        give_back(storage, NULL);
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return code;
}

int ses__readers_run(struct sqlite *storage, storage_job *job, void *context, enum job_kind kind,
                     const struct limits *limits, ses_error *error)
{
    const int64_t wait_us = kind == JOB_WATCHES ? WATCH_WAIT_US : storage->config.busy_timeout_us;
    const int64_t deadline = ses__limits_until(limits, ses__clock_steady_us() + wait_us);
    const bool interruptible = kind == JOB_READS;
    struct connection *db = NULL;

    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.read_calls += kind == JOB_WATCHES ? 0 : 1;
    int result = reserve(storage, &db, limits, deadline, error);
    const bool looks = ses__clock_steady_us() - storage->readers.looked_us >= LOOK_INTERVAL_US;
    if (db)
        ses__connection_start_call(db, deadline, interruptible, limits);
    (void)pthread_mutex_unlock(&storage->lock);

    if (result == SES_OK && !db) {
        result = open_reserved(storage, limits, &db, error);
        if (result == SES_OK)
            ses__connection_start_call(db, deadline, interruptible, limits);
    }
    if (result == SES_OK) {
        if (looks) {
            result = ses__connection_check_file(db, error);
            (void)pthread_mutex_lock(&storage->lock);
            if (result == SES_OK) /* otherwise every read looks, so that none succeeds */
                storage->readers.looked_us = ses__clock_steady_us();
            (void)pthread_mutex_unlock(&storage->lock);
        }
        if (result == SES_OK)
            result = ses__transaction_read(db, job, context, error);
        (void)pthread_mutex_lock(&storage->lock);
        ses__connection_end_call(db);
        give_back(storage, db);
        (void)pthread_mutex_unlock(&storage->lock);
    }
    return result;
}

void ses__readers_adopt(struct sqlite *storage)
{
    struct readers *readers = &storage->readers;

    readers->all = readers->idle = storage->writer.db;
    readers->open = 1;
    storage->writer.db = NULL;
}

void ses__readers_close(struct sqlite *storage)
{
    struct connection *reader = storage->readers.all;
    while (reader) {
        struct connection *next = reader->next_open;
        ses__connection_close(reader);
        reader = next;
    }
    storage->readers.all = NULL;
    storage->readers.idle = NULL;
    storage->readers.open = 0;
}
