/* seslite usage, and the tokens of the recorded stores. */
#include "foreign.h"
#include "usage.h"

static void call_model(ses_store *store, const char *user, const char *name, const char *time,
                       const char *model, const char *counts)
{
    const ses_key key = {"app", user, name};
    char event[500];
    ses_error error;

    (void)ses_create(store, &key, NULL, 0, NULL, NULL, &error);
    snprintf(event, sizeof event,
             "{\"timestamp\":\"%s\",\"invocationId\":\"i\",\"modelVersion\":\"%s\",\"usageMetadata\":{%s}}",
             time, model, counts);
    must_append_by_key(store, &key, event);
}

static int filled_setup(void **state)
{
    const int failed = fixture_setup(state);
    const struct fixture *fixture = *state;

    call_model(
        fixture->store, "ann", "one", "2024-03-01T12:00:00Z", "large",
        "\"promptTokenCount\":1000000,\"cachedContentTokenCount\":400000,\"candidatesTokenCount\":200000,"
        "\"thoughtsTokenCount\":100000,\"totalTokenCount\":1300000");
    call_model(fixture->store, "ann", "two", "2024-03-01T23:30:00Z", "small", "\"promptTokenCount\":5");
    call_model(fixture->store, "bob", "one", "2024-03-02T12:00:00Z", "small",
               "\"promptTokenCount\":7,\"candidatesTokenCount\":-1");
    return failed;
}

static void write_prices(const struct fixture *fixture, const char *json)
{
    char path[1024];

    snprintf(path, sizeof path, "%s.prices", fixture->path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(json, file);
    fclose(file);
}

static void run_priced(struct reply *answer, int status, const struct fixture *fixture, const char *more)
{
    char path[1024];

    snprintf(path, sizeof path, "%s.prices", fixture->path);
    run_at(answer, status, NULL, fixture->path, "usage", "--prices", path, more);
}

TEST_OF(filled_setup, tables)
{
    run_at(&reply, 0, NULL, fixture->path, "usage");
    assert_string_equal(reply.out.data, "MODEL  CALLS   PROMPT  CACHED  CANDIDATES  THOUGHTS    TOTAL\n"
                                        "large      1  1000000  400000      200000    100000  1300000\n"
                                        "small      2       12\n"
                                        "(all)      3  1000012  400000      200000    100000  1300000\n");
    assert_has(&reply.err, "1 count ");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--by", "user,day", "-u", "ann");
    assert_string_equal(reply.out.data,
                        "USER  DAY         CALLS   PROMPT  CACHED  CANDIDATES  THOUGHTS    TOTAL\n"
                        "ann   2024-03-01      2  1000005  400000      200000    100000  1300000\n");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--by", "day", "-u", "ann", "--zone", "+01:00");
    assert_has(&reply.out, "2024-03-02      1        5");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--by", "session", "-u", "ann", "-s", "two");
    assert_string_equal(reply.out.data, "SESSION  CALLS  PROMPT\ntwo          1       5\n");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--since", "2024-03-02T00:00:00Z", "--by", "user");
    assert_string_equal(reply.out.data, "USER  CALLS  PROMPT\nbob       1       7\n");
    run_at(&reply, 0, NULL, fixture->path, "-u", "ann", "-s", "one", "label", "team=x");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--label", "team", "--by", "user,session");
    assert_has(&reply.out, "ann   one          1  1000000");
    assert_null(strstr(reply.out.data, "two"));
    run_at(&reply, 0, NULL, fixture->path, "usage", "--label", "team=y");
    assert_string_equal(reply.out.data, "");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--before", "2020-01-01");
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "no event says");
}

TEST_OF(filled_setup, json)
{
    run_at(&reply, 0, NULL, fixture->path, "usage", "--by", "app,user,session,day,model,invocation",
           "--jsonl");
    assert_has(
        &reply.out,
        "{\"appName\":\"app\",\"userId\":\"ann\",\"sessionId\":\"two\",\"day\":\"2024-03-01\",\"model\":\"small\","
        "\"invocationId\":\"i\",\"calls\":1,\"prompt\":5,\"cached\":0,\"candidates\":0,\"thoughts\":0,"
        "\"toolUse\":0,\"total\":0,\"odd\":0,\"firstTime\":1709335800.000000,\"lastTime\":1709335800.000000}\n");
    run_at(&reply, 0, NULL, fixture->path, "usage", "--by", "user", "--json");
    cJSON *json = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(json), 2);
    cJSON_Delete(json);
    run_at(&reply, 0, NULL, fixture->path, "usage", "--before", "2020-01-01", "--json");
    json = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(json), 0);
    cJSON_Delete(json);
}

/* 600,000 * 1 + 400,000 * 0.25 + 200,000 * 8 + 100,000 * 8, a million each. */
TEST_OF(filled_setup, prices)
{
    write_prices(fixture, "{\"large\":{\"prompt\":1,\"cached\":0.25,\"candidates\":8}}");
    run_priced(&reply, 0, fixture, "--by=user");
    assert_has(&reply.out, "ann    large      1  1000000  400000      200000    100000  1300000  3.1000\n");
    assert_has(&reply.out, "3.1000\n");
    assert_has(&reply.err, "no price for small");
    run_priced(&reply, 0, fixture, "--json");
    assert_has(&reply.out, "\"cost\":3.100000}");
    write_prices(fixture,
                 "{\"large\":{\"prompt\":1,\"candidates\":8,\"thoughts\":0},\"small\":{\"prompt\":1e6,"
                 "\"candidates\":0}}");
    run_priced(&reply, 0, fixture, "--jsonl");
    assert_has(&reply.out, "\"cost\":2.600000}");
    assert_has(&reply.out, "\"cost\":12.000000}");
    assert_string_equal(reply.err.data, "seslite: left out 1 count that are not integers of 0 or more\n");
}

/* 5 * 30 and 7 * 30 of a million: as binary numbers, the first is less than 0.00015. */
TEST_OF(filled_setup, costs_are_exact)
{
    write_prices(fixture, "{\"small\":{\"prompt\":30,\"candidates\":0}}");
    run_priced(&reply, 0, fixture, "--by=user");
    assert_has(&reply.out, "ann    small      1        5                                         0.0002\n");
    run_priced(&reply, 0, fixture, "--jsonl");
    assert_has(&reply.out, "\"cost\":0.000360}");
    write_prices(fixture, "{\"small\":{\"prompt\":0.000001,\"candidates\":0},\"large\":{\"prompt\":0.1,"
                          "\"candidates\":0.7}}");
    run_priced(&reply, 0, fixture, "--jsonl");
    assert_has(&reply.out, "\"cost\":0.000000000012}");
    assert_has(&reply.out, "\"cost\":0.310000}");
    call_model(fixture->store, "ann", "large", "2024-03-03T12:00:00Z", "huge",
               "\"promptTokenCount\":9007199254740991,\"candidatesTokenCount\":9007199254740991");
    write_prices(fixture, "{\"huge\":{\"prompt\":1000000000,\"candidates\":1e9}}");
    run_priced(&reply, 0, fixture, "--jsonl");
    assert_has(&reply.out, "\"cost\":9223372036854.775807}");
}

TEST_OF(filled_setup, prices_that_are_wrong)
{
    static const char *const wrong[][2] = {
        {"{", "expected a quoted key"},
        {"[]", "not a JSON object"},
        {"{\"m\":1}", "\"m\" must be"},
        {"{\"m\":{\"prompt\":1}}", "\"m\" must be"},
        {"{\"m\":{\"prompt\":-1,\"candidates\":1}}", "\"m\" must be"},
        {"{\"m\":{\"prompt\":\"1\",\"candidates\":1}}", "\"m\" must be"},
        {"{\"m\":{\"prompt\":1e300,\"candidates\":1}}", "\"m\" must be"},
        {"{\"m\":{\"prompt\":1000000000.000001,\"candidates\":1}}", "\"m\" must be"},
        {"{\"m\":{\"prompt\":1e-7,\"candidates\":1}}", "up to 6 decimals"},
        {"{\"m\":{\"prompt\":1,\"candidates\":1,\"input\":1}}", "\"m\" must be"}};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_prices(fixture, wrong[i][0]);
        run_priced(&reply, 2, fixture, "--json");
        assert_has(&reply.err, wrong[i][1]);
    }
    run_at(&reply, 3, NULL, fixture->path, "usage", "--prices", "/nonexistent");
    run_at(&reply, 2, NULL, fixture->path, "usage", "--by", "model,week");
    assert_has(&reply.err, "\"week\"");
    run_at(&reply, 2, NULL, fixture->path, "usage", "--by", "");
    run_at(&reply, 2, NULL, fixture->path, "usage", "--zone", "Mars/Olympus");
    run_at(&reply, 3, NULL, fixture->path, "usage", "-u", "nobody");
}

TEST_OF(filled_setup, a_tally)
{
    run_at(&reply, 0, NULL, fixture->path, "usage");
    assert_query(fixture->path, "SELECT count(*) FROM features WHERE name = 'usage2'", "0\n");
    char *before = strdup(reply.out.data);
    run_at(&reply, 0, NULL, fixture->path, "usage", "--tally");
    assert_string_equal(reply.out.data, before);
    assert_query(fixture->path, "SELECT name FROM features WHERE name = 'usage2'", "usage2\n");
    free(before);
}

/* ------------------------------------------------------------------------------------ the recorded stores */

static void import_recorded(const struct fixture *fixture, const char *path)
{
    struct reply answer = {0};

    run_at(&answer, 0, NULL, fixture->path, "import", path, "--rename", "--skip", "--json");
    reply_free(&answer);
}

TEST(the_recorded_stores)
{
    static const char *const names[] = {"go",
                                        "js",
                                        "rust",
                                        "python-odd-sqlite-2.13",
                                        "python-odd-v1-2.13",
                                        "python-sqlite-1.22",
                                        "python-sqlite-2.13",
                                        "python-v0-1.0",
                                        "python-v0-1.18",
                                        "python-v0-1.18-berlin",
                                        "python-v1-1.22",
                                        "python-v1-2.13"};
    static const char *const samples[] = {"customer_service", "image_search_denim_skirt"};
    need_data();

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = data_path(names[i], ".db");
        import_recorded(fixture, path);
        free(path);
        compare_with_view(fixture->store, fixture->path);
    }
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char name[100];
        snprintf(name, sizeof name, "data/adk-samples/%s.session.json", samples[i]);
        const char *data = getenv("SESLITE_TEST_DATA");
        char *path = support_path(data ? data : "../shared", name);
        import_recorded(fixture, path);
        free(path);
    }
    compare_with_view(fixture->store, fixture->path);
    assert_ok(ses_store_tally(fixture->store, NULL, NULL, &error));
    compare_with_view(fixture->store, fixture->path);
    char *calls = raw_text(fixture->path, "SELECT sum(calls) > 20 FROM usage");
    assert_string_equal(calls, "1\n");
    free(calls);
}
