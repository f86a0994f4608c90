/* A database like those of google-adk's SqliteSessionService, with the same CREATE TABLE statements. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/write/event.h"

static const char schema[] = "CREATE TABLE app_states (\n"
                             "    app_name TEXT PRIMARY KEY,\n"
                             "    state TEXT NOT NULL,\n"
                             "    update_time REAL NOT NULL\n"
                             ");\n"
                             "CREATE TABLE user_states (\n"
                             "    app_name TEXT NOT NULL,\n"
                             "    user_id TEXT NOT NULL,\n"
                             "    state TEXT NOT NULL,\n"
                             "    update_time REAL NOT NULL,\n"
                             "    PRIMARY KEY (app_name, user_id)\n"
                             ");\n"
                             "CREATE TABLE sessions (\n"
                             "    app_name TEXT NOT NULL,\n"
                             "    user_id TEXT NOT NULL,\n"
                             "    id TEXT NOT NULL,\n"
                             "    state TEXT NOT NULL,\n"
                             "    create_time REAL NOT NULL,\n"
                             "    update_time REAL NOT NULL,\n"
                             "    PRIMARY KEY (app_name, user_id, id)\n"
                             ");\n"
                             "CREATE TABLE events (\n"
                             "    id TEXT NOT NULL,\n"
                             "    app_name TEXT NOT NULL,\n"
                             "    user_id TEXT NOT NULL,\n"
                             "    session_id TEXT NOT NULL,\n"
                             "    invocation_id TEXT NOT NULL,\n"
                             "    timestamp REAL NOT NULL,\n"
                             "    event_data TEXT NOT NULL,\n"
                             "    PRIMARY KEY (app_name, user_id, session_id, id),\n"
                             "    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions(app_name, "
                             "user_id, id) ON DELETE CASCADE\n"
                             ");\n";

struct adk_database {
    struct writing *writing;
    const char *name;
    sqlite3 *db;
    sqlite3_stmt *session;
    sqlite3_stmt *event;
    sqlite3_stmt *app;
    sqlite3_stmt *user;
    struct text room;
    int64_t newest_us; /* of all sessions, used for shared state, which has no time of its own here */
};

static int failed(const struct adk_database *own, ses_error *error)
{
    const int result = sqlite3_errcode(own->db) & 0xff;

    return ses__error_set(error, result == SQLITE_FULL ? SES_FULL : SES_IO, "%s cannot be written: %s",
                          own->name, sqlite3_errmsg(own->db));
}

/* Binds texts and times in order, and runs the statement. */
struct value {
    struct span text; /* if ptr is NULL, the time is bound */
    int64_t time_us;
};

static struct value text_value(const char *text)
{
    return (struct value){.text = {text, text ? strlen(text) : 0}};
}

static int insert(const struct adk_database *own, sqlite3_stmt *statement, const struct value *values,
                  int count, ses_error *error)
{
    int result = SQLITE_OK;

    for (int i = 0; i < count && result == SQLITE_OK; i++)
        result = values[i].text.ptr ? sqlite3_bind_text64(statement, i + 1, values[i].text.ptr,
                                                          values[i].text.len, SQLITE_STATIC, SQLITE_UTF8)
                                    : sqlite3_bind_double(statement, i + 1, (double)values[i].time_us / 1e6);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    const int code = result == SQLITE_DONE ? SES_OK : failed(own, error);
    (void)sqlite3_reset(statement);
    return code;
}

/* ------------------------------------------------------------------------------------------------- pieces */

int adk_database_session(struct adk_database *own, const ses_session *session, struct span own_state,
                         ses_error *error)
{
    const struct value values[] = {
        text_value(ses_session_app(session)),         text_value(ses_session_user(session)),
        text_value(ses_session_id(session)),          {.text = own_state},
        {.time_us = ses_session_created_us(session)}, {.time_us = ses_session_updated_us(session)}};

    if (ses_session_updated_us(session) > own->newest_us)
        own->newest_us = ses_session_updated_us(session);
    return insert(own, own->session, values, 6, error);
}

int adk_database_event(struct adk_database *own, const ses_session *session, const ses_event *event,
                       ses_error *error)
{
    struct span json = {event->json, event->json_len};
    char *inlined = NULL;
    int code = write_inlined(own->writing, session, &json, &inlined, error);
    const struct value values[] = {text_value(event->id),
                                   text_value(ses_session_app(session)),
                                   text_value(ses_session_user(session)),
                                   text_value(ses_session_id(session)),
                                   text_value(event->invocation_id),
                                   {.time_us = event->time_us},
                                   {.text = write_event(own->writing, event, json, &own->room)}};

    if (code == SES_OK)
        code = insert(own, own->event, values, 7, error);
    ses_free(inlined);
    return code;
}

int adk_database_shared(struct adk_database *own, const char *app, const char *user, struct span state,
                        ses_error *error)
{
    struct value values[4];
    int count = 0;

    values[count++] = text_value(app);
    if (user)
        values[count++] = text_value(user);
    values[count++] = (struct value){.text = state};
    values[count++] = (struct value){.time_us = own->newest_us};
    return insert(own, user ? own->user : own->app, values, count, error);
}

/* ------------------------------------------------------------------------------------------- the database */

static sqlite3_stmt *prepare(const struct adk_database *own, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    (void)sqlite3_prepare_v2(own->db, sql, -1, &statement, NULL);
    return statement;
}

/* An unfinished file is removed, so no journal is needed. */
int adk_database_open(struct writing *writing, const char *path, const char *name,
                      struct adk_database **database, ses_error *error)
{
    struct adk_database *own = allocate(sizeof *own);

    *own = (struct adk_database){.writing = writing, .name = name};
    *database = own;
    if (sqlite3_open_v2(path, &own->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(own->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_exec(own->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return failed(own, error);
    own->session = prepare(own, "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    own->event = prepare(own, "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    own->app = prepare(own, "INSERT INTO app_states VALUES (?1, ?2, ?3)");
    own->user = prepare(own, "INSERT INTO user_states VALUES (?1, ?2, ?3, ?4)");
    return own->session && own->event && own->app && own->user ? SES_OK : failed(own, error);
}

int adk_database_close(struct adk_database *own, int code, ses_error *error)
{
    (void)sqlite3_finalize(own->session);
    (void)sqlite3_finalize(own->event);
    (void)sqlite3_finalize(own->app);
    (void)sqlite3_finalize(own->user);
    if (code == SES_OK && sqlite3_exec(own->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        code = failed(own, error);
    (void)sqlite3_close(own->db);
    text_free(&own->room);
    free(own);
    return code;
}
