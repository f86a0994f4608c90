/*
 * The old store must not be in use when another file takes its place, and no companion file may be left that
 * SQLite would read with the new one, even if the power fails. So the old store is switched to a rollback
 * journal: SQLite then copies the write-ahead log into the file and deletes it, which requires that nobody
 * else has the store open. The store is still whole after that. It is then locked, and stays locked.
 */
#include "storage/sqlite/backup/backup_file.h"

#include "base/clock.h"
#include "base/error.h"

/* BUSY may come at once where waiting could be a deadlock; we hold nothing, so we wait. */
static int insist(struct connection *db, const char *sql, ses_error *error)
{
    int tries = 0;
    int code;

    do
        code = ses__connection_execute(db, sql, "locking the file that is to be replaced", error);
    while (code == SES_BUSY && ses__connection_wait(db, tries++));
    return code;
}

static int refuse_open_target(const struct backup_target *target, ses_error *error)
{
    return ses__error_set(error, SES_BUSY, "%s: another program has opened it meanwhile",
                          target->config.path);
}

/* Also determines its key. */
static int check_replaceable(struct backup_target *target, enum file_kind kind, ses_error *error)
{
    const unsigned char *const keys[] = {target->key, target->config.key, NULL};
    int code = SES_KEY;

    target->file.known = ses__file_identify(target->config.path, &target->file.identity);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && code == SES_KEY; i++) {
        target->config.key = keys[i];
        ses__error_clear(error);
        code = ses__sqlite_check_file(&target->config, kind, error);
    }
    if (code != SES_TOONEW)
        return code;
    ses__error_clear(error); /* a store of a newer version is a store */
    return SES_OK;
}

static int lock_once(struct backup_target *target, struct backup_file *file, const struct storage *storage,
                     const struct limits *limits, ses_error *error)
{
    enum file_kind kind = FILE_ABSENT;
    int64_t is_alone = 0;
    int code = ses__file_look(file->target, &kind, error);

    *target = (struct backup_target){.config = ses__config_for_file(storage, file->target, &target->file),
                                     .key = target->key};
    if (code != SES_OK || kind == FILE_ABSENT)
        return code;
    code = check_replaceable(target, kind, error);
    if (code == SES_OK)
        code = ses__connection_open(&target->config, CONNECTION_WRITER, limits, &target->db, error);
    if (code != SES_OK)
        return code;
    struct connection *db = target->db;
    ses__connection_start_call(db, db->base.deadline_us, false, limits);
    code = insist(db, "PRAGMA journal_mode = DELETE", error);
    if (code == SES_OK)
        code = insist(db, "BEGIN EXCLUSIVE", error);
    if (code == SES_OK)
        code = ses__connection_read_int(db, "SELECT journal_mode = 'delete' FROM temp.pragma_journal_mode",
                                        &is_alone, error);
    if (code == SES_OK && !is_alone)
        code = refuse_open_target(target, error);
    ses__connection_end_call(db);
    return code;
}

int ses__backup_target_lock(struct backup_target *target, struct backup_file *file,
                            const struct storage *storage, const struct limits *limits, ses_error *error)
{
    int code = lock_once(target, file, storage, limits, error);
    const int64_t deadline =
        ses__limits_until(limits, ses__clock_steady_us() + target->config.busy_timeout_us);
    struct file_identity now;

    /* Another backup may have put its file there in the meantime. Then that one is locked. */
    while (target->file.known && ses__file_identify(target->config.path, &now) &&
           !ses__file_is_same(now, target->file.identity)) {
        ses__backup_target_unlock(target);
        if (ses__clock_steady_us() >= deadline)
            return refuse_open_target(target, error);
        ses__error_clear(error);
        code = lock_once(target, file, storage, limits, error);
    }
    return code == SES_OK ? ses__backup_file_remove_companions(file, error) : code;
}

int ses__backup_target_check(const struct backup_target *target, ses_error *error)
{
    struct file_identity now;
    bool is_there = ses__file_identify(target->config.path, &now);
    bool is_it = target->db ? is_there && ses__file_is_same(now, target->file.identity) : !is_there;

    return is_it ? SES_OK
                 : ses__error_set(error, SES_BUSY, "%s: another program has put a file there meanwhile",
                                  target->config.path);
}

void ses__backup_target_unlock(struct backup_target *target)
{
    ses__connection_close(target->db);
    target->db = NULL;
}
