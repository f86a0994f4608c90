/* What the tests share: a store in a temporary folder, short ways to say common things, a clock to set. */
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

/* Calls that must succeed, and of which only the handle is looked at. `state` may be NULL. Handles are to be closed. */
#define must_create(...) support_create(__FILE__, __LINE__, __VA_ARGS__)
#define must_open_new(...) support_open_new(__FILE__, __LINE__, __VA_ARGS__)
#define must_get(...) support_get(__FILE__, __LINE__, __VA_ARGS__)
#define must_append(...) support_append(__FILE__, __LINE__, __VA_ARGS__)
#define must_append_by_key(...) support_append_by_key(__FILE__, __LINE__, __VA_ARGS__)
#define must_refresh(...) support_refresh(__FILE__, __LINE__, __VA_ARGS__)
#define must_delete(...) support_delete(__FILE__, __LINE__, __VA_ARGS__)

void support_create(const char *file, int line, ses_store *store, const ses_key *key, const char *state);
ses_session *support_open_new(const char *file, int line, ses_store *store, const ses_key *key,
                              const char *state);
ses_session *support_get(const char *file, int line, ses_store *store, const ses_key *key);
void support_append(const char *file, int line, ses_session *session, const char *event);
void support_append_by_key(const char *file, int line, ses_store *store, const ses_key *key,
                           const char *event);
void support_refresh(const char *file, int line, ses_session *session);
void support_delete(const char *file, int line, ses_store *store, const ses_key *key);

/* ses_state_json, which must succeed. `len` may be NULL. */
const char *support_state(const ses_session *session, size_t *len);

/* The steady clock of the system; and a pause by it. */
int64_t support_steady_us(void);
void support_pause_us(long us);

/* A whole file as text; free it. NULL when there is none. */
char *support_read_file(const char *path, size_t *len);
/* The scripts of sql/sqlite, one after another, without the lines for the sqlite3 program; free it. */
char *support_schema(void);
/* A file of the shared test data, "data/..." or "vectors/..."; NULL where they are missing, after saying so. */
char *support_test_data(const char *name, size_t *len);

/* Do the tests run on a server (make ENGINE=postgres, or mysql)? Then there is no file to look into. */
bool support_on_server(void);
/* Makes the index of words; a test is skipped where the engine has none. */
void support_make_index(ses_store *store);
/* A number of the environment; `otherwise` where there is none. */
long support_setting(const char *name, long otherwise);
/* So many of them; on a server, where each is several round trips, a tenth. */
int support_steps(int steps);
/* How far the steps of a walk through all cases are apart: 1; on a server more. It divides nothing that is likely. */
size_t support_stride(void);
/* Skips a test that looks into the file where there is none, after saying so. */
void support_need_file(void);

/* Sets a locale that writes 1,5, to be undone by setlocale(LC_ALL, "C"); false where there is none, after saying so. */
bool support_comma_locale(void);

/* Says how much a test has tried, for test/figures.sh to add up: `kills`, `faults`, ... */
void support_figure(const char *name, long count);

/* JSON that can be read in C: single quotes become double ones. It is there as long as the program runs. NULL
 * stays NULL. */
const char *support_json(const char *text);
#define Q(text) support_json(text)

/* What a program prints (its errors too); free it. *status is its exit code. The command is given to sh. */
char *support_run(const char *command, int *status);

#endif
