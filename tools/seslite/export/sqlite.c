/* A database that google-adk's SqliteSessionService opens. */
#include <sys/stat.h>

#include "export/pieces.h"
#include "files/whole_file.h"
#include "output/out.h"

struct sqlite_export {
    struct export *export;
    struct adk_database *database;
};

static int told(const struct sqlite_export *own, int code)
{
    return code < 0 ? fail(own->export->run) : EXIT_OK;
}

static int put_session(void *context, const ses_session *session, struct span own_state)
{
    struct sqlite_export *own = context;
    return told(own, adk_database_session(own->database, session, own_state, &own->export->run->error));
}

static int put_event(void *context, const ses_session *session, const ses_event *event)
{
    struct sqlite_export *own = context;
    return told(own, adk_database_event(own->database, session, event, &own->export->run->error));
}

static int put_shared(void *context, const char *app, const char *user, struct span state)
{
    struct sqlite_export *own = context;

    own->export->keys++;
    return told(own, adk_database_shared(own->database, app, user, state, &own->export->run->error));
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

static int write_database(struct export *export, const char *path)
{
    struct sqlite_export own = {.export = export};
    const struct export_pieces pieces = {put_session, put_event, put_shared, &own};
    ses_error *error = &export->run->error;
    int status = told(&own, adk_database_open(&export->writing, path, export->path, &own.database, error));

    if (status == EXIT_OK)
        status = export_walk(export, &pieces);
    const int code = adk_database_close(own.database, status == EXIT_OK ? SES_OK : SES_IO, error);
    return status == EXIT_OK ? told(&own, code) : status;
}

int export_sqlite(struct export *export)
{
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
    status = write_database(export, file.temporary.data);
    const int code = whole_file_end(&file, status == EXIT_OK ? SES_OK : SES_IO, &export->run->error);
    return status == EXIT_OK && code < 0 ? fail(export->run) : status;
}
