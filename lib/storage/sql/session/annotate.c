/* Setting the title and labels of a session. */
#include "storage/sql/session/jobs.h"

/* All that is there is read, whatever the row says is. */
static struct session_row with_all_details(const struct session_row *row)
{
    struct session_row all = *row;

    all.details |= DETAIL_TITLE | DETAIL_LABELS;
    return all;
}

static int find_annotated(struct db *db, struct annotate_op *op, struct annotations *before, ses_error *error)
{
    struct session_row all;
    const struct described described = {.row = &all, .annotations = before};
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

static int annotate_found(struct db *db, struct annotate_op *op, const struct annotations *before,
                          ses_error *error)
{
    struct annotated now = {.has_title = before->title != NULL};

    for (size_t i = 0; i < before->label_count; i++)
        now.other_labels += !ses__annotating_names(&op->change, ses__span_of(before->labels[i].name));
    int code = ses__details_annotate(db, &op->row, &op->change, &now, error);
    return code == SES_OK ? ses__annotations_change(&op->annotations, before, &op->change, error) : code;
}

static int run_annotate(struct db *db, void *context, ses_error *error)
{
    struct annotate_op *op = context;
    struct annotations before;

    ses__annotations_init(&before, db->allocator);
    int code = find_annotated(db, op, &before, error);
    if (code == SES_OK)
        code = annotate_found(db, op, &before, error);
    ses__annotations_free(&before);
    return code;
}

int ses__door_annotate(struct storage *storage, struct annotate_op *op, ses_error *error)
{
    ses__annotations_init(&op->annotations, op->allocator);
    return ses__run_within(storage, &op->limits, TO_WRITE(0), run_annotate, op, error);
}
