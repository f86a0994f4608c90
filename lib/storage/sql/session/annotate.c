/* Setting the title and labels of a session. */
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/engine.h"

/* All that is there, whatever the row says is. */
static int read_annotations(struct db *db, const struct session_row *row, struct annotations *annotations,
                            ses_error *error)
{
    struct session_row all = *row;

    all.details |= DETAIL_TITLE | DETAIL_LABELS;
    return ses__load_details_of(db, &(struct described){.row = &all, .annotations = annotations}, error);
}

static int run_annotate(struct db *db, void *context, ses_error *error)
{
    struct annotate_op *op = context;
    int code = ses__session_of(db, &op->session, &op->row, error);

    if (code == SES_OK)
        code = read_annotations(db, &op->row, &op->annotations, error);
    if (code == SES_OK)
        code = ses__details_annotate(db, &op->row, &op->change, &op->annotations, error);
    return code == SES_OK ? read_annotations(db, &op->row, &op->annotations, error) : code;
}

int ses__door_annotate(struct storage *storage, struct annotate_op *op, ses_error *error)
{
    ses__annotations_init(&op->annotations, op->allocator);
    return ses__run_write(storage, run_annotate, op, 0, error);
}
