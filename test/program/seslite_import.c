/* The command imports databases of the ADKs: each is held against what the service itself returned for it. */
#include "foreign.h"

/* The differences, and why: README.md beside the files tells. */
struct source {
    const char *name;
    const char *format;
    bool python;   /* how its JSON names things */
    bool has_text; /* an event is one JSON text in the file, in the column event_data */
    const char
        *differs; /* the only session whose state is not what its events lead to; "*": some are; NULL: none */
};

static const struct source sources[] = {
    {"python-v1-1.22", "adk-python-v1", true, true, NULL},
    {"python-v1-2.13", "adk-python-v1", true, true, NULL},
    /* That version took a null in a delta for a removal. */
    {"python-sqlite-1.22", "adk-python-sqlite", true, true, "*"},
    {"python-sqlite-2.13", "adk-python-sqlite", true, true, NULL},
    /* An event came again with the same id, and was applied to the state a second time. */
    {"js", "adk-javascript", false, true, "db5b5fab-ec99-7c7f-8773-820173ab4876"},
    {"go", "adk-go", false, false, NULL},
    {"rust", "adk-rust", false, false, NULL},
};

static cJSON *returned(const char *name)
{
    char file[128];

    (void)snprintf(file, sizeof file, "data/adk-stores/%s.json", name);
    char *text = support_test_data(file, NULL);
    if (!text)
        skip();
    cJSON *json = parse(text);
    free(text);
    return json;
}

/* ------------------------------------------------------------------------------------------------- events */

/* Whole seconds since 1970 of "2025-03-02T21:45:43.108912Z", and its microseconds. */
static int64_t time_of(const cJSON *time)
{
    struct tm tm = {.tm_isdst = 0};
    double rest = 0;
    int end = 0;

    if (cJSON_IsNumber(time))
        return (int64_t)(time->valuedouble * (time->valuedouble > 1e11 ? 1e3 : 1e6) + 0.5);
    assert_int_equal(sscanf(time->valuestring, "%d-%d-%dT%d:%d:%d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                            &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &end),
                     6);
    const char *zone = time->valuestring + end;
    char *after = NULL;
    if (*zone == '.') {
        rest = strtod(zone, &after);
        zone = after;
    }
    int hours = 0;
    int minutes = 0;
    assert_true(*zone == 'Z' || sscanf(zone, "+%d:%d", &hours, &minutes) == 2);
    tm.tm_year -= 1900;
    tm.tm_mon--;
    return ((int64_t)timegm(&tm) - hours * 3600 - minutes * 60) * 1000000 + (int64_t)(rest * 1e6 + 1e-3);
}

static void drop(cJSON *object, const char *name)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
}

static void compare_event(const struct source *source, cJSON *theirs, const ses_event *event)
{
    cJSON *ours = parse(event->json);
    const bool rust = strcmp(source->name, "rust") == 0;

    const int64_t apart = time_of(cJSON_GetObjectItem(theirs, "timestamp")) - event->time_us;
    assert_in_range(apart + 1, 0, 2);
    drop(theirs, "timestamp");
    drop(ours, "timestamp");
    if (rust) {
        const cJSON *content = cJSON_GetObjectItem(theirs, "content");
        if (!cJSON_IsNull(content) && !same_rust_content(content, cJSON_GetObjectItem(ours, "content"))) {
            print_error("%s\n%s\n", cJSON_Print(content), cJSON_Print(ours));
            fail();
        }
        drop(theirs, "content");
        drop(ours, "content");
        if (json_string(theirs, "branch") && !*json_string(theirs, "branch"))
            drop(theirs, "branch");
    }
    if (!same(theirs, ours)) {
        print_error("%s: theirs\n%s\nours\n%s\n", source->name, cJSON_Print(theirs), cJSON_Print(ours));
        fail();
    }
    cJSON_Delete(ours);
}

static const ses_event *event_of(const ses_session *session, const char *id)
{
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        if (strcmp(event->id, id) == 0)
            return event;
    }
    return NULL;
}

/* Partial events are not stored. */
static size_t compare_events(const struct source *source, const cJSON *theirs, const ses_session *session)
{
    cJSON *item = NULL;
    size_t partial = 0;

    cJSON_ArrayForEach(item, theirs)
    {
        const ses_event *event = event_of(session, json_string(item, "id"));
        if (cJSON_IsTrue(cJSON_GetObjectItem(item, "partial"))) {
            assert_null(event);
            partial++;
        } else {
            assert_non_null(event);
            compare_event(source, item, event);
        }
    }
    assert_int_equal(ses_session_event_count(session) + partial, cJSON_GetArraySize(theirs));
    return partial;
}

/* The order is that of appending, and the bytes are those of the file. */
static void compare_rows(const struct source *source, sqlite3 *db, const ses_key *key,
                         const ses_session *session)
{
    sqlite3_stmt *statement = NULL;
    size_t i = 0;
    const char *sql =
        source->has_text
            ? "SELECT id, event_data FROM events WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3"
              " ORDER BY rowid"
            : "SELECT id, NULL FROM events WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3"
              " ORDER BY rowid";

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    (void)sqlite3_bind_text(statement, 1, key->app, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 2, key->user, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 3, key->session, -1, SQLITE_STATIC);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const ses_event *event = i < ses_session_event_count(session) ? ses_session_event(session, i) : NULL;
        const char *data = (const char *)sqlite3_column_text(statement, 1);
        if (!event || strcmp(event->id, (const char *)sqlite3_column_text(statement, 0)) != 0)
            continue; /* partial */
        if (data && !strstr(data, "__ADK_SENTINEL_REMOVED__"))
            assert_string_equal(event->json, data);
        i++;
    }
    assert_int_equal(i, ses_session_event_count(session));
    (void)sqlite3_finalize(statement);
}

/* Without what is shared: Rust keeps old copies of it in each session, and gives those. */
static void keep_own_keys(cJSON *state)
{
    cJSON *next = NULL;

    for (cJSON *item = state->child; item; item = next) {
        next = item->next;
        if (strncmp(item->string, "app:", 4) == 0 || strncmp(item->string, "user:", 5) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(state, item));
    }
}

/* The tables of shared state, key by key. */
static void compare_shared(const struct fixture *fixture, sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    ses_error error;
    int rows = 0;

    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT app_name, NULL, state FROM app_states UNION ALL "
                                        "SELECT app_name, user_id, state FROM user_states",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; rows++) {
        char *json = NULL;
        assert_ok(ses_shared_state_json(fixture->store, (const char *)sqlite3_column_text(statement, 0),
                                        (const char *)sqlite3_column_text(statement, 1), NULL, &json, NULL,
                                        &error));
        cJSON *ours = parse(json);
        cJSON *theirs = parse((const char *)sqlite3_column_text(statement, 2));
        assert_true(cJSON_Compare(theirs, ours, true));
        cJSON_Delete(ours);
        cJSON_Delete(theirs);
        ses_free(json);
    }
    assert_true(rows > 0);
    (void)sqlite3_finalize(statement);
}

static void compare_session(const struct source *source, const struct fixture *fixture, sqlite3 *db,
                            cJSON *theirs)
{
    const ses_key key = {json_string(theirs, source->python ? "appName" : "app"),
                         json_string(theirs, source->python ? "userId" : "user"),
                         json_string(theirs, source->python ? "id" : "session")};
    ses_session *session = must_get(fixture->store, &key);
    cJSON *state = parse(support_state(session, NULL));
    cJSON *expected = cJSON_GetObjectItem(theirs, "state");
    const cJSON *updated = cJSON_GetObjectItem(theirs, source->python ? "lastUpdateTime" : "last_update");

    if (strcmp(source->name, "rust") == 0) {
        keep_own_keys(state);
        keep_own_keys(expected);
    }
    (void)compare_events(source, cJSON_GetObjectItem(theirs, "events"), session);
    compare_rows(source, db, &key, session);
    if ((!source->differs || (*source->differs != '*' && strcmp(source->differs, key.session) != 0)) &&
        !cJSON_Compare(state, expected, true)) {
        print_error("%s %s: theirs\n%s\nours\n%s\n", source->name, key.session, cJSON_Print(expected),
                    cJSON_Print(state));
        fail();
    }
    /* Ours never goes back. */
    assert_true(ses_session_updated_us(session) >= time_of(updated) - 1);
    cJSON_Delete(state);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------------- tests */

static void import_source(const struct source *source, const struct fixture *fixture)
{
    cJSON *theirs = returned(source->name);
    char *path = data_path(source->name, ".db");
    sqlite3 *db = NULL;
    struct reply answer = {0};
    cJSON *item = NULL;

    run_at(&answer, 0, NULL, fixture->path, "import", path, "--json");
    const int64_t count = cJSON_GetArraySize(cJSON_GetObjectItem(theirs, "sessions"));
    assert_int_equal(number_of(&answer, "made"), count);
    assert_int_equal(number_of(&answer, "refused"), 0);
    assert_has(&answer.out, source->format);
    if (!source->differs)
        assert_lacks(&answer.out, "state_differs");
    else
        assert_has(&answer.out, "state_differs");
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(theirs, "sessions"))
        compare_session(source, fixture, db, item);
    compare_shared(fixture, db);
    (void)sqlite3_close(db);
    /* Twice is the same, and says so. */
    run_at(&answer, 0, NULL, fixture->path, "import", path, "--json");
    assert_int_equal(number_of(&answer, "equal"), count);
    assert_int_equal(number_of(&answer, "made"), 0);
    assert_int_equal(number_of(&answer, "events"), 0);
    assert_int_equal(number_of(&answer, "keys"), 0);
    assert_int_equal(number_of(&answer, "keysKept"), 0);
    run_at(&answer, 0, NULL, fixture->path, "import", path, "--update");
    assert_has(&answer.out, "already here and unchanged");
    reply_free(&answer);
    free(path);
    cJSON_Delete(theirs);
}

PLAIN_TEST(each_database_becomes_what_its_service_returned)
{
    void *made = NULL;

    need_data();
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        (void)fixture_setup(&made);
        import_source(&sources[i], made);
        (void)fixture_teardown(&made);
    }
}

/* {app: {user: state}}; the user "gone" has no session left. */
TEST(shared_state_of_users_without_sessions_is_there)
{
    need_data();
    cJSON *theirs = returned("python-v1-2.13");
    char *path = data_path("python-v1-2.13", ".db");
    const cJSON *app = NULL;
    const cJSON *user = NULL;

    run_at(&reply, 0, NULL, fixture->path, "import", path);
    cJSON_ArrayForEach(app, cJSON_GetObjectItem(theirs, "user_state")) cJSON_ArrayForEach(user, app)
    {
        char *json = NULL;
        assert_ok(
            ses_shared_state_json(fixture->store, app->string, user->string, NULL, &json, NULL, &error));
        cJSON *ours = cJSON_Parse(json);
        assert_true(cJSON_Compare(user, ours, true));
        cJSON_Delete(ours);
        ses_free(json);
    }
    free(path);
    cJSON_Delete(theirs);
}

TEST(the_tombstone_of_another_program_stays_a_value)
{
    need_data();
    const ses_key key = {"my_app", "alice", "same-id"};
    char *path = data_path("go", ".db");

    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_has(&reply.out, "tombstone_text");
    assert_has(&reply.out, "\"kind\":\"orphans\",\"count\":1");
    ses_session *session = must_get(fixture->store, &key);
    assert_non_null(
        strstr(support_state(session, NULL), "\"tombstone_text\":\"\\u005f_ADK_SENTINEL_REMOVED__\""));
    free(path);
}
