/* The command shows first what is newest: list, search, and the session @. */
#include "command.h"

static const ses_key ahead = {"chat", "bob", "ahead"};
static const ses_key old_zeta = {"zeta", "bob", "old"};
static const ses_key new_zeta = {"zeta", "carl", "new"};

static void append_text(const struct fixture *fixture, const ses_key *key, const char *text, int64_t seconds)
{
    char event[200];

    snprintf(event, sizeof event,
             "{\"author\":\"user\",\"timestamp\":%lld,\"content\":{\"parts\":[{\"text\":\"%s\"}]}}",
             (long long)seconds, text);
    must_append_by_key(fixture->store, key, event);
}

/* In the order of their last writes: one, old, ahead, new. The clock of the client of `ahead` was hours
 * ahead. */
static int setup(void **state)
{
    (void)command_setup(state);
    struct fixture *fixture = *state;

    fixture->now += 1000000;
    must_create(fixture->store, &old_zeta, NULL);
    append_text(fixture, &old_zeta, "a coat from zeta", 1700000010);
    fixture->now += 1000000;
    must_create(fixture->store, &ahead, NULL);
    append_text(fixture, &ahead, "first coat", 1700090000);
    append_text(fixture, &ahead, "second coat", 1700090001);
    fixture->now += 1000000;
    must_create(fixture->store, &new_zeta, NULL);
    append_text(fixture, &new_zeta, "the new coat", 1700000020);
    return 0;
}

TEST_OF(setup, list_is_by_last_write)
{
    run_ok("list", "--names", "sessions");
    assert_string_equal(reply.out.data, "ahead\none\nnew\nold\n"); /* app by app */
    run_ok("list", "--names", "sessions", "-n", "9");
    assert_string_equal(reply.out.data, "new\nahead\nold\none\n");
    run_ok("list", "--names", "sessions", "-n", "2");
    assert_string_equal(reply.out.data, "new\nahead\n");
    run_ok("list", "-n", "1", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"id\":\"new\"");
    run_ok("-u", "bob", "list", "--names", "sessions", "-n", "1");
    assert_string_equal(reply.out.data, "ahead\n");
    run_ok("list", "-n", "1");
    assert_has(&reply.err, "there are more");
}

TEST_OF(setup, list_has_other_orders)
{
    static const char *const orders[][2] = {{"newest", "ahead\nnew\nold\none\n"},
                                            {"oldest", "one\nold\nnew\nahead\n"},
                                            {"written", "new\nahead\nold\none\n"},
                                            {"created", "one\nold\nahead\nnew\n"}};

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        run_ok("list", "--names", "sessions", "-n", "9", "--order", orders[i][0]);
        assert_string_equal(reply.out.data, orders[i][1]);
    }
    run_code(2, "list", "--order", "changed");
    assert_has(&reply.err, "written, newest, oldest or created");
}

/* The clock of the client of `ahead` is not asked. */
TEST_OF(setup, list_filters_by_last_write)
{
    char since[32];

    snprintf(since, sizeof since, "@%lld", (long long)(fixture->now / 1000000));
    run_ok("list", "--names", "sessions", "-n", "9", "--written-since", since);
    assert_string_equal(reply.out.data, "new\n");
    run_ok("list", "--names", "sessions", "-n", "9", "--written-before", since);
    assert_string_equal(reply.out.data, "ahead\nold\none\n");
    run_code(3, "list", "--written-since", since, "--written-before", since);
    run_code(2, "list", "--written-since", "never");
}

TEST_OF(setup, list_filters_by_a_label_that_is_missing)
{
    run_ok("-s", "ahead", "label", "done");
    run_ok("-s", "old", "label", "done=no");
    run_ok("list", "--names", "sessions", "-n", "9", "--without-label", "done", "--order", "created");
    assert_string_equal(reply.out.data, "one\nnew\n");
    run_ok("list", "--without-label", "done", "-u", "carl");
    run_code(3, "list", "--without-label", "done", "--label", "done");
    run_code(2, "list", "--without-label", "");
}

static const cJSON *preview_of(const cJSON *rows, int index, const char *id)
{
    const cJSON *row = cJSON_GetArrayItem(rows, index);

    assert_string_equal(json_string(row, "id"), id);
    return cJSON_GetObjectItem(row, "preview");
}

TEST_OF(setup, list_shows_previews)
{
    must_append_by_key(fixture->store, &new_zeta,
                       Q("{'author':'bot\\u001b','content':{'parts':[{'text':'Let me\\nlook.\\u001b[31m'},"
                         "{'functionCall':{'id':'c1','name':'look'}}]}}"));
    assert_ok(ses_title_set_by_key(fixture->store, &ahead, "Coats", NULL, &(ses_error){0}));
    run_ok("list", "--preview", "-n", "2");
    assert_has(&reply.out, "  TITLE AND LABELS  WAITING  LAST TEXT\n");
    assert_has(&reply.out, "  the new coat            1  bot^[: Let me look.^[[31m\n");
    assert_has(&reply.out, "  Coats                      user: second coat\n");
    run_ok("list", "--preview", "-u", "bob", "--since", "@1700000001");
    assert_has(&reply.out, "TITLE AND LABELS  LAST TEXT\n");
    assert_has(&reply.out, "a coat from zeta  user: a coat from zeta\n");
    run_ok("list");
    assert_lacks(&reply.out, "LAST TEXT");
    assert_lacks(&reply.out, "the new coat");
    run_code(2, "list", "--preview", "--names", "sessions");
}

TEST_OF(setup, list_has_previews_in_json)
{
    static const ses_key empty = {"zeta", "carl", "empty"};

    fixture->now += 1000000;
    must_create(fixture->store, &empty, NULL);
    assert_ok(ses_title_set_by_key(fixture->store, &ahead, "Coats", NULL, &(ses_error){0}));
    run_ok("list", "--preview", "--json", "-n", "3");
    cJSON *rows = cJSON_Parse(reply.out.data);
    const cJSON *none = preview_of(rows, 0, "empty");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(none, "last")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(none, "lastAuthor")));
    assert_true(json_double(none, "lastSeq") == 0 && json_double(none, "pendingCalls") == 0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(none, "first")));
    assert_string_equal(json_string(preview_of(rows, 1, "new"), "first"), "the new coat");
    const cJSON *titled = preview_of(rows, 2, "ahead");
    assert_string_equal(json_string(titled, "last"), "second coat");
    assert_string_equal(json_string(titled, "lastAuthor"), "user");
    assert_true(json_double(titled, "lastSeq") == 2);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(titled, "first")));
    cJSON_Delete(rows);
    run_ok("list", "--preview", "--jsonl");
    assert_int_equal(reply_lines(&reply), 5);
    run_ok("list", "--json");
    assert_lacks(&reply.out, "preview");
}

TEST_OF(setup, the_newest_session_is_called_at)
{
    run_ok("show", "@");
    assert_has(&reply.out, "the new coat");
    assert_has(&reply.err, "(session new)\n");
    run_ok("-a", "chat", "events", "@", "--jsonl");
    assert_has(&reply.out, "second coat");
    run_code(3, "delete", "@", "--yes");
    assert_has(&reply.err, "no session \"@\", and with --yes the id must be complete. The newest is:\n");
    run_code(3, "append", "@", "--text", "x");
    fixture->now += 1000000;
    append_text(fixture, &ahead, "third coat", 1700090002);
    run_ok("show", "@", "--newest", "1");
    assert_has(&reply.out, "third coat");
    must_create(fixture->store, &(ses_key){"chat", "alice", "@"}, NULL);
    append_text(fixture, &ahead, "fourth coat", 1700090003);
    run_ok("show", "@");
    assert_has(&reply.out, "session  @\n"); /* an id is an id */
}

TEST_OF(setup, at_needs_a_session)
{
    run_code(3, "-u", "nobody", "show", "@");
    assert_has(&reply.err, "no user \"nobody\"");
}

static void assert_found(const struct fixture *fixture, const char *option, const char *expected)
{
    struct reply answer = {0};
    char found[200] = "";

    run_at(&answer, 0, NULL, fixture->path, "search", option, "coat", "--jsonl");
    for (const char *line = answer.out.data; *line; line = strchr(line, '\n') + 1) {
        const char *session = strstr(line, "\"session\":\"") + 11;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s %.1s\n",
                 (int)strcspn(session, "\""), session, strstr(line, "\"seq\":") + 6);
    }
    assert_string_equal(found, expected);
    run_at(&answer, 0, NULL, fixture->path, "search", option, "coat", "-n", "1");
    assert_has(&answer.out, "second coat");
    assert_lacks(&answer.out, "first coat");
    reply_free(&answer);
}

/* Sessions by their update, as the library finds words; in each the newest event first. */
TEST_OF(setup, search_finds_the_newest_first)
{
    static const char expected[] = "ahead 2\nahead 1\nnew 1\nold 1\none 1\n";

    assert_found(fixture, "-i", expected);
    assert_found(fixture, "--words", expected);
    run_ok("index");
    assert_found(fixture, "--words", expected);
    run_ok("-s", "ahead", "search", "coat", "--jsonl", "-n", "1");
    assert_has(&reply.out, "\"seq\":2,");
}

TEST_OF(setup, expire_can_keep_those_last_written)
{
    must_create(fixture->store, &(ses_key){"chat", "bob", "newer"}, NULL);
    run_ok("-a", "chat", "expire", "--per-user", "1", "--written", "--yes");
    run_ok("-a", "chat", "-u", "bob", "list", "--names", "sessions");
    assert_string_equal(reply.out.data, "newer\n");
    run_code(2, "expire", "--written", "--yes");
}
