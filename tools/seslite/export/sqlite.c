/* A database like those of google-adk's SqliteSessionService, with the same CREATE TABLE statements. */
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "export/pieces.h"
#include "files/whole_file.h"
#include "output/out.h"

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

struct sqlite_export {
    struct export *export;
    sqlite3 *db;
    sqlite3_stmt *session;
    sqlite3_stmt *event;
    sqlite3_stmt *app;
    sqlite3_stmt *user;
    struct text room;
    int64_t newest_us; /* of all sessions, used for shared state, which has no time of its own here */
};

static int failed(struct sqlite_export *own)
{
    const int result = sqlite3_errcode(own->db) & 0xff;

    (void)ses__error_set(&own->export->run->error, result == SQLITE_FULL ? SES_FULL : SES_IO,
                         "%s cannot be written: %s", own->export->path, sqlite3_errmsg(own->db));
    return fail(own->export->run);
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

static int insert(struct sqlite_export *own, sqlite3_stmt *statement, const struct value *values, int count)
{
    int result = SQLITE_OK;

    for (int i = 0; i < count && result == SQLITE_OK; i++)
        result = values[i].text.ptr ? sqlite3_bind_text64(statement, i + 1, values[i].text.ptr,
                                                          values[i].text.len, SQLITE_STATIC, SQLITE_UTF8)
                                    : sqlite3_bind_double(statement, i + 1, (double)values[i].time_us / 1e6);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    const int status = result == SQLITE_DONE ? EXIT_OK : failed(own);
    (void)sqlite3_reset(statement);
    return status;
}

/* ------------------------------------------------------------------------------------------------- pieces */

static int put_session(void *context, const ses_session *session, struct span own_state)
{
    struct sqlite_export *own = context;
    const struct value values[] = {
        text_value(ses_session_app(session)),         text_value(ses_session_user(session)),
        text_value(ses_session_id(session)),          {.text = own_state},
        {.time_us = ses_session_created_us(session)}, {.time_us = ses_session_updated_us(session)}};

    if (ses_session_updated_us(session) > own->newest_us)
        own->newest_us = ses_session_updated_us(session);
    return insert(own, own->session, values, 6);
}

static int put_event(void *context, const ses_session *session, const ses_event *event)
{
    struct sqlite_export *own = context;
    struct span json = {event->json, event->json_len};
    char *inlined = NULL;
    int status = export_inline(own->export, session, &json, &inlined);
    const struct value values[] = {text_value(event->id),
                                   text_value(ses_session_app(session)),
                                   text_value(ses_session_user(session)),
                                   text_value(ses_session_id(session)),
                                   text_value(event->invocation_id),
                                   {.time_us = event->time_us},
                                   {.text = export_event(own->export, event, json, &own->room)}};

    if (status == EXIT_OK)
        status = insert(own, own->event, values, 7);
    ses_free(inlined);
    return status;
}

static int put_shared(void *context, const char *app, const char *user, struct span state)
{
    struct sqlite_export *own = context;
    struct value values[4];
    int count = 0;

    values[count++] = text_value(app);
    if (user)
        values[count++] = text_value(user);
    values[count++] = (struct value){.text = state};
    values[count++] = (struct value){.time_us = own->newest_us};
    own->export->keys++;
    return insert(own, user ? own->user : own->app, values, count);
}

/* ------------------------------------------------------------------------------------------- the database */

static sqlite3_stmt *prepare(struct sqlite_export *own, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    (void)sqlite3_prepare_v2(own->db, sql, -1, &statement, NULL);
    return statement;
}

/* An unfinished file is removed, so no journal is needed. */
static int open_database(struct sqlite_export *own, const char *path)
{
    if (sqlite3_open_v2(path, &own->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(own->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_exec(own->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return failed(own);
    own->session = prepare(own, "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    own->event = prepare(own, "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    own->app = prepare(own, "INSERT INTO app_states VALUES (?1, ?2, ?3)");
    own->user = prepare(own, "INSERT INTO user_states VALUES (?1, ?2, ?3, ?4)");
    return own->session && own->event && own->app && own->user ? EXIT_OK : failed(own);
}

static int close_database(struct sqlite_export *own, int status)
{
    (void)sqlite3_finalize(own->session);
    (void)sqlite3_finalize(own->event);
    (void)sqlite3_finalize(own->app);
    (void)sqlite3_finalize(own->user);
    if (status == EXIT_OK && sqlite3_exec(own->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = failed(own);
    (void)sqlite3_close(own->db);
    text_free(&own->room);
    return status;
}

/* SQLite would apply the leftover WAL or journal of an earlier database to the new file. */
static int check_companions(const char *path)
{
    static const char *const endings[] = {"-wal", "-journal"};
    int status = EXIT_OK;

    for (size_t i = 0; i < 2 && status == EXIT_OK; i++) {
        struct text name = {NULL, 0, 0};
        struct stat info;
        text_print(&name, "%s%s", path, endings[i]);
        if (lstat(name.data, &info) == 0) {
            say("%s exists: it belongs to a database that is open or was not closed; choose another file",
                name.data);
            status = EXIT_EXISTS;
        }
        text_free(&name);
    }
    return status;
}

int export_sqlite(struct export *export)
{
    struct sqlite_export own = {.export = export};
    const struct export_pieces pieces = {put_session, put_event, put_shared, &own};
    const bool replace = given(export->run, OPTION_REPLACE);
    struct whole_file file;

    if (!export->path)
        return say_usage(export->run, "a database needs a file: give its name with --output");
    int status = check_companions(export->path);
    if (status != EXIT_OK)
        return status;
    if (whole_file_begin(&file, export->path, WHOLE_DATABASE, replace, &export->run->error) < 0)
        return fail(export->run);
    if (file.temporary.len == 0) {
        (void)whole_file_end(&file, SES_OK, &export->run->error);
        return say_usage(export->run, "a database needs a regular file, and %s is not one", export->path);
    }
    status = open_database(&own, file.temporary.data);
    if (status == EXIT_OK)
        status = export_walk(export, &pieces);
    status = close_database(&own, status);
    int code = whole_file_end(&file, status == EXIT_OK ? SES_OK : SES_IO, &export->run->error);
    return status == EXIT_OK && code < 0 ? fail(export->run) : status;
}
