/* Limits of calls about artifacts: what waits or works ends in time, and leaves nothing. */
#include "artifact.h"

enum { SHORT_MS = 150, LONG_MS = 10000, LATE_US = 3000000, LONG = 4194304 + 70000 };

static char bytes[LONG];

/* ------------------------------------------------------------------------------------ options with limits */

struct limited {
    ses_artifact_save_options save;
    ses_artifact_open_options open;
    ses_artifact_list_options list;
    ses_delete_options delete;
    ses_append_options append;
};

static struct limited limited_by(int64_t timeout_ms, ses_cancel *cancel)
{
    return (struct limited){
        {.size = sizeof(ses_artifact_save_options), .timeout_ms = timeout_ms, .cancel = cancel},
        {.size = sizeof(ses_artifact_open_options), .timeout_ms = timeout_ms, .cancel = cancel},
        {.size = sizeof(ses_artifact_list_options), .timeout_ms = timeout_ms, .cancel = cancel},
        {.size = sizeof(ses_delete_options), .timeout_ms = timeout_ms, .cancel = cancel},
        {.size = sizeof(ses_append_options), .timeout_ms = timeout_ms, .cancel = cancel}};
}

/* ------------------------------------------------------------------------------------------------ waiting */

#define assert_busy(call)                                                     \
    do {                                                                      \
        const int64_t begun_us = support_steady_us();                         \
        assert_code(SES_BUSY, call);                                          \
        const int64_t took_us = support_steady_us() - begun_us;               \
        assert_in_range(took_us, SHORT_MS * 1000, SHORT_MS * 1000 + LATE_US); \
    } while (0)

/* A call that hashes bytes before it waits may have no time left to wait: then it was working. */
#define assert_busy_or_ended(call)                                            \
    do {                                                                      \
        const int64_t begun_us = support_steady_us();                         \
        const int code = (call);                                              \
        const int64_t took_us = support_steady_us() - begun_us;               \
        assert_true(code == SES_BUSY || code == SES_INTERRUPTED);             \
        assert_in_range(took_us, SHORT_MS * 1000, SHORT_MS * 1000 + LATE_US); \
    } while (0)

TEST(a_lock_of_another_process)
{
    ses_store *store = fixture->store;
    struct limited limited = limited_by(SHORT_MS, NULL);
    struct limited patient = limited_by(LONG_MS, NULL);
    ses_artifact *artifact;
    ses_artifact_list *list;
    sqlite3 *other = NULL;
    size_t len;

    support_need_file();
    must_create(store, &key, NULL);
    must_save(store, &key, "a", "bytes");
    assert_ok(ses_artifacts_open(store, &key, &limited.append.artifacts, &error));
    assert_ok(ses_artifacts_add(limited.append.artifacts, "b", "bytes", 5, NULL, &error));
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_busy(ses_artifact_save_by_key(store, &key, "a", "", 0, &limited.save, NULL, &error));
    assert_busy_or_ended(
        ses_artifact_save_by_key(store, &key, "a", bytes, LONG, &limited.save, NULL, &error));
    assert_busy(ses_artifact_delete_by_key(store, &key, "a", &limited.delete, NULL, &error));
    assert_busy_or_ended(
        ses_artifacts_add(limited.append.artifacts, "c", bytes, LONG, &limited.save, &error));
    assert_busy(ses_append_by_key(store, &key, "{}", SES_NUL, &limited.append, NULL, &error));
    /* reads need no lock */
    assert_ok(ses_artifact_open_by_key(store, &key, "a", &patient.open, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error));
    ses_artifact_close(artifact);
    assert_ok(ses_artifact_names_by_key(store, &key, &patient.list, &list, &error));
    ses_artifact_list_close(list);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    patient.append.artifacts = limited.append.artifacts;
    assert_ok(ses_append_by_key(store, &key, "{}", SES_NUL, &patient.append, NULL, &error));
    ses_artifacts_close(limited.append.artifacts);
    assert_int_equal(count_versions(store, &key, "a"), 1);
    assert_int_equal(count_versions(store, &key, "b"), 1);
    assert_int_equal(count_versions(store, &key, "c"), 0);
    assert_sound(fixture);
}

/* ----------------------------------------------------------------------------------------------- a handle */

TEST(a_pulled_handle_ends_every_call)
{
    ses_store *store = fixture->store;
    struct limited limited = limited_by(0, NULL);
    ses_artifact *artifact;
    ses_artifact *none = (ses_artifact *)1;
    ses_artifact_list *list = (ses_artifact_list *)1;
    ses_cancel *cancel;
    int64_t number = 7;
    size_t len = 7;

    must_create(store, &key, NULL);
    must_save(store, &key, "a", "bytes");
    assert_ok(ses_cancel_open(store, &cancel, &error));
    limited = limited_by(0, cancel);
    assert_ok(ses_artifact_open_by_key(store, &key, "a", &limited.open, &artifact, &error));
    assert_ok(ses_artifacts_open(store, &key, &limited.append.artifacts, &error));
    assert_ok(ses_artifacts_add(limited.append.artifacts, "b", "bytes", 5, &limited.save, &error));
    ses_cancel_pull(cancel);
    assert_code(SES_INTERRUPTED, ses_artifact_read(artifact, 0, bytes, 10, &len, &error));
    assert_message("cancelled");
    assert_code(SES_INTERRUPTED, ses_artifact_open_by_key(store, &key, "a", &limited.open, &none, &error));
    assert_null(none);
    assert_code(SES_INTERRUPTED, ses_artifact_names_by_key(store, &key, &limited.list, &list, &error));
    assert_null(list);
    assert_code(SES_INTERRUPTED,
                ses_artifact_versions_by_key(store, &key, "a", &limited.list, &list, &error));
    assert_code(SES_INTERRUPTED,
                ses_artifact_save_by_key(store, &key, "a", "", 0, &limited.save, &number, &error));
    assert_code(SES_INTERRUPTED,
                ses_artifact_save_by_key(store, &key, "a", bytes, LONG, &limited.save, &number, &error));
    assert_code(SES_INTERRUPTED,
                ses_artifact_delete_by_key(store, &key, "a", &limited.delete, &number, &error));
    assert_code(SES_INTERRUPTED,
                ses_artifacts_add(limited.append.artifacts, "c", bytes, LONG, &limited.save, &error));
    assert_code(SES_INTERRUPTED,
                ses_append_by_key(store, &key, "{}", SES_NUL, &limited.append, NULL, &error));
    assert_int_equal(number, 7);
    assert_int_equal(len, 7);
    ses_cancel_reset(cancel);
    assert_ok(ses_artifact_read(artifact, 0, bytes, 10, &len, &error));
    assert_int_equal(len, 5);
    assert_ok(ses_append_by_key(store, &key, "{}", SES_NUL, &limited.append, NULL, &error));
    assert_int_equal(count_versions(store, &key, "a"), 1);
    assert_int_equal(count_versions(store, &key, "b"), 1);
    ses_artifacts_close(limited.append.artifacts);
    ses_artifact_close(artifact);
    ses_cancel_close(cancel);
    assert_sound(fixture);
}

/* ------------------------------------------------------------------------------------------------ working */

struct slow {
    ses_cancel *cancel; /* pulled after three portions; NULL: none */
    int calls;
};

/* Without an end. */
static int read_slowly(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct slow *slow = context;
    (void)error;

    memset(buffer, 'x', capacity);
    if (slow->cancel && ++slow->calls == 3)
        ses_cancel_pull(slow->cancel);
    else if (!slow->cancel)
        support_pause_us(SHORT_MS * 500);
    *len = capacity;
    return SES_OK;
}

TEST(a_long_save_ends)
{
    ses_store *store = fixture->store;
    struct slow slow = {.cancel = NULL};
    struct limited limited = limited_by(SHORT_MS, NULL);
    ses_artifacts *artifacts;
    ses_cancel *cancel;

    must_create(store, &key, NULL);
    limited.save.read = read_slowly;
    limited.save.read_context = &slow;
    limited.save.max_bytes = INT64_C(1) << 33;
    const int64_t begun_us = support_steady_us();
    const int code = ses_artifact_save_by_key(store, &key, "a", NULL, SES_NUL, &limited.save, NULL, &error);
    assert_true(code == SES_INTERRUPTED || code == SES_BUSY);
    assert_true(support_steady_us() - begun_us < SHORT_MS * 1000 + LATE_US);
    assert_ok(ses_cancel_open(store, &cancel, &error));
    slow.cancel = cancel;
    limited.save.timeout_ms = 0;
    limited.save.cancel = cancel;
    assert_code(SES_INTERRUPTED,
                ses_artifact_save_by_key(store, &key, "a", NULL, SES_NUL, &limited.save, NULL, &error));
    assert_int_equal(slow.calls, 3);
    ses_cancel_reset(cancel);
    slow.calls = 0;
    assert_ok(ses_artifacts_open(store, &key, &artifacts, &error));
    assert_code(SES_INTERRUPTED, ses_artifacts_add(artifacts, "a", NULL, SES_NUL, &limited.save, &error));
    ses_artifacts_close(artifacts);
    ses_cancel_close(cancel);
    assert_no_artifact(store, &key, "a");
    assert_sound(fixture);
}

/* Byte by byte: a call does not wait until there are enough to be written. */
static int read_a_byte(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct slow *slow = context;
    (void)error, (void)capacity;

    *buffer = 'x';
    *len = 1;
    if (slow->cancel && ++slow->calls == 3)
        ses_cancel_pull(slow->cancel);
    else if (!slow->cancel)
        support_pause_us(1000);
    return SES_OK;
}

TEST(a_slow_function_is_not_called_again)
{
    struct slow slow = {.cancel = NULL};
    struct limited limited = limited_by(SHORT_MS, NULL);
    ses_cancel *cancel;

    must_create(fixture->store, &key, NULL);
    limited.save.read = read_a_byte;
    limited.save.read_context = &slow;
    const int64_t begun_us = support_steady_us();
    assert_code(SES_INTERRUPTED, ses_artifact_save_by_key(fixture->store, &key, "a", NULL, SES_NUL,
                                                          &limited.save, NULL, &error));
    assert_message("timeout_ms");
    assert_true(support_steady_us() - begun_us < SHORT_MS * 1000 + LATE_US);
    assert_ok(ses_cancel_open(fixture->store, &cancel, &error));
    slow.cancel = limited.save.cancel = cancel;
    limited.save.timeout_ms = 0;
    assert_code(SES_INTERRUPTED, ses_artifact_save_by_key(fixture->store, &key, "a", NULL, SES_NUL,
                                                          &limited.save, NULL, &error));
    assert_int_equal(slow.calls, 3);
    ses_cancel_close(cancel);
    assert_no_artifact(fixture->store, &key, "a");
    assert_sound(fixture);
}

/* Taking the bytes has used up the time: the transaction after it has no time of its own. */
static int read_late(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct slow *slow = context;
    (void)error, (void)buffer, (void)capacity;

    *len = slow->calls == 0;
    if (slow->calls++ > 0)
        support_pause_us(2 * SHORT_MS * 1000);
    return SES_OK;
}

TEST(a_save_has_one_time)
{
    struct slow slow = {.cancel = NULL};
    struct limited limited = limited_by(SHORT_MS, NULL);

    must_create(fixture->store, &key, NULL);
    limited.save.read = read_late;
    limited.save.read_context = &slow;
    const int code =
        ses_artifact_save_by_key(fixture->store, &key, "a", NULL, SES_NUL, &limited.save, NULL, &error);
    assert_true(code == SES_INTERRUPTED || code == SES_BUSY);
    assert_no_artifact(fixture->store, &key, "a");
}

/* The time of the store counts where the call has none. */
TEST(the_store_has_a_limit_of_its_own)
{
    struct slow slow = {.cancel = NULL};
    const ses_artifact_save_options endless = {
        .size = sizeof endless, .read = read_slowly, .read_context = &slow, .max_bytes = INT64_C(1) << 33};

    must_create(fixture->store, &key, NULL);
    fixture->options.timeout_ms = SHORT_MS;
    fixture_reopen(fixture);
    const int code =
        ses_artifact_save_by_key(fixture->store, &key, "a", NULL, SES_NUL, &endless, NULL, &error);
    assert_true(code == SES_INTERRUPTED || code == SES_BUSY);
    assert_sound(fixture);
}
