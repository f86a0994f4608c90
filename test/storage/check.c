/* Checks: sound stores have no problem, and damaged ones end no check. */
#include "check.h"
#include "scenario.h"

static bool never_expected(int code)
{
    (void)code;
    return false;
}

static void check_scene(const char *path, enum scene scene)
{
    const ses_open_options options = {.size = sizeof options, .clock = faults_clock};
    struct faults faults = {.expected = never_expected, .path = path, .scene = scene};

    faults_prepare(&faults);
    faults_run(&faults);
    assert_string_equal(faults.wrong, "");
    ses_store *store = must_open(path, &options);
    assert_no_problems(store);
    ses_close(store);
}

FOLDER_TEST(every_scene_leaves_a_sound_store)
{
    for (enum scene scene = 0; scene < SCENES; scene++)
        check_scene(folder->path, scene);
}

static void fill(ses_store *store)
{
    char event[300];

    must_create(store, &(ses_key){"app", "user", "one"}, Q("{'k':1}"));
    must_create(store, &(ses_key){"app", "user", "two"}, Q("{'k':1}"));
    for (int i = 0; i < 100; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"author\":\"%0200d\",\"actions\":{\"stateDelta\":{\"n\":%d}}}", i, i, i);
        must_append_by_key(store, &(ses_key){"app", "user", i % 2 ? "one" : "two"}, event);
    }
}

FOLDER_TEST(stores_of_every_kind_are_checked)
{
    static const ses_open_options each[] = {{.size = sizeof each[0]},
                                            {.size = sizeof each[0], .flags = SES_OPEN_READ_ONLY},
                                            {.size = sizeof each[0], .journal = SES_JOURNAL_ROLLBACK}};
    ses_store *store = NULL;

    for (size_t i = 0; i < 3; i++) {
        assert_ok(ses_open(folder->path, &each[i], &store, &error));
        if (i == 0)
            fill(store);
        for (int level = SES_CHECK_QUICK; level <= SES_CHECK_LOG; level++) {
            char *problems = problems_of(store, level);
            assert_string_equal(problems, "");
            free(problems);
        }
        ses_close(store);
    }
    assert_ok(ses_open(":memory:", NULL, &store, &error));
    fill(store);
    assert_no_problems(store);
    ses_close(store);
}

/* Three levels, of which each sees what those before it do not. */
FOLDER_TEST(levels_see_more_and_more)
{
    static const struct {
        const char *sql;
        int level;
        const char *kind;
    } damages[] = {
        {"UPDATE session_state SET value = '7' WHERE key = 'k'", SES_CHECK_LOG, "state "},
        {"DELETE FROM users", SES_CHECK_FULL, "reference "},
        /* As many entries as there should be, since newer versions of SQLite count them in a quick check,
         * too. */
        {"PRAGMA writable_schema = ON; DROP INDEX sessions_by_app; CREATE INDEX sessions_by_app ON sessions "
         "(-app_id); UPDATE sqlite_schema SET sql = 'CREATE INDEX sessions_by_app ON sessions (app_id)' "
         "WHERE name = 'sessions_by_app'",
         SES_CHECK_FULL, "index "},
        {"DROP TABLE event_marks", SES_CHECK_QUICK, "page -/-/- 0: "},
    };
    ses_store *store = NULL;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        faults_remove_files(folder->path);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        fill(store);
        sqlite3 *db = raw_open(folder->path);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        raw_run(db, damages[i].sql);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        for (int level = SES_CHECK_QUICK; level <= SES_CHECK_LOG; level++) {
            char *problems = problems_of(store, level);
            if (level < damages[i].level)
                assert_string_equal(problems, "");
            else if (!strstr(problems, damages[i].kind))
                fail_msg("%s: %s", damages[i].sql, problems);
            free(problems);
        }
        ses_close(store);
    }
}

/* Problems of the whole session: no event has a part in them. */
FOLDER_TEST(problems_of_a_sessions_row)
{
    static const struct {
        const char *sql;
        const char *problems;
    } damages[] = {
        {"UPDATE sessions SET created_us = updated_us + 1",
         "time app/user/one 0: the session was updated before it was created"},
        {"UPDATE sessions SET active_30s = active_30s + 1",
         "time app/user/one 0: active_30s does not agree with updated_us"},
        {"UPDATE sessions SET changed_us = 9e17", "time app/user/one 0: changed_us cannot be"},
        {"UPDATE sessions SET changed_us = 0, ahead_hour = NULL",
         "time app/user/one 0: ahead_hour is missing or too late: the session is never idle"},
        {"UPDATE sessions SET expires_us = 9e17", "time app/user/one 0: the time of expiry cannot be"},
        {"UPDATE session_details SET origin = -5",
         "parent app/user/one 0: session_details.origin is not a positive number"},
        {"UPDATE session_details SET origin = 0",
         "parent app/user/one 0: session_details.origin is not a positive number"},
        {"UPDATE session_details SET initial_state = '{'",
         "base app/user/one 0: the initial state of session number 1: at byte 1: expected a quoted key"},
        {"UPDATE sessions SET details = details | 2; UPDATE session_details SET title = ''",
         "detail app/user/one 0: the title is empty, too long, or not valid UTF-8"},
        {"UPDATE sessions SET details = details | 2; UPDATE session_details SET title = printf('%.*c', 1025, 'x')",
         "detail app/user/one 0: the title is empty, too long, or not valid UTF-8"},
        {"UPDATE session_details SET title = 'of nobody', child_user = 'u', child_session = 's', remembered_seq = 9",
         "detail app/user/one 0: sessions.details is 0; other tables: parent (1), title (2), labels (4), archive (8), child (16), remembered (64): 82"},
        {"UPDATE sessions SET details = 48, active_30s = active_30s - (1 << 34);"
         "UPDATE session_details SET child_user = 'u', child_session = 's'",
         "detail app/user/one 0: the session is memory, and a child of another"},
        {"UPDATE sessions SET details = 16, active_30s = active_30s - (1 << 34);"
         "UPDATE session_details SET child_user = 'u'",
         "parent app/user/one 0: the names of the session that it is a child of are not ids"},
        {"UPDATE sessions SET details = 64; UPDATE session_details SET remembered_seq = 0",
         "detail app/user/one 0: session_details.remembered_seq is no number of an event"},
        {"UPDATE sessions SET details = 32",
         "time app/user/one 0: active_30s does not agree with updated_us"},
        {"UPDATE sessions SET details = details | 4; INSERT INTO session_labels VALUES (1, '', 'v', 1)",
         "label app/user/one 0: a label breaks the rules of labels, is filed under another app, or is one too many"},
        {"UPDATE sessions SET details = details | 4; INSERT INTO session_labels VALUES (1, 'l', 'v', 2)",
         "label app/user/one 0: a label breaks the rules of labels, is filed under another app, or is one too many"},
    };
    ses_store *store = NULL;

    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char expected[200];
        faults_remove_files(folder->path);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        must_create(store, &(ses_key){"app", "user", "one"}, Q("{'k':1}"));
        sqlite3 *db = raw_open(folder->path);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        raw_run(db, "PRAGMA ignore_check_constraints = ON");
        raw_run(db, damages[i].sql);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        char *problems = problems_of(store, SES_CHECK_LOG);
        snprintf(expected, sizeof expected, "%s\n", damages[i].problems);
        assert_string_equal(problems, expected);
        free(problems);
        ses_close(store);
    }
}

static int count_and_end(void *context, const ses_problem *problem)
{
    assert_true(problem->kind > 0 && problem->message[0]);
    return ++*(int *)context == 1;
}

FOLDER_TEST(problems_are_named_and_limited)
{
    ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG, .limit = 1};
    int64_t problems = 0;
    int count = 0;

    ses_store *store = must_open(folder->path, NULL);
    fill(store);
    sqlite3 *db = raw_open(folder->path);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    raw_run(db, "UPDATE events SET author = 'x' WHERE position & 4294967295 = 7");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    char *text = problems_of(store, SES_CHECK_LOG);
    assert_string_equal(text,
                        "event app/user/one 7: the column author of event 7 is not what its text says\n"
                        "event app/user/two 7: the column author of event 7 is not what its text says\n");
    free(text);
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 1);
    options.limit = 0;
    options.report = count_and_end;
    options.report_context = &count;
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 1);
    assert_int_equal(count, 1);
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
}

static int interrupt(void *context, const ses_problem *problem)
{
    ses_error error;
    assert_int_equal(problem->kind, SES_PROBLEM_STATE);
    assert_ok(ses_store_interrupt(context, &error));
    return 0;
}

/* A cut leaves the shared keys of its events, which the state of pruned events then does not hold. */
/* A later version may have more of them. */
FOLDER_TEST(an_unknown_detail_is_no_problem)
{
    const ses_key key = {"app", "user", "s"};

    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    raw_exec(folder->path, "UPDATE sessions SET details = 128");
    assert_no_problems(store);
    ses_close(store);
}

PLAIN_TEST(a_shared_key_of_a_cut_event_is_sound)
{
    static const char *const before[] = {"{}", "{'user:s':0}"};

    ses_store *store = must_open(":memory:", NULL);
    for (int i = 0; i < 2; i++) {
        const ses_key key = {"app", i ? "a" : "b", "s"};
        const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 1};
        const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 3};
        char event[100];
        must_create(store, &key, NULL);
        snprintf(event, sizeof event, "{\"invocationId\":\"1\",\"actions\":{\"stateDelta\":%s}}",
                 Q(before[i]));
        must_append_by_key(store, &key, event);
        must_append_by_key(store, &key, Q("{'invocationId':'2','actions':{'stateDelta':{'user:s':1}}}"));
        assert_ok(ses_cut_by_key(store, &key, &point, NULL, NULL, &error));
        must_append_by_key(store, &key, Q("{'invocationId':'3'}"));
        assert_no_problems(store);
        assert_ok(ses_prune_by_key(store, &key, &prune, NULL, &error));
        assert_no_problems(store);
    }
    ses_close(store);
}

FOLDER_TEST(an_interrupt_ends_a_check)
{
    ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG, .report = interrupt};
    int64_t problems = 7;

    ses_store *store = must_open(folder->path, NULL);
    fill(store);
    raw_exec(folder->path, "UPDATE session_state SET value = '7' WHERE key = 'k'");
    options.report_context = store;
    assert_code(SES_INTERRUPTED, ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 7);
    ses_close(store);
}

/* Told after each session; ends when it says so. */
static int count_progress(void *context, int64_t done, int64_t total)
{
    int *left = context;
    assert_true(done > 0 && done <= total);
    return --*left == 0;
}

FOLDER_TEST(progress_is_told_and_can_end_a_check)
{
    int left = 100;
    ses_check_options options = {.size = sizeof options,
                                 .level = SES_CHECK_LOG,
                                 .progress = count_progress,
                                 .progress_context = &left};
    int64_t problems = 7;

    ses_store *store = must_open(folder->path, NULL);
    fill(store);
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
    assert_in_range(left, 1, 99);
    left = 1;
    problems = 7;
    assert_code(SES_INTERRUPTED, ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 7);
    ses_close(store);
}

FOLDER_TEST(kinds_of_problems_have_names)
{
    assert_string_equal(ses_problem_name(SES_PROBLEM_PAGE), "page");
    assert_string_equal(ses_problem_name(SES_PROBLEM_STATE), "state");
    assert_string_equal(ses_problem_name(SES_PROBLEM_COUNTER), "counter");
    assert_string_equal(ses_problem_name(SES_PROBLEM_ARTIFACT), "artifact");
    assert_string_equal(ses_problem_name(SES_PROBLEM_USAGE), "usage");
    assert_string_equal(ses_problem_name(SES_PROBLEM_NEWER), "newer");
    assert_string_equal(ses_problem_name(SES_PROBLEM_NEWER + 1), "?");
    assert_string_equal(ses_problem_name(0), "?");
    assert_string_equal(ses_problem_name(-1), "?");
}

FOLDER_TEST(wrong_arguments)
{
    ses_check_options options = {.size = sizeof options, .level = 3};
    int64_t problems = 7;

    ses_store *store = must_open(folder->path, NULL);
    assert_code(SES_MISUSE, ses_store_check(store, &options, &problems, &error));
    options = (ses_check_options){.size = sizeof options, .limit = -1};
    assert_code(SES_INVALID, ses_store_check(store, &options, &problems, &error));
    assert_code(SES_MISUSE, ses_store_check(store, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_store_check(NULL, NULL, &problems, &error));
    assert_int_equal(problems, 7);
    ses_close(store);
}

/* The pages of one session's events cannot be read: the other is still checked. */
FOLDER_TEST(a_check_goes_on_with_the_next_session)
{
    ses_store *store = must_open(folder->path, NULL);
    fill(store);
    ses_close(store);
    sqlite3 *db = raw_open(folder->path);
    struct text page = {NULL, 0};
    raw_query(db, "SELECT min(pageno) FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'", &page);
    raw_run(db, "UPDATE session_state SET value = '7' WHERE key = 'k'");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    size_t len = 0;
    char *bytes = support_read_file(folder->path, &len);
    memset(bytes + (size_t)(atoi(page.data) - 1) * 4096, 0xFF, 200);
    write_file(folder->path, bytes, len);
    assert_ok(ses_open(folder->path, NULL, &store, &error));
    char *problems = problems_of(store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "page app/user/one"));
    assert_non_null(strstr(problems, "state app/user/two"));
    ses_close(store);
    free(problems);
    free(page.data);
    free(bytes);
}
