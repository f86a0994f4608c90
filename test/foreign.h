/* Shared by tests of imports: the databases of other services, and JSON compared with their results. */
#ifndef SESLITE_TEST_FOREIGN_H
#define SESLITE_TEST_FOREIGN_H

#include "command.h"

static inline char *data_path(const char *name, const char *suffix)
{
    const char *data = getenv("SESLITE_TEST_DATA");
    char name_of_file[64];

    (void)snprintf(name_of_file, sizeof name_of_file, "data/adk-stores/%s%s", name, suffix);
    return support_path(data ? data : "../shared", name_of_file);
}

/* cJSON reads no lone surrogates. */
static inline cJSON *parse(const char *json)
{
    char *text = strdup(json);
    unsigned first = 0;
    unsigned second = 0;

    for (char *at = text; (at = strchr(at, '\\')); at += 2) {
        if (at[1] != 'u' || sscanf(at + 2, "%4x", &first) != 1 || first < 0xd800 || first > 0xdfff)
            continue;
        if (first < 0xdc00 && sscanf(at + 6, "\\u%4x", &second) == 1 && second >= 0xdc00 && second <= 0xdfff)
            at += 6;
        else
            memcpy(at + 2, "fffd", 4);
    }
    cJSON *parsed = cJSON_Parse(text);
    if (!parsed)
        print_error("this is no JSON:\n%s\n", text);
    assert_non_null(parsed);
    free(text);
    return parsed;
}

/* The tests that need no more than a database. */
static inline void need_data(void)
{
    char *text = support_test_data("data/adk-stores/README.md", NULL);
    if (!text)
        skip();
    free(text);
}

static inline int64_t number_of(const struct reply *answer, const char *name)
{
    cJSON *json = reply_json(answer);
    int64_t number = (int64_t)json_double(cJSON_GetArrayItem(json, 0), name);

    cJSON_Delete(json);
    return number;
}

/* --------------------------------------------------------------------------------------- a small database */

/* The tables of SqliteSessionService. */
static const char adk_schema[] =
    "CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);"
    "CREATE TABLE user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL,"
    " update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id));"
    "CREATE TABLE sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT "
    "NULL,"
    " create_time REAL NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id, id));"
    "CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT "
    "NOT NULL,"
    " invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL,"
    " PRIMARY KEY (app_name, user_id, session_id, id));";

static const char adk_rows[] =
    "INSERT INTO app_states VALUES ('a', '{\"units\":\"metric\"}', 1.5);"
    "INSERT INTO sessions VALUES ('a', 'u', 's', '{\"n\":2,\"was\":true}', 1700000000.25, 1700000002.5),"
    " ('a', 'u', 't', '{}', 1700000001, 1700000001);"
    "INSERT INTO events VALUES"
    " ('e1', 'a', 'u', 's', 'i', 1700000001, '{\"id\":\"e1\",\"author\":\"user\",\"invocation_id\":\"i\","
    "\"timestamp\":1700000001.5,\"actions\":{\"state_delta\":{\"n\":1}}}'),"
    " ('e2', 'a', 'u', 's', 'i', 1700000002, '{\"id\":\"e2\",\"author\":\"bot\",\"invocation_id\":\"i\","
    "\"timestamp\":1700000002.5,\"actions\":{\"state_delta\":{\"n\":2}}}');";

/* A database beside the store; free the path. */
static inline char *make_adk(const struct fixture *fixture, const char *name, const char *sql)
{
    char *path = support_path(fixture->folder, name);

    raw_exec(path, adk_schema);
    raw_exec(path, adk_rows);
    if (sql)
        raw_exec(path, sql);
    return path;
}

/* --------------------------------------------------------------------------------------------- comparing */

/* invocationId: invocation_id. */
static inline void snake(const char *camel, char *out, size_t room)
{
    size_t len = 0;

    for (; *camel && len + 2 < room; camel++) {
        if (*camel >= 'A' && *camel <= 'Z') {
            out[len++] = '_';
            out[len++] = (char)(*camel - 'A' + 'a');
        } else {
            out[len++] = *camel;
        }
    }
    out[len] = '\0';
}

static const cJSON *member(const cJSON *object, const char *name)
{
    char other[1024];
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    snake(name, other, sizeof other);
    return found ? found : cJSON_GetObjectItemCaseSensitive(object, other);
}

static inline int count_members(const cJSON *object)
{
    const cJSON *item = NULL;
    int count = 0;

    cJSON_ArrayForEach(item, object) count += !cJSON_IsNull(item);
    return count;
}

static inline bool same(const cJSON *theirs, const cJSON *ours);

static inline bool same_objects(const cJSON *theirs, const cJSON *ours)
{
    const cJSON *item = NULL;

    if (!cJSON_IsObject(ours) || count_members(theirs) != count_members(ours))
        return false;
    cJSON_ArrayForEach(item, theirs) if (!cJSON_IsNull(item) &&
                                         !same(item, member(ours, item->string))) return false;
    return true;
}

static inline bool same_arrays(const cJSON *theirs, const cJSON *ours)
{
    const cJSON *item = NULL;
    int i = 0;

    if (!cJSON_IsArray(ours) || cJSON_GetArraySize(theirs) != cJSON_GetArraySize(ours))
        return false;
    cJSON_ArrayForEach(item, theirs) if (!same(item, cJSON_GetArrayItem(ours, i++))) return false;
    return true;
}

/* Sets of strings, in any order. */
static inline bool same_sets(const cJSON *theirs, const cJSON *ours)
{
    const cJSON *item = NULL;
    const cJSON *other = NULL;

    if (cJSON_GetArraySize(theirs) != cJSON_GetArraySize(ours))
        return false;
    cJSON_ArrayForEach(item, theirs)
    {
        bool found = false;
        cJSON_ArrayForEach(other, ours) found = found || cJSON_Compare(item, other, true);
        if (!found)
            return false;
    }
    return true;
}

/* Their names are in camelCase, ours may be in snake_case; a null is as good as nothing. */
static inline bool same(const cJSON *theirs, const cJSON *ours)
{
    if (cJSON_IsNull(theirs) || !theirs)
        return !ours || cJSON_IsNull(ours);
    if (!ours)
        return false;
    if (theirs->string && strcmp(theirs->string, "longRunningToolIds") == 0)
        return same_sets(theirs, ours);
    if (cJSON_IsObject(theirs))
        return same_objects(theirs, ours);
    if (cJSON_IsArray(theirs))
        return same_arrays(theirs, ours);
    return cJSON_Compare(theirs, ours, true);
}

/* ------------------------------------------------------------------------------------------- Rust's parts */

/* An array of bytes, in base64, against a text. */
static inline bool same_bytes(const cJSON *bytes, const char *base64)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const int count = cJSON_GetArraySize(bytes);
    bool is = strlen(base64) == (size_t)(count + 2) / 3 * 4;

    for (int i = 0; i < count && is; i++) {
        const char *four = base64 + i / 3 * 4;
        unsigned bits = 0;
        for (int at = 0; at < 4; at++)
            bits = bits << 6 | (four[at] == '=' ? 0u : (unsigned)(strchr(digits, four[at]) - digits));
        is = (bits >> (16 - i % 3 * 8) & 255) == (unsigned)cJSON_GetArrayItem(bytes, i)->valueint;
    }
    return is;
}

static inline bool same_response(const cJSON *theirs, const cJSON *ours)
{
    const cJSON *response = cJSON_GetObjectItem(theirs, "functionResponse");

    return cJSON_Compare(cJSON_GetObjectItem(response, "name"), cJSON_GetObjectItem(ours, "name"), true) &&
           cJSON_Compare(cJSON_GetObjectItem(response, "response"), cJSON_GetObjectItem(ours, "response"),
                         true) &&
           (!cJSON_GetObjectItem(theirs, "id") ||
            cJSON_Compare(cJSON_GetObjectItem(theirs, "id"), cJSON_GetObjectItem(ours, "id"), true));
}

static inline bool same_rust_part(const cJSON *theirs, const cJSON *ours)
{
    if (json_string(theirs, "thinking"))
        return strcmp(json_string(theirs, "thinking"), json_string(ours, "text")) == 0 &&
               cJSON_IsTrue(cJSON_GetObjectItem(ours, "thought"));
    if (cJSON_GetObjectItem(theirs, "args"))
        return cJSON_Compare(theirs, cJSON_GetObjectItem(ours, "function_call"), true);
    if (cJSON_GetObjectItem(theirs, "functionResponse"))
        return same_response(theirs, cJSON_GetObjectItem(ours, "function_response"));
    if (cJSON_GetObjectItem(theirs, "file_uri"))
        return cJSON_Compare(theirs, cJSON_GetObjectItem(ours, "file_data"), true);
    if (cJSON_GetObjectItem(theirs, "data"))
        return same_bytes(cJSON_GetObjectItem(theirs, "data"),
                          json_string(cJSON_GetObjectItem(ours, "inline_data"), "data"));
    if (cJSON_GetObjectItem(theirs, "server_tool_call"))
        return cJSON_Compare(cJSON_GetObjectItem(theirs, "server_tool_call"), ours, true);
    return cJSON_Compare(theirs, ours, true);
}

static inline bool same_rust_content(const cJSON *theirs, const cJSON *ours)
{
    const cJSON *parts = cJSON_GetObjectItem(theirs, "parts");
    const cJSON *item = NULL;
    int i = 0;

    if (!cJSON_Compare(cJSON_GetObjectItem(theirs, "role"), cJSON_GetObjectItem(ours, "role"), true) ||
        cJSON_GetArraySize(parts) != cJSON_GetArraySize(cJSON_GetObjectItem(ours, "parts")))
        return false;
    cJSON_ArrayForEach(item,
                       parts) if (!same_rust_part(item, cJSON_GetArrayItem(cJSON_GetObjectItem(ours, "parts"),
                                                                           i++))) return false;
    return true;
}

#endif
