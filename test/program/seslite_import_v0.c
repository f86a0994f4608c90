/*
 * The command imports databases of google-adk before 1.22, whose actions are pickles and whose times have no
 * zone: each is held against what google-adk 2.13 returned after its own migration of the file.
 */
#include "foreign.h"

#include <sqlite3.h>

static void drop_empty(cJSON *theirs, const char *name, const cJSON *ours, const char *own_name)
{
    if (!cJSON_GetObjectItem(ours, own_name) && cJSON_GetArraySize(cJSON_GetObjectItem(theirs, name)) == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(theirs, name);
}

/* Stored by 1.0, and by no later version. */
static void drop_temp(cJSON *delta)
{
    cJSON *next = NULL;

    for (cJSON *item = delta ? delta->child : NULL; item; item = next) {
        next = item->next;
        if (strncmp(item->string, "temp:", 5) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(delta, item));
    }
}

static void compare_event(cJSON *theirs, const ses_event *event)
{
    cJSON *ours = parse(event->json);
    const double apart = json_double(theirs, "timestamp") * 1e6 - (double)event->time_us;

    assert_true(apart > -1 && apart < 1);
    cJSON_DeleteItemFromObjectCaseSensitive(theirs, "timestamp");
    cJSON_DeleteItemFromObjectCaseSensitive(ours, "timestamp");
    /* Defaults of later versions, which these did not know. */
    cJSON_DeleteItemFromObjectCaseSensitive(theirs, "nodeInfo");
    drop_empty(theirs, "longRunningToolIds", ours, "long_running_tool_ids");
    drop_empty(cJSON_GetObjectItem(theirs, "actions"), "requestedToolConfirmations",
               cJSON_GetObjectItem(ours, "actions"), "requested_tool_confirmations");
    drop_temp(cJSON_GetObjectItem(cJSON_GetObjectItem(theirs, "actions"), "stateDelta"));
    if (!same(theirs, ours)) {
        print_error("theirs\n%s\nours\n%s\n", cJSON_Print(theirs), cJSON_Print(ours));
        fail();
    }
    cJSON_Delete(ours);
}

/* They are returned by time; ours are in the order of appending. */
static const ses_event *event_of(const ses_session *session, const char *id)
{
    for (size_t i = 0; i < ses_session_event_count(session); i++)
        if (strcmp(ses_session_event(session, i)->id, id) == 0)
            return ses_session_event(session, i);
    return NULL;
}

static void compare_session(const struct fixture *fixture, const cJSON *theirs)
{
    const ses_key key = {json_string(theirs, "appName"), json_string(theirs, "userId"),
                         json_string(theirs, "id")};
    ses_session *session = must_get(fixture->store, &key);
    cJSON *state = parse(support_state(session, NULL));
    cJSON *event = NULL;

    assert_true(cJSON_Compare(cJSON_GetObjectItem(theirs, "state"), state, true));
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(theirs, "events"))
    {
        const ses_event *ours = event_of(session, json_string(event, "id"));
        assert_non_null(ours);
        compare_event(event, ours);
    }
    assert_int_equal(ses_session_event_count(session),
                     cJSON_GetArraySize(cJSON_GetObjectItem(theirs, "events")));
    cJSON_Delete(state);
    ses_session_close(session);
}

static void import_v0(const struct fixture *fixture, const char *name, const char *zone)
{
    need_data();
    char file[128];
    char *path = data_path(name, ".db");
    struct reply answer = {0};
    cJSON *session = NULL;

    (void)snprintf(file, sizeof file, "data/adk-stores/%s.migrated-2.13.json", name);
    char *text = support_test_data(file, NULL);
    assert_non_null(text);
    cJSON *theirs = parse(text);
    if (zone)
        run_at(&answer, 0, NULL, fixture->path, "import", path, "--json", "--zone", zone);
    else
        run_at(&answer, 0, NULL, fixture->path, "import", path, "--json");
    assert_has(&answer.out, "adk-python-v0");
    assert_lacks(&answer.out, "state_differs");
    if (zone)
        assert_lacks(&answer.out, "zone_assumed");
    else
        assert_has(&answer.out, "zone_assumed");
    assert_int_equal(number_of(&answer, "made"), cJSON_GetArraySize(cJSON_GetObjectItem(theirs, "sessions")));
    assert_int_equal(number_of(&answer, "refused"), 0);
    cJSON_ArrayForEach(session, cJSON_GetObjectItem(theirs, "sessions")) compare_session(fixture, session);
    cJSON_Delete(theirs);
    free(text);
    free(path);
    reply_free(&answer);
}

TEST(a_database_of_1_0_becomes_what_its_migration_returned)
{
    import_v0(fixture, "python-v0-1.0", NULL);
}

TEST(a_database_of_1_18_becomes_what_its_migration_returned)
{
    import_v0(fixture, "python-v0-1.18", NULL);
}

TEST(times_are_of_the_zone_that_was_given)
{
    import_v0(fixture, "python-v0-1.18-berlin", "Europe/Berlin");
}

TEST(an_unknown_zone_is_refused)
{
    need_data();
    char *path = data_path("python-v0-1.18", ".db");

    run_at(&reply, 2, NULL, fixture->path, "import", path, "--zone", "Europe/Atlantis");
    assert_has(&reply.err, "no time zone \"Europe/Atlantis\"");
    run_at(&reply, 2, NULL, fixture->path, "import", path, "--zone", "../../../etc/passwd");
    free(path);
}

/* A copy of the file in which one event's pickle calls something. */
TEST(a_pickle_that_calls_is_refused)
{
    need_data();
    size_t len = 0;
    char *data = support_test_data("data/adk-stores/python-v0-1.18.db", &len);
    char *path = support_path(fixture->folder, "hostile.db");
    sqlite3 *db = NULL;

    assert_non_null(data);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            db,
            "UPDATE events SET actions = x'8004' || x'8c026f738c0673797374656d938c0f746f756368202f746d702f"
            "70776e656485522e' WHERE rowid = 3",
            NULL, NULL, NULL),
        SQLITE_OK);
    (void)sqlite3_close(db);
    run_at(&reply, 2, NULL, fixture->path, "import", path);
    assert_has(&reply.err, "os.system");
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--json");
    assert_int_equal(number_of(&reply, "made"), 8);
    assert_int_equal(number_of(&reply, "refused"), 1);
    free(data);
    free(path);
}
