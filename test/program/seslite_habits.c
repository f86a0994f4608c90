/* The command's habits: choices, hints, exit codes, options, pipes, and files that it must leave alone. */
#include "command.h"

static const ses_key two = {"chat", "bob", "two"};

/* Without -f. */
static void run_words(struct reply *answer, const struct how *how, const char *word, const char *second)
{
    const char *const arguments[] = {COMMAND, word, second, NULL};
    command_run(answer, how, arguments);
}

/* ------------------------------------------------------------------------------------------------ choices */

TEST_OF(command_setup, names_may_be_left_out_where_one_fits)
{
    run_ok("events", "--jsonl");
    assert_int_equal(reply_lines(&reply), 6);
    must_create(fixture->store, &two, NULL);
    run_ok("-u", "alice", "events", "--jsonl");
    run_ok("events", "two", "--jsonl");
    run_ok("events", "-s", "two", "--jsonl");
    run_ok("-a", "chat", "-u", "bob", "-s", "two", "events");
    run_code(2, "events", "two", "--session", "one");
}

TEST_OF(command_setup, a_choice_is_listed)
{
    const ses_key same = {"other", "carol", "one"};

    must_create(fixture->store, &two, NULL);
    run_code(2, "events");
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "which session?");
    assert_has(&reply.err, "--app chat --user alice --session one\n");
    assert_has(&reply.err, "--app chat --user bob --session two\n");
    must_create(fixture->store, &same, NULL);
    run_code(2, "events", "one");
    assert_has(&reply.err, "--app other --user carol --session one\n");
    run_ok("--app", "other", "events", "one");
    char id[] = "s00";
    for (int i = 0; i < 15; i++) {
        snprintf(id, sizeof id, "s%02d", i);
        must_create(fixture->store, &(ses_key){"chat", "bob", id}, NULL);
    }
    run_code(2, "events");
    assert_has(&reply.err, "...\n");
}

TEST_OF(command_setup, the_beginning_of_an_id_is_enough)
{
    const ses_key keys[] = {{"chat", "bob", "two"}, {"chat", "bob", "two-b"}, {"chat", "carol", "tree"}};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        must_create(fixture->store, &keys[i], NULL);
    run_ok("events", "o", "--jsonl");
    assert_int_equal(reply_lines(&reply), 6);
    assert_string_equal(reply.err.data, "(session one)\n");
    run_ok("show", "two");
    assert_has(&reply.out, "session  two\n");
    assert_string_equal(reply.err.data, "");
    run_ok("-a", "chat", "-u", "bob", "show", "two-");
    assert_has(&reply.out, "session  two-b\n");
    run_code(2, "show", "t");
    assert_has(&reply.err, "--user bob --session two\n");
    assert_has(&reply.err, "--user bob --session two-b\n");
    assert_has(&reply.err, "--user carol --session tree\n");
    run_code(3, "show", "wo");
}

/* Else a script that is run twice would delete s10 after s1. */
TEST_OF(command_setup, with_yes_an_id_must_be_whole)
{
    const struct how yes = {.terminal = TERMINAL_ALL, .input = "y\n"};

    must_create(fixture->store, &two, NULL);
    run_code(3, "delete", "tw", "--yes");
    assert_has(&reply.err, "--session two\n");
    run_code(3, "cut", "on", "--to", "1", "--yes");
    run_code(3, "prune", "on", "--keep", "1", "--yes");
    run_code(2, "-s", "one", "list");
    assert_has(&reply.err, "list takes no session");
    run_ok("list", "--names", "sessions");
    assert_has(&reply.out, "two\n");
    run_at(&reply, 0, &yes, fixture->path, "delete", "tw");
    assert_has(&reply.screen, "Delete the session two of bob");
    run_code(3, "delete", "two", "--yes");
}

TEST_OF(command_setup, many_beginnings_do_not_hide_an_id)
{
    char id[] = "x-00";

    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "x-%02d", i);
        must_create(fixture->store, &(ses_key){"chat", "bob", id}, NULL);
    }
    must_create(fixture->store, &(ses_key){"chat", "bob", "x"}, NULL);
    run_ok("show", "x");
    assert_has(&reply.out, "session  x\n");
    run_code(2, "show", "x-");
    assert_has(&reply.err, "...\n");
}

TEST_OF(command_setup, an_unknown_name_lists_the_known_ones)
{
    must_create(fixture->store, &two, NULL);
    run_code(3, "-a", "nope", "list");
    assert_string_equal(reply.out.data, "");
    assert_string_equal(reply.err.data, "seslite: no app \"nope\"\nThe apps are: \"chat\"\n");
    run_code(3, "-a", "chat", "-u", "nobody", "list", "--json");
    assert_string_equal(reply.out.data, "[]\n");
    assert_has(&reply.err, "no user \"nobody\" in the app \"chat\"\n");
    assert_has(&reply.err, "The users of the app \"chat\" are: \"alice\", \"bob\"\n");
    run_code(3, "-u", "nobody", "list", "--names", "sessions");
    assert_has(&reply.err, "no user \"nobody\"\n");
    run_code(3, "-a", "nope", "search", "coat");
    assert_has(&reply.err, "The apps are: \"chat\"\n");
    run_code(3, "-a", "nope", "stats");
    assert_has(&reply.err, "The apps are: \"chat\"\n");
    run_code(3, "-a", "nope", "events", "one");
    assert_has(&reply.err, "no app \"nope\"\n");
    run_code(3, "-u", "bob", "list", "--label", "none");
    assert_string_equal(reply.err.data, "seslite: no session matches\n");
}

TEST_OF(command_setup, mistyped_words_get_a_hint)
{
    run_code(2, "lits");
    assert_has(&reply.err, "Did you mean \"list\"?");
    run_code(3, "events", "oen1");
    run_code(3, "events", "onne");
    assert_has(&reply.err, "no session \"onne\". Did you mean \"one\"?");
    run_code(3, "-a", "chat", "-u", "alice", "-s", "onne", "events");
    assert_has(&reply.err, "Did you mean \"one\"?");
    run_code(2, "events", "--jsonn");
    assert_has(&reply.err, "Did you mean --json?");
    run_code(2, "help", "rewnd");
    assert_has(&reply.err, "Did you mean \"rewind\"?");
    run_code(3, "-s", "one", "state", "topicc");
    assert_has(&reply.err, "Did you mean \"topic\"?");
    run_code(2, "xyzzyplugh");
    assert_lacks(&reply.err, "Did you mean");
}

/* --------------------------------------------------------------------------------------------- exit codes */

TEST_OF(command_setup, usage_is_a_code_of_its_own)
{
    run_code(2, "list", "--limit", "many");
    run_code(2, "list", "--limit", "-1");
    run_code(2, "list", "--limit", "99999999999999999999");
    run_code(2, "list", "--limit");
    run_code(2, "list", "--order", "sideways");
    run_code(2, "list", "--since", "yesterday");
    run_code(2, "list", "--since", "2024-13-01");
    run_code(2, "list", "--since", "2024-01-01T25:00");
    run_code(2, "expire", "--idle", "1y");
    run_code(2, "expire", "--idle", "500000000w"); /* more microseconds than 64 bits can hold */
    run_code(2, "list", "--json=1");
    run_code(2, "list", "--json", "--jsonl");
    run_code(2, "list", "-q");
    run_code(2, "list", "word");
    run_code(2, "list", "--yes");
    run_code(2, "search");
    run_code(2, "-s", "one", "title", "a", "b");
    run_code(2, "-s", "one", "-s", "two", "events");
    run_code(2, "--prefix", "x", "list");
    run_code(2, "list", "--prefix", "x");
    run_words(&reply, NULL, NULL, NULL);
    assert_int_equal(reply.status, 2);
    run_words(&reply, NULL, "list", NULL);
    assert_int_equal(reply.status, 2);
    assert_has(&reply.err, "SESLITE_DB");
    run_at(&reply, 2, NULL, "-", "list");
}

TEST_OF(command_setup, files_that_are_no_stores_have_codes)
{
    char *other = support_path(fixture->folder, "other");

    run_at(&reply, 3, NULL, other, "list");
    assert_int_equal(access(other, F_OK), -1);
    run_at(&reply, 3, NULL, other, "maintain");
    assert_int_equal(access(other, F_OK), -1);
    write_file(other, "", 0);
    run_at(&reply, 8, NULL, other, "list");
    assert_has(&reply.err, "the file is empty: run seslite migrate");
    write_file(other, "not a database at all", 21);
    run_at(&reply, 8, NULL, other, "list");
    run_at(&reply, 8, NULL, other, "doctor");
    run_at(&reply, 8, NULL, other, "migrate");
    run_at(&reply, 8, NULL, other, "sql", "--write", "CREATE TABLE t (x)");
    free(other);
}

/* Secrets of an address are not shown, whether there is such a server or not. */
TEST_OF(command_setup, an_address_of_a_server_is_told_from_a_file)
{
    static const char address[] =
        "postgresql://user:secret@127.0.0.1:1/agents?connect_timeout=1&password=secret";

#ifdef WITH_POSTGRES
    run_at(&reply, 1, NULL, address, "list");
    assert_has(&reply.err, "postgresql://127.0.0.1:1/agents");
#else
    run_at(&reply, 2, NULL, address, "list");
    assert_has(&reply.err, "make POSTGRES=1");
#endif
    assert_lacks(&reply.err, "secret");
#ifdef WITH_MYSQL
    run_at(&reply, 1, NULL, "mysql://user:secret@127.0.0.1:1/agents?tls=encrypt", "list");
    assert_has(&reply.err, "mysql://127.0.0.1:1/agents");
#else
    run_at(&reply, 2, NULL, "mysql://user:secret@127.0.0.1:1/agents?tls=encrypt", "list");
    assert_has(&reply.err, "make MYSQL=1");
#endif
    assert_lacks(&reply.err, "secret");
    run_at(&reply, 2, NULL, address, "backup", "copy.db");
    assert_has(&reply.err, "only for files");
    run_code(2, address);
    assert_has(&reply.err, "postgresql://user@127.0.0.1:1/agents");
    assert_lacks(&reply.err, "secret");
    run_code(1, "export", "-o", address);
    assert_lacks(&reply.err, "secret");
}

TEST_OF(command_setup, a_damaged_store_has_a_code)
{
    ses_close(fixture->store);
    fixture->store = NULL;
    char *triggers = raw_text(
        fixture->path, "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger'");
    raw_exec(fixture->path, triggers);
    free(triggers);
    run_code(7, "list");
    run_code(7, "maintain");
}

TEST_OF(command_setup, a_store_of_a_newer_version_has_a_code)
{
    ses_close(fixture->store);
    fixture->store = NULL;
    raw_exec(fixture->path, "PRAGMA user_version = 99");
    run_code(8, "list");
    run_code(8, "migrate");
}

TEST_OF(command_setup, a_locked_store_has_a_code)
{
    sqlite3 *db = raw_open(fixture->path);

    raw_run(db, "BEGIN IMMEDIATE");
    run_ok("list"); /* reading waits for nobody */
    run_code(6, "-s", "one", "title", "x");
    run_code(6, "sql", "--write", "CREATE TABLE mine (x)");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ------------------------------------------------------------------------------------------- reading only */

TEST_OF(command_setup, reading_leaves_the_file_as_it_is)
{
    size_t len = 0;
    size_t after_len = 0;

    ses_close(fixture->store);
    fixture->store = NULL;
    char *before = support_read_file(fixture->path, &len);
    run_ok("list");
    run_ok("show");
    run_ok("state");
    run_ok("events");
    run_ok("tail");
    run_ok("search", "coat");
    run_ok("stats");
    run_ok("doctor");
    run_ok("migrate");
    run_ok("cut", "--to", "1", "--dry-run");
    run_ok("delete", "one", "--dry-run");
    run_ok("expire", "--dry-run");
    char *after = support_read_file(fixture->path, &after_len);
    assert_int_equal(len, after_len);
    assert_memory_equal(before, after, len);
    free(before);
    free(after);
}

TEST_OF(command_setup, a_rollback_journal_leaves_no_file_behind)
{
    ses_close(fixture->store);
    fixture->store = NULL;
    raw_exec(fixture->path, "PRAGMA journal_mode = DELETE");
    char *before = folder_picture(fixture->folder);
    run_ok("list");
    run_ok("show");
    run_ok("search", "coat");
    run_ok("doctor");
    assert_picture(fixture->folder, before);
}

/* -------------------------------------------------------------------------------------- options and pipes */

TEST_OF(command_setup, the_file_is_given_by_the_environment_too)
{
    char env[1024];
    const struct how how = {.env = env};

    snprintf(env, sizeof env, "SESLITE_DB=%s", fixture->path);
    run_words(&reply, &how, "list", "--json");
    assert_int_equal(reply.status, 0);
    assert_has(&reply.out, "\"one\"");
}

/* SQLite would take any file of these names for its own. */
TEST_OF(command_setup, no_output_replaces_a_file_of_the_store)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[1024];

    ses_close(fixture->store);
    fixture->store = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/./%s%s", fixture->folder, strrchr(fixture->path, '/') + 1,
                       endings[i]);
        const bool is_new = access(path, F_OK) != 0;
        run_code(2, "export", "-o", path, "--replace");
        assert_has(&reply.err, "is the store itself or one of its files");
        run_code(2, "html", "one", "-o", path, "--replace");
        assert_true(!is_new || access(path, F_OK) != 0);
    }
    run_ok("check");
}

TEST_OF(command_setup, global_options_stand_before_or_after_the_command)
{
    run_ok("--json", "list");
    run_ok("list", "--json");
    run_ok("list", "-achat");
    run_ok("list", "--app=chat", "-n1");
    run_ok("search", "-in1", "COAT");
    run_ok("-s", "one", "state", "--", "topic");
    run_code(3, "-s", "one", "state", "--", "--json");
    assert_int_equal(reply.err.len > 0, 1);
}

TEST_OF(command_setup, help_is_there_without_a_store)
{
    run_words(&reply, NULL, "help", NULL);
    assert_int_equal(reply.status, 0);
    assert_has(&reply.out, "rewind");
    assert_has(&reply.out, "Exit codes:");
    run_words(&reply, NULL, "--help", NULL);
    assert_int_equal(reply.status, 0);
    run_words(&reply, NULL, "help", "points");
    assert_has(&reply.out, "last-turn");
    run_words(&reply, NULL, "--version", NULL);
    assert_has(&reply.out, ses_version());
    run_words(&reply, NULL, "cut", "--help");
    assert_int_equal(reply.status, 0);
    assert_has(&reply.out, "--dry-run");
}

TEST_OF(command_setup, every_command_has_help)
{
    static const char *const commands[] = {
        "list",      "show",   "state", "events", "tail",     "search",  "create", "append", "fork",
        "rewind",    "redo",   "cut",   "prune",  "expire",   "delete",  "title",  "label",  "archive",
        "unarchive", "family", "stats", "doctor", "maintain", "migrate", "sql",    "help"};

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char usage[64];
        run_words(&reply, NULL, "help", commands[i]);
        snprintf(usage, sizeof usage, "seslite [-f FILE] %s", commands[i]);
        assert_has(&reply.out, usage);
        for (const char *line = reply.out.data; *line; line += *line == '\n')
            line += strcspn(line, "\n");
    }
}

TEST_OF(command_setup, a_broken_pipe_ends_it_quietly)
{
    struct text event = {NULL, 0};
    char command[1024];
    int status = 0;

    text_printf(&event, "{\"author\":\"user\",\"x\":\"%01000d\"}", 0);
    for (int i = 0; i < 300; i++)
        must_append_by_key(fixture->store, &one, event.data);
    snprintf(command, sizeof command,
             "{ %s -f '%s' events --jsonl 2>&1 1>&3 | cat; } 3>&1 | head -c 1 >/dev/null", COMMAND,
             fixture->path);
    char *text = support_run(command, &status);
    assert_string_equal(text, "");
    free(text);
    snprintf(command, sizeof command, "%s -f '%s' events --jsonl >/dev/full", COMMAND, fixture->path);
    text = support_run(access("/dev/full", W_OK) == 0 ? command : "echo cannot write; exit 1", &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(text, "cannot write"));
    free(text);
    free(event.data);
}
