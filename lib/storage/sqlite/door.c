/*
 * The operations that each engine does in its own way and few programs use. Other engines have theirs in
 * their struct. SQLite's are called by name instead, because every program has its struct: so only those that
 * check a store link what checks it. Callers of the door do not see that (test/layers.sh).
 */
#include "storage/sql/upkeep/check.h"
#include "storage/sqlite/parts.h"

int ses__door_check(struct storage *storage, struct check_op *op, ses_error *error)
{
    const struct engine *engine = storage->engine;
    return ses__check_by(storage, op, engine->check ? engine->check : ses__sqlite_check, error);
}

int ses__door_maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    const struct engine *engine = storage->engine;
    return (engine->maintain ? engine->maintain : ses__sqlite_maintain)(storage, op, error);
}

int ses__door_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    const struct engine *engine = storage->engine;
    return (engine->space ? engine->space : ses__sqlite_space)(storage, op, error);
}

int ses__door_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    const struct engine *engine = storage->engine;
    return (engine->watch ? engine->watch : ses__sqlite_watch)(storage, op, error);
}

int ses__engine_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                           ses_error *error)
{
    const struct engine *engine = storage->engine;
    return (engine->run_delete ? engine->run_delete : ses__sqlite_run_delete)(storage, erasure, job, context,
                                                                              error);
}

void ses__door_interrupt(struct storage *storage)
{
    const struct engine *engine = storage->engine;
    (engine->interrupt ? engine->interrupt : ses__sqlite_interrupt)(storage);
}

void ses__door_describe(const struct storage *storage, ses_info *info)
{
    const struct engine *engine = storage->engine;

    info->engine = engine->name;
    (engine->describe ? engine->describe : ses__sqlite_describe)(storage, info);
}

void ses__door_count(struct storage *storage, ses_stats *stats)
{
    const struct engine *engine = storage->engine;
    (engine->count ? engine->count : ses__sqlite_count)(storage, stats);
}
