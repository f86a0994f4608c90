/* As door.c: few programs read bytes, and a check does, which door.c reaches. */
#include "storage/sqlite/parts.h"

struct span ses__query_bytes(struct query *query, int column)
{
    const struct engine *engine = query->db->engine;
    return (engine->bytes_of ? engine->bytes_of : ses__sqlite_bytes_of)(query, column);
}
