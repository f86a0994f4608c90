/* Shared by all tests: a store in a temporary folder, short forms for common steps, a clock to set. */
#ifndef SESLITE_TEST_SUPPORT_H
#define SESLITE_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seslite_agent.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif

/* Fails the test with the error's code and message unless the call returned `expected`. */
#define assert_code(expected, call) support_assert_code((expected), (call), &error, #call, __FILE__, __LINE__)
#define assert_ok(call) assert_code(SES_OK, call)
/* The message of the last error holds these words. */
#define assert_message(words) support_assert_message(&error, (words), __FILE__, __LINE__)

/* The options of ses_get that say which events; NULL: all. */
#define GET_RANGE(range_) (&(ses_get_options){.size = sizeof(ses_get_options), .range = (range_)})

void support_assert_code(int expected, int code, const ses_error *error, const char *call, const char *file,
                         int line);
void support_assert_message(const ses_error *error, const char *words, const char *file, int line);

/* A folder below TMPDIR or /tmp that support_folder_remove deletes with everything in it. */
char *support_folder_make(void);
void support_folder_remove(char *folder);
/* "FOLDER/NAME"; free it. */
char *support_path(const char *folder, const char *name);
/* Has the folders made in memory from now on, where syncing costs nothing, if there is such a place. */
void support_folders_in_memory(void);

/* cmocka setup and teardown: *state is a struct fixture with an open store in a fresh folder. */
struct fixture {
    char *folder;
    char *path;
    ses_store *store;
    ses_open_options options; /* as it was opened; its clock is support_clock with &now */
    int64_t now;              /* the time the store sees, microseconds; does not move by itself */
};
int fixture_setup(void **state);
int fixture_setup_memory(void **state); /* the same on ":memory:" */
int fixture_teardown(void **state);
/* Closes the store and opens it again. */
void fixture_reopen(struct fixture *fixture);

int64_t support_clock(void *now);

/* ------------------------------------------------------------------------------------------------- tests */

/* A test, named by a sentence: TEST(a_retry_is_a_duplicate) { ... }. It has a `fixture`, whose store is open,
 * and an `error`. Each test is registered where it is defined, and main, in support.c, runs those of a file
 * in their order. */
#define TEST(name) TEST_OF(fixture_setup, name)
/* The same with a store in memory; with both, one after the other. */
#define MEMORY_TEST(name) TEST_OF(fixture_setup_memory, name)
#define TEST_FILE_AND_MEMORY(name) TEST_ALSO(fixture_setup_memory, fixture_teardown, name) TEST(name)
/* The same with a fixture that another function sets up. */
#define TEST_OF(setup, name) TEST_WITH(struct fixture *fixture, setup, fixture_teardown, name)
/* A test that needs no store. It has an `error`. */
#define PLAIN_TEST(name) GROUP_TEST(void *no_state, name)
/* A test with the state that TEST_GROUP sets up, which is declared here: GROUP_TEST(struct door *door,
 * a_door_opens). */
#define GROUP_TEST(state_, name) TEST_WITH(state_, NULL, NULL, name)
/* A test with a state of its own. `setup` and `teardown` may be NULL. */
#define TEST_WITH(state_, setup, teardown, name)                       \
    static void test_##name(state_, ses_error error);                  \
    static void run_test_##name(void **state)                          \
    {                                                                  \
        support_leave_kept();                                          \
        test_##name(*state, (ses_error){.code = 0});                   \
        support_close_kept();                                          \
    }                                                                  \
    ADD_TEST(add_test_##name, #name, run_test_##name, setup, teardown) \
    static void test_##name(state_ __attribute__((unused)), ses_error error __attribute__((unused)))
/* Before a test: it also runs with another setup. */
#define TEST_ALSO(setup, teardown, name)       \
    static void run_test_##name(void **state); \
    ADD_TEST(add_##name##_with_##setup, #name " (" #setup ")", run_test_##name, setup, teardown)
/* The functions of cmocka for a file's tests together. Either may be NULL. */
#define TEST_GROUP(setup, teardown)                               \
    __attribute__((constructor)) static void set_test_group(void) \
    {                                                             \
        support_set_group(setup, teardown);                       \
    }
/* BEFORE_TESTS() { ... } runs before the tests of a file. */
#define BEFORE_TESTS()                   \
    static void before_tests(void);      \
    static int setup_tests(void **state) \
    {                                    \
        (void)state;                     \
        before_tests();                  \
        return 0;                        \
    }                                    \
    TEST_GROUP(setup_tests, NULL)        \
    static void before_tests(void)

/* A test in the list of those of a file. The order in which constructors run is not that of the file with
 * every compiler, so the line is kept. */
struct support_test {
    struct CMUnitTest test;
    int line;
    struct support_test *next;
};
#define ADD_TEST(adder, title, run, setup, teardown)                                                      \
    __attribute__((constructor)) static void adder(void)                                                  \
    {                                                                                                     \
        static struct support_test added = {{(title), (run), (setup), (teardown), NULL}, __LINE__, NULL}; \
        support_add_test(&added);                                                                         \
    }
void support_add_test(struct support_test *test);
void support_set_group(int (*setup)(void **state), int (*teardown)(void **state));

/* ------------------------------------------------------------------------------------------------- calls */

/* Calls that must succeed, and of which only the handle is looked at. `state` and `options` may be NULL. A
 * session is closed after the test, unless the test closes it; a store is to be closed. */
#define must_open(...) support_open(__FILE__, __LINE__, __VA_ARGS__)
#define must_create(...) support_create(__FILE__, __LINE__, __VA_ARGS__)
#define must_open_new(...) support_open_new(__FILE__, __LINE__, __VA_ARGS__)
#define must_get(...) support_get(__FILE__, __LINE__, __VA_ARGS__)
#define must_append(...) support_append(__FILE__, __LINE__, __VA_ARGS__)
#define must_append_by_key(...) support_append_by_key(__FILE__, __LINE__, __VA_ARGS__)
#define must_refresh(...) support_refresh(__FILE__, __LINE__, __VA_ARGS__)
#define must_delete(...) support_delete(__FILE__, __LINE__, __VA_ARGS__)

ses_store *support_open(const char *file, int line, const char *path, const ses_open_options *options);
void support_create(const char *file, int line, ses_store *store, const ses_key *key, const char *state);
ses_session *support_open_new(const char *file, int line, ses_store *store, const ses_key *key,
                              const char *state);
ses_session *support_get(const char *file, int line, ses_store *store, const ses_key *key);
void support_append(const char *file, int line, ses_session *session, const char *event);
void support_append_by_key(const char *file, int line, ses_store *store, const ses_key *key,
                           const char *event);
void support_refresh(const char *file, int line, ses_session *session);
void support_delete(const char *file, int line, ses_store *store, const ses_key *key);

/* Handles that are closed after the test, the last one first, unless the test closes them itself. */
ses_session *support_keep_session(ses_session *session);
ses_follower *support_keep_follower(ses_follower *follower);
ses_tracked *support_keep_tracked(ses_tracked *tracked);
void support_close_kept(void);
void support_leave_kept(void); /* those of a setup, which its teardown closes */
void support_session_close(ses_session *session);
void support_follower_close(ses_follower *follower);
void support_tracked_close(ses_tracked *tracked);
#define ses_session_close(session) support_session_close(session)
#define ses_follower_close(follower) support_follower_close(follower)
#define ses_tracked_close(tracked) support_tracked_close(tracked)

/* ses_state_json, which must succeed. `len` may be NULL. */
const char *support_state(const ses_session *session, size_t *len);

/* The steady clock of the system; and a pause by it. */
int64_t support_steady_us(void);
void support_pause_us(long us);

/* SQL. The library runs none of the views; to parse them takes half of the time of opening a store. */
#define SUPPORT_DROP_VIEWS                                                                         \
    "DROP VIEW transcript; DROP VIEW tool_calls; DROP VIEW usage; DROP VIEW event_log; DROP VIEW " \
    "session_overview; DROP VIEW merged_state; DROP VIEW artifact_overview;"

/* A whole file as text; free it. NULL when there is none. */
char *support_read_file(const char *path, size_t *len);
/* How often the word stands in the files of a store: the file itself, its log and its journal. */
size_t support_count_in_files(const char *path, const char *word);
/* The scripts of sql/sqlite, one after another, without the lines for the sqlite3 program; free it. */
char *support_schema(void);
/* A file of the shared test data, "data/..." or "vectors/..."; NULL where they are missing, after saying
 * so. */
char *support_test_data(const char *name, size_t *len);

/* True if the tests run on a server (make ENGINE=postgres, or mysql). Then there is no file to look into. */
bool support_on_server(void);
/* Makes the index of words; a test is skipped where the engine has none. */
void support_make_index(ses_store *store);
/* A number of the environment; `otherwise` where there is none. */
long support_setting(const char *name, long otherwise);
/* The number of rounds; on a server, where each is several round trips, a tenth. */
int support_steps(int steps);
/* How far the steps of a walk through all cases are apart: 1; on a server more. It divides nothing that is
 * likely. */
size_t support_stride(void);
/* Skips a test that looks into the file where there is none, after saying so. */
void support_need_file(void);

/* Sets a locale that writes 1,5, to be undone by setlocale(LC_ALL, "C"); false where there is none, after
 * saying so. */
bool support_comma_locale(void);

/* Says how much a test has tried, for test/figures.sh to add up: `kills`, `faults`, ... */
void support_figure(const char *name, long count);

/* JSON that can be read in C: single quotes become double ones. It is there as long as the program runs. NULL
 * stays NULL. */
const char *support_json(const char *text);
#define Q(text) support_json(text)

/* The output of a program (its errors too); free it. *status is its exit code. The command is given to sh. */
char *support_run(const char *command, int *status);

#endif
