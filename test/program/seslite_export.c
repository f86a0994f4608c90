/* The command exports: to JSON lines, to session JSON, and to a database that google-adk opens. The written
 * files are read again. */
#include "foreign.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>

static const ses_key key = {"chat", "alice", "s1"};
static const ses_key other = {"chat", "bob", "a/b"};

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    struct fixture *fixture = *state;
    fill_session(fixture->store, &key);
    must_create(fixture->store, &other, Q("{'user:lang':'nb','k':9007199254740993}"));
    return 0;
}

static char *session_json(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    ses_error error;
    char *json = NULL;

    assert_ok(ses_session_json(session, &json, NULL, &error));
    ses_session_close(session);
    return json;
}

/* Files in the folder whose names hold the words. */
static int count_files(const char *folder, const char *words)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry = NULL;
    int count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += strstr(entry->d_name, words) != NULL;
    (void)closedir(dir);
    return count;
}

static void assert_private(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void assert_same_session(ses_store *store, ses_store *copy, const ses_key *of)
{
    char *ours = session_json(store, of);
    char *theirs = session_json(copy, of);

    assert_string_equal(ours, theirs);
    ses_free(ours);
    ses_free(theirs);
}

/* Imports the file into a new store, and compares the sessions. */
static void assert_imports(const struct fixture *fixture, const char *file)
{
    char *path = support_path(fixture->folder, "copy.db");
    struct reply answer = {0};

    (void)unlink(path);
    run_at(&answer, 0, NULL, path, "import", file, "--yes");
    ses_store *copy = must_open(path, NULL);
    assert_same_session(fixture->store, copy, &key);
    assert_same_session(fixture->store, copy, &other);
    ses_close(copy);
    reply_free(&answer);
    free(path);
}

/* --------------------------------------------------------------------------------------------- JSON lines */

TEST_OF(setup, json_lines_go_to_standard_output_or_a_file)
{
    char *file = support_path(fixture->folder, "out.jsonl");

    run_at(&reply, 0, NULL, fixture->path, "export", "-o", file);
    assert_int_equal(reply.out.len, 0);
    assert_has(&reply.err, "2 sessions and 6 events written to");
    assert_private(file);
    assert_imports(fixture, file);
    char *text = support_read_file(file, NULL);
    run_at(&reply, 0, NULL, fixture->path, "export");
    assert_string_equal(reply.out.data, text);
    assert_int_equal(reply.err.len, 0);
    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "jsonl", "--output", "-");
    assert_string_equal(reply.out.data, text);
    run_at(&reply, 0, NULL, fixture->path, "export", "s1");
    assert_has(&reply.out, "\"s1\"");
    assert_lacks(&reply.out, "bob");
    run_at(&reply, 0, NULL, fixture->path, "--user", "bob", "export");
    assert_lacks(&reply.out, "alice");
    free(text);
    free(file);
}

TEST_OF(setup, a_file_that_is_there_stays_unless_it_is_to_be_replaced)
{
    static const char *const formats[] = {"jsonl", "session", "sqlite"};
    char *file = support_path(fixture->folder, "there");

    for (size_t i = 0; i < 3; i++) {
        FILE *there = fopen(file, "w");
        assert_non_null(there);
        assert_int_equal(fputs("mine", there), 1);
        assert_int_equal(fclose(there), 0);
        run_at(&reply, 4, NULL, fixture->path, "export", "s1", "--to", formats[i], "-o", file);
        assert_has(&reply.err, "already exists: name another file, or pass --replace");
        char *text = support_read_file(file, NULL);
        assert_string_equal(text, "mine");
        free(text);
        run_at(&reply, 0, NULL, fixture->path, "export", "s1", "--to", formats[i], "-o", file, "--replace");
        text = support_read_file(file, NULL);
        assert_string_not_equal(text, "mine");
        free(text);
        assert_private(file);
    }
    assert_int_equal(count_files(fixture->folder, ".seslite-"), 0);
    free(file);
}

TEST_OF(setup, a_link_leads_to_the_file_and_a_device_is_written_as_it_is)
{
    char *file = support_path(fixture->folder, "there");
    char *link = support_path(fixture->folder, "link");
    struct stat info;

    assert_int_equal(symlink("there", link), 0);
    run_at(&reply, 4, NULL, fixture->path, "export", "-o", link); /* it leads nowhere yet */
    assert_int_equal(fclose(fopen(file, "w")), 0);
    run_at(&reply, 4, NULL, fixture->path, "export", "-o", link);
    run_at(&reply, 0, NULL, fixture->path, "export", "-o", link, "--replace");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_private(file);
    run_at(&reply, 0, NULL, fixture->path, "export", "-o", "/dev/null");
    run_at(&reply, 2, NULL, fixture->path, "export", "--to", "sqlite", "-o", "/dev/null");
    assert_has(&reply.err, "a database needs a regular file");
    assert_int_equal(count_files(fixture->folder, ".seslite-"), 0);
    free(file);
    free(link);
}

/* By whatever name, and whether it has a write-ahead log or not. */
TEST_OF(setup, nothing_is_written_over_the_store_itself)
{
    char *other_name = support_path(fixture->folder, "same.db");
    char *store = support_path(fixture->folder, "plain.db");
    char log[4096];
    const char *const names[] = {store, other_name};

    run_at(&reply, 0, NULL, fixture->path, "backup", store);
    sqlite3 *db = raw_open(store);
    raw_run(db, "PRAGMA journal_mode = DELETE");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(link(store, other_name), 0);
    for (size_t i = 0; i < 2; i++) {
        run_at(&reply, 2, NULL, store, "export", "-o", names[i], "--replace");
        assert_has(&reply.err, "is the store itself");
        run_at(&reply, 2, NULL, store, "export", "--to", "sqlite", "-o", names[i], "--replace");
        run_at(&reply, 2, NULL, store, "export", "s1", "--to", "session", "-o", names[i], "--replace");
        run_at(&reply, 2, NULL, store, "html", "s1", "-o", names[i], "--replace");
    }
    run_at(&reply, 0, NULL, store, "check");
    run_at(&reply, 4, NULL, fixture->path, "export", "-o", store,
           "--replace"); /* another store, or its name */
    assert_has(&reply.err, "is a store and is not replaced");
    run_at(&reply, 4, NULL, fixture->path, "export", "--to", "sqlite", "-o", store, "--replace");
    run_at(&reply, 0, NULL, store, "check");
    raw_exec(store, "PRAGMA application_id = 0");
    run_at(&reply, 4, NULL, fixture->path, "html", "s1", "-o", store, "--replace");
    assert_has(&reply.err, "is a database and is not replaced");
    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "sqlite", "-o", store, "--replace");
    (void)snprintf(log, sizeof log, "%s-wal", fixture->path);
    run_at(&reply, 2, NULL, fixture->path, "html", "s1", "-o", log, "--replace");
    free(store);
    free(other_name);
}

TEST_OF(setup, nothing_stays_of_an_export_that_fails)
{
    static const char *const formats[] = {"jsonl", "session", "sqlite"};
    char *file = support_path(fixture->folder, "out");
    char *nowhere = support_path(fixture->folder, "nowhere/out");
    char *log = support_path(fixture->folder, "out-wal");

    for (size_t i = 0; i < 3; i++) {
        run_at(&reply, 3, NULL, fixture->path, "export", "nosuch", "--to", formats[i], "-o", file);
        run_at(&reply, 1, NULL, fixture->path, "export", "s1", "--to", formats[i], "-o", nowhere);
        assert_has(&reply.err, "nowhere/out");
    }
    assert_int_equal(count_files(fixture->folder, "out"), 0);
    assert_int_equal(fclose(fopen(log, "w")), 0);
    run_at(&reply, 4, NULL, fixture->path, "export", "--to", "sqlite", "-o", file);
    assert_has(&reply.err, "out-wal exists");
    assert_int_equal(count_files(fixture->folder, ".seslite-"), 0);
    free(file);
    free(nowhere);
    free(log);
}

TEST_OF(setup, wrong_words_are_refused)
{
    run_at(&reply, 2, NULL, fixture->path, "export", "--to", "csv");
    assert_has(&reply.err, "--to takes");
    run_at(&reply, 2, NULL, fixture->path, "export", "--to", "sqlite");
    assert_has(&reply.err, "--output");
    run_at(&reply, 2, NULL, fixture->path, "export", "--to", "session");
    assert_has(&reply.err, "2 sessions need a file each");
    run_at(&reply, 2, NULL, fixture->path, "export", "--json");
    assert_has(&reply.err, "--output");
}

/* ------------------------------------------------------------------------------------------- session JSON */

TEST_OF(setup, nothing_stays_of_a_file_that_would_be_too_large)
{
    static const char *const commands[] = {"export -o", "export --to sqlite -o", "html s1 -o", "backup"};
    char *file = support_path(fixture->folder, "out");

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char script[128];
        (void)snprintf(script, sizeof script, "ulimit -f 1; \"$0\" -f \"$1\" %s \"$2\"", commands[i]);
        const char *const arguments[] = {"/bin/sh", "-c", script, COMMAND, fixture->path, file, NULL};
        command_run(&reply, NULL, arguments);
        assert_int_equal(reply.status, 1);
        assert_true(reply.err.len > 0);
        assert_int_equal(count_files(fixture->folder, "out"), 0);
    }
    free(file);
}

TEST_OF(setup, session_json_is_what_the_library_gives)
{
    char *json = session_json(fixture->store, &key);
    char *second = session_json(fixture->store, &other);
    char *folder = support_path(fixture->folder, "sessions");
    char *file = support_path(folder, "chat~alice~s1.session.json");
    char *other_file = support_path(folder, "chat~bob~a%2fb.session.json");

    run_at(&reply, 0, NULL, fixture->path, "export", "s1", "--to", "session");
    assert_int_equal(strncmp(reply.out.data, json, strlen(json)), 0);
    assert_string_equal(reply.out.data + strlen(json), "\n");
    assert_has(&reply.err, "state at their creation");
    assert_int_equal(mkdir(folder, 0700), 0);
    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "session", "-o", folder, "--json");
    cJSON *report = reply_json(&reply);
    assert_int_equal((int)json_double(report, "sessions"), 2);
    assert_int_equal((int)json_double(report, "events"), 6);
    assert_string_equal(json_string(cJSON_GetArrayItem(cJSON_GetObjectItem(report, "notes"), 0), "kind"),
                        "initial_state");
    cJSON_Delete(report);
    char *text = support_read_file(file, NULL);
    assert_int_equal(strncmp(text, json, strlen(json)), 0);
    free(text);
    text = support_read_file(other_file, NULL);
    assert_int_equal(strncmp(text, second, strlen(second)), 0);
    free(text);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(unlink(other_file), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was in it */
    ses_free(json);
    ses_free(second);
    free(folder);
    free(file);
    free(other_file);
}

/* A file system takes 255 bytes. */
TEST_OF(setup, ids_too_long_for_a_file_name_get_files_of_their_own)
{
    char *folder = support_path(fixture->folder, "sessions");
    char id[SES_ID_MAX + 1] = {0};

    memset(id, '%', SES_ID_MAX);
    (void)must_create(fixture->store, &(ses_key){"chat", "alice", id}, NULL);
    id[SES_ID_MAX - 1] = 'x';
    (void)must_create(fixture->store, &(ses_key){"chat", "alice", id}, NULL);
    assert_int_equal(mkdir(folder, 0700), 0);
    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "session", "-o", folder);
    assert_has(&reply.err, "4 sessions");
    assert_int_equal(count_files(folder, ".session.json"), 4);
    run_at(&reply, 4, NULL, fixture->path, "export", "--to", "session", "-o", folder);
    free(folder);
}

/* ----------------------------------------------------------------------------------------------- database */

TEST_OF(setup, a_database_is_imported_again_as_it_was)
{
    char *file = support_path(fixture->folder, "session.db");

    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "sqlite", "-o", file, "--json");
    assert_lacks(&reply.out, "unknown");
    assert_private(file);
    assert_imports(fixture, file);
    assert_int_equal(count_files(fixture->folder, "session.db"), 1);
    free(file);
}

static void append_odd_events(ses_store *store, const ses_key *to)
{
    must_create(store, to, NULL);
    must_append_by_key(store, to, Q("{'id':'1','timestamp':'2024-01-15T10:20:30.5+02:00','author':null}"));
    must_append_by_key(store, to, Q("{'id':'2','timestamp':1700000000123,'mine':1,'actions':null}"));
    must_append_by_key(
        store, to,
        Q("{'id':'3','timestamp':1800000000.5,'actions':{'mine':1,'stateDelta':{'k':'\\ud800x\\ud83d\\ude00',"
          "'mine':{'invocationId':1}}},'content':{'parts':[{'text':'t','mine':2},{'functionCall':{'name':'f',"
          "'args':"
          "{'mine':3}}}]},'customMetadata':{'mine':{'x':1}}}"));
    must_append_by_key(store, to,
                       Q("{'id':'4','timestamp':1,'usage_metadata':{'prompt_token_count':1,'own':{}},"
                         "'actions':{'artifactDelta':null,'escalate':null},"
                         "'citationMetadata':{'citationSources':[{'uri':'x'}]}}"));
    must_append_by_key(store, to,
                       Q("{'id':'5','timestamp':1,'actions':{'stateDelta':{'k':'__ADK_SENTINEL_REMOVED__',"
                         "'text':'\\u005f_ADK_SENTINEL_REMOVED__'}}}"));
}

static char *event_data(const char *file, const char *id)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT event_data FROM events WHERE id = ?1", -1, &statement, NULL),
        SQLITE_OK);
    (void)sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    char *text = strdup((const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return text;
}

static void assert_data(const char *file, const char *id, const char *expected)
{
    char *data = event_data(file, id);
    assert_string_equal(data, Q(expected));
    free(data);
}

TEST_OF(setup, values_that_google_adk_would_refuse_are_changed_and_reported)
{
    char *file = support_path(fixture->folder, "session.db");
    const ses_key odd = {"chat", "carol", "odd"};

    append_odd_events(fixture->store, &odd);
    run_at(&reply, 0, NULL, fixture->path, "export", "odd", "--to", "sqlite", "-o", file, "--json");
    assert_has(&reply.out, "\"kind\":\"times\",\"count\":2");
    assert_has(&reply.out, "\"kind\":\"nulls\",\"count\":3");
    assert_has(&reply.out, "\"kind\":\"unknown\",\"count\":3");
    assert_has(&reply.out, "\"kind\":\"fields\",\"count\":1");
    assert_has(&reply.out, "\"kind\":\"surrogates\",\"count\":1");
    assert_has(&reply.out, "\"kind\":\"order\",\"count\":3");
    assert_has(&reply.out, "\"kind\":\"removals\",\"count\":1");
    assert_data(file, "1", "{'id':'1','timestamp':1705306830.500000,'author':''}");
    assert_data(file, "2", "{'id':'2','timestamp':1700000000.123000,'mine':1,'actions':{}}");
    assert_data(
        file, "3",
        "{'id':'3','timestamp':1800000000.5,'actions':{'stateDelta':{'k':'\\ufffdx\\ud83d\\ude00',"
        "'mine':{'invocationId':1}}},'content':{'parts':[{'text':'t'},{'functionCall':{'name':'f','args':"
        "{'mine':3}}}]},'customMetadata':{'mine':{'x':1}}}");
    assert_data(
        file, "4",
        "{'id':'4','timestamp':1,'usage_metadata':{'prompt_token_count':1},'actions':{'escalate':null},"
        "'citationMetadata':{'citationSources':[{'uri':'x'}]}}");
    free(file);
}

/* The tables are those that the service makes itself. */
TEST_OF(setup, the_schema_is_that_of_the_service)
{
    need_data();
    char *file = support_path(fixture->folder, "session.db");
    char *theirs = data_path("python-sqlite-2.13", ".db");
    const char *const files[] = {file, theirs};
    char *schemas[2] = {NULL, NULL};

    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "sqlite", "-o", file);
    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = NULL;
        sqlite3_stmt *statement = NULL;
        assert_int_equal(sqlite3_open_v2(files[i], &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        assert_int_equal(
            sqlite3_prepare_v2(db, "SELECT group_concat(sql, ';') FROM sqlite_schema", -1, &statement, NULL),
            SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        schemas[i] = strdup((const char *)sqlite3_column_text(statement, 0));
        (void)sqlite3_finalize(statement);
        (void)sqlite3_close(db);
    }
    assert_string_equal(schemas[0], schemas[1]);
    free(schemas[0]);
    free(schemas[1]);
    free(file);
    free(theirs);
}

/* ------------------------------------------------------------------------------------------------- Vertex */

/* Every member of ours is in theirs, which has defaults besides. */
static bool is_within(const cJSON *ours, const cJSON *theirs)
{
    const cJSON *item = NULL;
    int i = 0;

    if (cJSON_IsNull(ours))
        return true;
    if (!theirs)
        return false;
    if (cJSON_IsArray(ours)) {
        bool same = cJSON_GetArraySize(ours) == cJSON_GetArraySize(theirs);
        cJSON_ArrayForEach(item, ours) same = same && is_within(item, cJSON_GetArrayItem(theirs, i++));
        return same;
    }
    if (!cJSON_IsObject(ours))
        return cJSON_Compare(ours, theirs, true);
    cJSON_ArrayForEach(item, ours) if (!is_within(item, member(theirs, item->string))) return false;
    return true;
}

/* Everything in our rawEvent is in theirs; an ADK of another version sends none. */
static void compare_body(const cJSON *theirs, cJSON *ours)
{
    cJSON *raw = cJSON_DetachItemFromObject(ours, "rawEvent");
    cJSON *rest = cJSON_Duplicate(theirs, true);
    cJSON *their_raw = cJSON_DetachItemFromObject(rest, "rawEvent");

    if (their_raw && !is_within(raw, their_raw)) {
        print_error("ours %s\ntheirs %s\n", cJSON_Print(raw), cJSON_Print(their_raw));
        fail();
    }
    if (!cJSON_Compare(rest, ours, true)) {
        print_error("ours %s\ntheirs %s\n", cJSON_Print(ours), cJSON_Print(rest));
        fail();
    }
    cJSON_Delete(raw);
    cJSON_Delete(their_raw);
    cJSON_Delete(rest);
}

TEST_OF(setup, an_event_for_vertex_is_the_request_that_google_adk_sends)
{
    char *text = support_test_data("vectors/vertex.json", NULL);
    const cJSON *item = NULL;
    int count = 0;

    if (!text)
        skip();
    cJSON *all = parse(text);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(all, "toApi"))
    {
        const char *name = json_string(item, "name");
        const ses_key of = {json_string(item, "appName"), "alice", json_string(item, "sessionId")};
        if (strcmp(name, "w_partial") == 0)
            continue; /* partial events are never stored */
        char *event = cJSON_PrintUnformatted(cJSON_GetObjectItem(item, "adkEvent"));
        print_message("%s\n", name);
        must_create(fixture->store, &of, NULL);
        must_append_by_key(fixture->store, &of, event);
        run_at(&reply, 0, NULL, fixture->path, "-a", of.app, "export", of.session, "--to", "vertex");
        cJSON *ours = reply_json(&reply);
        compare_body(cJSON_GetObjectItem(cJSON_GetObjectItem(item, "rest"), "body"),
                     cJSON_GetArrayItem(cJSON_GetObjectItem(ours, "events"), 0));
        cJSON_Delete(ours);
        free(event);
        count++;
    }
    assert_int_equal(count, 14);
    cJSON_Delete(all);
    free(text);
}

/* Members that the API has a place for are written there, and not reported as left out. */
TEST_OF(setup, title_labels_and_expiry_go_to_vertex_and_come_back)
{
    const ses_label labels[] = {{"env", "prod"}, {"Ours", "Not Vertex's"}};
    const int64_t expires_us = INT64_C(1800000000123456);
    char *file = support_path(fixture->folder, "vertex.json");

    assert_ok(ses_title_set_by_key(fixture->store, &key, "A trip", NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &key, labels, 2, NULL, &error));
    assert_ok(ses_expiry_set_by_key(fixture->store, &key, &expires_us, NULL, &error));
    run_at(&reply, 0, NULL, fixture->path, "-u", "alice", "export", "s1", "--to", "vertex", "-o", file,
           "--json");
    assert_lacks(&reply.out, "title");
    assert_lacks(&reply.out, "expiry");
    assert_has(&reply.out, "\"kind\":\"labels\",\"count\":1");
    run_at(&reply, 0, NULL, fixture->path, "import", file, "--to-user", "x");
    ses_session *copy = must_get(fixture->store, &(ses_key){key.app, "x", key.session});
    assert_string_equal(ses_session_title(copy), "A trip");
    assert_int_equal(ses_session_label_count(copy), 1);
    assert_string_equal(ses_session_label_value(copy, "env"), "prod");
    assert_int_equal(ses_session_expires_us(copy), expires_us);
    ses_session_close(copy);
    run_at(&reply, 0, NULL, fixture->path, "-u", "alice", "export", "s1", "--to", "session", "-o", file,
           "--replace", "--json");
    assert_has(&reply.out, "\"kind\":\"title\",\"count\":1");
    assert_has(&reply.out, "\"kind\":\"labels\",\"count\":2");
    assert_has(&reply.out, "\"kind\":\"expiry\",\"count\":1");
    free(file);
}

TEST_OF(setup, a_session_for_vertex_is_imported_again)
{
    char *file = support_path(fixture->folder, "vertex.json");
    char *path = support_path(fixture->folder, "copy.db");

    run_at(&reply, 0, NULL, fixture->path, "export", "s1", "--to", "vertex", "-o", file);
    run_at(&reply, 0, NULL, path, "import", file, "--json");
    assert_has(&reply.out, "\"vertex\"");
    ses_store *copy = must_open(path, NULL);
    char *before = session_json(fixture->store, &key);
    char *after = session_json(copy, &key);
    cJSON *ours = parse(before);
    cJSON *theirs = parse(after);
    assert_true(is_within(ours, theirs));
    cJSON_Delete(ours);
    cJSON_Delete(theirs);
    ses_free(before);
    ses_free(after);
    ses_close(copy);
    free(file);
    free(path);
}

/* --------------------------------------------------------------------------------------------- google-adk */

static char *run_python(const char *arguments, int *status)
{
    const char *python = getenv("SESLITE_PYTHON");
    struct text command = {NULL, 0};
    char *out;

    text_add(&command, python ? python : "python3", strlen(python ? python : "python3"));
    text_add(&command, " ", 1);
    text_add(&command, arguments, strlen(arguments));
    out = support_run(command.data, status);
    free(command.data);
    return out;
}

static const cJSON *event_named(const cJSON *session, const char *id)
{
    const cJSON *event = NULL;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(session, "events")) if (strcmp(json_string(event, "id"),
                                                                                 id) == 0) return event;
    return NULL;
}

static void compare_with_adk(ses_store *store, const cJSON *theirs)
{
    const ses_key of = {json_string(theirs, "appName"), json_string(theirs, "userId"),
                        json_string(theirs, "id")};
    char *json = session_json(store, &of);
    cJSON *ours = parse(json);
    const cJSON *event = NULL;

    assert_true(
        cJSON_Compare(cJSON_GetObjectItem(ours, "state"), cJSON_GetObjectItem(theirs, "state"), true));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(ours, "events")),
                     cJSON_GetArraySize(cJSON_GetObjectItem(theirs, "events")));
    cJSON_ArrayForEach(
        event, cJSON_GetObjectItem(
                   ours, "events")) if (!is_within(event, event_named(theirs, json_string(event, "id"))))
    {
        print_error("ours\n%s\n", cJSON_Print(event));
        fail();
    }
    cJSON_Delete(ours);
    ses_free(json);
}

TEST_OF(setup, google_adk_reads_the_database)
{
    const cJSON *session = NULL;
    struct text command = {NULL, 0};
    int status = 0;

    free(run_python("-c 'import google.adk.sessions.sqlite_session_service'", &status));
    if (status != 0) {
        print_message("skipped: there is no google-adk (set SESLITE_PYTHON to a python that has it)\n");
        skip();
    }
    char *file = support_path(fixture->folder, "session.db");
    run_at(&reply, 0, NULL, fixture->path, "export", "--to", "sqlite", "-o", file);
    text_add(&command, "test/program/adk_read.py ", 25);
    text_add(&command, file, strlen(file));
    char *out = run_python(command.data, &status);
    if (status != 0)
        print_error("%s\n", out);
    assert_int_equal(status, 0);
    cJSON *sessions = parse(out);
    assert_int_equal(cJSON_GetArraySize(sessions), 2);
    cJSON_ArrayForEach(session, sessions) compare_with_adk(fixture->store, session);
    cJSON_Delete(sessions);
    free(out);
    free(command.data);
    free(file);
}

/* ----------------------------------------------------------------------------------------------- Markdown */

TEST_OF(setup, markdown_has_what_was_said_and_not_taken_back)
{
    const ses_key said = {"md", "bob", "s"};
    char *file = support_path(fixture->folder, "s.md");
    const char *expected = "# s\n\nApp md, user bob, session s, created 2023-11-14 22:13:20 UTC\n\n"
                           "## user, 1970-01-01 00:00:01 UTC\n\nHello\n";

    must_create(fixture->store, &said, NULL);
    must_append_by_key(fixture->store, &said,
                       Q("{'id':'1','author':'user','timestamp':1,'content':{'parts':[{'text':'Hello'}]}}"));
    must_append_by_key(
        fixture->store, &said,
        Q("{'id':'2','invocationId':'i','author':'user','timestamp':2,'content':{'parts':[{'text':'Oops'}]}}"));
    run_at(&reply, 0, NULL, fixture->path, "-a", "md", "rewind", "s", "--to", "1");
    run_at(&reply, 0, NULL, fixture->path, "-a", "md", "export", "s", "--to", "markdown");
    assert_string_equal(reply.out.data, expected);
    assert_int_equal(reply.err.len, 0);
    run_at(&reply, 0, NULL, fixture->path, "-a", "md", "export", "s", "--to", "markdown", "-o", file);
    assert_has(&reply.err, "1 session and 1 event written to");
    char *text = support_read_file(file, NULL);
    assert_string_equal(text, expected);
    free(text);
    free(file);
}

/* Other programs read no lone surrogates; the stored bytes stay. */
TEST_OF(setup, half_an_emoji_is_a_replacement_character_for_others)
{
    static const char *const formats[] = {"session", "vertex", "sqlite"};
    const ses_key half = {"half", "bob", "s"};

    must_create(fixture->store, &half, NULL);
    must_append_by_key(
        fixture->store, &half,
        Q("{'id':'e','author':'agent','timestamp':1,'content':{'parts':[{'text':'42 \\ud83d'}]}}"));
    for (size_t i = 0; i < 3; i++) {
        char *file = support_path(fixture->folder, formats[i]);
        size_t len;
        run_at(&reply, 0, NULL, fixture->path, "-a", "half", "export", "s", "--to", formats[i], "-o", file,
               "--json");
        assert_has(&reply.out, "\"kind\":\"surrogates\"");
        char *bytes = support_read_file(file, &len);
        assert_true(has_bytes(bytes, len, "42 \\ufffd"));
        assert_false(has_bytes(bytes, len, "\\ud83d"));
        free(bytes);
        free(file);
    }
    run_at(&reply, 0, NULL, fixture->path, "-a", "half", "show", "s");
    assert_has(&reply.out, "42 \xef\xbf\xbd");
    run_at(&reply, 0, NULL, fixture->path, "-a", "half", "events", "s");
    assert_has(&reply.out, "42 \xef\xbf\xbd");
    run_at(&reply, 0, NULL, fixture->path, "-a", "half", "events", "s", "--json");
    assert_has(&reply.out, "42 \\ud83d");
}
