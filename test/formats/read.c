/* A file of another program, read piece by piece without the command, and brought into a store. */
#include "support.h"

#include <sqlite3.h>

#include "formats/formats.h"

static const char database[] =
    "CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT, update_time REAL);"
    "CREATE TABLE user_states (app_name TEXT, user_id TEXT, state TEXT, update_time REAL);"
    "CREATE TABLE sessions (app_name TEXT, user_id TEXT, id TEXT, state TEXT, create_time REAL,"
    " update_time REAL);"
    "CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT,"
    " timestamp REAL, event_data TEXT);"
    "INSERT INTO app_states VALUES ('chat', '{\"units\":1.0}', 1);"
    "INSERT INTO sessions VALUES ('chat', 'bob', 'trip', '{\"topic\":\"Oslo\",\"n\":1}', 1, 2);"
    "INSERT INTO events VALUES ('e1', 'chat', 'bob', 'trip', 'i', 1, '{\"id\":\"e1\",\"author\":\"user\","
    "\"invocationId\":\"i\",\"timestamp\":1.50,\"actions\":{\"stateDelta\":{\"n\":1}}}');";

/* The path of a file with this content, in the folder. */
static char *make_file(const char *folder, const char *name, const char *content)
{
    char *path = support_path(folder, name);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, strlen(content), file), strlen(content));
    assert_int_equal(fclose(file), 0);
    return path;
}

static char *make_database(const char *folder)
{
    char *path = support_path(folder, "session.db");
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, database, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static void assert_span(struct span span, const char *expected)
{
    assert_int_equal(span.len, strlen(expected));
    assert_memory_equal(span.ptr, expected, span.len);
}

static void take_no_key(void *context, const char *key, const ses_error *why)
{
    (void)context;
    fail_msg("%s: %s", key ? key : "an event", why->message);
}

static void load(const struct opened_file *opened, const struct foreign_session *session)
{
    ses_error error;
    const ses_key key = {"chat", "bob", "trip"};
    ses_store *store = must_open(":memory:", NULL);
    const struct session_import import = {
        .opened = opened, .session = session, .key = key, .store = store, .refused = take_no_key};
    ses_load_result result = {.outcome = SES_LOADED_EQUAL};
    char *initial = NULL;

    assert_ok(session_import(&import, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_NEW);
    assert_int_equal(result.events, 1);
    assert_ok(ses_state_json_initial_by_key(store, &key, NULL, &initial, NULL, &error));
    assert_string_equal(initial, "{\"topic\":\"Oslo\"}");
    ses_free(initial);
    ses_close(store);
}

PLAIN_TEST(a_database_gives_its_state_sessions_and_events)
{
    char *folder = support_folder_make();
    char *path = make_database(folder);
    struct foreign_notes notes = {.muted = true};
    struct opened_file opened;
    struct foreign_shared shared;
    struct foreign_session session;
    struct foreign_event event;

    assert_ok(file_open(path, false, &notes, &opened, &error));
    assert_int_equal(opened.kind, OPENED_FOREIGN);
    assert_string_equal(opened.format->name, "adk-python-sqlite");
    assert_ok(opened.format->open(&opened.file, &opened.source, &error));
    assert_int_equal(file_events(&opened), 1);
    assert_int_equal(opened.format->next_shared(opened.source, &shared, &error), 1);
    assert_null(shared.user);
    assert_span(shared.state, "{\"units\":1.0}");
    assert_int_equal(opened.format->next_shared(opened.source, &shared, &error), 0);
    assert_int_equal(opened.format->next_session(opened.source, &session, &error), 1);
    assert_string_equal(session.session, "trip");
    assert_int_equal(session.updated_us, 2000000);
    load(&opened, &session);
    assert_ok(opened.format->begin_events(opened.source, &error));
    assert_int_equal(opened.format->next_event(opened.source, &event, &error), 1);
    assert_string_equal(event.name, "e1");
    assert_int_equal(opened.format->next_event(opened.source, &event, &error), 0);
    assert_int_equal(opened.format->next_session(opened.source, &session, &error), 0);
    opened.format->close(opened.source);
    file_close(&opened);
    free(path);
    support_folder_remove(folder);
}

static void assert_kind(const char *folder, const char *content, enum opened_kind kind)
{
    ses_error error;
    char *path = make_file(folder, "file", content);
    struct foreign_notes notes = {.muted = true};
    struct opened_file opened;

    assert_ok(file_open(path, false, &notes, &opened, &error));
    assert_int_equal(opened.kind, kind);
    file_close(&opened);
    free(path);
}

PLAIN_TEST(a_file_is_known_by_its_content)
{
    char *folder = support_folder_make();
    char *path = make_file(folder, "notes", "wool");
    struct foreign_notes notes = {.muted = true};
    struct opened_file opened;

    assert_kind(folder, "{\"kind\":\"seslite\",\"format\":1}\n", OPENED_LINES);
    assert_kind(folder, "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"state\":{},\"events\":[]}",
                OPENED_FOREIGN);
    assert_code(SES_NOTASTORE, file_open(path, false, &notes, &opened, &error));
    assert_message("it is not JSON");
    assert_code(SES_NOTFOUND, file_open("/nowhere/at/all", false, &notes, &opened, &error));
    free(path);
    support_folder_remove(folder);
}
