/*
 * An engine that stands before a store's own: it counts the operations that come through the door, and can fail them,
 * or begin each of them once in vain, as engines may.
 */
#ifndef SESLITE_TEST_FAKE_ENGINE_H
#define SESLITE_TEST_FAKE_ENGINE_H

#include "session/store.h"
#include "support.h"

enum fake_operation {
    FAKE_CREATE,
    FAKE_GET,
    FAKE_REFRESH,
    FAKE_VALUE,
    FAKE_GET_SHARED,
    FAKE_SET_SHARED,
    FAKE_APPEND,
    FAKE_PAGE,
    FAKE_LIST,
    FAKE_LIST_COUNT,
    FAKE_LIST_NAMES,
    FAKE_DELETE,
    FAKE_DELETE_USER,
    FAKE_AS_OF,
    FAKE_REWIND,
    FAKE_CUT,
    FAKE_FORK,
    FAKE_LOAD,
    FAKE_VISIT,
    FAKE_DELETE_APP,
    FAKE_PRUNE,
    FAKE_SET_EXPIRY,
    FAKE_ANNOTATE,
    FAKE_EXPIRE,
    FAKE_MAINTAIN,
    FAKE_SPACE,
    FAKE_BACKUP,
    FAKE_COPY,
    FAKE_CHECK,
    FAKE_LEASE_TAKE,
    FAKE_LEASE_RENEW,
    FAKE_LEASE_RELEASE,
    FAKE_FOLLOW,
    FAKE_WATCH,
    FAKE_OPERATIONS
};

struct fake_engine {
    struct storage base;
    struct storage *real;
    unsigned calls[FAKE_OPERATIONS];
    int fails_with;   /* a code; 0: with none */
    bool answer_lost; /* then: the operation was done all the same */
    /* Where an operation is run first, in vain; NULL: nowhere. It is asked for before each. */
    struct storage *(*elsewhere)(void *context);
    void *context;
};

/* What a run that was in vain has left to be freed. */
static inline void fake_forget_create(struct create_op *op)
{
    (void)op;
}

static inline void fake_forget_get(struct get_op *op)
{
    (void)op;
}

static inline void fake_forget_refresh(struct refresh_op *op)
{
    ses__advance_free(&op->advance);
}

static inline void fake_forget_value(struct value_op *op)
{
    ses_free(op->json);
    op->json = NULL;
}

static inline void fake_forget_get_shared(struct shared_get_op *op)
{
    ses_free(op->json);
    op->json = NULL;
}

static inline void fake_forget_set_shared(struct shared_set_op *op)
{
    (void)op;
}

static inline void fake_forget_append(struct append_op *op)
{
    ses__advance_free(&op->advance);
}

static inline void fake_forget_page(struct page_op *op)
{
    (void)op;
}

static inline void fake_forget_list(struct list_op *op)
{
    ses__list_op_free(op, op->arena->allocator);
}

static inline void fake_forget_list_count(struct count_op *op)
{
    (void)op;
}

static inline void fake_forget_list_names(struct names_op *op)
{
    (void)op;
}

static inline void fake_forget_delete_session(struct delete_op *op)
{
    (void)op;
}

static inline void fake_forget_delete_user(struct delete_user_op *op)
{
    (void)op;
}

static inline void fake_forget_as_of(struct as_of_op *op)
{
    ses_free(op->json);
    op->json = NULL;
}

static inline void fake_forget_rewind(struct rewind_op *op)
{
    ses__advance_free(&op->append.advance);
}

static inline void fake_forget_cut(struct cut_op *op)
{
    ses__advance_free(&op->advance);
}

static inline void fake_forget_fork(struct fork_op *op)
{
    (void)op;
}

static inline void fake_forget_prune(struct prune_op *op)
{
    (void)op;
}

static inline void fake_forget_delete_app(struct delete_app_op *op)
{
    (void)op;
}

static inline void fake_forget_set_expiry(struct expiry_op *op)
{
    (void)op;
}

static inline void fake_forget_annotate(struct annotate_op *op)
{
    ses__annotations_free(&op->annotations);
}

static inline void fake_forget_expire(struct expire_op *op)
{
    (void)op;
}

static inline void fake_forget_maintain(struct maintain_op *op)
{
    (void)op;
}

static inline void fake_forget_space(struct space_op *op)
{
    (void)op;
}

static inline void fake_forget_lease_take(struct lease_take_op *op)
{
    (void)op;
}

static inline void fake_forget_lease_renew(struct lease_op *op)
{
    (void)op;
}

static inline void fake_forget_lease_release(struct lease_op *op)
{
    (void)op;
}

static inline void fake_forget_follow(struct follow_op *op)
{
    (void)op;
}

static inline void fake_forget_watch(struct watch_op *op)
{
    (void)op;
}

static inline int fake_fail(const struct fake_engine *fake, ses_error *error)
{
    if (error) {
        *error = (ses_error){.code = fake->fails_with, .offset = -1, .index = -1};
        snprintf(error->message, sizeof error->message, "the fake engine fails");
    }
    return fake->fails_with;
}

/* `in_vain` is what an engine that begins again does to the operation, having run it elsewhere. */
#define FAKE_OPERATION(name, kind, op_type, in_vain)                                          \
    static inline int fake_##name(struct storage *base, struct op_type *op, ses_error *error) \
    {                                                                                         \
        struct fake_engine *fake = (struct fake_engine *)base;                                \
        int code = SES_OK;                                                                    \
                                                                                              \
        fake->calls[kind]++;                                                                  \
        if (fake->elsewhere) {                                                                \
            struct storage *other = fake->elsewhere(fake->context);                           \
            in_vain;                                                                          \
            other->engine->release(other);                                                    \
        }                                                                                     \
        if (fake->fails_with == SES_OK || fake->answer_lost)                                  \
            code = ses__door_##name(fake->real, op, error);                                   \
        return fake->fails_with == SES_OK ? code : fake_fail(fake, error);                    \
    }

#define FAKE_IN_VAIN(name)                          \
    do {                                            \
        ses_error unseen;                           \
        (void)ses__door_##name(other, op, &unseen); \
        fake_forget_##name(op);                     \
    } while (0)

/* Its range is asked for and answered. */
#define FAKE_PAGE_IN_VAIN()             \
    do {                                \
        struct range asked = op->range; \
        FAKE_IN_VAIN(page);             \
        op->range = asked;              \
    } while (0)

FAKE_OPERATION(create, FAKE_CREATE, create_op, FAKE_IN_VAIN(create))
FAKE_OPERATION(get, FAKE_GET, get_op, FAKE_IN_VAIN(get))
FAKE_OPERATION(refresh, FAKE_REFRESH, refresh_op, FAKE_IN_VAIN(refresh))
FAKE_OPERATION(value, FAKE_VALUE, value_op, FAKE_IN_VAIN(value))
FAKE_OPERATION(get_shared, FAKE_GET_SHARED, shared_get_op, FAKE_IN_VAIN(get_shared))
FAKE_OPERATION(set_shared, FAKE_SET_SHARED, shared_set_op, FAKE_IN_VAIN(set_shared))
FAKE_OPERATION(append, FAKE_APPEND, append_op, FAKE_IN_VAIN(append))
FAKE_OPERATION(page, FAKE_PAGE, page_op, FAKE_PAGE_IN_VAIN())
FAKE_OPERATION(list, FAKE_LIST, list_op, FAKE_IN_VAIN(list))
FAKE_OPERATION(list_count, FAKE_LIST_COUNT, count_op, FAKE_IN_VAIN(list_count))
FAKE_OPERATION(list_names, FAKE_LIST_NAMES, names_op, FAKE_IN_VAIN(list_names))
FAKE_OPERATION(delete_session, FAKE_DELETE, delete_op, FAKE_IN_VAIN(delete_session))
FAKE_OPERATION(delete_user, FAKE_DELETE_USER, delete_user_op, FAKE_IN_VAIN(delete_user))
FAKE_OPERATION(as_of, FAKE_AS_OF, as_of_op, FAKE_IN_VAIN(as_of))
FAKE_OPERATION(rewind, FAKE_REWIND, rewind_op, FAKE_IN_VAIN(rewind))
FAKE_OPERATION(cut, FAKE_CUT, cut_op, FAKE_IN_VAIN(cut))
FAKE_OPERATION(fork, FAKE_FORK, fork_op, FAKE_IN_VAIN(fork))
/* What asks or tells its caller is not begun again. */
FAKE_OPERATION(load, FAKE_LOAD, load_op, (void)0)
FAKE_OPERATION(visit, FAKE_VISIT, visit_op, (void)0)
FAKE_OPERATION(delete_app, FAKE_DELETE_APP, delete_app_op, FAKE_IN_VAIN(delete_app))
FAKE_OPERATION(set_expiry, FAKE_SET_EXPIRY, expiry_op, FAKE_IN_VAIN(set_expiry))
FAKE_OPERATION(annotate, FAKE_ANNOTATE, annotate_op, FAKE_IN_VAIN(annotate))
FAKE_OPERATION(expire, FAKE_EXPIRE, expire_op, FAKE_IN_VAIN(expire))
FAKE_OPERATION(maintain, FAKE_MAINTAIN, maintain_op, FAKE_IN_VAIN(maintain))
FAKE_OPERATION(space, FAKE_SPACE, space_op, FAKE_IN_VAIN(space))
FAKE_OPERATION(backup, FAKE_BACKUP, backup_op, (void)other)
FAKE_OPERATION(copy, FAKE_COPY, copy_op, (void)other)
FAKE_OPERATION(check, FAKE_CHECK, check_op, (void)other)
FAKE_OPERATION(lease_take, FAKE_LEASE_TAKE, lease_take_op, FAKE_IN_VAIN(lease_take))
FAKE_OPERATION(lease_renew, FAKE_LEASE_RENEW, lease_op, FAKE_IN_VAIN(lease_renew))
FAKE_OPERATION(lease_release, FAKE_LEASE_RELEASE, lease_op, FAKE_IN_VAIN(lease_release))
FAKE_OPERATION(prune, FAKE_PRUNE, prune_op, FAKE_IN_VAIN(prune))
FAKE_OPERATION(follow, FAKE_FOLLOW, follow_op, FAKE_IN_VAIN(follow))
FAKE_OPERATION(watch, FAKE_WATCH, watch_op, FAKE_IN_VAIN(watch))

static inline void fake_interrupt(struct storage *base)
{
    struct storage *real = ((struct fake_engine *)base)->real;
    real->engine->interrupt(real);
}

static inline void fake_describe(const struct storage *base, ses_info *info)
{
    const struct storage *real = ((const struct fake_engine *)base)->real;
    real->engine->describe(real, info);
}

static inline void fake_count(struct storage *base, ses_stats *stats)
{
    struct storage *real = ((struct fake_engine *)base)->real;
    real->engine->count(real, stats);
}

static inline void fake_close(struct storage *base)
{
    struct storage *real = ((struct fake_engine *)base)->real;
    real->engine->close(real);
}

static inline void fake_release(struct storage *base)
{
    struct storage *real = ((struct fake_engine *)base)->real;
    real->engine->release(real);
}

/* Puts it before the store's engine. It must outlive the store. */
static inline void fake_engine_put(struct fake_engine *fake, ses_store *store)
{
    static const struct engine table = {
        .create = fake_create,
        .get = fake_get,
        .refresh = fake_refresh,
        .value = fake_value,
        .get_shared = fake_get_shared,
        .set_shared = fake_set_shared,
        .append = fake_append,
        .page = fake_page,
        .list = fake_list,
        .list_count = fake_list_count,
        .list_names = fake_list_names,
        .delete_session = fake_delete_session,
        .delete_user = fake_delete_user,
        .as_of = fake_as_of,
        .rewind = fake_rewind,
        .cut = fake_cut,
        .fork = fake_fork,
        .load = fake_load,
        .visit = fake_visit,
        .delete_app = fake_delete_app,
        .prune = fake_prune,
        .set_expiry = fake_set_expiry,
        .annotate = fake_annotate,
        .expire = fake_expire,
        .maintain = fake_maintain,
        .space = fake_space,
        .backup = fake_backup,
        .copy = fake_copy,
        .check = fake_check,
        .lease_take = fake_lease_take,
        .lease_renew = fake_lease_renew,
        .lease_release = fake_lease_release,
        .follow = fake_follow,
        .watch = fake_watch,
        .interrupt = fake_interrupt,
        .describe = fake_describe,
        .count = fake_count,
        .close = fake_close,
        .release = fake_release,
    };

    *fake = (struct fake_engine){.base = {&table}, .real = store->storage};
    store->storage = &fake->base;
}

static inline unsigned fake_total(const struct fake_engine *fake)
{
    unsigned total = 0;
    for (int i = 0; i < FAKE_OPERATIONS; i++)
        total += fake->calls[i];
    return total;
}

/* Since the last time it was asked, there were `count` operations of that kind, and none of another. */
#define assert_operations(fake, kind, count) \
    fake_assert_operations((fake), (kind), (count), __FILE__, __LINE__)
#define assert_no_operation(fake) assert_operations(fake, FAKE_CREATE, 0)

static inline void fake_assert_operations(struct fake_engine *fake, enum fake_operation kind, unsigned count,
                                          const char *file, int line)
{
    unsigned of_kind = fake->calls[kind];
    unsigned total = fake_total(fake);

    memset(fake->calls, 0, sizeof fake->calls);
    if (of_kind != count || total != count) {
        print_error("%s:%d: %u operations of that kind and %u in all, not %u\n", file, line, of_kind, total,
                    count);
        _fail(file, line);
    }
}

#endif
