/* Reads from a replica, if the program has named one. It may be behind. */
#include "base/error.h"
#include "storage/postgres/operations.h"
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

/* The replica if there is one, otherwise the storage itself. */
static int choose_side(struct storage *base, struct storage **side, ses_error *error)
{
    struct postgres *replica = ((struct postgres *)base)->replica;

    *side = replica ? &replica->base.base : base;
    return replica ? look_at_replica(replica, error) : SES_OK;
}

#define READ_FROM_SIDE(name, type)                                                       \
    int ses__postgres_##name(struct storage *storage, struct type *op, ses_error *error) \
    {                                                                                    \
        struct storage *side;                                                            \
        const int code = choose_side(storage, &side, error);                             \
        return code == SES_OK ? ses__sql_##name(side, op, error) : code;                 \
    }
READ_FROM_SIDE(list, list_op)
READ_FROM_SIDE(list_count, count_op)
READ_FROM_SIDE(list_names, names_op)
READ_FROM_SIDE(visit, visit_op)
#undef READ_FROM_SIDE

/* True if a page comes from a server that is behind the one of the last page: it has fewer events or none, or its log
 * looks damaged. */
static bool is_behind(const struct page_op *op, int code)
{
    return (code == SES_OK || code == SES_CORRUPT) && !op->first &&
           op->row.version < op->session.known->version;
}

int ses__postgres_page(struct storage *storage, struct page_op *op, ses_error *error)
{
    struct storage *side;
    int code = choose_side(storage, &side, error);

    if (code == SES_OK)
        code = ses__sql_page(side, op, error);
    if (!is_behind(op, code))
        return code;
    (void)ses__error_set(error, SES_STALE,
                         "%s: the server that answered is behind the one before it: open another cursor",
                         ((const struct postgres *)side)->config.name);
    if (error)
        error->version = op->row.version;
    return SES_STALE;
}
