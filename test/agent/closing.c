/* ses_close waits for calls of the agent layer that read a store more than once, and lets all their parts
 * succeed. */
#include "agent.h"
#include "open.h"

/* Holds the first allocation of the call in its place. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool shut;    /* the next allocation stops */
    bool stopped; /* one has */
    bool closed;  /* ses_close has returned */
};

static void *stop_and_allocate(void *context, size_t bytes)
{
    struct gate *gate = context;

    pthread_mutex_lock(&gate->lock);
    gate->stopped = gate->stopped || gate->shut;
    pthread_cond_broadcast(&gate->moved);
    while (gate->shut)
        pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return malloc(bytes);
}

static void *plain_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return realloc(memory, bytes);
}

static void plain_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

struct opening {
    ses_store *store;
    ses_session *session; /* NULL: by key */
    bool context;         /* of a context; else of pending calls */
    int code;
    ses_error error;
    struct gate gate;
};

static void *open_and_close(void *given)
{
    struct opening *opening = given;
    ses_pending *pending = NULL;
    ses_context *context = NULL;

    if (opening->context)
        opening->code = opening->session ? ses_context_open(opening->session, NULL, &context, &opening->error)
                                         : ses_context_open_by_key(opening->store, &agent_key, NULL, &context,
                                                                   &opening->error);
    else
        opening->code = opening->session ? ses_pending_open(opening->session, NULL, &pending, &opening->error)
                                         : ses_pending_open_by_key(opening->store, &agent_key, NULL, &pending,
                                                                   &opening->error);
    ses_pending_close(pending);
    ses_context_close(context);
    return NULL;
}

static void *close_store(void *given)
{
    struct opening *opening = given;

    ses_close(opening->store);
    pthread_mutex_lock(&opening->gate.lock);
    opening->gate.closed = true;
    pthread_mutex_unlock(&opening->gate.lock);
    return NULL;
}

static void prepare(struct opening *opening, bool through_handle)
{
    const ses_allocator allocator = {.size = sizeof allocator,
                                     .context = &opening->gate,
                                     .allocate = stop_and_allocate,
                                     .resize = plain_resize,
                                     .release = plain_release};
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    ses_error error;

    pthread_mutex_init(&opening->gate.lock, NULL);
    pthread_cond_init(&opening->gate.moved, NULL);
    assert_ok(ses_open(":memory:", &options, &opening->store, &error));
    must_create(opening->store, &agent_key, NULL);
    must_append_by_key(opening->store, &agent_key, "{}");
    if (through_handle)
        opening->session = must_get(opening->store, &agent_key);
    opening->gate.shut = true;
}

static void open_while_closing(struct opening *opening)
{
    struct gate *gate = &opening->gate;
    pthread_t opener;
    pthread_t closer;

    assert_int_equal(pthread_create(&opener, NULL, open_and_close, opening), 0);
    pthread_mutex_lock(&gate->lock);
    while (!gate->stopped)
        pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    assert_int_equal(pthread_create(&closer, NULL, close_store, opening), 0);
    support_pause_us(20000); /* time enough for a ses_close that does not wait */
    pthread_mutex_lock(&gate->lock);
    const bool closed = gate->closed;
    gate->shut = false;
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
    pthread_join(opener, NULL);
    pthread_join(closer, NULL);
    assert_false(closed);
}

PLAIN_TEST(closing_waits_for_calls_of_several_parts)
{
    for (int i = 0; i < 4; i++) {
        struct opening opening = {.context = i % 2 == 1};
        prepare(&opening, i >= 2);
        open_while_closing(&opening);
        error = opening.error;
        assert_ok(opening.code);
        ses_session_close(opening.session);
        pthread_cond_destroy(&opening.gate.moved);
        pthread_mutex_destroy(&opening.gate.lock);
    }
}
