/* Databases of the ADKs that keep an event as one JSON text: google-adk's DatabaseSessionService since 1.22
 * and its SqliteSessionService, and @google/adk's DatabaseSessionService. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/read/adk.h"
#include "formats/read/table.h"

#define SESSION_COLUMNS "app_name user_id id state create_time update_time"

static int data_of_row(struct adk_source *source, sqlite3_stmt *row, struct foreign_event *event,
                       ses_error *error)
{
    (void)source;
    (void)error;
    event->json = rows_span(row, 0);
    event->name = (const char *)sqlite3_column_text(row, 1);
    return 1;
}

/* ----------------------------------------------------------------------------- DatabaseSessionService, v1 */

static int64_t naive_time(sqlite3_stmt *row, int column)
{
    return rows_time(row, column, NULL);
}

/* The schema's version as a number, or 0 if the table has none. */
static int64_t version_of(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int64_t version = 0;

    if (sqlite3_prepare_v2(db, "SELECT value FROM main.adk_internal_metadata WHERE key = 'schema_version'",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return version;
}

static int recognize_v1(const struct foreign_file *file, bool javascript, ses_error *error)
{
    if (!rows_has(file->db, "adk_internal_metadata", "key value") ||
        rows_type_is(file->db, "adk_internal_metadata", "key", "text") != javascript)
        return 0;
    const int64_t version = version_of(file->db);
    if (version > 1)
        return ses__error_set(
            error, SES_TOONEW,
            "it has version %lld of the schema of the ADK's DatabaseSessionService, but this version of "
            "seslite reads only up to version 1",
            (long long)version);
    return adk_has(file, SESSION_COLUMNS, "id app_name user_id session_id event_data");
}

static int recognize_python(const struct foreign_file *file, ses_error *error)
{
    return recognize_v1(file, false, error);
}

static int recognize_javascript(const struct foreign_file *file, ses_error *error)
{
    return recognize_v1(file, true, error);
}

static int open_python(struct foreign_file *file, void **source, ses_error *error)
{
    /* update_time is in local time or UTC, depending on the version. The times of the events are used
     * instead. */
    static const struct adk_tables tables = {.session_id = "id",
                                             .created = "create_time",
                                             .time = naive_time,
                                             .event_columns = "e.event_data, e.id",
                                             .event = data_of_row};
    return adk_open(file, &tables, source, error);
}

static int open_javascript(struct foreign_file *file, void **source, ses_error *error)
{
    static const struct adk_tables tables = {.session_id = "id",
                                             .created = "create_time",
                                             .updated = "update_time",
                                             .time = rows_milliseconds,
                                             .event_columns = "e.event_data, e.id",
                                             .event = data_of_row};
    return adk_open(file, &tables, source, error);
}

const struct foreign_format foreign_python_v1 = {
    .name = "adk-python-v1",
    .words = "a database of google-adk's DatabaseSessionService",
    .recognizes = recognize_python,
    .open = open_python,
    ADK_ROWS,
};

const struct foreign_format foreign_javascript = {
    .name = "adk-javascript",
    .words = "a database of @google/adk's DatabaseSessionService",
    .not_in_file = "An event with a repeated id has replaced the earlier one.",
    .recognizes = recognize_javascript,
    .open = open_javascript,
    ADK_ROWS,
};

/* ----------------------------------------------------------------------------------- SqliteSessionService */

static int recognize_sqlite(const struct foreign_file *file, ses_error *error)
{
    (void)error;
    return rows_type_is(file->db, "sessions", "create_time", "real") &&
           adk_has(file, SESSION_COLUMNS, "id app_name user_id session_id event_data");
}

static int open_sqlite(struct foreign_file *file, void **source, ses_error *error)
{
    static const struct adk_tables tables = {.session_id = "id",
                                             .created = "create_time",
                                             .updated = "update_time",
                                             .time = rows_seconds,
                                             .event_columns = "e.event_data, e.id",
                                             .event = data_of_row};
    return adk_open(file, &tables, source, error);
}

const struct foreign_format foreign_python_sqlite = {
    .name = "adk-python-sqlite",
    .words = "a database of google-adk's SqliteSessionService",
    .recognizes = recognize_sqlite,
    .open = open_sqlite,
    ADK_ROWS,
};
