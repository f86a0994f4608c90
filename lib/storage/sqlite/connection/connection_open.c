/* How a connection is opened and closed. */

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/connection/key.h"

static int on_busy(void *context, int tries)
{
    return ses__connection_wait(context, tries) ? 1 : 0;
}

/* The settings of every connection. Those that belong to the file are set by the schema and the writer. */
static const char *const SETTINGS = "PRAGMA foreign_keys = ON;"
                                    "PRAGMA trusted_schema = OFF;"
                                    "PRAGMA cell_size_check = ON;"
                                    "PRAGMA fullfsync = ON;"
                                    "PRAGMA checkpoint_fullfsync = ON;"
                                    "PRAGMA temp_store = MEMORY;";

static int configure(struct connection *db, enum connection_role role, ses_error *error)
{
    int rc = sqlite3_extended_result_codes(db->handle, 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_handler(db->handle, on_busy, db);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK) /* the triggers are for other programs; see the schema */
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    if (rc == SQLITE_OK) /* and so are the views: one in place of a table must not be run */
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (rc == SQLITE_OK)
        rc = ses__id_list_register(db->handle);

    int code = rc == SQLITE_OK ? SES_OK : ses__connection_error(db, rc, "configuring the connection", error);
    if (code == SES_OK)
        code = ses__connection_execute(db, SETTINGS, "configuring the connection", error);
    if (code == SES_OK && role == CONNECTION_READER)
        code = ses__connection_execute(db, "PRAGMA query_only = ON;", "configuring the connection", error);
    return code;
}

/* The path still names the store's file, and the connection is on it. (A file system that cannot tell is taken at its
 * path's word.) */
static int check_opened_file(struct connection *db, ses_error *error)
{
    int moved = 0;
    int code = ses__connection_check_file(db, error);

    if (code == SES_OK &&
        sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        code = ses__error_set(error, SES_IO, "%s: the file was replaced while it was being opened",
                              db->config->path);
    return code;
}

static int open_handle(struct connection *db, ses_error *error)
{
    const struct sqlite_config *config = db->config;
    /* A reader opens for writing too: in WAL mode readers take part in recovery. query_only guards it. */
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                (config->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    char *uri = NULL;

    /* By its path: with SQLITE_OPEN_MEMORY, what VACUUM INTO writes would be in memory too. */
    if (config->in_memory)
        flags |= SQLITE_OPEN_CREATE;
    if (config->file->immutable) {
        flags |= SQLITE_OPEN_URI;
        uri = ses__file_immutable_uri(config->allocator, config->path);
        if (!uri)
            return ses__error_nomem(error);
    }
    int rc = sqlite3_open_v2(uri ? uri : config->path, &db->handle, flags, NULL);
    ses__memory_free(config->allocator, uri);
    return rc == SQLITE_OK ? SES_OK : ses__connection_error(db, rc, "opening the file", error);
}

int ses__connection_open(const struct sqlite_config *config, enum connection_role role,
                         const struct limits *limits, struct connection **db, ses_error *error)
{
    struct connection *opened = ses__memory_zeroed(config->allocator, sizeof *opened);
    int code = SES_OK;

    if (!opened || pthread_mutex_init(&opened->interrupting, NULL) != 0) {
        ses__memory_free(config->allocator, opened);
        opened = NULL;
        code = ses__error_nomem(error);
    }
    if (code == SES_OK) {
        opened->base = (struct db){.engine = config->engine,
                                   .traits = &config->engine->traits,
                                   .allocator = config->allocator,
                                   .name = config->path,
                                   .timeout_us = config->busy_timeout_us};
        opened->config = config;
        opened->is_writer = role == CONNECTION_WRITER && !config->read_only;
        ses__connection_start_call(
            opened, ses__limits_until(limits, ses__clock_steady_us() + config->busy_timeout_us), false,
            limits);
        code = ses__connection_check_file(opened, error);
    }
    if (code == SES_OK)
        code = open_handle(opened, error);
    if (code == SES_OK)
        code = check_opened_file(opened, error);
    if (code == SES_OK)
        code = ses__key_apply(opened, error);
    if (code == SES_OK)
        code = configure(opened, role, error);
    if (code == SES_OK)
        ses__connection_limit_work(opened, role == CONNECTION_WRITER ? WORK_OF_OPENING : WORK_OF_STATEMENTS);
    if (code == SES_OK)
        *db = opened;
    else
        ses__connection_close(opened);
    return code;
}

void ses__connection_close(struct connection *db)
{
    if (db) {
        for (size_t i = 0; i < STATEMENT_COUNT; i++)
            (void)sqlite3_finalize(db->statements[i]); /* a failure was reported when it ran */
        (void)sqlite3_close_v2(db->handle);            /* cannot fail: no statement is left */
        (void)pthread_mutex_destroy(&db->interrupting);
        ses__memory_free(db->config->allocator, db);
    }
}
