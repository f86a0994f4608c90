/* The command on a server: what it does there, what it leaves to others, and how a store comes there and
 * back. */
#include "database.h"
#include "foreign.h"

/* A database, and a file beside it with one session. */
struct pair {
    struct database *database;
    struct fixture *fixture;
    char place[300];
    char *other; /* another file */
};

static struct pair pair_of(struct database *database, const char *name)
{
    struct pair pair = {.database = database};
    void *fixture = NULL;

    (void)fixture_setup(&fixture);
    pair.fixture = fixture;
    fill_session(pair.fixture->store, &one);
    database_address(pair.database, name, pair.place);
    pair.other = support_path(pair.fixture->folder, "other.db");
    return pair;
}

static void free_pair(struct pair *pair)
{
    void *fixture = pair->fixture;

    free(pair->other);
    (void)fixture_teardown(&fixture);
}

/* `seslite -f FROM export | seslite -f TO import -`, by a file. */
static void move(struct pair *pair, const char *from, const char *to)
{
    char *lines = support_path(pair->fixture->folder, "moved.jsonl");
    struct reply answer = {.status = 0};

    run_at(&answer, 0, NULL, from, "export", "-o", lines, "--replace");
    run_at(&answer, 0, NULL, to, "import", lines);
    reply_free(&answer);
    free(lines);
}

static struct text lines_of(const char *place)
{
    struct reply answer = {.status = 0};

    run_at(&answer, 0, NULL, place, "export");
    struct text lines = answer.out;
    answer.out = (struct text){NULL, 0};
    reply_free(&answer);
    return lines;
}

static void assert_same_lines(const char *left, const char *right)
{
    struct text a = lines_of(left);
    struct text b = lines_of(right);

    assert_string_equal(a.data, b.data);
    free(a.data);
    free(b.data);
}

/* ---------------------------------------------------------------------------------------------- every day */

SERVER_TEST(a_store_on_a_server_is_looked_at_and_changed)
{
    struct pair pair = pair_of(database, "daily");

    run_at(&reply, 3, NULL, pair.place, "list");
    assert_has(&reply.err, "no store");
    run_at(&reply, 3, NULL, pair.place, "import", pair.fixture->path, "--dry-run", "--session", "none",
           "--app", "chat", "--user", "alice");
    run_at(&reply, 3, NULL, pair.place, "list");
    run_at(&reply, 0, NULL, pair.place, "import", pair.fixture->path);
    run_at(&reply, 0, NULL, pair.place, "list");
    assert_has(&reply.out, "alice");
    run_at(&reply, 4, NULL, pair.place, "create", "one");
    run_at(&reply, 0, NULL, pair.place, "create", "new", "--state", "n=1.0", "--ttl", "2h");
    assert_string_equal(reply.out.data, "new\n");
    run_at(&reply, 0, NULL, pair.place, "append", "new", "--text", "Hello", "--state", "n=2.0");
    run_at(&reply, 5, NULL, pair.place, "append", "new", "--text", "Hello", "--expected-version", "9");
    run_at(&reply, 0, (&(const struct how){.input = "{\"id\":\"g\"}\n{\"id\":\"h\"}\n"}), pair.place,
           "append", "new");
    assert_has(&reply.out, "3  h");
    run_at(&reply, 0, NULL, pair.place, "state", "-s", "new", "n");
    assert_string_equal(reply.out.data, "2.0\n");
    run_at(&reply, 0, NULL, pair.place, "delete", "new", "-y");
    run_at(&reply, 0, NULL, pair.place, "show");
    assert_has(&reply.out, "Do I need a coat?");
    run_at(&reply, 0, NULL, pair.place, "title", "A trip");
    run_at(&reply, 0, NULL, pair.place, "label", "project=oslo");
    run_at(&reply, 0, NULL, pair.place, "rewind");
    run_at(&reply, 0, NULL, pair.place, "redo");
    run_at(&reply, 0, NULL, pair.place, "fork", "--at", "last-turn", "--as", "two");
    run_at(&reply, 0, NULL, pair.place, "search", "coat");
    run_at(&reply, 0, NULL, pair.place, "state", "-s", "two", "turns");
    assert_string_equal(reply.out.data, "1\n");
    run_at(&reply, 0, NULL, pair.place, "tail", "-n", "1", "two");
    run_at(&reply, 0, NULL, pair.place, "prune", "one", "--keep", "1", "-y");
    run_at(&reply, 0, NULL, pair.place, "cut", "two", "--to", "2", "-y");
    run_at(&reply, 0, NULL, pair.place, "delete", "two", "-y");
    run_at(&reply, 0, NULL, pair.place, "check");
    run_at(&reply, 0, NULL, pair.place, "expire", "--idle", "1d", "-y");
    run_at(&reply, 0, NULL, pair.place, "migrate");
    run_at(&reply, 0, NULL, pair.place, "doctor");
    assert_has(&reply.out, "server");
    assert_lacks(&reply.out, "secret");
    run_at(&reply, 0, NULL, pair.place, "doctor", "--json");
    assert_lacks(&reply.out, "secret");
    run_at(&reply, 0, NULL, pair.place, "stats", "--json");
    cJSON *stats = reply_json(&reply);
    assert_true(json_double(stats, "databaseBytes") > 0);
    cJSON_Delete(stats);
    free_pair(&pair);
}

SERVER_TEST(commands_about_files_say_what_to_do_instead)
{
    struct pair pair = pair_of(database, "files");

    run_at(&reply, 0, NULL, pair.place, "import", pair.fixture->path);
    run_at(&reply, 2, NULL, pair.place, "backup", pair.other);
    assert_has(&reply.err, "pg_dump");
    run_at(&reply, 2, NULL, pair.place, "sql", "SELECT 1");
    assert_has(&reply.err, "psql");
    run_at(&reply, 2, NULL, pair.place, "maintain");
    assert_has(&reply.err, "vacuums");
    run_at(&reply, 2, NULL, pair.place, "delete", "one", "--secure", "-y");
    assert_has(&reply.err, "secure deletion");
    run_at(&reply, 0, NULL, pair.place, "help", "sql");
    assert_has(&reply.out, "Only for files");
    run_at(&reply, 0, NULL, pair.place, "list");
    assert_has(&reply.out, "one");
    free_pair(&pair);
}

SERVER_TEST(no_password_is_shown)
{
    static const char *const addresses[] = {
        "postgresql://user:secret@[::1]x/agents", "postgresql://user:sec%zzret@host/agents",
        "postgresql://user@host/agents?password=secret&x", "postgres://user:secret@host:99999/agents"};
    struct pair pair = pair_of(database, "shown");

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        const char *const arguments[] = {COMMAND, "-f", addresses[i], "list", NULL};
        command_run(&reply, NULL, arguments);
        assert_true(reply.status == 1 || reply.status == 2);
        assert_lacks(&reply.err, "sec");
    }
    run_at(&reply, 0, NULL, pair.place, "import", pair.fixture->path);
    run_at(&reply, 2, NULL, pair.place, "import", pair.place);
    assert_lacks(&reply.err, "secret");
    run_at(&reply, 0, NULL, pair.other, "import", pair.place);
    assert_lacks(&reply.out, "secret");
    run_at(&reply, 0, NULL, pair.other, "import", pair.place, "--json");
    assert_lacks(&reply.out, "secret");
    free_pair(&pair);
}

/* ------------------------------------------------------------------------------------------------- moving */

SERVER_TEST(a_store_moves_to_a_server_and_back)
{
    struct pair pair = pair_of(database, "moved");

    move(&pair, pair.fixture->path, pair.place);
    assert_same_lines(pair.fixture->path, pair.place);
    move(&pair, pair.place, pair.other);
    assert_same_lines(pair.fixture->path, pair.other);
    run_at(&reply, 0, NULL, pair.place, "import", pair.fixture->path);
    assert_has(&reply.out, "already here and unchanged");
    free_pair(&pair);
}

SERVER_TEST(a_store_on_a_server_is_imported_directly)
{
    struct pair pair = pair_of(database, "direct");
    char second[300];

    database_address(pair.database, "direct_second", second);
    run_at(&reply, 0, NULL, pair.place, "import", pair.fixture->path);
    run_at(&reply, 0, NULL, second, "import", pair.place);
    run_at(&reply, 0, NULL, pair.other, "import", second, "--app", "chat", "--user", "alice");
    assert_same_lines(pair.fixture->path, pair.other);
    run_at(&reply, 3, NULL, pair.other, "import", second, "--app", "none");
    free_pair(&pair);
}

/* Sessions of other programs, with all that these write. */
SERVER_TEST(recorded_sessions_move_unchanged)
{
    static const char *const names[][2] = {{"python-sqlite-2.13", ".db"},
                                           {"python-odd-v1-2.13", ".db"},
                                           {"js", ".db"},
                                           {"rust", ".db"},
                                           {"../adk-samples/customer_service.session", ".json"}};

    need_data();
    struct pair pair = pair_of(database, "recorded");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = data_path(names[i][0], names[i][1]);
        run_at(&reply, 0, NULL, pair.other, "import", "--rename", "--skip", path);
        free(path);
    }
    move(&pair, pair.other, pair.place);
    assert_same_lines(pair.other, pair.place);
    run_at(&reply, 0, NULL, pair.place, "check");
    unlink(pair.other);
    move(&pair, pair.place, pair.other);
    assert_same_lines(pair.place, pair.other);
    free_pair(&pair);
}
