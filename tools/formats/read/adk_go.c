/* Databases of adk-go's session/database: one column per field. */
#include <string.h>

#include "base/error.h"
#include "formats/read/adk.h"
#include "formats/read/table.h"
#include "formats/times.h"
#include "model/adk/fields.h"

enum {
    GO_ID,
    GO_INVOCATION,
    GO_AUTHOR,
    GO_ACTIONS,
    GO_TIME,
    GO_CONTENT,
    GO_PARTIAL,
    GO_OPTIONAL /* the columns from here on are in the order of `optional` */
};

/* google-adk's table says what each holds. Those that only adk-go has are JSON. */
static const char *const go_fields[] = {"branch",
                                        "longRunningToolIds",
                                        "groundingMetadata",
                                        "customMetadata",
                                        "usageMetadata",
                                        "citationMetadata",
                                        "turnComplete",
                                        "errorCode",
                                        "errorMessage",
                                        "interrupted",
                                        "routes",
                                        "output",
                                        "nodeInfo",
                                        "requestedInput",
                                        "isolationScope"};

static int64_t go_time(sqlite3_stmt *row, int column)
{
    return rows_time(row, column, NULL);
}

/* Adds the time as RFC 3339, with its zone and all digits. The year 1 means no time. */
static void add_time(struct adk_source *source, sqlite3_stmt *row, int column)
{
    const struct span time = rows_span(row, column);
    bool zoned = false;

    if (time_of_text(time, &zoned) == FOREIGN_NO_TIME)
        return;
    text_clear(&source->scratch);
    text_puts(&source->scratch, "\"");
    text_add(&source->scratch, time.ptr, time.len);
    source->scratch.data[11] = 'T';
    text_puts(&source->scratch, zoned ? "\"" : "Z\"");
    adk_json(source, "timestamp", (struct span){source->scratch.data, source->scratch.len});
}

static int event_of_columns(struct adk_source *source, sqlite3_stmt *row, struct foreign_event *event,
                            ses_error *error)
{
    (void)error;
    event->name = (const char *)sqlite3_column_text(row, GO_ID);
    adk_begin(source);
    adk_text(source, "id", row, GO_ID, true);
    adk_text(source, "invocationId", row, GO_INVOCATION, true);
    adk_text(source, "author", row, GO_AUTHOR, true);
    add_time(source, row, GO_TIME);
    adk_raw(source, "content", row, GO_CONTENT);
    adk_raw(source, "actions", row, GO_ACTIONS);
    adk_flag(source, "partial", row, GO_PARTIAL);
    for (size_t i = 0; i < sizeof go_fields / sizeof go_fields[0]; i++) {
        const struct adk_field *field = ses__adk_field_called(ses__adk_event, go_fields[i]);
        const int column = GO_OPTIONAL + (int)i;
        if (field->kind == ADK_BOOL)
            adk_flag(source, go_fields[i], row, column);
        else if (field->kind == ADK_TEXT && field->form == ADK_ONE)
            adk_text(source, go_fields[i], row, column, false);
        else
            adk_raw(source, go_fields[i], row, column);
    }
    adk_end(source, event);
    return 1;
}

static int recognize_go(const struct foreign_file *file, ses_error *error)
{
    (void)error;
    return rows_type_is(file->db, "events", "app_name", "text") &&
           adk_has(file, "app_name user_id id state create_time update_time",
                   "id app_name user_id session_id invocation_id author actions timestamp content partial");
}

static int open_go(struct foreign_file *file, void **source, ses_error *error)
{
    static const struct adk_tables tables = {
        .session_id = "id",
        .created = "create_time",
        .updated = "update_time",
        .time = go_time,
        .event_columns = "e.id, e.invocation_id, e.author, e.actions, e.timestamp, e.content, e.partial",
        .optional =
            "branch long_running_tool_ids_json grounding_metadata custom_metadata usage_metadata "
            "citation_metadata turn_complete error_code error_message interrupted routes_json output_json "
            "node_info_json requested_input_json isolation_scope",
        .event = event_of_columns};
    return adk_open(file, &tables, source, error);
}

const struct foreign_format foreign_go = {
    .name = "adk-go",
    .words = "a database of adk-go's session/database",
    .recognizes = recognize_go,
    .open = open_go,
    ADK_ROWS,
};
