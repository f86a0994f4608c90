/* How a store ends, which every engine does in its own way. */
#include "storage/sql/engine.h"

void ses__door_close(struct storage *storage)
{
    storage->engine->close(storage);
}

void ses__door_release(struct storage *storage)
{
    storage->engine->release(storage);
}
