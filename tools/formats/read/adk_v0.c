/*
 * Databases of google-adk's DatabaseSessionService 1.0 to 1.21: one column per field, and the actions as a
 * pickle, which is only read as data. Times of events are in the local time of the service's host, whose zone
 * is not in the file; times of sessions come from SQLite and are UTC. Events are returned as later versions
 * store them: names in snake_case, and the JSON of the columns unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "formats/pickle/pickle.h"
#include "formats/read/adk.h"
#include "formats/read/table.h"
#include "formats/times.h"

enum {
    V0_ID,
    V0_INVOCATION,
    V0_AUTHOR,
    V0_BRANCH,
    V0_TIME,
    V0_CONTENT,
    V0_ACTIONS,
    V0_TOOL_IDS,
    V0_PARTIAL,
    V0_TURN_COMPLETE,
    V0_ERROR_CODE,
    V0_ERROR_MESSAGE,
    V0_INTERRUPTED,
    V0_OPTIONAL /* the columns from here on are those of `optional` */
};

static const char *const v0_optional[] = {"grounding_metadata",  "custom_metadata",
                                          "usage_metadata",      "citation_metadata",
                                          "input_transcription", "output_transcription"};

/* ------------------------------------------------------------------------------------------------- events */

static void add_time(struct adk_source *adk, sqlite3_stmt *row)
{
    struct foreign_notes *notes = adk->file->notes;
    bool zoned = false;
    const int64_t time_us = rows_time(row, V0_TIME, &zoned);

    if (time_us == FOREIGN_NO_TIME)
        return;
    const bool local = !zoned && adk->file->zone_is_set;
    if (!zoned && !local)
        foreign_note(notes, FOREIGN_NOTE_ZONE_ASSUMED, NULL);
    adk_seconds(adk, "timestamp", local ? zone_moment(time_us) : time_us);
}

static void add_bool(struct adk_source *adk, const char *name, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return;
    const bool set = sqlite3_column_int64(row, column) != 0;
    adk_json(adk, name, set ? (struct span){"true", 4} : (struct span){"false", 5});
}

static int add_actions(struct adk_source *adk, sqlite3_stmt *row, ses_error *error)
{
    const struct span pickle = rows_span(row, V0_ACTIONS);
    ses_allocator allocator;
    struct buffer actions;

    if (!pickle.ptr)
        return SES_OK;
    ses__memory_default(&allocator);
    ses__buffer_init(&actions, &allocator);
    int code = pickle_to_json(pickle, adk->file->max_bytes, &actions, error);
    if (code == SES_OK && actions.data[0] == '{')
        adk_json(adk, "actions", (struct span){actions.data, actions.len});
    else if (code == SES_OK && !ses__span_is((struct span){actions.data, actions.len}, ses__span_of("null")))
        code = ses__error_set(error, SES_INVALID, "the pickle does not contain actions");
    ses__buffer_free(&actions);
    return code;
}

static int v0_next_event(void *from, struct foreign_event *event, ses_error *error)
{
    struct adk_source *adk = from;
    sqlite3_stmt *row = adk->events;
    int code = rows_step(row, error);

    *event = (struct foreign_event){.name = NULL};
    if (code != 1)
        return code;
    event->name = (const char *)sqlite3_column_text(row, V0_ID);
    adk_begin(adk);
    adk_raw(adk, "content", row, V0_CONTENT);
    add_bool(adk, "partial", row, V0_PARTIAL);
    add_bool(adk, "turn_complete", row, V0_TURN_COMPLETE);
    adk_text(adk, "error_code", row, V0_ERROR_CODE, true);
    adk_text(adk, "error_message", row, V0_ERROR_MESSAGE, true);
    add_bool(adk, "interrupted", row, V0_INTERRUPTED);
    for (size_t i = 0; i < sizeof v0_optional / sizeof v0_optional[0]; i++)
        adk_raw(adk, v0_optional[i], row, V0_OPTIONAL + (int)i);
    adk_text(adk, "invocation_id", row, V0_INVOCATION, true);
    adk_text(adk, "author", row, V0_AUTHOR, true);
    code = add_actions(adk, row, error);
    adk_raw(adk, "long_running_tool_ids", row, V0_TOOL_IDS);
    adk_text(adk, "branch", row, V0_BRANCH, true);
    adk_text(adk, "id", row, V0_ID, true);
    add_time(adk, row);
    adk_end(adk, event);
    return code == SES_OK ? 1 : code;
}

/* ----------------------------------------------------------------------------------------------- the file */

static int64_t utc_time(sqlite3_stmt *row, int column)
{
    return rows_time(row, column, NULL);
}

static int recognize_v0(const struct foreign_file *file, ses_error *error)
{
    (void)error;
    return rows_type_is(file->db, "events", "actions", "blob") &&
           rows_has(file->db, "events",
                    "long_running_tool_ids_json turn_complete error_code error_message interrupted") &&
           rows_type_is(file->db, "events", "app_name", "varchar") &&
           adk_has(file, "app_name user_id id state create_time update_time",
                   "id app_name user_id session_id invocation_id author actions branch timestamp content "
                   "partial");
}

static int v0_open(struct foreign_file *file, void **source, ses_error *error)
{
    static const struct adk_tables tables = {
        .session_id = "id",
        .created = "create_time",
        .time = utc_time,
        .event_columns =
            "e.id, e.invocation_id, e.author, e.branch, e.timestamp, e.content, e.actions, "
            "e.long_running_tool_ids_json, e.partial, e.turn_complete, e.error_code, e.error_message, "
            "e.interrupted",
        .optional = "grounding_metadata custom_metadata usage_metadata citation_metadata input_transcription "
                    "output_transcription"};

    return adk_open(file, &tables, source, error);
}

const struct foreign_format foreign_python_v0 = {
    .name = "adk-python-v0",
    .words = "a database of google-adk's DatabaseSessionService before 1.22",
    .not_in_file = "The zone of the events' times is not in the file: see --zone.",
    .recognizes = recognize_v0,
    .open = v0_open,
    .next_shared = adk_next_shared,
    .next_session = adk_next_session,
    .begin_events = adk_begin_events,
    .next_event = v0_next_event,
    .close = adk_close,
};
