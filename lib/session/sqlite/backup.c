/* Copies a whole file. */
#include <string.h>

#include "base/error.h"
#include "session/sqlite/config.h"

static int back_up(ses_store *store, const char *path, const ses_backup_options *options, ses_error *error)
{
    const unsigned known = SES_BACKUP_REPLACE | SES_BACKUP_COMPACT | SES_BACKUP_PLAIN;
    ses_backup_options own;
    int code = ses__check_path(path, error);

    if (code == SES_OK && strcmp(path, ":memory:") == 0)
        code = ses__error_set(error, SES_INVALID,
                              "a backup goes to a file; ses_open_copy makes a copy in memory");
    if (code == SES_OK)
        code = ses__take_flagged(&own, sizeof own, options, known, "backup options", error);
    if (code == SES_OK && own.key && (own.flags & SES_BACKUP_PLAIN))
        code = ses__error_set(error, SES_MISUSE, "backup options: SES_BACKUP_PLAIN is given, and a key");
    if (code == SES_OK)
        code = ses__check_file_key(own.key, own.key_len, error);
    if (code != SES_OK)
        return code;
    struct backup_op op = {.limits = LIMITS_OF(store, own),
                           .path = path,
                           .replaces = (own.flags & SES_BACKUP_REPLACE) != 0,
                           .compact = (own.flags & SES_BACKUP_COMPACT) != 0,
                           .plain = (own.flags & SES_BACKUP_PLAIN) != 0,
                           .key = own.key,
                           .progress = own.progress,
                           .progress_context = own.progress_context};
    if (!ses__sqlite_has(store->storage))
        return ses__error_set(
            error, SES_MISUSE,
            "ses_store_backup copies files: use pg_dump or a base backup for a server, or ses_store_export for a file that any store can import");
    return ses__sqlite_backup(store->storage, &op, error);
}

int ses_store_backup(ses_store *store, const char *path, const ses_backup_options *options, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, back_up(store, path, options, error)) : code;
}

/* ------------------------------------------------------------------------------------------ in memory */

static int open_copy_of(void *context, const struct storage_config *common, const ses_open_options *options,
                        struct storage **storage, ses_error *error)
{
    ses_store *original = context;
    struct sqlite_config config;
    struct copy_op op = {.config = &config};
    int code = ses__sqlite_configure(common, options, &config, error);

    if (code == SES_OK && !ses__sqlite_has(original->storage))
        code = ses__error_set(
            error, SES_MISUSE,
            "ses_open_copy copies files: move a server's store with ses_store_export and ses_store_import");
    if (code == SES_OK)
        code = ses__sqlite_copy(original->storage, &op, error);
    *storage = op.copy;
    return code;
}

int ses_open_copy(ses_store *store, const ses_open_options *options, ses_store **copy, ses_error *error)
{
    int code = ses__store_begin_giving(store, copy, "copy", error);
    if (code != SES_OK)
        return code;
    code = ses__store_open(":memory:", options, &(struct storage_opener){open_copy_of, store}, copy, error);
    return ses__store_end(store, code);
}
