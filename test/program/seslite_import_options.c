/* The command imports: what is refused, and what the options do. */
#include "foreign.h"

/* ------------------------------------------------------------------------------------------ odd databases */

TEST(unstorable_items_are_named_and_nothing_is_written)
{
    need_data();
    static const char *const names[] = {"python-odd-v1-2.13", "python-odd-sqlite-2.13"};

    for (size_t i = 0; i < 2; i++) {
        char *path = data_path(names[i], ".db");
        run_at(&reply, 2, NULL, fixture->path, "import", path);
        assert_has(&reply.err, "odd//eu: the user is empty");
        assert_has(&reply.err, "the key nan of the state of odd/u/nan: at byte 0: NaN is not a JSON number");
        assert_has(&reply.err, "odd/u/longk: event 1, ev-23edf2650b71: the state key kkkk");
        assert_has(&reply.err, "odd/u/nulk: event 1, ev-a74c8f32a1f2: a state key contains a NUL");
        assert_has(&reply.err, "the shared key inf of odd: at byte 0: -Infinity is not a JSON number");
        assert_has(&reply.out, "0 events and 0 shared keys written");
        run_at(&reply, 0, NULL, fixture->path, "list", "--names", "apps");
        assert_string_equal(reply.out.data, "");
        free(path);
    }
}

TEST(skip_and_rename_bring_the_rest)
{
    need_data();
    const ses_key renamed = {"odd", "empty~811c9dc5", "eu"};
    const ses_key lone = {"odd", "u", "sur"};
    const ses_key padded = {"odd", "u", " padded\n"};
    char *path = data_path("python-odd-v1-2.13", ".db");

    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--rename", "--json");
    assert_int_equal(number_of(&reply, "made"), 15);
    assert_int_equal(number_of(&reply, "refused"), 7);
    cJSON *json = reply_json(&reply);
    const cJSON *renames = cJSON_GetObjectItem(cJSON_GetArrayItem(json, 0), "renames");
    assert_int_equal(cJSON_GetArraySize(renames), 1);
    assert_string_equal(json_string(cJSON_GetObjectItem(cJSON_GetArrayItem(renames, 0), "here"), "userId"),
                        "empty~811c9dc5");
    const cJSON *refusals = cJSON_GetObjectItem(cJSON_GetArrayItem(json, 0), "refusals");
    assert_int_equal(cJSON_GetArraySize(refusals), 7);
    assert_string_equal(json_string(cJSON_GetArrayItem(refusals, 1), "id"), "nan");
    assert_string_equal(json_string(cJSON_GetArrayItem(refusals, 1), "key"), "nan");
    assert_string_equal(json_string(cJSON_GetArrayItem(refusals, 1), "code"), "SES_JSON");
    assert_non_null(
        strstr(json_string(cJSON_GetArrayItem(refusals, 1), "message"), "NaN is not a JSON number"));
    cJSON_Delete(json);
    ses_session_close(must_get(fixture->store, &renamed));
    ses_session_close(must_get(fixture->store, &lone));
    ses_session_close(must_get(fixture->store, &padded));
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--rename", "--json");
    assert_int_equal(number_of(&reply, "equal"), 15);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--to-user", "other", "--json");
    assert_int_equal(number_of(&reply, "made"), 15);
    assert_int_equal(number_of(&reply, "refused"), 7);
    free(path);
}

/* The event's id is found to be too long only when it is stored. */
TEST(a_new_session_that_cannot_be_stored_is_found_before_anything_is_written)
{
    char *path = make_adk(fixture, "long.db",
                          "UPDATE events SET event_data = json_set(event_data, '$.id', hex(zeroblob(300)))"
                          " WHERE id = 'e2'");

    run_code(2, "import", path);
    assert_has(&reply.err, "a/u/s: event 1");
    assert_has(&reply.out, "0 events and 0 shared keys written");
    run_ok("list", "--names", "apps");
    assert_string_equal(reply.out.data, "");
    free(path);
}

/* An event that cannot be read, and one that only the store refuses. The state is still that of the file. */
TEST(a_bad_event_is_left_out_alone)
{
    static const struct {
        const char *event;
        const char *words;
    } cases[] = {
        {"{broken", "a/u/s: event 2, e2: "},
        {"{\"id\":\"e2\",\"author\":5}", "the event's author must be a string"},
    };
    char sql[200];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_key key = {"a", "u", "s"};
        (void)snprintf(sql, sizeof sql,
                       "UPDATE sessions SET state = '{\"n\":1,\"m\":2}' WHERE id = 's';"
                       "UPDATE events SET event_data = '%s' WHERE id = 'e2'",
                       cases[i].event);
        char *path = make_adk(fixture, "bad.db", sql);
        char *json = NULL;
        ses_session *session = NULL;

        run_code(2, "import", path);
        run_ok("import", path, "--skip", "--json");
        assert_has(&reply.err, cases[i].words);
        assert_int_equal(number_of(&reply, "made"), 2);
        assert_int_equal(number_of(&reply, "refused"), 1);
        session = must_get(fixture->store, &key);
        assert_int_equal(ses_session_event_count(session), 1);
        ses_session_close(session);
        assert_ok(ses_state_json_by_key(fixture->store, &key, NULL, &json, NULL, &error));
        assert_string_equal(json, "{\"app:units\":\"metric\",\"m\":2,\"n\":1}");
        ses_free(json);
        run_ok("import", path, "--skip", "--json");
        assert_int_equal(number_of(&reply, "equal"), 2);
        run_ok("delete", "-a", "a", "--everything", "--yes");
        assert_int_equal(remove(path), 0);
        free(path);
    }
}

/* The keys of each state, and shared keys, are left out only if they cannot be stored. */
TEST(a_bad_key_is_left_out_alone)
{
    char *path =
        make_adk(fixture, "nan.db",
                 "UPDATE app_states SET state = '{\"units\":\"metric\",\"x\": NaN ,\"y\":[1,{\"z\":2}]}';"
                 "INSERT INTO user_states VALUES ('a', 'u', '{\"b\":-Infinity,\"c\":3}', 1);"
                 "UPDATE sessions SET state = '{\"bad\":[NaN,\"}\"],\"fine\":\"a\\\"}\",\"\\ud800\":1,'"
                 " || '\"' || hex(zeroblob(300)) || '\":1}' WHERE id = 't';");
    char *json = NULL;

    run_code(2, "import", path);
    assert_has(&reply.err, "the shared key x of a: ");
    run_ok("import", path, "--skip", "--json");
    assert_int_equal(number_of(&reply, "made"), 2);
    assert_int_equal(number_of(&reply, "refused"), 5);
    assert_int_equal(number_of(&reply, "keys"), 3);
    assert_has(&reply.err, "the shared key b of a/u: ");
    assert_has(&reply.err, "the key bad of the state of a/u/t: ");
    assert_has(&reply.err, "the key \\ud800 of the state of a/u/t: it contains a lone surrogate");
    assert_has(&reply.err, "has 600 bytes");
    assert_ok(ses_state_json_by_key(fixture->store, &(ses_key){"a", "u", "t"}, NULL, &json, NULL, &error));
    assert_string_equal(json, "{\"app:units\":\"metric\",\"app:y\":[1,{\"z\":2}],\"user:c\":3,"
                              "\"fine\":\"a\\\"}\"}");
    ses_free(json);
    free(path);
}

/* ------------------------------------------------------------------------------------------------ options */

TEST(a_dry_run_tells_and_writes_nothing)
{
    need_data();
    char *path = data_path("js", ".db");
    char *nowhere = support_path(fixture->folder, "nowhere.db");

    run_at(&reply, 0, NULL, fixture->path, "import", path, "--dry-run", "--json");
    assert_int_equal(number_of(&reply, "made"), 6);
    assert_int_equal(number_of(&reply, "events"), 125);
    assert_has(&reply.out, "\"dryRun\":true");
    run_at(&reply, 0, NULL, fixture->path, "list", "--names", "apps");
    assert_string_equal(reply.out.data, "");
    run_at(&reply, 0, NULL, nowhere, "import", path, "--dry-run");
    assert_int_equal(access(nowhere, F_OK), -1);
    run_at(&reply, 0, NULL, nowhere, "import", path);
    assert_int_equal(access(nowhere, F_OK), 0);
    free(nowhere);
    free(path);
}

TEST(app_user_and_session_choose)
{
    need_data();
    char *path = data_path("js", ".db");

    run_at(&reply, 0, NULL, fixture->path, "--app", "my_app", "--user", "alice", "import", path, "--json");
    assert_int_equal(number_of(&reply, "made"), 2);
    run_at(&reply, 0, NULL, fixture->path, "-a", "my_app", "-u", "alice", "-s", "same-id", "import", path,
           "--to-app", "new", "--to-user", "bob", "--json");
    assert_int_equal(number_of(&reply, "made"), 1);
    assert_int_equal(number_of(&reply, "keys"), 0);
    ses_session_close(must_get(fixture->store, &(ses_key){"new", "bob", "same-id"}));
    run_at(&reply, 2, NULL, fixture->path, "-u", "alice", "import", path);
    free(path);
}

TEST(two_sessions_of_a_file_never_get_one_name)
{
    need_data();
    char *path = data_path("go", ".db");

    run_at(&reply, 4, NULL, fixture->path, "import", path, "--to-app", "x", "--to-user", "y");
    assert_has(&reply.err, "another session of the file gets the same name here");
    run_at(&reply, 4, NULL, fixture->path, "import", path, "--to-app", "x", "--to-user", "y", "--replace",
           "-y");
    run_at(&reply, 0, NULL, fixture->path, "list", "--names", "sessions");
    assert_string_equal(reply.out.data, "");
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--to-app", "x", "--to-user", "y", "--rename",
           "--json");
    assert_int_equal(number_of(&reply, "made") + number_of(&reply, "renamed"), 6);
    run_at(&reply, 3, NULL, fixture->path, "--app", "nosuch", "import", path);
    assert_has(&reply.err, "has no session that matches --app, --user and --session");
    free(path);
}

/* The file no longer has what an event has overwritten since. The store does. */
TEST(update_knows_the_first_state_of_an_earlier_import)
{
    const ses_key key = {"a", "u", "s"};
    char *path = make_adk(fixture, "source.db", NULL);
    char *initial = NULL;

    run_at(&reply, 0, NULL, fixture->path, "import", path);
    raw_exec(
        path,
        "INSERT INTO events VALUES ('e3', 'a', 'u', 's', 'i', 1700000003, '{\"id\":\"e3\",\"author\":\"bot\","
        "\"timestamp\":1700000003.5,\"actions\":{\"state_delta\":{\"was\":false}}}');"
        "UPDATE sessions SET state = '{\"n\":2,\"was\":false}', update_time = 1700000003.5 WHERE id = 's'");
    run_at(&reply, 4, NULL, fixture->path, "import", path);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--update", "--json");
    assert_int_equal(number_of(&reply, "updated"), 1);
    assert_int_equal(number_of(&reply, "events"), 1);
    assert_ok(ses_state_json_initial_by_key(fixture->store, &key, NULL, &initial, NULL, &error));
    assert_string_equal(initial, "{\"was\":true}");
    ses_free(initial);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--update", "--json");
    assert_int_equal(number_of(&reply, "equal"), 2);
    /* Such a file has no titles, labels and expiry times: those from here stay. */
    assert_ok(ses_title_set_by_key(fixture->store, &key, "A title", NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &key, &(ses_label){"l", "v"}, 1, NULL, &error));
    raw_exec(path,
             "INSERT INTO events VALUES ('e4', 'a', 'u', 's', 'i', 1700000004, '{\"id\":\"e4\",\"author\":"
             "\"bot\",\"timestamp\":1700000004.5}');"
             "UPDATE sessions SET update_time = 1700000004.5 WHERE id = 's'");
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--update", "--json");
    assert_int_equal(number_of(&reply, "events"), 1);
    ses_session *session = must_get(fixture->store, &key);
    assert_string_equal(ses_session_title(session), "A title");
    assert_int_equal(ses_session_label_count(session), 1);
    free(path);
}

TEST(added_members_are_the_same_at_each_import)
{
    char *path = make_adk(
        fixture, "source.db",
        "UPDATE events SET event_data = '{}' WHERE id = 'e1';"
        "UPDATE events SET event_data = ' {\"id\":null,\"timestamp\":null,\"partial\":false}' WHERE id = "
        "'e2';"
        "INSERT INTO events VALUES ('e3', 'a', 'u', 's', 'i', 3, '{\"id\":\"e3\",\"partial\":true}'),"
        " ('e4', 'a', 'u', 's', 'i', 4, '{\"id\":\"e4\",\"timestamp\":9,\"actions\":{\"state_delta\":"
        "{\"gone\":\"__ADK_SENTINEL_REMOVED__\"}}}')");

    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_has(&reply.out, "\"kind\":\"no_time\",\"count\":2");
    assert_has(&reply.out, "\"kind\":\"partial\",\"count\":1");
    assert_has(&reply.out, "\"kind\":\"tombstone_text\",\"count\":1");
    ses_session *session = must_get(fixture->store, &(ses_key){"a", "u", "s"});
    assert_int_equal(ses_session_event_count(session), 3);
    assert_string_equal(ses_session_event(session, 0)->json,
                        "{\"id\":\"import-1\",\"timestamp\":1700000000.250000}");
    assert_string_equal(ses_session_event(session, 1)->json,
                        " {\"id\":\"import-2\",\"timestamp\":1700000000.250000,\"partial\":false}");
    assert_non_null(
        strstr(ses_session_event(session, 2)->json, "{\"gone\":\"\\u005f_ADK_SENTINEL_REMOVED__\"}"));
    assert_string_equal(
        support_state(session, NULL),
        "{\"app:units\":\"metric\",\"gone\":\"\\u005f_ADK_SENTINEL_REMOVED__\",\"n\":2,\"was\":true}");
    ses_session_close(session);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_int_equal(number_of(&reply, "equal"), 2);
    free(path);
}
