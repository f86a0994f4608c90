/*
 * An engine that stands before a store's own: it counts the transactions that are run, and can fail them, or
 * run each job twice, as engines may.
 */
#ifndef SESLITE_TEST_FAKE_ENGINE_H
#define SESLITE_TEST_FAKE_ENGINE_H

#include "session/store.h"
#include "storage/sql/engine.h"
#include "storage/sqlite/parts.h"
#include "support.h"

enum fake_kind {
    FAKE_READ,
    FAKE_WRITE,
    FAKE_WHOLE, /* an operation that the engine does in its own way */
    FAKE_KINDS
};

struct fake_engine {
    struct engine table;
    const struct engine *real;
    unsigned calls[FAKE_KINDS];
    int fails_with;   /* a code; 0: with none */
    bool answer_lost; /* then: the transaction was done nevertheless */
    /* Returns the storage in which a job runs first, for nothing; NULL: in none. Called before each job. */
    struct storage *(*elsewhere)(void *context);
    void *context;
};

static inline struct fake_engine *fake_of(const struct storage *storage)
{
    return (struct fake_engine *)(uintptr_t)storage->engine;
}

static inline int fake_fail(const struct fake_engine *fake, ses_error *error)
{
    if (error) {
        *error = (ses_error){.code = fake->fails_with, .offset = -1, .index = -1};
        snprintf(error->message, sizeof error->message, "the fake engine fails");
    }
    return fake->fails_with;
}

static inline int fake_run(struct storage *storage, const struct manner *manner, storage_job *job,
                           void *context, ses_error *error)
{
    struct fake_engine *fake = fake_of(storage);
    int code = SES_OK;

    fake->calls[manner->writes ? FAKE_WRITE : FAKE_READ]++;
    if (fake->elsewhere && !manner->alone) { /* a job that asks or tells its caller is not run again */
        struct storage *other = fake->elsewhere(fake->context);
        ses_error unseen;
        (void)other->engine->run(other, manner, job, context, &unseen);
        ses__door_release(other);
    }
    if (fake->fails_with == SES_OK || fake->answer_lost)
        code = fake->real->run(storage, manner, job, context, error);
    /* A read after which the call writes has no answer that could be lost. */
    const bool is_step = fake->answer_lost && manner->uninterruptible && code == SES_OK;
    return fake->fails_with == SES_OK || is_step ? code : fake_fail(fake, error);
}

/* The transactions of the operation are not counted. */
#define FAKE_WHOLE_OPERATION(name, op_type)                                                      \
    static inline int fake_##name(struct storage *storage, struct op_type *op, ses_error *error) \
    {                                                                                            \
        struct fake_engine *fake = fake_of(storage);                                             \
        int code = SES_OK;                                                                       \
                                                                                                 \
        fake->calls[FAKE_WHOLE]++;                                                               \
        storage->engine = fake->real;                                                            \
        if (fake->fails_with == SES_OK || fake->answer_lost)                                     \
            code = ses__door_##name(storage, op, error);                                         \
        storage->engine = &fake->table;                                                          \
        return fake->fails_with == SES_OK ? code : fake_fail(fake, error);                       \
    }
FAKE_WHOLE_OPERATION(maintain, maintain_op)
FAKE_WHOLE_OPERATION(space, space_op)
FAKE_WHOLE_OPERATION(watch, watch_op)

static inline int fake_check(struct storage *storage, struct check *check)
{
    struct fake_engine *fake = fake_of(storage);

    fake->calls[FAKE_WHOLE]++;
    engine_check *real = fake->real->check ? fake->real->check : ses__sqlite_check;
    return fake->fails_with == SES_OK ? real(storage, check) : fake->fails_with;
}

/* Puts it before the store's engine. It must outlive the store. */
static inline void fake_engine_put(struct fake_engine *fake, ses_store *store)
{
    *fake = (struct fake_engine){.table = *store->storage->engine, .real = store->storage->engine};
    fake->table.run = fake_run;
    fake->table.maintain = fake_maintain;
    fake->table.space = fake_space;
    fake->table.watch = fake_watch;
    fake->table.check = fake_check;
    store->storage->engine = &fake->table;
}

static inline unsigned fake_total(const struct fake_engine *fake)
{
    unsigned total = 0;
    for (int i = 0; i < FAKE_KINDS; i++)
        total += fake->calls[i];
    return total;
}

/* Since the last time it was asked, there were so many transactions, and so many operations of the engine's
 * own. */
#define assert_transactions(fake, reads, writes) \
    fake_assert_calls((fake), (reads), (writes), 0, __FILE__, __LINE__)
#define assert_whole(fake, count) fake_assert_calls((fake), 0, 0, (count), __FILE__, __LINE__)
#define assert_reads(fake, count) assert_transactions(fake, count, 0)
#define assert_writes(fake, count) assert_transactions(fake, 0, count)
#define assert_no_transaction(fake) assert_transactions(fake, 0, 0)

static inline void fake_assert_calls(struct fake_engine *fake, unsigned reads, unsigned writes,
                                     unsigned whole, const char *file, int line)
{
    const unsigned *calls = fake->calls;

    if (calls[FAKE_READ] != reads || calls[FAKE_WRITE] != writes || calls[FAKE_WHOLE] != whole) {
        print_error("%s:%d: %u reads, %u writes and %u of the engine's own, not %u, %u and %u\n", file, line,
                    calls[FAKE_READ], calls[FAKE_WRITE], calls[FAKE_WHOLE], reads, writes, whole);
        _fail(file, line);
    }
    memset(fake->calls, 0, sizeof fake->calls);
}

#endif
