/* The title and the labels of a session. */
#include "base/error.h"
#include "session/session.h"

/* ------------------------------------------------------------------------------------------- setting */

/* `op` holds the whole change. After the commit the handle gets the new title and labels; that cannot
 * fail. */
static int annotate(const struct session_call *call, struct annotate_op *op, ses_error *error)
{
    op->session = call->ref;
    op->allocator = &call->store->allocator;
    int code = ses__door_annotate(call->store->storage, op, error);
    if (code == SES_OK && call->snapshot) {
        ses__snapshot_annotate(call->snapshot, &op->annotations);
        call->snapshot->row.details = op->row.details;
    }
    ses__annotations_free(&op->annotations);
    return code;
}

static int set_title(const struct session_call *call, const char *title, const ses_call_options *options,
                     ses_error *error)
{
    struct annotate_op op = {.change = {.sets_title = false}};
    int code = ses__take_call_options(call->store, options, &op.limits, error);

    if (code == SES_OK)
        code = ses__annotating_take_title(&op.change, title, error);
    return code == SES_OK ? annotate(call, &op, error) : code;
}

int ses_title_set(ses_session *session, const char *title, const ses_call_options *options, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, ON(session), error);
    return code == SES_OK ? ses__call_end(&call, set_title(&call, title, options, error)) : code;
}

int ses_title_set_by_key(ses_store *store, const ses_key *key, const char *title,
                         const ses_call_options *options, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, AT(store, key), error);
    return code == SES_OK ? ses__call_end(&call, set_title(&call, title, options, error)) : code;
}

static int set_labels(const struct session_call *call, const ses_label *labels, size_t count,
                      const ses_call_options *options, ses_error *error)
{
    struct annotate_op op = {.change = {.sets_title = false}};
    struct arena arena;
    int code = ses__take_call_options(call->store, options, &op.limits, error);

    if (code != SES_OK)
        return code;
    ses__arena_init(&arena, &call->store->allocator);
    code = ses__annotating_take_labels(&op.change, labels, count, false, &arena, error);
    if (code == SES_OK)
        code = annotate(call, &op, error);
    ses__arena_free(&arena);
    return code;
}

int ses_labels_set(ses_session *session, const ses_label *labels, size_t count,
                   const ses_call_options *options, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, ON(session), error);
    return code == SES_OK ? ses__call_end(&call, set_labels(&call, labels, count, options, error)) : code;
}

int ses_labels_set_by_key(ses_store *store, const ses_key *key, const ses_label *labels, size_t count,
                          const ses_call_options *options, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, AT(store, key), error);
    return code == SES_OK ? ses__call_end(&call, set_labels(&call, labels, count, options, error)) : code;
}

/* ------------------------------------------------------------------------------------------- reading */

const char *ses_session_title(const ses_session *session)
{
    return session->snapshot.annotations.title;
}

size_t ses_session_label_count(const ses_session *session)
{
    return session->snapshot.annotations.label_count;
}

const ses_label *ses_session_label(const ses_session *session, size_t index)
{
    const struct annotations *own = &session->snapshot.annotations;
    return index < own->label_count ? &own->labels[index] : NULL;
}

const char *ses_session_label_value(const ses_session *session, const char *name)
{
    const ses_label *label = ses__annotations_find(&session->snapshot.annotations, name);
    return label ? label->value : NULL;
}
