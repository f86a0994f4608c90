/*
 * A program of version 0.2.0 has the store open while it is upgraded. Its writes before the upgrade count,
 * and are part of it; later writes are refused as a whole. Its library is built from git's history, and
 * loaded beside this one.
 */
#include <dlfcn.h>

#include "seslite_agent.h"
#include "seslite_artifact.h"
#include "session/lines_text.h"

static const ses_key talk = {"app", "user", "talk"};

/* The calls of that library. Its structs are shorter, or the same. */
static struct {
    void *library;
    int (*open)(const char *, const ses_open_options *, ses_store **, ses_error *);
    void (*close)(ses_store *);
    int (*create)(ses_store *, const ses_key *, const char *, size_t, const ses_create_options *,
                  ses_session **, ses_error *);
    int (*append)(ses_store *, const ses_key *, const char *, size_t, const ses_append_options *,
                  ses_appended *, ses_error *);
    int (*fork)(ses_store *, const ses_key *, const ses_point *, const ses_key *, const ses_fork_options *,
                ses_session **, ses_error *);
    int (*cut)(ses_store *, const ses_key *, const ses_point *, const ses_cut_options *, int64_t *,
               ses_error *);
    int (*state)(ses_store *, const ses_key *, const char *, const ses_call_options *, char **, size_t *,
                 ses_error *);
    int (*import)(ses_store *, int (*)(void *, char *, size_t, size_t *, ses_error *), void *,
                  const ses_import_options *, ses_import_report *, ses_error *);
    int (*erase)(ses_store *, const ses_key *, const ses_delete_options *, int64_t *, ses_error *);
} old;

static void *find(const char *name)
{
    void *symbol = dlsym(old.library, name);
    assert_non_null(symbol);
    return symbol;
}

#define FIND(member, name) *(void **)&old.member = find(name)

/* False, after saying so, where there is no history. */
static bool load_old(void)
{
    int status = 0;
    char *path = support_run("sh test/released.sh 0.2.0 " BUILD_FOLDER, &status);

    if (status != 0)
        fail_msg("%s", path);
    path[strcspn(path, "\n")] = '\0';
    if (path[0])
        old.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    if (!old.library) {
        print_message("skipped: a program of 0.2.0 beside an upgrade, for want of git's history\n");
        return false;
    }
    FIND(open, "ses_open");
    FIND(close, "ses_close");
    FIND(create, "ses_create");
    FIND(append, "ses_append_by_key");
    FIND(fork, "ses_fork_by_key");
    FIND(cut, "ses_cut_by_key");
    FIND(state, "ses_state_get_by_key");
    FIND(import, "ses_store_import");
    FIND(erase, "ses_delete");
    return true;
}

#define EVENT Q("{'actions':{'stateDelta':{'n':1}}}")

static void write_old(ses_store *store, const char *session, int expected)
{
    const ses_key fork = {"app", "user", session};
    const ses_key other = {"app", "other", session};
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ, .seq = 0};
    ses_error error;

    assert_code(expected, old.append(store, &talk, EVENT, SES_NUL, NULL, NULL, &error));
    assert_code(expected, old.fork(store, &talk, &start, &fork, NULL, NULL, &error));
    assert_code(expected, old.create(store, &other, NULL, 0, NULL, NULL, &error));
    if (expected != SES_OK)
        assert_code(expected, old.erase(store, &talk, NULL, NULL, &error));
    if (expected == SES_TOONEW)
        assert_message("families");
}

FOLDER_TEST(a_program_of_0_2_0_stops_writing)
{
    ses_store *before = NULL;
    char *json = NULL;

    if (!load_old())
        skip();
    assert_ok(old.open(folder->path, NULL, &before, &error));
    assert_ok(old.create(before, &talk, Q("{'n':0}"), SES_NUL, NULL, NULL, &error));
    write_old(before, "early", SES_OK);
    assert_query(folder->path, "PRAGMA user_version", "2\n");
    ses_store *store = must_open(folder->path, NULL);
    char *rows = raw_text(folder->path,
                          "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM events), (SELECT "
                          "sum(version) FROM sessions)");
    write_old(before, "late", SES_TOONEW);
    assert_query(
        folder->path,
        "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM events), (SELECT sum(version) FROM "
        "sessions)",
        rows);
    free(rows);
    must_append_by_key(store, &talk, EVENT);
    /* It goes on reading, or is refused that, too. */
    const int code = old.state(before, &talk, "n", NULL, &json, NULL, &error);
    assert_true(code == SES_TOONEW || (code == SES_OK && strcmp(json, "1") == 0));
    ses_free(json);
    old.close(before);
    assert_code(SES_TOONEW, old.open(folder->path, NULL, &before, &error));
    assert_query(folder->path,
                 "SELECT count(*), count(DISTINCT origin) FROM session_details WHERE origin > 0", "2|1\n");
    ses_close(store);
    assert_sound(folder->path);
}

/* It writes without a pause while the store is upgraded: each write is there, or was refused. */
FOLDER_TEST(a_program_of_0_2_0_writes_during_the_upgrade)
{
    if (!old.library)
        skip();
    for (int round = 0; round < 20; round++) {
        struct text name = {NULL, 0};
        text_printf(&name, "%s.%d", folder->path, round);
        ses_store *before = NULL;
        int acknowledged = 0;
        int code = SES_OK;
        int events = -1;

        assert_ok(old.open(name.data, NULL, &before, &error));
        assert_ok(old.create(before, &talk, NULL, 0, NULL, NULL, &error));
        const pid_t child = fork();
        if (child == 0) {
            ses_store *store = NULL;
            support_pause_us(500 * round);
            const int opened = ses_open(name.data, NULL, &store, &error);
            ses_close(store);
            _exit(opened == SES_OK ? 0 : 1);
        }
        while (code == SES_OK) {
            code = old.append(before, &talk, EVENT, SES_NUL, NULL, NULL, &error);
            acknowledged += code == SES_OK;
        }
        assert_int_equal(code, SES_TOONEW);
        assert_int_equal(child_end(child), 0);
        old.close(before);
        char *count = raw_text(name.data, "SELECT count(*) FROM events");
        events = atoi(count);
        assert_int_equal(events, acknowledged);
        free(count);
        free(name.data);
    }
}

/* An undo and a look for pending calls have left filters and a row behind, of which it knows nothing. */
FOLDER_TEST(a_program_of_0_2_0_does_not_change_a_log_with_filters)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 100};
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    ses_store *before = NULL;
    ses_pending *pending = NULL;
    char *rows = NULL;
    int64_t deleted = 0;
    int tries = 0;

    if (!old.library)
        skip();
    assert_ok(old.open(folder->path, NULL, &before, &error));
    assert_ok(old.create(before, &talk, NULL, 0, NULL, NULL, &error));
    ses_store *store = must_open(folder->path, NULL);
    for (int i = 0; i < 800; i++) {
        const char *part = i == 99    ? "{\"functionCall\":{\"id\":\"c\",\"name\":\"f\"}}"
                           : i == 100 ? "{\"functionResponse\":{\"id\":\"c\",\"name\":\"f\"}}"
                                      : "{\"text\":\"t\"}";
        char event[200];
        snprintf(event, sizeof event,
                 "{\"invocationId\":\"v%d\",\"author\":\"user\",\"content\":{\"parts\":[%s]}}", i, part);
        must_append_by_key(store, &talk, event);
    }
    assert_ok(ses_rewind_by_key(store, &talk, &last_turn, NULL, NULL, &error));
    do { /* the row is kept by a write of less than 20 ms, which may take another try */
        assert_ok(ses_pending_open_by_key(store, &talk, NULL, &pending, &error));
        ses_pending_close(pending);
        free(rows);
        rows = raw_text(folder->path, "SELECT what FROM derived ORDER BY what");
    } while (strcmp(rows, "filters1\n") == 0 && ++tries < 500);
    assert_string_equal(rows, "filters1\nsettled1\n");
    free(rows);
    assert_code(SES_TOONEW, old.cut(before, &talk, &point, NULL, &deleted, &error));
    write_old(before, "late", SES_TOONEW);
    assert_ok(ses_pending_open_by_key(store, &talk, NULL, &pending, &error));
    assert_int_equal(ses_pending_count(pending), 0);
    ses_pending_close(pending);
    assert_ok(ses_cut_by_key(store, &talk, &point, NULL, NULL, &error));
    assert_ok(ses_pending_open_by_key(store, &talk, NULL, &pending, &error));
    assert_int_equal(ses_pending_count(pending), 1);
    ses_pending_close(pending);
    old.close(before);
    ses_close(store);
    assert_sound(folder->path);
}

static void assert_old_imports(const char *path, ses_store *from, int expected)
{
    struct text text = exported(from, NULL);
    struct piecewise pieces = {.data = text.data, .len = text.len};
    ses_import_report report = {.size = sizeof report};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(old.open(path, NULL, &store, &error));
    assert_code(expected, old.import(store, give_lines, &pieces, NULL, &report, &error));
    if (expected == SES_OK)
        assert_int_equal(report.unknown, 0);
    old.close(store);
    free(text.data);
}

/* It reads what says format 1 without a loss, and refuses the rest. */
FOLDER_TEST(a_program_of_0_2_0_reads_exports)
{
    const ses_prune_options most = {.size = sizeof most, .which = SES_PRUNE_KEEP, .keep = 1};
    ses_store *store = empty_store();

    if (!old.library)
        skip();
    must_create(store, &talk, Q("{'n':0,'user:u':1,'app:a':1}"));
    assert_ok(ses_artifact_save_by_key(store, &talk, "file", "bytes", 5, NULL, NULL, &error));
    for (int i = 0; i < 3; i++)
        must_append_by_key(store, &talk, Q("{'actions':{'stateDelta':{'n':1},'artifactDelta':{'file':0}}}"));
    assert_ok(ses_fork_by_key(store, &talk, NULL, &(ses_key){"app", "user", "fork"}, NULL, NULL, &error));
    assert_old_imports(folder->path, store, SES_OK);
    assert_ok(ses_prune_by_key(store, &talk, &most, NULL, &error));
    struct text other = {NULL, 0};
    text_printf(&other, "%s.other", folder->path);
    assert_old_imports(other.data, store, SES_TOONEW);
    free(other.data);
    ses_close(store);
}
