#include "formats/read/adk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/json/add_json.h"

/* ------------------------------------------------------------------------------------------------- tables */

bool adk_has(const struct foreign_file *file, const char *session_columns, const char *event_columns)
{
    return rows_has(file->db, "sessions", session_columns) && rows_has(file->db, "events", event_columns) &&
           rows_has(file->db, "app_states", "app_name state") &&
           rows_has(file->db, "user_states", "app_name user_id state");
}

static int find_places(struct adk_source *source, ses_error *error)
{
    struct text join = {NULL, 0, 0};

    text_print(&join,
               "main.events AS e CROSS JOIN main.sessions AS s ON s.app_name = e.app_name AND s.user_id = "
               "e.user_id AND s.%s = e.session_id",
               source->tables->session_id);
    int code = rows_places(source->file, join.data, "main.events", error);
    text_free(&join);
    return code;
}

static void add_optional(struct text *sql, struct adk_source *source)
{
    const char *name = source->tables->optional;

    while (name && *name) {
        struct text column = {NULL, 0, 0};
        size_t len = strcspn(name, " ");
        text_add(&column, name, len);
        text_print(sql, rows_has(source->file->db, "events", column.data) ? ", e.%s" : ", NULL AS %s",
                   column.data);
        text_free(&column);
        name += len + (name[len] == ' ');
    }
}

static int prepare(struct adk_source *source, ses_error *error)
{
    const struct adk_tables *tables = source->tables;
    sqlite3 *db = source->file->db;
    struct text sessions = {NULL, 0, 0};
    struct text events = {NULL, 0, 0};

    text_print(&sessions,
               "SELECT rowid, app_name, user_id, %s, state, %s, %s FROM main.sessions ORDER BY rowid",
               tables->session_id, tables->created, tables->updated ? tables->updated : "NULL");
    text_print(&events, "SELECT %s", tables->event_columns);
    add_optional(&events, source);
    text_puts(&events, " FROM temp.place AS p CROSS JOIN main.events AS e ON e.rowid = p.event"
                       " WHERE p.session = ?1 ORDER BY p.event");
    source->sessions = rows_prepare(db, sessions.data, error);
    source->events = source->sessions ? rows_prepare(db, events.data, error) : NULL;
    if (source->events)
        source->apps_and_users = rows_prepare(
            db, "SELECT rowid, app_name, NULL, state FROM main.app_states ORDER BY rowid", error);
    text_free(&sessions);
    text_free(&events);
    return source->apps_and_users ? SES_OK : rows_failed(db, "reading the tables", error);
}

int adk_open(struct foreign_file *file, const struct adk_tables *tables, void **opened, ses_error *error)
{
    struct adk_source *source = allocate(sizeof *source);

    *source = (struct adk_source){.file = file, .tables = tables};
    int code = find_places(source, error);
    if (code == SES_OK)
        code = prepare(source, error);
    if (code == SES_OK)
        *opened = source;
    else
        adk_close(source);
    return code;
}

void adk_close(void *closed)
{
    struct adk_source *source = closed;

    rows_finalize(&source->apps_and_users);
    rows_finalize(&source->sessions);
    rows_finalize(&source->events);
    text_free(&source->json);
    text_free(&source->scratch);
    free(source);
}

/* --------------------------------------------------------------------------------------------------- rows */

static int step_shared(struct adk_source *source, ses_error *error)
{
    int code = rows_step(source->apps_and_users, error);

    if (code != 0 || source->users)
        return code;
    source->users = true;
    source->shared_row = 0;
    rows_finalize(&source->apps_and_users);
    source->apps_and_users =
        rows_prepare(source->file->db,
                     "SELECT rowid, app_name, user_id, state FROM main.user_states ORDER BY rowid", error);
    return source->apps_and_users ? rows_step(source->apps_and_users, error) : error->code;
}

int adk_next_shared(void *from, struct foreign_shared *shared, ses_error *error)
{
    struct adk_source *source = from;
    int code = step_shared(source, error);

    *shared = (struct foreign_shared){.app = NULL};
    if (code == 1)
        code = rows_ascend(source->apps_and_users, &source->shared_row, error);
    if (code != 1)
        return code;
    code = rows_text(source->apps_and_users, 1, "app", &shared->app, error);
    if (code == SES_OK && source->users)
        code = rows_text(source->apps_and_users, 2, "user", &shared->user, error);
    shared->state = rows_span(source->apps_and_users, 3);
    return code == SES_OK ? 1 : code;
}

int adk_next_session(void *from, struct foreign_session *session, ses_error *error)
{
    struct adk_source *source = from;
    sqlite3_stmt *row = source->sessions;
    const char *user = "";
    const char *id = "";
    int code = rows_step(row, error);

    if (code == 1)
        code = rows_ascend(row, &source->session_row, error);
    if (code != 1)
        return code;
    *session = (struct foreign_session){.app = "", .user = "", .session = "", .expires_us = FOREIGN_NO_TIME};
    session->state = rows_span(row, 4);
    session->created_us = source->tables->time(row, 5);
    session->updated_us = source->tables->updated ? source->tables->time(row, 6) : FOREIGN_NO_TIME;
    code = rows_text(row, 1, "app", &session->app, error);
    if (code == SES_OK)
        code = rows_text(row, 2, "user", &user, error);
    if (code == SES_OK)
        code = rows_text(row, 3, "session id", &id, error);
    session->user = user;
    session->session = id;
    source->session = *session;
    return code == SES_OK ? 1 : code;
}

int adk_begin_events(void *from, ses_error *error)
{
    struct adk_source *source = from;

    (void)sqlite3_reset(source->events);
    return sqlite3_bind_int64(source->events, 1, sqlite3_column_int64(source->sessions, 0)) == SQLITE_OK
               ? SES_OK
               : rows_failed(source->file->db, "reading the events", error);
}

int adk_next_event(void *from, struct foreign_event *event, ses_error *error)
{
    struct adk_source *source = from;
    int code = rows_step_event(source->events, error);

    *event = (struct foreign_event){.name = NULL};
    return code == 1 ? source->tables->event(source, source->events, event, error) : code;
}

/* -------------------------------------------------------------------------------------- events of columns */

void adk_begin(struct adk_source *source)
{
    text_clear(&source->json);
    text_puts(&source->json, "{");
}

void adk_json(struct adk_source *source, const char *name, struct span json)
{
    add_name(&source->json, name);
    add_span(&source->json, json);
}

void adk_raw(struct adk_source *source, const char *name, sqlite3_stmt *row, int column)
{
    const struct span json = rows_span(row, column);

    if (json.len > 0)
        adk_json(source, name, json);
}

void adk_text(struct adk_source *source, const char *name, sqlite3_stmt *row, int column, bool empty)
{
    const struct span text = rows_span(row, column);

    if (!text.ptr || (text.len == 0 && !empty))
        return;
    add_name(&source->json, name);
    add_string(&source->json, text);
}

void adk_flag(struct adk_source *source, const char *name, sqlite3_stmt *row, int column)
{
    if (sqlite3_column_int64(row, column) != 0)
        adk_json(source, name, (struct span){"true", 4});
}

void adk_seconds(struct adk_source *source, const char *name, int64_t time_us)
{
    add_name(&source->json, name);
    add_seconds(&source->json, time_us);
}

void adk_end(struct adk_source *source, struct foreign_event *event)
{
    text_puts(&source->json, "}");
    event->json = (struct span){source->json.data, source->json.len};
}
