/* Why a store cannot be opened, where SQLite only says that it could not open, read or write some file. */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/parts.h"

/* The index of the log has 32 KiB, and the log, or a journal, is not empty either. */
enum { ROOM_TO_OPEN = 64 * 1024 };

/* If memory runs out, the folder counts as writable. */
static bool may_write_folder(const struct sqlite_config *config)
{
    char *folder = ses__file_join(config->allocator, config->path, "", "");
    char *slash = folder ? strrchr(folder, '/') : NULL; /* the path is absolute */

    if (slash)
        slash[1] = '\0';
    const bool may = !slash || access(folder, W_OK | X_OK) == 0;
    ses__memory_free(config->allocator, folder);
    return may;
}

static const char *find_reason(const struct sqlite *storage, int *code)
{
    const struct sqlite_config *config = &storage->config;

    if (*code == SES_CORRUPT)
        return storage->writer.db && ses__connection_is_cut_short(storage->writer.db)
                   ? "the file was cut short: it has fewer pages than it says; restore a backup"
                   : NULL;
    if (*code != SES_CANTOPEN && *code != SES_READONLY && *code != SES_IO && *code != SES_FULL)
        return NULL;
    if (access(config->path, R_OK) != 0)
        return "this user has no right to read the file";
    if (ses__file_room(config->path) < ROOM_TO_OPEN && !ses__file_system_is_read_only(config->path)) {
        *code = SES_FULL;
        return "no space is left on the disk";
    }
    if (config->read_only)
        return NULL;
    if (ses__file_system_is_read_only(config->path))
        return "the file system is mounted read-only: open the store for reading only";
    if (access(config->path, W_OK) != 0)
        return "this user has no right to write the file: open the store for reading only";
    return may_write_folder(config)
               ? NULL
               : "this user has no right to write to the folder, where SQLite makes the log or journal";
}

int ses__open_explain(const struct sqlite *storage, int code, ses_error *error)
{
    const int engine_code = error->engine_code;
    const char *reason = storage->config.in_memory || engine_code == 0 ? NULL : find_reason(storage, &code);

    if (reason) {
        (void)ses__error_set(error, code, "%s: the store cannot be opened: %s", storage->config.path, reason);
        error->engine_code = engine_code;
    }
    return code;
}
