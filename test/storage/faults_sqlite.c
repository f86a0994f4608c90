/*
 * Every call of SQLite fails in turn, with each kind of failure. The linker puts the functions below in place
 * of SQLite's (see flags.mk); a call that is to fail does nothing and returns the failure.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "scenario.h"

/*
 * Every call fails with SQLITE_IOERR, once with a file and for good in memory. The other tests take turns:
 * each call fails in one of them too.
 */
enum { TURNS = 13, ALL = -1 };

static int failure; /* the code of SQLite at work */

#define WRAP(function, parameters, arguments)                       \
    int __real_##function parameters;                               \
    int __wrap_##function parameters;                               \
    int __wrap_##function parameters                                \
    {                                                               \
        return fault_now() ? failure : __real_##function arguments; \
    }

WRAP(sqlite3_step, (sqlite3_stmt * statement), (statement))
WRAP(sqlite3_bind_int64, (sqlite3_stmt * statement, int parameter, sqlite3_int64 value),
     (statement, parameter, value))
WRAP(sqlite3_bind_text64,
     (sqlite3_stmt * statement, int parameter, const char *text, sqlite3_uint64 len, void (*release)(void *),
      unsigned char encoding),
     (statement, parameter, text, len, release, encoding))
WRAP(sqlite3_prepare_v2,
     (sqlite3 * handle, const char *sql, int len, sqlite3_stmt **statement, const char **tail),
     (handle, sql, len, statement, tail))
WRAP(sqlite3_prepare_v3,
     (sqlite3 * handle, const char *sql, int len, unsigned flags, sqlite3_stmt **statement,
      const char **tail),
     (handle, sql, len, flags, statement, tail))
WRAP(sqlite3_exec,
     (sqlite3 * handle, const char *sql, int (*visit)(void *, int, char **, char **), void *context,
      char **message),
     (handle, sql, visit, context, message))
WRAP(sqlite3_open_v2, (const char *path, sqlite3 **handle, int flags, const char *vfs),
     (path, handle, flags, vfs))
WRAP(sqlite3_busy_handler, (sqlite3 * handle, int (*on_busy)(void *, int), void *context),
     (handle, on_busy, context))
WRAP(sqlite3_extended_result_codes, (sqlite3 * handle, int on), (handle, on))

WRAP(sqlite3_create_module, (sqlite3 * handle, const char *name, const sqlite3_module *module, void *context),
     (handle, name, module, context))
WRAP(sqlite3_backup_step, (sqlite3_backup * backup, int pages), (backup, pages))
WRAP(sqlite3_bind_pointer,
     (sqlite3_stmt * statement, int parameter, void *pointer, const char *type, void (*release)(void *)),
     (statement, parameter, pointer, type, release))

/* The codes that a caller may get for the failure at work. */
static bool is_expected(int code)
{
    bool expected;
    switch (failure) {
    case SQLITE_IOERR:
        expected = code == SES_IO;
        break;
    case SQLITE_FULL:
        expected = code == SES_FULL;
        break;
    case SQLITE_BUSY:
        expected = code == SES_BUSY;
        break;
    case SQLITE_CORRUPT:
        expected = code == SES_CORRUPT;
        break;
    case SQLITE_INTERRUPT:
        expected = code == SES_INTERRUPTED;
        break;
    case SQLITE_NOMEM:
        expected = code == SES_NOMEM;
        break;
    default: /* SQLITE_ERROR: of a statement that cannot be prepared, the schema is to blame */
        expected = code == SES_INTERNAL || code == SES_CORRUPT;
        break;
    }
    return expected;
}

/* In how many of ten runs a step must fail. A rollback need not succeed, a retry may hide a failure, and
 * calls go on without an index or a tally that fails, if it does so once. */
static int most_of_ten(enum scene scene, bool sticks)
{
    return sticks ? 9 : scene == SCENE_INDEX ? 5 : scene == SCENE_LISTS ? 7 : 8;
}

/* How far the runs are apart: by less in a turn, whose runs no other test makes. */
static size_t runs_apart(int turn)
{
    const size_t of_a_turn = fault_apart(1) / 3;
    return turn == ALL ? fault_apart(1) : TURNS * (of_a_turn ? of_a_turn : 1);
}

static void fail_each_in(enum scene scene, int rc, bool sticks, const char *path, int turn)
{
    struct faults faults = {.expected = is_expected, .path = path, .scene = scene};
    char undisturbed[sizeof faults.dump];
    long failures = 0;
    long fired = 0;

    failure = rc;
    faults_prepare(&faults);
    fault_begin_recording();
    faults_run(&faults);
    fault_choose();
    assert_string_equal(faults.wrong, "");
    assert_true(fault_calls.count > (scene == SCENE_OPENING ? 20 : 150));
    strcpy(undisturbed, faults.dump);

    for (size_t run = turn == ALL ? 0 : (size_t)turn; run < fault_calls.runs; run += runs_apart(turn)) {
        faults_prepare(&faults);
        fault_begin_run(run, sticks);
        faults_run(&faults);
        failures += faults.failures;
        fired += fault_calls.fired;
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0) {
            print_error("scene %d, run %zu of %zu, SQLite code %d: %s\n%d steps failed, the store held\n%s",
                        scene, run, fault_calls.runs, rc, faults.wrong, faults.failures, faults.dump);
            fail();
        }
    }
    if (failures <= fired * most_of_ten(scene, sticks) / 10)
        fail_msg("scene %d, SQLite code %d: of %ld failures, steps have noticed %ld", scene, rc, fired,
                 failures);
    support_figure("faults", fired);
}

static void fail_each_call(int rc, bool sticks, const char *path, int turn)
{
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, rc, sticks, path, turn);
}

#define FAULT_TEST(name, rc, turn_once, turn_for_good)       \
    PLAIN_TEST(name##_once)                                  \
    {                                                        \
        fail_each_call(rc, false, ":memory:", turn_once);    \
    }                                                        \
    PLAIN_TEST(name##_for_good)                              \
    {                                                        \
        fail_each_call(rc, true, ":memory:", turn_for_good); \
    }

FAULT_TEST(ioerr, SQLITE_IOERR, 12, ALL)
FAULT_TEST(full, SQLITE_FULL, 0, 1)
FAULT_TEST(busy, SQLITE_BUSY, 2, 3)
FAULT_TEST(corrupt, SQLITE_CORRUPT, 4, 5)
FAULT_TEST(interrupt, SQLITE_INTERRUPT, 6, 7)
FAULT_TEST(nomem, SQLITE_NOMEM, 8, 9)
FAULT_TEST(error, SQLITE_ERROR, 10, 11)

/* With a reading connection of its own, and the check of the file before that is opened. */
PLAIN_TEST(ioerr_with_a_file)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    fail_each_call(SQLITE_IOERR, false, path, ALL);
    free(path);
    support_folder_remove(folder);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
