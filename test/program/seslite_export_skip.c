/* seslite export --skip: everything sound, what is not on standard error, and exit code 1. */
#include "command.h"

static const ses_key two = {"chat", "bob", "two"};

/* The second event of `two` is none. */
static int setup(void **state)
{
    (void)command_setup(state);
    const struct fixture *fixture = *state;
    fill_session(fixture->store, &two);
    char *guard = raw_text(fixture->path, "SELECT sql FROM sqlite_schema WHERE name = 'guard_events_update'");
    raw_exec(fixture->path,
             "DROP TRIGGER guard_events_update; UPDATE events SET body = '[]' WHERE position & 3 = 2"
             " AND session_id = (SELECT id FROM sessions WHERE name = 'two')");
    raw_exec(fixture->path, guard);
    free(guard);
    return 0;
}

static void assert_left_out(const struct reply *answer)
{
    assert_has(&answer->err, "seslite: left out: chat/bob/two: ");
    assert_has(&answer->err, "seslite: 1 part left out because of damage; seslite check says more\n");
}

TEST_OF(setup, lines_have_the_sound_sessions)
{
    char *lines = support_path(fixture->folder, "lines.jsonl");
    char *copy = support_path(fixture->folder, "copy.db");

    run_code(7, "export", "-o", lines);
    assert_int_equal(access(lines, F_OK), -1);
    run_code(1, "export", "-o", lines, "--skip");
    assert_left_out(&reply);
    assert_has(&reply.err, "1 session and 6 events");
    run_at(&reply, 0, NULL, copy, "import", lines);
    run_at(&reply, 0, NULL, copy, "check");
    run_at(&reply, 0, NULL, copy, "list", "--names", "sessions");
    assert_string_equal(reply.out.data, "one\n");
    run_code(1, "export", "--skip");
    assert_lacks(&reply.out, "\"two\"");
    assert_left_out(&reply);
    free(copy);
    free(lines);
}

TEST_OF(setup, other_formats_have_them_too)
{
    char *folder = support_path(fixture->folder, "sessions");
    char *base = support_path(fixture->folder, "session.db");

    assert_int_equal(mkdir(folder, 0700), 0);
    run_code(7, "export", "--to", "session", "-o", folder);
    run_code(1, "export", "--to", "session", "-o", folder, "--skip", "--replace");
    assert_left_out(&reply);
    run_code(7, "export", "--to", "sqlite", "-o", base);
    run_code(1, "export", "--to", "sqlite", "-o", base, "--skip");
    assert_left_out(&reply);
    char *ids = raw_text(base, "SELECT DISTINCT session_id FROM events");
    assert_string_equal(ids, "one\n");
    free(ids);
    free(base);
    free(folder);
}

TEST_OF(setup, without_damage_nothing_is_left_out)
{
    must_delete(fixture->store, &two);
    run_ok("export");
    struct text plain = {NULL, 0};
    text_add(&plain, reply.out.data, strlen(reply.out.data));
    run_ok("export", "--skip");
    assert_string_equal(reply.out.data, plain.data);
    free(plain.data);
}
