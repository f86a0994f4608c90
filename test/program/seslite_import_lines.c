/* The command imports JSON lines and other stores, and what the options do about sessions that are here
 * already. */
#include "foreign.h"

#include "seslite_artifact.h"

static const ses_key two = {"chat", "bob", "two"};

static int add_lines(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, data, len);
    return 0;
}

static void export_all(ses_store *store, struct text *lines)
{
    ses_error error;

    text_add(lines, "", 0);
    assert_ok(ses_store_export(store, NULL, add_lines, lines, &error));
}

/* Another store, of two sessions and shared state; and its lines. */
struct other {
    char *path;
    char *lines_path;
    ses_store *store;
    struct text lines;
};

static struct other make_other(const struct fixture *fixture)
{
    struct other other = {.path = support_path(fixture->folder, "other.db"),
                          .lines_path = support_path(fixture->folder, "other.jsonl")};
    ses_error error;

    assert_ok(ses_open(other.path, NULL, &other.store, &error));
    fill_session(other.store, &one);
    fill_session(other.store, &two);
    assert_ok(ses_title_set_by_key(other.store, &one, "A trip", NULL, &error));
    export_all(other.store, &other.lines);
    write_file(other.lines_path, other.lines.data, other.lines.len);
    return other;
}

static void free_other(struct other *other)
{
    ses_close(other->store);
    free(other->path);
    free(other->lines_path);
    free(other->lines.data);
}

static void assert_same_store(const struct fixture *fixture, const struct other *other)
{
    struct text lines = {NULL, 0};

    export_all(fixture->store, &lines);
    assert_string_equal(lines.data, other->lines.data);
    free(lines.data);
}

/* ----------------------------------------------------------------------------------------- the same again */

TEST(lines_make_the_same_store)
{
    struct other other = make_other(fixture);

    run_ok("import", other.lines_path, "--json");
    assert_int_equal(number_of(&reply, "made"), 2);
    assert_int_equal(number_of(&reply, "events"), 12);
    assert_has(&reply.out, "\"format\":\"seslite-lines\"");
    assert_same_store(fixture, &other);
    run_ok("import", other.lines_path);
    assert_has(&reply.out, "2 sessions already here and unchanged");
    free_other(&other);
}

TEST(lines_come_from_standard_input)
{
    struct other other = make_other(fixture);
    const struct how how = {.input = other.lines.data};

    run_at(&reply, 0, &how, fixture->path, "import", "-", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_same_store(fixture, &other);
    free_other(&other);
}

/* Others write while the rest of the lines is still to come. */
TEST(a_slow_pipe_locks_nobody_out)
{
    const ses_open_options impatient = {.size = sizeof impatient, .busy_timeout_ms = 20};
    struct other other = make_other(fixture);
    struct text command = {NULL, 0};

    text_add(&command, COMMAND " -f ", strlen(COMMAND " -f "));
    text_add(&command, fixture->path, strlen(fixture->path));
    text_add(&command, " import - >/dev/null", strlen(" import - >/dev/null"));
    FILE *pipe = popen(command.data, "w");
    assert_non_null(pipe);
    assert_int_equal(fwrite(other.lines.data, 1, other.lines.len / 2, pipe), other.lines.len / 2);
    assert_int_equal(fflush(pipe), 0);
    (void)usleep(200000);
    ses_store *store = must_open(fixture->path, &impatient);
    assert_ok(ses_get_or_create(store, &(ses_key){"a", "u", "s"}, NULL, 0, NULL, NULL, &error));
    ses_close(store);
    const size_t rest = other.lines.len - other.lines.len / 2;
    assert_int_equal(fwrite(other.lines.data + other.lines.len / 2, 1, rest, pipe), rest);
    assert_int_equal(pclose(pipe), 0);
    ses_session_close(must_get(fixture->store, &two));
    free(command.data);
    free_other(&other);
}

TEST(a_store_makes_the_same_store)
{
    struct other other = make_other(fixture);

    run_ok("import", other.path, "--json");
    assert_has(&reply.out, "\"format\":\"seslite\"");
    assert_int_equal(number_of(&reply, "made"), 2);
    assert_same_store(fixture, &other);
    run_ok("import", other.path, other.lines_path, "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    free_other(&other);
}

TEST(one_user_of_a_store_can_be_brought)
{
    struct other other = make_other(fixture);

    run_ok("-a", "chat", "-u", "bob", "import", other.path, "--to-user", "carol", "--json");
    assert_int_equal(number_of(&reply, "made"), 1);
    ses_session_close(must_get(fixture->store, &(ses_key){"chat", "carol", "two"}));
    run_code(3, "-a", "nothing", "import", other.path);
    run_code(2, "-a", "chat", "import", other.lines_path);
    assert_has(&reply.err, "JSON lines are imported as a whole");
    free_other(&other);
}

/* -------------------------------------------------------------------------------------- what differs here */

TEST(sessions_that_differ_are_refused_unless_told)
{
    struct other other = make_other(fixture);

    const struct how how = {.input = other.lines.data};
    must_create(fixture->store, &two, "{\"another\":true}"); /* the second of them */
    run_code(4, "import", other.path);
    assert_has(&reply.err, "chat/bob/two: ");
    assert_has(&reply.err, "--rename");
    assert_has(&reply.out, "0 events and 0 shared keys written");
    run_code(4, "import", other.lines_path);
    run_at(&reply, 4, &how, fixture->path, "import", "-");
    ses_session_close(must_get(fixture->store, &two));
    run_code(3, "show", "one", "-a", "chat");
    run_code(4, "import", other.path, "--dry-run", "--json");
    assert_int_equal(number_of(&reply, "refused"), 1);
    assert_int_equal(number_of(&reply, "made"), 1);
    run_ok("import", other.path, "--skip", "--json");
    assert_int_equal(number_of(&reply, "refused"), 1);
    assert_int_equal(number_of(&reply, "made"), 1);
    run_ok("import", other.path, "--rename", "--json");
    assert_int_equal(number_of(&reply, "renamed"), 1);
    assert_has(&reply.err, "chat/bob/two is imported as chat/bob/two~2");
    ses_session_close(must_get(fixture->store, &(ses_key){"chat", "bob", "two~2"}));
    run_code(2, "import", other.path, "--replace");
    assert_has(&reply.err, "--yes");
    run_code(2, "import", other.path, "--replace", "--rename");
    run_ok("import", other.path, "--replace", "--yes", "--json");
    assert_int_equal(number_of(&reply, "replaced"), 1);
    free_other(&other);
}

/* A dry run of each does not see the other. */
TEST(two_sessions_that_would_get_one_name_are_refused_before_anything_is_written)
{
    struct other other = make_other(fixture);

    must_create(other.store, &(ses_key){"chat", "carol", "two"}, NULL);
    run_code(4, "import", other.path, "--to-user", "dora");
    assert_has(&reply.err, "another session of the file gets the same name here");
    run_ok("list", "--names", "apps");
    assert_string_equal(reply.out.data, "");
    run_ok("import", other.path, "--to-user", "dora", "--rename", "--json");
    assert_int_equal(number_of(&reply, "renamed"), 1);
    free_other(&other);
}

TEST(update_adds_what_a_session_lacks)
{
    struct other other = make_other(fixture);

    run_ok("import", other.path);
    must_append_by_key(other.store, &one, "{\"id\":\"g\",\"timestamp\":1800000000}");
    run_code(4, "import", other.path);
    run_ok("import", other.path, "--update", "--json");
    assert_int_equal(number_of(&reply, "updated"), 1);
    assert_int_equal(number_of(&reply, "events"), 1);
    assert_ok(ses_title_set_by_key(other.store, &one, "Another trip", NULL, &error));
    run_code(4, "import", other.path);
    run_ok("import", other.path, "--update", "--json");
    assert_int_equal(number_of(&reply, "updated"), 1);
    assert_int_equal(number_of(&reply, "events"), 0);
    run_ok("-s", "one", "title");
    assert_string_equal(reply.out.data, "Another trip\n");
    free_other(&other);
}

TEST(a_renamed_session_counts_with_all_its_events)
{
    struct other other = make_other(fixture);

    run_ok("import", other.path);
    must_append_by_key(fixture->store, &one, "{\"id\":\"here\",\"timestamp\":1800000000}");
    must_append_by_key(other.store, &one, "{\"id\":\"there\",\"timestamp\":1800000000}");
    run_ok("import", other.path, "--rename", "--json");
    assert_int_equal(number_of(&reply, "renamed"), 1);
    assert_int_equal(number_of(&reply, "events"), 7);
    run_ok("import", other.path, "--rename", "--json");
    assert_int_equal(number_of(&reply, "renamed"), 0);
    assert_int_equal(number_of(&reply, "events"), 0);
    free_other(&other);
}

TEST(shared_keys_with_another_value_stay_unless_told)
{
    struct other other = make_other(fixture);
    char *json = NULL;

    assert_ok(ses_shared_state_change(fixture->store, "chat", NULL, "{\"units\":\"kelvin\"}", SES_NUL, NULL,
                                      &error));
    run_ok("import", other.path, "--json");
    assert_int_equal(number_of(&reply, "keysKept"), 1);
    assert_has(&reply.err, "the shared key units of chat has another value here, and keeps it");
    run_ok("import", other.path, "--replace-keys");
    assert_ok(ses_shared_state_json(fixture->store, "chat", NULL, NULL, &json, NULL, &error));
    assert_string_equal(json, "{\"units\":\"celsius\"}");
    ses_free(json);
    free_other(&other);
}

TEST(artifacts_come_along)
{
    const ses_key bob = {"chat", "bob", NULL};
    struct other other = make_other(fixture);

    assert_ok(ses_artifact_save_by_key(other.store, &two, "a.txt", "two", 3, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(other.store, &bob, "logo", "bob", 3, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(fixture->store, &bob, "logo", "other", 5, NULL, NULL, &error));
    run_at(&reply, 0, NULL, other.path, "export", "-o", other.lines_path, "--replace");
    free(other.lines.data);
    other.lines = (struct text){NULL, 0};
    export_all(other.store, &other.lines);
    run_ok("import", other.lines_path, "--dry-run", "--json");
    assert_int_equal(number_of(&reply, "artifacts"), 1);
    assert_int_equal(number_of(&reply, "artifactsKept"), 1);
    run_ok("import", other.lines_path);
    assert_has(&reply.out, "1 version of artifacts saved");
    assert_has(&reply.err, "the artifact user:logo of chat/bob has another content here, and keeps it");
    run_ok("import", other.path, "--replace-keys", "--json"); /* the store itself */
    assert_int_equal(number_of(&reply, "equal"), 2);
    assert_int_equal(number_of(&reply, "artifacts"), 1);
    assert_same_store(fixture, &other);
    free_other(&other);
}

/* --------------------------------------------------------------------------------------------- bad lines */

TEST(lines_that_are_cut_or_changed_or_newer_are_refused)
{
    struct other other = make_other(fixture);

    write_file(other.lines_path, other.lines.data, other.lines.len - 20);
    run_code(2, "import", other.lines_path);
    assert_has(&reply.err, "other.jsonl: ");
    for (size_t cut = 100; cut < other.lines.len; cut += 211) {
        write_file(other.lines_path, other.lines.data, cut);
        run_code(2, "import", other.lines_path);
        assert_has(&reply.err, "line ");
    }
    write_file(other.lines_path, "{\"kind\":\"seslite\",\"format\":9}\n", 30);
    run_code(8, "import", other.lines_path);
    char *changed = strstr(other.lines.data, "coat");
    changed[0] = 'g';
    write_file(other.lines_path, other.lines.data, other.lines.len);
    run_code(2, "import", other.lines_path, "--replace", "--yes");
    assert_has(&reply.err, "changed");
    free_other(&other);
}
