/*
 * How far a log is settled: no function call of a live event up to that number lacks a response. A walk for
 * pending calls begins after it. It is a row in `derived` that only files have, left behind by such a walk,
 * at a live event that is not near the end. In place of an epoch the row has a sum, in which the epoch is: so
 * a row that is damaged, or of another epoch, tells nothing. A later rewind that goes back to before the
 * event takes it back, too, and then the row tells nothing until a redo.
 */
#include "base/error.h"
#include "base/hash.h"
#include "storage/sql/rows/words.h"
#include "storage/sql/session/jobs.h"

static int64_t settled_sum(const struct session_row *row, int64_t seq)
{
    const uint64_t sum = ses__sum64((uint64_t)row->id, (uint64_t)ses__row_epoch(row));
    return (int64_t)(ses__sum64(sum, (uint64_t)seq) >> 1);
}

/* `*seq` becomes 0 where nothing is known. */
static int read_settled(struct db *db, const struct session_row *row, int64_t *seq, ses_error *error)
{
    struct query query;

    *seq = 0;
    if (!db->traits->has_filters)
        return SES_OK;
    ses__query_open(&query, db, STATEMENT_DERIVED_FIND, error, VALUES(INT(row->id), STRING(SETTLED)));
    if (ses__query_row(&query)) {
        const int64_t settled = ses__query_int(&query, 0);
        if (settled <= row->last_seq && ses__query_int(&query, 1) == settled_sum(row, settled))
            *seq = settled;
    }
    return ses__query_end(&query);
}

static int put_settled(struct db *db, const struct session_row *row, int64_t seq, ses_error *error)
{
    return ses__query_do(db, STATEMENT_DERIVED_SET, error,
                         VALUES(INT(row->id), STRING(SETTLED), INT(seq), INT(settled_sum(row, seq))));
}

int ses__settled_find(struct db *db, const struct session_row *row, const struct live *live, int64_t *seq,
                      ses_error *error)
{
    const int code = read_settled(db, row, seq, error);

    if (code == SES_OK && live && !ses__live_has(live, *seq))
        *seq = 0;
    if (code == SES_CORRUPT) /* then all is read */
        ses__error_clear(error);
    return code == SES_CORRUPT ? SES_OK : code;
}

int ses__settled_keep(struct db *db, const struct session_row *before, const struct session_row *after,
                      int64_t last, ses_error *error)
{
    int64_t seq = 0;
    const int code = read_settled(db, before, &seq, error);

    return code == SES_OK && seq > 0 && seq <= last ? put_settled(db, after, seq, error) : code;
}

/* -------------------------------------------------------------------------------------- after a long walk */

struct settling {
    const struct session_row *walked;
    int64_t seq;
};

static int run_settle(struct db *db, void *context, ses_error *error)
{
    const struct settling *own = context;
    struct session_row row;
    const int code = ses__session_by_id(db, own->walked->id, &row, error);

    return code == SES_OK && ses__row_epoch(&row) == ses__row_epoch(own->walked)
               ? put_settled(db, &row, own->seq, error)
               : code;
}

int ses__door_settle(struct storage *storage, const struct limits *limits, const struct session_row *walked,
                     int64_t seq, ses_error *error)
{
    struct settling own = {walked, seq};

    return storage->engine->traits.has_filters && !storage->read_only
               ? ses__run_within(storage, limits, TO_WRITE(0), run_settle, &own, error)
               : SES_OK;
}
