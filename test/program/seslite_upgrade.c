/* The command on a store of version 0.2.0: the first command that meets it upgrades it, and says so. */
#include "command.h"
#include "released.h"

#define SAID "was upgraded to schema version 3"
#define NAMED "run seslite migrate"

static void make_old(const struct fixture *fixture)
{
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm"};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = support_path(fixture->folder, files[i]);
        (void)remove(path);
        free(path);
    }
    released_make("0.2.0", fixture->path);
}

static int setup(void **state)
{
    const int failed = fixture_setup(state);
    struct fixture *fixture = *state;

    ses_close(fixture->store);
    fixture->store = NULL;
    make_old(fixture);
    return failed;
}

#define TALK "-a", "shop", "-u", "alice", "-s", "talk"

static const char *const reading[][12] = {
    {"list"},
    {"list", "--containing", "cost"},
    {"list", "--preview"},
    {TALK, "show"},
    {TALK, "state"},
    {TALK, "events"},
    {TALK, "tail"},
    {"search", "cost"},
    {"search", "--words", "cost"},
    {"usage"},
    {TALK, "html", "-o", "-"},
    {TALK, "artifact", "list"},
    {TALK, "artifact", "get", "report.txt"},
    {"export"},
    {"stats"},
    {"doctor"},
    {"check"},
    {"sql", "SELECT count(*) FROM sessions"},
    {TALK, "cut", "--to", "3", "--dry-run"},
    {TALK, "delete", "--dry-run"},
    {"expire", "--dry-run"},
};

static void run_reading(struct reply *answer, const struct fixture *fixture, size_t which, const char *more)
{
    const char *arguments[20] = {COMMAND, "-f", fixture->path};
    size_t count = 3;

    if (more)
        arguments[count++] = more;
    for (size_t i = 0; i < 12 && reading[which][i]; i++)
        arguments[count++] = reading[which][i];
    command_run(answer, NULL, arguments);
}

TEST_OF(setup, every_reading_command_upgrades_it)
{
    for (size_t i = 0; i < sizeof reading / sizeof reading[0]; i++) {
        make_old(fixture);
        run_reading(&reply, fixture, i, "--no-upgrade");
        assert_int_equal(reply.status, 8);
        assert_has(&reply.err, NAMED);
        assert_query(fixture->path, "PRAGMA user_version", "2\n");
        run_reading(&reply, fixture, i, NULL);
        if (reply.status != 0)
            fail_msg("%s %s: %d, %s", reading[i][0], reading[i][6], reply.status, reply.err.data);
        assert_has(&reply.err, SAID);
        assert_query(fixture->path, "PRAGMA user_version", "3\n");
        run_reading(&reply, fixture, i, "--no-upgrade");
        assert_int_equal(reply.status, 0);
        assert_lacks(&reply.err, SAID);
    }
}

TEST_OF(setup, writing_commands_upgrade_it)
{
    run_code(8, "--no-upgrade", TALK, "title", "new");
    assert_has(&reply.err, NAMED);
    assert_query(fixture->path, "PRAGMA user_version", "2\n");
    run_ok(TALK, "title", "new");
    assert_has(&reply.err, SAID);
    assert_int_equal(reply_lines(&reply), 0);
    run_ok(TALK, "title", "newer");
    assert_lacks(&reply.err, SAID);
    make_old(fixture);
    run_ok("-a", "shop", "-u", "alice", "create", "other");
    assert_has(&reply.err, SAID);
    make_old(fixture);
    run_code(2, "--no-upgrade", "migrate");
    run_ok("migrate");
    assert_lacks(&reply.err, SAID);
    assert_has(&reply.err, "now has schema 3");
}

/* A store whose sessions are imported is met, too. */
TEST_OF(setup, a_store_to_import_from_is_upgraded)
{
    char *other = support_path(fixture->folder, "other.db");

    run_at(&reply, 1, NULL, other, "--no-upgrade", "import", fixture->path);
    assert_has(&reply.err, NAMED);
    run_at(&reply, 0, NULL, other, "import", fixture->path);
    assert_has(&reply.err, SAID);
    assert_query(fixture->path, "PRAGMA user_version", "3\n");
    free(other);
}

TEST_OF(setup, one_that_may_not_be_written_names_the_way)
{
    const char *const title[] = {COMMAND, "-f", fixture->path, TALK, "title", "x", NULL};
    const struct how nobody = {.as_nobody = true};

    make_read_only(fixture);
    for (size_t i = 0; i < sizeof reading / sizeof reading[0]; i++) {
        const char *arguments[20] = {COMMAND, "-f", fixture->path};
        for (size_t word = 0; word < 12 && reading[i][word]; word++)
            arguments[3 + word] = reading[i][word];
        command_run(&reply, &nobody, arguments);
        if (reply.status == 127) {
            print_message("skipped: a file without rights, since others cannot run the program\n");
            skip();
        }
        assert_int_equal(reply.status, 8);
        assert_has(&reply.err, NAMED);
        assert_lacks(&reply.err, SAID);
    }
    command_run(&reply, &nobody, title);
    assert_int_not_equal(reply.status, 0);
    assert_has(&reply.err, NAMED);
    assert_query(fixture->path, "PRAGMA user_version", "2\n");
}
