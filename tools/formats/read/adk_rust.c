/* Databases of Rust's adk-session, SqliteSessionService. An event's llm_response is a separate object, whose
 * members become members of the event. */

#include "base/error.h"
#include "formats/json/add_json.h"
#include "formats/json/members.h"
#include "formats/read/adk.h"
#include "formats/read/rust_parts.h"
#include "formats/read/table.h"

enum {
    RUST_ID,
    RUST_INVOCATION,
    RUST_BRANCH,
    RUST_AUTHOR,
    RUST_TIME,
    RUST_RESPONSE,
    RUST_ACTIONS,
    RUST_TOOL_IDS
};

static int64_t rust_time(sqlite3_stmt *row, int column)
{
    return rows_time(row, column, NULL);
}

/* Adds its members, with the parts of its content as the ADK writes them. Anything but an object is kept
 * under its name, and rejected when the event is read. */
static void add_response(struct adk_source *source, struct span response)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;

    if (ses__json_check(response.ptr ? response.ptr : "", response.len, NULL) != SES_OK ||
        ses__json_type_of(ses__json_trim(response)) != JSON_OBJECT) {
        adk_json(source, "llm_response", response);
        return;
    }
    reader_begin(&reader, response);
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        if (ses__json_string_is(key, "content"))
            rust_content(source, ses__json_trim(value));
        else
            add_spelled_member(&source->json, key.raw, ses__json_trim(value));
    }
}

static int event_of_row(struct adk_source *source, sqlite3_stmt *row, struct foreign_event *event,
                        ses_error *error)
{
    (void)error;
    event->name = (const char *)sqlite3_column_text(row, RUST_ID);
    adk_begin(source);
    adk_text(source, "id", row, RUST_ID, true);
    adk_text(source, "invocation_id", row, RUST_INVOCATION, true);
    adk_text(source, "branch", row, RUST_BRANCH, false);
    adk_text(source, "author", row, RUST_AUTHOR, true);
    adk_text(source, "timestamp", row, RUST_TIME, true);
    add_response(source, rows_span(row, RUST_RESPONSE));
    adk_raw(source, "actions", row, RUST_ACTIONS);
    adk_raw(source, "long_running_tool_ids", row, RUST_TOOL_IDS);
    adk_end(source, event);
    return 1;
}

static int recognize_rust(const struct foreign_file *file, ses_error *error)
{
    sqlite3_stmt *statement = NULL;
    int64_t version = 0;

    if (!rows_has(file->db, "_adk_session_migrations", "version"))
        return 0;
    if (sqlite3_prepare_v2(file->db, "SELECT max(version) FROM main._adk_session_migrations", -1, &statement,
                           NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    if (version > 1)
        return ses__error_set(
            error, SES_TOONEW,
            "it has version %lld of the schema of Rust's adk-session, but this version of seslite reads only "
            "up to version 1",
            (long long)version);
    return adk_has(
        file, "app_name user_id session_id state created_at updated_at",
        "id app_name user_id session_id invocation_id branch author timestamp llm_response actions "
        "long_running_tool_ids");
}

static int open_rust(struct foreign_file *file, void **source, ses_error *error)
{
    static const struct adk_tables tables = {
        .session_id = "session_id",
        .created = "created_at",
        .updated = "updated_at",
        .time = rust_time,
        .event_columns = "e.id, e.invocation_id, e.branch, e.author, e.timestamp, e.llm_response, e.actions, "
                         "e.long_running_tool_ids",
        .event = event_of_row};
    return adk_open(file, &tables, source, error);
}

const struct foreign_format foreign_rust = {
    .name = "adk-rust",
    .words = "a database of Rust's adk-session",
    .recognizes = recognize_rust,
    .open = open_rust,
    ADK_ROWS,
};
