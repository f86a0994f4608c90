/* The views show the same as those of a file, on which test/storage/views.c says what that is. */
#include "mysql/database.h"
#include "open.h"
#include "seslite_transfer.h"

static const ses_key key = {"app", "user", "one"};

/* Calls with ids and without, both spellings, files, code, errors, rewinds, odd values, and escapes that the
 * server's functions reject. */
static const char *const events[] = {
    "{'content':{'parts':[{'text':'x'},{'text':5},{'text':'y\\n'},{'functionCall':{'id':'1','name':'f','args':{'x': 1.50}}},"
    "{'functionCall':{'id':'2','name':'g','args':{}}}]},'timestamp':1700000000}",
    "{'content':{'parts':[{'function_response':{'id':'2','name':'g','response':{'status':'pending'}}}]},"
    "'timestamp':1700000001}",
    "{'content':{'parts':[{'functionResponse':{'id':'1','name':'f','response':{'y':[1 ,2]}}}]},'timestamp':1700000001.25}",
    "{'content':{'parts':[{'functionResponse':{'id':'2','name':'g','response':{'done':true}}}]},'timestamp':1700000009}",
    "{'content':{'parts':[{'function_call':{'id':'1','name':'f','args':{}}}]},'timestamp':1700000010}",
    "{'content':{'parts':[{'functionResponse':{'id':'3','name':'f','response':{}}}]},'timestamp':1700000011}",
    "{'content':{'parts':[{'functionCall':{'name':'f','args':{'n':1}}},{'functionCall':{'name':'F','args':{'n':2}}}]},"
    "'timestamp':1700000012}",
    "{'content':{'parts':[{'functionResponse':{'name':'f','response':{'of':1}}},{'functionCall':{'id':'','name':'f'}}]},"
    "'timestamp':1700000013}",
    "{'content':'text'}",
    "{'content':{'parts':'text'}}",
    "{'content':{'parts':[1,null,'text',[],{'functionCall':'text'},{'functionCall':{'name':'h','args':null}}]}}",
    "{'content':{'parts':{'text':'x'}},'usageMetadata':'text'}",
    "{'content':{'parts':[{'inlineData':{'mimeType':'image/png','data':'AA=='}},{'file_data':{'mime_type':'a/b','file_uri':'gs://x'}},"
    "{'inline_data':{}},{'fileData':{'fileUri':'u'}},{'executableCode':{'code':'1+1'}},{'code_execution_result':{'output':'2'}}]}}",
    "{'errorCode':'E','errorMessage':'m','actions':{'transferToAgent':'b','stateDelta':{'a':{'b':null}}}}",
    "{'error_message':'m','actions':{'transfer_to_agent':'c','state_delta':{}}}",
    "{'id':'r','invocationId':'i'}",
    "{'actions':{'rewindBeforeInvocationId':'i'}}",
    "{'content':{'parts':[{'text':'n\\u0000l \\\\u0000 \\ud83d\\ude00 \\u00e4 ä'}]}}",
    "{'modelVersion':'m1','usageMetadata':{'promptTokenCount':10,'candidatesTokenCount':2,'totalTokenCount':12}}",
    "{'model_version':'m1','usage_metadata':{'prompt_token_count':1,'thoughts_token_count':4,'tool_use_prompt_token_count':6,"
    "'cached_content_token_count':3}}",
    "{'modelVersion':'M1','usageMetadata':{'totalTokenCount':7},'timestamp':-1.5}",
};

static ses_store *fill(const struct fixture *fixture)
{
    static const char *const recorded[] = {"data/adk-samples/customer_service.session.json",
                                           "data/adk-samples/image_search_denim_skirt.session.json"};
    ses_error error;
    size_t len;

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(fixture->store, &key, Q(events[i]));
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        char *json = support_test_data(recorded[i], &len);
        if (json)
            assert_ok(ses_load_json(fixture->store, NULL, json, len, NULL, NULL, &error));
        else
            print_message("without %s\n", recorded[i]);
        free(json);
    }
    return fixture->store;
}

/* ------------------------------------------------------------------------------------ from store to store */

struct lines {
    char *text;
    size_t len;
    size_t taken;
};

static int put(void *context, const char *data, size_t len, ses_error *error)
{
    struct lines *lines = context;
    (void)error;

    lines->text = realloc(lines->text, lines->len + len);
    assert_non_null(lines->text);
    memcpy(lines->text + lines->len, data, len);
    lines->len += len;
    return 0;
}

static int take(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct lines *lines = context;
    const size_t left = lines->len - lines->taken;
    (void)error;

    *len = left < capacity ? left : capacity;
    memcpy(buffer, lines->text + lines->taken, *len);
    lines->taken += *len;
    return 0;
}

static void copy(ses_store *from, const char *uri)
{
    ses_store *to = database_open(uri, 20000);
    struct lines lines = {NULL, 0, 0};
    ses_error error;

    assert_ok(ses_store_export(from, NULL, put, &lines, &error));
    assert_ok(ses_store_import(to, take, &lines, NULL, NULL, &error));
    free(lines.text);
    ses_close(to);
}

/* ----------------------------------------------------------------------------------------- what they show */

/* The rows as raw_text prints them. */
static char *ask_server(const struct database *database, const char *sql)
{
    struct text out = {NULL, 0};

    if (mysql_query(database->conn, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(database->conn));
    MYSQL_RES *rows = mysql_store_result(database->conn);
    assert_non_null(rows);
    for (MYSQL_ROW row = mysql_fetch_row(rows); row; row = mysql_fetch_row(rows)) {
        for (unsigned i = 0; i < mysql_num_fields(rows); i++) {
            const char *value = row[i] ? row[i] : "NULL";
            text_add(&out, "|", i > 0);
            text_add(&out, value, strlen(value));
        }
        text_add(&out, "\n", 1);
    }
    mysql_free_result(rows);
    return out.data;
}

/* JSON without the white space that a file's functions leave out, as in texts, on both sides; and no decimal
 * places that are 0. */
static char *without_spaces(char *text)
{
    size_t len = 0;

    for (const char *at = text; *at; at++) {
        if (strncmp(at, ".0|", 3) == 0 || strncmp(at, ".0\n", 3) == 0)
            at += 2;
        if (!strchr(" \n", *at))
            text[len++] = *at;
    }
    text[len] = '\0';
    return text;
}

static void assert_same(const struct fixture *fixture, const struct database *database, const char *columns,
                        const char *view, const char *order)
{
    char sql[1000];

    snprintf(sql, sizeof sql, "SELECT %s FROM %s ORDER BY %s", columns, view, order);
    char *expected = without_spaces(raw_text(fixture->path, sql));
    snprintf(sql, sizeof sql, "SELECT %s FROM seslite_%s ORDER BY %s", columns, view, order);
    char *shown = without_spaces(ask_server(database, sql));
    assert_string_equal(shown, expected);
    assert_true(strlen(shown) > 20);
    free(expected);
    free(shown);
}

SERVER_TEST(the_views_show_the_same)
{
    struct fixture *fixture;
    /* MySQL itself shows JSON with its keys in another order, and numbers in another form. */
    const bool is_mariadb = mariadb_connection(database->conn);

    assert_int_equal(fixture_setup((void **)&fixture), 0);
    copy(fill(fixture), database->uri);
    (void)database_ask(database, "USE agents");
    (void)database_ask(database, "SET NAMES utf8mb4");
    (void)database_ask(database, "SET group_concat_max_len = 16777216");
    assert_same(
        fixture, database,
        "app, user, session, seq, takes_back_from, time, id, invocation_id, author, branch, time_us, body",
        "event_log", "app, user, session, seq");
    assert_same(fixture, database,
                "app, user, session, seq, time, author, text, code, files, transfer, error", "transcript",
                "app, user, session, seq");
    assert_same(fixture, database, "seq, time, author, id, name, duration", "tool_calls",
                "app, user, session, seq, id, hex(name)");
    assert_same(fixture, database, "*", "usage", "app, user, session, hex(model), day");
    if (is_mariadb) {
        assert_same(fixture, database, "calls, responses, changes", "transcript", "app, user, session, seq");
        assert_same(fixture, database, "arguments, answer", "tool_calls",
                    "app, user, session, seq, id, hex(name)");
    }
    assert_int_equal(fixture_teardown((void **)&fixture), 0);
}

SERVER_TEST(escapes_that_the_server_rejects_end_no_view)
{
    ses_store *store = database_open(database->uri, 20000);
    const ses_key escaped = {"escapes", "user", "one"};

    must_create(store, &escaped, NULL);
    must_append_by_key(store, &escaped, Q("{'content':{'parts':[{'text':'a\\ud800b\\udc00c\\\\ud800'}]}}"));
    assert_string_equal(
        database_ask(database, "SELECT text FROM agents.seslite_transcript WHERE app = 'escapes'"),
        "abc\\ud800");
    ses_close(store);
}
