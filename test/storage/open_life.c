/* The life of a store: its allocator, closing it while handles live, forking. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

/* Everything that can be made from a store. */
struct made {
    struct counting_memory memory;
    int64_t now;
    ses_store *store;
    ses_session *session;
    ses_cursor *fresh_cursor; /* has read nothing */
    ses_cursor *used_cursor;  /* holds a page */
    ses_page *page;
    ses_tracked *tracked;
    char *text;
};

static int64_t made_clock(void *context)
{
    return ((const struct made *)context)->now;
}

static void make_all(struct made *made, const char *path)
{
    const ses_event *event = NULL;
    ses_error error;
    *made = (struct made){.now = 1000000};
    const ses_allocator allocator = counting_allocator(&made->memory);
    const ses_open_options options = {
        .size = sizeof options, .allocator = &allocator, .clock = made_clock, .clock_context = made};

    assert_ok(ses_open(path, &options, &made->store, &error));
    made->session = must_open_new(made->store, &key, Q("{'n':1,'t':'text','b':true,'app:x':0}"));
    for (int i = 0; i < 3; i++)
        must_append(made->session, Q("{'invocationId':'i','actions':{'stateDelta':{'temp:t':1}}}"));
    assert_ok(ses_cursor_open(made->store, &key, NULL, &made->fresh_cursor, &error));
    assert_ok(ses_cursor_open(made->store, &key, NULL, &made->used_cursor, &error));
    assert_code(SES_ROW, ses_cursor_next(made->used_cursor, &event, &error));
    assert_ok(ses_list(made->store, "app", NULL, NULL, &made->page, &error));
    assert_ok(ses_tracked_open(made->session, NULL, &made->tracked, &error));
    assert_ok(ses_tracked_set_int64(made->tracked, "own", 5, &error));
    assert_ok(ses_state_json_by_key(made->store, &key, NULL, &made->text, NULL, &error));
    assert_in_range(made->memory.live, 10, 10000);
}

static void free_all(struct made *made)
{
    ses_free(made->text);
    ses_tracked_close(made->tracked);
    ses_session_close(made->session);
    (void)ses_cursor_close(made->fresh_cursor, NULL);
    (void)ses_cursor_close(made->used_cursor, NULL);
    ses_page_close(made->page);
}

/* The calls. Each returns what the call returned, and what the error says must fit. */
static const ses_key other = {"app", "user", "other"};
static const ses_text two[] = {{"{}", 2}, {"{}", 2}};
static const ses_text partial = {"{\"partial\":true}", 16};

static int call_info(struct made *made, ses_error *error)
{
    ses_info info = {.size = sizeof info};
    return ses_store_info(made->store, &info, error);
}

static int call_create(struct made *made, ses_error *error)
{
    return ses_create(made->store, &other, NULL, 0, NULL, NULL, error);
}

static int call_get_or_create(struct made *made, ses_error *error)
{
    ses_session *session = NULL;
    int code = ses_get_or_create(made->store, &key, NULL, 0, NULL, &session, error);
    ses_session_close(session);
    return code;
}

static int call_get(struct made *made, ses_error *error)
{
    ses_session *session = NULL;
    int code = ses_get(made->store, &key, NULL, &session, error);
    ses_session_close(session);
    return code;
}

static int call_list(struct made *made, ses_error *error)
{
    ses_page *page = NULL;
    int code = ses_list(made->store, "app", "user", NULL, &page, error);
    ses_page_close(page);
    return code;
}

static int call_delete(struct made *made, ses_error *error)
{
    return ses_delete(made->store, &key, NULL, NULL, error);
}

static int call_delete_user(struct made *made, ses_error *error)
{
    return ses_delete_user(made->store, "app", "user", NULL, NULL, NULL, error);
}

static int call_append_by_key(struct made *made, ses_error *error)
{
    return ses_append_by_key(made->store, &key, "{}", 2, NULL, NULL, error);
}

static int call_append_batch_by_key(struct made *made, ses_error *error)
{
    return ses_append_batch_by_key(made->store, &key, two, 2, NULL, NULL, error);
}

static int call_read_state(struct made *made, ses_error *error)
{
    char *json = NULL;
    int code = ses_state_json_by_key(made->store, &key, NULL, &json, NULL, error);
    ses_free(json);
    return code;
}

static int call_read_value(struct made *made, ses_error *error)
{
    char *json = NULL;
    int code = ses_state_get_by_key(made->store, &key, "n", NULL, &json, NULL, error);
    ses_free(json);
    return code;
}

static int call_cursor_open(struct made *made, ses_error *error)
{
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(made->store, &key, NULL, &cursor, error);
    (void)ses_cursor_close(cursor, NULL);
    return code;
}

static int call_append_partial_by_key(struct made *made, ses_error *error)
{
    return ses_append_by_key(made->store, &key, partial.text, partial.len, NULL, NULL, error);
}

static int call_empty_batch_by_key(struct made *made, ses_error *error)
{
    return ses_append_batch_by_key(made->store, &key, NULL, 0, NULL, NULL, error);
}

static int call_refresh(struct made *made, ses_error *error)
{
    return ses_refresh(made->session, NULL, error);
}

static int call_append(struct made *made, ses_error *error)
{
    return ses_append(made->session, "{}", 2, NULL, NULL, error);
}

static int call_append_batch(struct made *made, ses_error *error)
{
    return ses_append_batch(made->session, two, 2, NULL, NULL, error);
}

static int call_cursor_next(struct made *made, ses_error *error)
{
    const ses_event *event = NULL;
    return ses_cursor_next(made->fresh_cursor, &event, error);
}

static int call_append_partial(struct made *made, ses_error *error)
{
    return ses_append(made->session, partial.text, partial.len, NULL, NULL, error);
}

static int call_empty_batch(struct made *made, ses_error *error)
{
    return ses_append_batch(made->session, NULL, 0, NULL, NULL, error);
}

static int call_cursor_next_in_page(struct made *made, ses_error *error)
{
    const ses_event *event = NULL;
    return ses_cursor_next(made->used_cursor, &event, error);
}

static int call_invocation_end(struct made *made, ses_error *error)
{
    return ses_invocation_end(made->session, error);
}

static int call_invocation_begin(struct made *made, ses_error *error)
{
    return ses_invocation_begin(made->session, NULL, error);
}

static int call_tracked_append(struct made *made, ses_error *error)
{
    return ses_tracked_append(made->tracked, "{}", 2, NULL, NULL, error);
}

static int call_output_append(struct made *made, ses_error *error)
{
    return ses_output_append(made->tracked, "{}", 2, "agent", NULL, NULL, NULL, error);
}

static int call_tracked_get(struct made *made, ses_error *error)
{
    const char *json = NULL;
    int code = ses_tracked_get(made->tracked, "own", &json, NULL, error);
    return code == SES_OK ? ses_tracked_get(made->tracked, "n", &json, NULL, error) : code;
}

static int call_tracked_set(struct made *made, ses_error *error)
{
    return ses_tracked_set(made->tracked, "own", "6", SES_NUL, error);
}

static int call_tracked_json(struct made *made, ses_error *error)
{
    char *json = NULL;
    int code = ses_tracked_json(made->tracked, &json, NULL, error);
    ses_free(json);
    return code;
}

static int call_tracked_render(struct made *made, ses_error *error)
{
    char *text = NULL;
    int code = ses_tracked_render(made->tracked, "{own} {t}", SES_NUL, NULL, &text, NULL, error);
    ses_free(text);
    return code;
}

static int call_track(struct made *made, ses_error *error)
{
    ses_tracked *tracked = NULL;
    int code = ses_tracked_open(made->session, NULL, &tracked, error);
    ses_tracked_close(tracked);
    return code;
}

static int call_page_state(struct made *made, ses_error *error)
{
    const char *json = NULL;
    return ses_state_json(ses_page_session(made->page, 0), &json, NULL, error);
}

static int call_state_get(struct made *made, ses_error *error)
{
    const char *json = NULL;
    return ses_state_get(made->session, "n", &json, NULL, error);
}

static int call_state_json(struct made *made, ses_error *error)
{
    const char *json = NULL;
    return ses_state_json(made->session, &json, NULL, error);
}

static int call_state_string(struct made *made, ses_error *error)
{
    const char *text = NULL;
    return ses_state_get_string(made->session, "t", &text, NULL, error);
}

static int call_state_int64(struct made *made, ses_error *error)
{
    int64_t value = 0;
    return ses_state_get_int64(made->session, "n", &value, error);
}

static int call_state_double(struct made *made, ses_error *error)
{
    double value = 0;
    return ses_state_get_double(made->session, "n", &value, error);
}

static int call_state_bool(struct made *made, ses_error *error)
{
    int value = 0;
    return ses_state_get_bool(made->session, "b", &value, error);
}

static int call_state_at(struct made *made, ses_error *error)
{
    return ses_state_at(made->session, 0, NULL, NULL, NULL, error);
}

struct call {
    const char *name;
    int (*run)(struct made *made, ses_error *error);
};

#define CALL(name)         \
    {                      \
#name, call_##name \
    }

/* Those on the store itself. */
static const struct call store_calls[] = {CALL(info),
                                          CALL(create),
                                          CALL(get_or_create),
                                          CALL(get),
                                          CALL(list),
                                          CALL(delete),
                                          CALL(delete_user),
                                          CALL(read_state),
                                          CALL(append_by_key),
                                          CALL(read_value),
                                          CALL(append_batch_by_key),
                                          CALL(cursor_open),
                                          CALL(append_partial_by_key),
                                          CALL(empty_batch_by_key)};

/* Those on handles, cursors and views that need the store, whether or not they go to the file. */
static const struct call handle_calls[] = {
    CALL(refresh),        CALL(append),           CALL(append_batch),        CALL(cursor_next),
    CALL(append_partial), CALL(empty_batch),      CALL(cursor_next_in_page), CALL(tracked_append),
    CALL(output_append),  CALL(invocation_begin), CALL(invocation_end)};

/* Those that look at what is held. */
static const struct call looking_calls[] = {
    CALL(state_get),      CALL(state_json), CALL(state_string), CALL(state_int64), CALL(state_double),
    CALL(state_bool),     CALL(state_at),   CALL(tracked_get),  CALL(tracked_set), CALL(tracked_json),
    CALL(tracked_render), CALL(track),      CALL(page_state)};

/* How many of the calls are not refused with MISUSE. */
static int count_not_refused(struct made *made, const struct call *calls, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        ses_error error;
        int code = calls[i].run(made, &error);
        if (code != SES_MISUSE || error.code != SES_MISUSE || error.message[0] == '\0') {
            fprintf(stderr, "%s returned %s, not SES_MISUSE\n", calls[i].name, ses_code_name(code));
            wrong++;
        }
    }
    return wrong;
}

#define COUNT(calls) (sizeof(calls) / sizeof(calls)[0])

/* ------------------------------------------------------------------------------------------ closed stores */

static void refused_after_close(const struct folder *folder, const struct call *calls, size_t count)
{
    struct made made;

    make_all(&made, folder->path);
    for (size_t i = 0; i < count; i++) {
        ses_error error;
        assert_int_not_equal(calls[i].run(&made, &error), SES_MISUSE); /* it is the closing that counts */
    }
    free_all(&made);
    ses_close(made.store);
    assert_no_blocks(&made.memory);
    assert_int_equal(unlink(folder->path), 0);

    make_all(&made, folder->path);
    ses_close(made.store);
    assert_int_equal(count_not_refused(&made, calls, count), 0);
    /* The contents of the handles can still be read. */
    assert_string_equal(ses_session_id(made.session), "session");
    assert_int_equal(ses_session_version(made.session), 3);
    assert_int_equal(ses_page_count(made.page), 1);
    assert_non_null(support_state(made.session, NULL));
    free_all(&made);
    assert_no_blocks(&made.memory);
    assert_query(folder->path, "SELECT count(*), max(seq) FROM event_log", "3|3\n");
    assert_sound(folder->path);
}

FOLDER_TEST(calls_on_handles_after_close)
{
    refused_after_close(folder, handle_calls, COUNT(handle_calls));
}

/* The contents of a handle are its own. */
static int count_refused(struct made *made, const struct call *calls, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        ses_error error;
        int code = calls[i].run(made, &error);
        if (code != SES_OK) {
            fprintf(stderr, "%s returned %s, not SES_OK\n", calls[i].name, ses_code_name(code));
            wrong++;
        }
    }
    return wrong;
}

FOLDER_TEST(looking_at_handles_after_close)
{
    struct made made;

    make_all(&made, folder->path);
    ses_close(made.store);
    assert_int_equal(count_refused(&made, looking_calls, COUNT(looking_calls)), 0);
    free_all(&made);
    assert_no_blocks(&made.memory);
}

/* ------------------------------------------------------------------------------------------------- fork */

struct forked {
    struct made *made;
    const struct call *calls;
    size_t count;
    int (*count_wrong)(struct made *made, const struct call *calls, size_t count);
};

static int run_in_fork(void *context)
{
    const struct forked *forked = context;
    int wrong = forked->count_wrong(forked->made, forked->calls, forked->count);

    ses_close(forked->made->store);
    free_all(forked->made);
    return wrong;
}

static void run_all_in_fork(const struct folder *folder, const struct call *calls, size_t count,
                            int (*count_wrong)(struct made *, const struct call *, size_t))
{
    struct made made;
    struct forked forked = {&made, calls, count, count_wrong};

    make_all(&made, folder->path);
    assert_int_equal(child_run(run_in_fork, &forked), 0);

    /* The child's closing did no harm here. */
    must_append(made.session, Q("{'id':'after'}"));
    free_all(&made);
    ses_close(made.store);
    assert_no_blocks(&made.memory);
    assert_query(folder->path, "SELECT count(*), max(seq) FROM event_log", "4|4\n");
    assert_sound(folder->path);
}

FOLDER_TEST(calls_in_a_forked_child)
{
    run_all_in_fork(folder, store_calls, COUNT(store_calls), count_not_refused);
}

FOLDER_TEST(calls_on_handles_in_a_forked_child)
{
    run_all_in_fork(folder, handle_calls, COUNT(handle_calls), count_not_refused);
}

FOLDER_TEST(looking_at_handles_in_a_forked_child)
{
    run_all_in_fork(folder, looking_calls, COUNT(looking_calls), count_refused);
}

/* -------------------------------------------------------------------------------------- allocator */

FOLDER_TEST(everything_comes_from_the_allocator)
{
    struct made made;

    make_all(&made, folder->path);
    long live = made.memory.live;
    ses_free(made.text);
    assert_int_equal(made.memory.live, live - 1);
    made.text = NULL;
    free_all(&made);
    assert_in_range(made.memory.live, 1, live - 5);
    ses_close(made.store);
    assert_no_blocks(&made.memory);
}

FOLDER_TEST(text_outlives_the_store)
{
    struct made made;

    make_all(&made, folder->path);
    char *text = made.text;
    made.text = NULL;
    free_all(&made);
    ses_close(made.store);
    assert_int_equal(made.memory.live, 1);
    assert_string_equal(text, Q("{'app:x':0,'b':true,'n':1,'t':'text'}"));
    ses_free(text);
    assert_no_blocks(&made.memory);
}
