/* The operations that every engine does in its own way. */
#include "storage/sql/engine.h"

int ses__door_maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    return storage->engine->maintain(storage, op, error);
}

int ses__door_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return storage->engine->space(storage, op, error);
}

int ses__door_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return storage->engine->watch(storage, op, error);
}

void ses__door_interrupt(struct storage *storage)
{
    storage->engine->interrupt(storage);
}

void ses__door_describe(const struct storage *storage, ses_info *info)
{
    info->engine = storage->engine->name;
    storage->engine->describe(storage, info);
}

void ses__door_count(struct storage *storage, ses_stats *stats)
{
    storage->engine->count(storage, stats);
}

void ses__door_close(struct storage *storage)
{
    storage->engine->close(storage);
}

void ses__door_release(struct storage *storage)
{
    storage->engine->release(storage);
}
