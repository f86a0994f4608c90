/* The trace: every call that uses the store is told of once, with its name, its code, its time and its
 * bytes. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

static const ses_key one = {"app", "user", "a"};

enum { MOST = 64 };

struct traces {
    pthread_mutex_t lock;
    ses_trace all[MOST];
    pthread_t threads[MOST];
    int count;
};

/* A lent struct may grow, so a program does not copy it; here its members of today are. */
static void take_trace(void *context, const ses_trace *trace)
{
    struct traces *traces = context;

    (void)pthread_mutex_lock(&traces->lock);
    if (traces->count < MOST) {
        ses_trace *kept = &traces->all[traces->count];
        traces->threads[traces->count++] = pthread_self();
        kept->call = trace->call;
        kept->code = trace->code;
        kept->wait_us = trace->wait_us;
        kept->work_us = trace->work_us;
        kept->bytes_in = trace->bytes_in;
        kept->bytes_out = trace->bytes_out;
    }
    (void)pthread_mutex_unlock(&traces->lock);
}

struct traced_fixture {
    struct fixture *own;
    struct traces traces;
};

static int setup(void **state)
{
    struct traced_fixture *fixture = calloc(1, sizeof *fixture);
    void *own = NULL;

    if (!fixture || pthread_mutex_init(&fixture->traces.lock, NULL) != 0 || fixture_setup(&own) != 0)
        return 1;
    fixture->own = own;
    fixture->own->options.trace = take_trace;
    fixture->own->options.trace_context = &fixture->traces;
    fixture_reopen(fixture->own);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct traced_fixture *fixture = *state;
    void *own = fixture->own;
    const int result = fixture_teardown(&own);

    (void)pthread_mutex_destroy(&fixture->traces.lock);
    free(fixture);
    return result;
}

/* The last that was told of; all before it is forgotten. */
static ses_trace last_of(struct traces *traces)
{
    assert_true(traces->count > 0);
    const ses_trace last = traces->all[traces->count - 1];
    traces->count = 0;
    return last;
}

#define assert_last(traces, name, its_code)     \
    do {                                        \
        assert_int_equal((traces)->count, 1);   \
        const ses_trace told = last_of(traces); \
        assert_string_equal(told.call, name);   \
        assert_int_equal(told.code, its_code);  \
        assert_true(told.wait_us >= 0);         \
        assert_true(told.work_us >= 0);         \
    } while (0)

#define TRACED_TEST(name) TEST_WITH(struct traced_fixture *fixture, setup, teardown, name)

TRACED_TEST(each_call_is_told_of_once)
{
    struct traces *traces = &fixture->traces;
    ses_store *store = fixture->own->store;
    const ses_list_options list = {.size = sizeof list};
    ses_session *session = NULL;
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    ses_page *page = NULL;
    char *json = NULL;

    assert_int_equal(traces->count, 0); /* opening is not told of */
    assert_ok(ses_create(store, &one, NULL, 0, NULL, &session, &error));
    assert_last(traces, "ses_create", SES_OK);
    assert_code(SES_EXISTS, ses_create(store, &one, NULL, 0, NULL, NULL, &error));
    assert_last(traces, "ses_create", SES_EXISTS);
    must_append(session, "{\"id\":\"e\"}");
    assert_last(traces, "ses_append", SES_OK);
    assert_code(SES_DUPLICATE, ses_append_by_key(store, &one, "{\"id\":\"e\"}", SES_NUL, NULL, NULL, &error));
    assert_last(traces, "ses_append_by_key", SES_DUPLICATE);
    assert_code(SES_JSON, ses_append(session, "{", SES_NUL, NULL, NULL, &error));
    assert_last(traces, "ses_append", SES_JSON);
    assert_ok(ses_title_set(session, "title", NULL, &error));
    assert_last(traces, "ses_title_set", SES_OK);
    assert_code(SES_ABSENT, ses_state_get_by_key(store, &one, "k", NULL, &json, NULL, &error));
    assert_last(traces, "ses_state_get_by_key", SES_ABSENT);
    assert_ok(ses_list(store, "app", NULL, &list, &page, &error));
    assert_last(traces, "ses_list", SES_OK);
    ses_page_close(page);
    assert_ok(ses_cursor_open(store, &one, NULL, &cursor, &error));
    assert_last(traces, "ses_cursor_open", SES_OK);
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    assert_last(traces, "ses_cursor_next", SES_ROW);
    assert_ok(ses_cursor_close(cursor, &error));
    assert_int_equal(traces->count, 0);
    assert_int_equal(ses_session_event_count(session), 1); /* a look at the handle's memory */
    assert_code(SES_MISUSE, ses_append(NULL, "{}", SES_NUL, NULL, NULL, &error));
    assert_int_equal(traces->count, 0);
    ses_session_close(session);
    must_delete(store, &one);
    assert_last(traces, "ses_delete", SES_OK);
    assert_code(SES_NOTFOUND, ses_get(store, &one, NULL, &session, &error));
    assert_last(traces, "ses_get", SES_NOTFOUND);
}

TRACED_TEST(the_bytes_are_those_of_the_texts)
{
    struct traces *traces = &fixture->traces;
    ses_store *store = fixture->own->store;
    enum { LEN = 100000 };
    char *event = malloc(LEN + 1);

    assert_non_null(event);
    must_create(store, &one, NULL);
    memset(event, ' ', LEN);
    event[0] = '{';
    event[LEN - 1] = '}';
    event[LEN] = '\0';
    traces->count = 0;
    must_append_by_key(store, &one, event);
    ses_trace told = last_of(traces);
    assert_true(told.bytes_in >= LEN && told.bytes_in < LEN + 2000);
    assert_true(told.bytes_out < 2000);
    ses_session_close(must_get(store, &one));
    told = last_of(traces);
    assert_string_equal(told.call, "ses_get");
    assert_true(told.bytes_out >= LEN && told.bytes_out < LEN + 2000);
    assert_true(told.bytes_in < 2000);
    free(event);
}

/* ----------------------------------------------------------------------------------------------- memory */

/* Fails once when it is told to. */
static void *allocate(void *context, size_t bytes)
{
    bool *fails = context;
    void *memory = *fails ? NULL : malloc(bytes);

    *fails = false;
    return memory;
}

static void *resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return realloc(memory, bytes);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

TRACED_TEST(a_call_goes_well_without_memory_to_trace_it)
{
    struct traces *traces = &fixture->traces;
    bool fails = false;
    const ses_allocator allocator = {.size = sizeof allocator,
                                     .allocate = allocate,
                                     .resize = resize,
                                     .release = release,
                                     .context = &fails};
    const ses_allocator *before = fixture->own->options.allocator;
    int64_t changed = 0;

    fixture->own->options.allocator = &allocator;
    fixture_reopen(fixture->own);
    traces->count = 0;
    fails = true;
    assert_ok(ses_delete(fixture->own->store, &one, NULL, &changed, &error));
    assert_false(fails);
    assert_int_equal(traces->count, 0);
    assert_ok(ses_delete(fixture->own->store, &one, NULL, &changed, &error));
    assert_last(traces, "ses_delete", SES_OK);
    fixture->own->options.allocator = before;
    fixture_reopen(fixture->own);
}

/* ---------------------------------------------------------------------------------------------- threads */

enum { THREADS = 4, EACH = 10 };

static void *append_some(void *context)
{
    ses_store *store = context;
    ses_error error;

    for (int i = 0; i < EACH; i++) {
        if (ses_append_by_key(store, &one, "{}", SES_NUL, NULL, NULL, &error) != SES_OK)
            return NULL;
    }
    return store;
}

TRACED_TEST(each_thread_is_told_of_its_own_calls)
{
    struct traces *traces = &fixture->traces;
    pthread_t threads[THREADS];
    void *result = NULL;

    must_create(fixture->own->store, &one, NULL);
    traces->count = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, append_some, fixture->own->store), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
    }
    assert_int_equal(traces->count, THREADS * EACH);
    for (int i = 0; i < THREADS; i++) {
        int own = 0;
        for (int k = 0; k < traces->count; k++)
            own += pthread_equal(traces->threads[k], threads[i]) != 0;
        assert_int_equal(own, EACH);
    }
    for (int k = 0; k < traces->count; k++) {
        assert_string_equal(traces->all[k].call, "ses_append_by_key");
        assert_true(traces->all[k].bytes_in > 0); /* also if another thread did the work */
    }
}

TRACED_TEST(waiting_is_told_apart_from_work)
{
    struct traces *traces = &fixture->traces;
    ses_store *store = fixture->own->store;
    const ses_lease_options options = {.size = sizeof options, .duration_us = 60000000, .wait_ms = 600};
    ses_lease lease;

    must_create(store, &one, NULL);
    assert_ok(ses_lease_take(store, &one, "owner", &options, &lease, &error));
    traces->count = 0;
    assert_code(SES_BUSY, ses_lease_take(store, &one, "another", &options, &lease, &error));
    const ses_trace told = last_of(traces);
    assert_string_equal(told.call, "ses_lease_take");
    assert_int_equal(told.code, SES_BUSY);
    assert_true(told.wait_us >= 150000);
    assert_true(told.work_us < told.wait_us + 3000000);
}
