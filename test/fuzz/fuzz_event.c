/*
 * Appending, with and without a view's delta: what is stored is valid JSON without a temp: key; what is
 * refused comes with a message and has changed neither the session nor the view; and both ways take the same
 * events.
 */
#include <cjson/cJSON.h>
#include <sqlite3.h>

#include "fuzz.h"

/* How many events a session gets before the store is made anew, to bound its size. */
enum { EVENTS = 2000 };

static ses_store *store;
static ses_session *session;

static void make_anew(void)
{
    ses_session_close(session);
    ses_close(store);
    store = fuzz_store();
    session = fuzz_session(store);
}

/* Every spelling of the delta, wherever it is read. */
static void check_no_temp(const cJSON *actions)
{
    static const char *const names[] = {"stateDelta", "state_delta"};
    for (size_t i = 0; i < 2; i++) {
        const cJSON *member;
        cJSON_ArrayForEach(member, cJSON_GetObjectItemCaseSensitive(actions, names[i]))
            must(strncmp(member->string, "temp:", 5) != 0);
    }
}

/* By SQLite's own reader, which shares nothing with ours. */
static int is_json(const char *text, size_t len)
{
    static sqlite3 *db;
    static sqlite3_stmt *statement;

    if (!statement) {
        must(sqlite3_open(":memory:", &db) == SQLITE_OK);
        must(sqlite3_prepare_v2(db, "SELECT json_valid(?1)", -1, &statement, NULL) == SQLITE_OK);
    }
    must(sqlite3_bind_text(statement, 1, text, (int)len, SQLITE_STATIC) == SQLITE_OK);
    must(sqlite3_step(statement) == SQLITE_ROW);
    int valid = sqlite3_column_int(statement, 0);
    must(sqlite3_reset(statement) == SQLITE_OK);
    return valid;
}

/* The event as it is stored. */
static void check_stored(int64_t seq)
{
    const ses_key key = {"app", "user", "session"};
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_SEQ, .first_seq = seq, .last_seq = seq};
    const ses_cursor_options options = {.size = sizeof options, .range = &range};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    ses_content *content = NULL;

    must(ses_cursor_open(store, &key, &options, &cursor, NULL) == SES_OK);
    must(ses_cursor_next(cursor, &event, NULL) == SES_ROW);
    must(event->json[event->json_len] == '\0' && fuzz_is_utf8(event->json, event->json_len));
    must(is_json(event->json, event->json_len));
    /* cJSON does not take every JSON (lone surrogates, long numbers), and ends a name at a NUL; the rest it
     * reads in full. */
    cJSON *tree = strstr(event->json, "\\u0000") ? NULL : cJSON_ParseWithLength(event->json, event->json_len);
    check_no_temp(cJSON_GetObjectItemCaseSensitive(tree, "actions"));
    /* The strict reader takes what is stored, unless it finds a field of its own wrong. */
    int code = ses_content_open(store, event->json, event->json_len, &content, NULL);
    must(code == SES_OK || code == SES_INVALID || code == SES_RANGE);
    ses_content_close(content);
    cJSON_Delete(tree);
    must(ses_cursor_close(cursor, NULL) == SES_OK);
}

static int append_by_view(const char *text, size_t size, ses_appended *appended)
{
    ses_tracked *tracked = NULL;
    ses_error error;

    must(ses_tracked_open(session, NULL, &tracked, &error) == SES_OK);
    must(ses_tracked_set(tracked, "temp:mine", "[1]", SES_NUL, &error) == SES_OK);
    must(ses_tracked_set(tracked, "mine", "{\"k\": 1.0}", SES_NUL, &error) == SES_OK);
    int code = ses_tracked_append(tracked, text, size, NULL, appended, &error);
    must_tell(code, &error);
    must(error.code >= 0 || error.offset <= (int64_t)size);
    must(ses_tracked_changed(tracked) == (code < 0 || code == SES_PARTIAL));
    if (code == SES_OK || code == SES_DUPLICATE) {
        const char *json = NULL;
        must(ses_state_get(session, "mine", &json, NULL, &error) == SES_OK &&
             strcmp(json, "{\"k\": 1.0}") == 0);
    }
    ses_tracked_close(tracked);
    return code;
}

/* With a delta it is a different event, so an id that already existed says nothing about the other way. */
static int is_refused(int code)
{
    return code < 0 && code != SES_EXISTS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    ses_appended appended = {0};
    ses_error error;

    if (!session || ses_session_stored(session) >= EVENTS)
        make_anew();
    int64_t version = ses_session_version(session);
    int code = ses_append(session, text, size, NULL, &appended, &error);
    must_tell(code, &error);
    must((code == SES_OK) == (ses_session_version(session) == version + 1));
    if (code == SES_OK)
        check_stored(appended.seq);

    version = ses_session_version(session);
    int by_view = append_by_view(text, size, &appended);
    must((by_view == SES_OK) == (ses_session_version(session) == version + 1));
    if (by_view == SES_OK)
        check_stored(appended.seq);
    must(is_refused(code) == is_refused(by_view));
    return 0;
}
