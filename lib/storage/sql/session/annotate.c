/* Setting the title and labels of a session. */
#include "storage/sql/session/jobs.h"

/* All that is there is read, whatever the row says is. */
static struct session_row with_all_details(const struct session_row *row)
{
    struct session_row all = *row;

    all.details |= DETAIL_TITLE | DETAIL_LABELS;
    return all;
}

static int find_annotated(struct db *db, struct annotate_op *op, ses_error *error)
{
    struct session_row all;
    const struct described described = {.row = &all, .annotations = &op->annotations};
    struct details_of asked;
    struct query session;
    int code = ses__session_ask(&session, db, &op->session, &op->row, error);

    if (code != SES_OK)
        return code;
    all = with_all_details(&op->row);
    ses__details_of_ask(&asked, db, all.id ? &described : NULL, error);
    code = ses__session_take(&session, &op->session, &op->row);
    all = with_all_details(&op->row);
    return code == SES_OK ? ses__details_of_take(&asked, &described) : code;
}

/* As they are after the change. */
static int read_annotations(struct db *db, struct annotate_op *op, ses_error *error)
{
    const struct session_row all = with_all_details(&op->row);
    const struct described described = {.row = &all, .annotations = &op->annotations};
    struct details_of asked;

    ses__details_of_ask(&asked, db, &described, error);
    ses__db_ask_last(db);
    return ses__details_of_take(&asked, &described);
}

static int run_annotate(struct db *db, void *context, ses_error *error)
{
    struct annotate_op *op = context;
    int code = find_annotated(db, op, error);

    if (code == SES_OK)
        code = ses__details_annotate(db, &op->row, &op->change, &op->annotations, error);
    return code == SES_OK ? read_annotations(db, op, error) : code;
}

int ses__door_annotate(struct storage *storage, struct annotate_op *op, ses_error *error)
{
    ses__annotations_init(&op->annotations, op->allocator);
    return ses__run(storage, TO_WRITE(0), run_annotate, op, error);
}
