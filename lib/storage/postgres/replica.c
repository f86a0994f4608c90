/* Reads from a replica, if the program has named one. It may be behind. */
#include "base/error.h"
#include "storage/postgres/parts.h"

/* Before the first read: rows of another database, or the absence of rows where the store does not exist yet, must not be
 * taken for the store's. */
static int look_at_replica(struct postgres *replica, ses_error *error)
{
    if (atomic_load(&replica->looked_at))
        return SES_OK;
    int code = ses__postgres_migrate(replica, error);
    if (code == SES_NOTFOUND || code == SES_NOTASTORE || code == SES_TOONEW || code == SES_READONLY) {
        code = SES_CANTOPEN;
        if (error)
            error->code = code;
    }
    if (code == SES_OK)
        atomic_store(&replica->looked_at, true);
    return code;
}

int ses__postgres_side(struct postgres *storage, const struct manner *manner, struct postgres **side,
                       ses_error *error)
{
    const bool turns = manner->may_be_behind && storage->replica;

    *side = turns ? storage->replica : storage;
    return turns ? look_at_replica(storage->replica, error) : SES_OK;
}
