/* Opening a file, and the operations that only files have. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_CONFIG_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_CONFIG_H

#include "storage/door.h"

struct connection;
struct engine;
struct sqlite_file;

/* Path and allocator must live as long as the storage. */
struct sqlite_config {
    const char *path;
    bool in_memory;
    bool read_only;
    bool must_exist;
    bool may_be_linked;      /* the file may have other names, or be a mount point */
    int synchronous;         /* SES_SYNC_* */
    int journal;             /* SES_JOURNAL_* */
    int checkpoint;          /* SES_CHECKPOINT_* */
    int64_t busy_timeout_us; /* 0: do not wait */
    unsigned max_readers;
    const ses_allocator *allocator;
    const struct sqlite_file *file; /* the engine's own, as is the next */
    const struct engine *engine;
    const unsigned char *key; /* of the file: SES_KEY_BYTES, which live as long; NULL: it is not encrypted */
    /* Fills a store in memory before it is looked at; NULL: it begins empty. Called by name, it would be
     * linked by all. */
    int (*fill)(void *context, struct connection *connection, ses_error *error);
    void *fill_context;
};
SESLITE_PRIVATE int ses__sqlite_open(const struct sqlite_config *config, struct storage **storage,
                                     ses_error *error);
/* True if the storage is a file, or in memory. */
SESLITE_PRIVATE bool ses__sqlite_has(const struct storage *storage);

/* A copy of all that is stored, as of one moment, in a file of its own. */
struct backup_op {
    struct limits limits;
    const char *path;
    bool replaces;
    bool compact;
    bool plain;                                                  /* without a key */
    const unsigned char *key;                                    /* of the copy; NULL: that of the store */
    int (*progress)(void *context, int64_t done, int64_t total); /* NULL: none */
    void *progress_context;
};

/* The same in memory. */
struct copy_op {
    struct limits limits;
    const struct sqlite_config *config; /* of the copy */
    /* out */
    struct storage *copy; /* NULL after a failure */
};

SESLITE_PRIVATE int ses__sqlite_backup(struct storage *storage, struct backup_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_copy(struct storage *storage, struct copy_op *op, ses_error *error);

#endif
