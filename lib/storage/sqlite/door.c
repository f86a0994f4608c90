/*
 * The operations that each engine does in its own way and few programs use. Other engines have theirs in
 * their struct. SQLite's are called by name instead, because every program has its struct: so only those that
 * check a store link what checks it. Callers of the door do not see that (test/layers.sh).
 */
#include "storage/sql/upkeep/check.h"
#include "storage/sqlite/parts.h"

#define OPERATION(storage, name) ((storage)->engine->name ? (storage)->engine->name : ses__sqlite_##name)

int ses__door_check(struct storage *storage, struct check_op *op, ses_error *error)
{
    return ses__check_by(storage, op, OPERATION(storage, check), error);
}

int ses__door_maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    return OPERATION(storage, maintain)(storage, op, error);
}

int ses__door_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return OPERATION(storage, space)(storage, op, error);
}

int ses__door_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return OPERATION(storage, watch)(storage, op, error);
}

int ses__engine_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                           ses_error *error)
{
    return OPERATION(storage, run_delete)(storage, erasure, job, context, error);
}

void ses__door_interrupt(struct storage *storage)
{
    OPERATION(storage, interrupt)(storage);
}

void ses__door_describe(const struct storage *storage, ses_info *info)
{
    info->engine = storage->engine->name;
    OPERATION(storage, describe)(storage, info);
}

void ses__door_count(struct storage *storage, ses_stats *stats)
{
    OPERATION(storage, count)(storage, stats);
}
