/* Opens a store in a file, or in memory. */
#include <string.h>

#include "base/error.h"
#include "session/sqlite/config.h"

enum { DEFAULT_READERS = 4, MAX_READERS = 64 };

int ses__check_file_key(const void *key, size_t len, ses_error *error)
{
    return len == (key ? SES_KEY_BYTES : 0)
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "expected a key of %d bytes, and not of %zu",
                                SES_KEY_BYTES, len);
}

int ses__sqlite_configure(const struct storage_config *common, const ses_open_options *options,
                          struct sqlite_config *config, ses_error *error)
{
    *config = (struct sqlite_config){
        .path = common->path,
        .in_memory = strcmp(common->path, ":memory:") == 0,
        .read_only = common->read_only,
        .must_exist = common->must_exist,
        .may_be_linked = (options->flags & SES_OPEN_LINKED) != 0,
        .synchronous = options->synchronous,
        .journal = options->journal,
        .checkpoint = options->checkpoint,
        .busy_timeout_us = common->timeout_us,
        .max_readers = options->max_readers ? options->max_readers : DEFAULT_READERS,
        .allocator = common->allocator,
        .key = options->key,
    };
    if (options->synchronous != SES_SYNC_FULL && options->synchronous != SES_SYNC_NORMAL)
        return ses__error_set(error, SES_MISUSE, "open options: synchronous is not one of SES_SYNC_*");
    if (options->journal < SES_JOURNAL_AUTO || options->journal > SES_JOURNAL_ROLLBACK)
        return ses__error_set(error, SES_MISUSE, "open options: journal is not one of SES_JOURNAL_*");
    if (options->checkpoint != SES_CHECKPOINT_AUTO && options->checkpoint != SES_CHECKPOINT_EXTERNAL)
        return ses__error_set(error, SES_MISUSE, "open options: checkpoint is not one of SES_CHECKPOINT_*");
    if (options->max_readers > MAX_READERS)
        return ses__error_set(error, SES_MISUSE, "open options: max_readers is more than %d", MAX_READERS);
    int code = ses__check_file_key(options->key, options->key_len, error);
    if (code == SES_OK && config->in_memory && (config->read_only || config->must_exist))
        code = ses__error_set(error, SES_MISUSE, "a store in memory is always new and writable");
    return code;
}

static int open_sqlite(void *context, const struct storage_config *common, const ses_open_options *options,
                       struct storage **storage, ses_error *error)
{
    struct sqlite_config config;
    int code = ses__sqlite_configure(common, options, &config, error);
    (void)context;

    return code == SES_OK ? ses__sqlite_open(&config, storage, error) : code;
}

int ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error)
{
    int code = ses__check_output(store, "store", error);
    if (code != SES_OK)
        return code;
    return ses__store_open(path, options, &(struct storage_opener){open_sqlite, NULL}, store, error);
}
