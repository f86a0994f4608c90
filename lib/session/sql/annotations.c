/* The title and the labels of a session, its place in the archive, and how much of it is remembered. */
#include "base/error.h"
#include "session/session.h"
#include "storage/sql/rows/event.h"

/* ------------------------------------------------------------------------------------------- setting */

struct annotation {
    const struct session_call *call;
    struct limits limits;
    struct annotating change;
    /* out */
    struct session_row row;
    struct annotations annotations; /* after the change; to be freed in any case */
};

/* The row as one with all of them: they are read even if the row says that there are none. */
static struct session_row with_all_details(const struct session_row *row)
{
    struct session_row all = *row;

    all.details |= DETAIL_TITLE | DETAIL_LABELS | DETAIL_ARCHIVED | DETAIL_REMEMBERED;
    return all;
}

static int find_annotated(struct db *db, struct annotation *own, struct annotations *before, ses_error *error)
{
    const struct session_ref *ref = &own->call->ref;
    struct session_row all;
    const struct described described = {.row = &all, .annotations = before};
    struct details_of asked;
    struct query session;
    int code = ses__session_ask(&session, db, ref, &own->row, error);

    if (code != SES_OK)
        return code;
    all = with_all_details(&own->row);
    ses__details_of_ask(&asked, db, all.id ? &described : NULL, error);
    code = ses__session_take(&session, ref, &own->row);
    all = with_all_details(&own->row);
    return code == SES_OK ? ses__details_of_take(&asked, &described) : code;
}

/* A session that is archived keeps its time, and its events that are remembered stay so. */
static int settle_change(struct annotating *change, const struct session_row *row,
                         const struct annotations *before, ses_error *error)
{
    if (change->sets_archived && change->archived_us != 0 && before->archived_us != 0)
        change->archived_us = before->archived_us;
    if (!change->sets_remembered || change->remembered_seq == 0)
        return SES_OK;
    if (row->details & DETAIL_MEMORY)
        return ses__error_set(error, SES_INVALID,
                              "the session is of the kind memory, which is remembered as a whole");
    if (change->remembered_seq > MAX_SEQ)
        change->remembered_seq = row->last_seq;
    if (change->remembered_seq < before->remembered_seq)
        change->remembered_seq = before->remembered_seq;
    return SES_OK;
}

static int write_change(struct db *db, struct annotation *own, const struct annotating *change,
                        const struct annotations *before, ses_error *error)
{
    struct annotated now = {.has_title = before->title != NULL};

    if (change->sets_archived)
        return ses__details_archive(db, &own->row, change->archived_us, error);
    if (change->sets_remembered)
        return ses__details_remember(db, &own->row, change->remembered_seq, error);
    for (size_t i = 0; i < before->label_count; i++)
        now.other_labels += !ses__annotating_names(change, ses__span_of(before->labels[i].name));
    return ses__details_annotate(db, &own->row, change, &now, error);
}

static int run_annotation(struct db *db, void *context, ses_error *error)
{
    struct annotation *own = context;
    struct annotating change = own->change;
    struct annotations before;

    ses__annotations_init(&before, db->allocator);
    int code = find_annotated(db, own, &before, error);
    if (code == SES_OK)
        code = settle_change(&change, &own->row, &before, error);
    if (code == SES_OK)
        code = write_change(db, own, &change, &before, error);
    if (code == SES_OK)
        code = ses__annotations_change(&own->annotations, &before, &change, error);
    ses__annotations_free(&before);
    return code;
}

/* After the commit the handle gets the new title and labels; that cannot fail. */
static int annotate(struct annotation *own, ses_error *error)
{
    const struct session_call *call = own->call;

    ses__annotations_init(&own->annotations, &call->store->allocator);
    const int code =
        ses__run_within(call->store->storage, &own->limits, TO_WRITE(0), run_annotation, own, error);
    if (code == SES_OK && call->snapshot) {
        ses__snapshot_annotate(call->snapshot, &own->annotations);
        call->snapshot->row.details = own->row.details;
    }
    ses__annotations_free(&own->annotations);
    return code;
}

static int set_title(const struct target *target, const char *title, const ses_call_options *options,
                     ses_error *error)
{
    struct session_call call;
    struct annotation own = {.call = &call};
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    code = ses__take_call_options(call.store, options, &own.limits, error);
    if (code == SES_OK)
        code = ses__annotating_take_title(&own.change, title, error);
    return ses__call_end(&call, code == SES_OK ? annotate(&own, error) : code);
}

int ses_title_set(ses_session *session, const char *title, const ses_call_options *options, ses_error *error)
{
    return set_title(ON(session), title, options, error);
}

int ses_title_set_by_key(ses_store *store, const ses_key *key, const char *title,
                         const ses_call_options *options, ses_error *error)
{
    return set_title(AT(store, key), title, options, error);
}

static int set_labels(const struct target *target, const ses_label *labels, size_t count,
                      const ses_call_options *options, ses_error *error)
{
    struct session_call call;
    struct annotation own = {.call = &call};
    struct arena arena;
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    ses__arena_init(&arena, &call.store->allocator);
    code = ses__take_call_options(call.store, options, &own.limits, error);
    if (code == SES_OK)
        code = ses__annotating_take_labels(&own.change, labels, count, false, &arena, error);
    if (code == SES_OK)
        code = annotate(&own, error);
    ses__arena_free(&arena);
    return ses__call_end(&call, code);
}

int ses_labels_set(ses_session *session, const ses_label *labels, size_t count,
                   const ses_call_options *options, ses_error *error)
{
    return set_labels(ON(session), labels, count, options, error);
}

int ses_labels_set_by_key(ses_store *store, const ses_key *key, const ses_label *labels, size_t count,
                          const ses_call_options *options, ses_error *error)
{
    return set_labels(AT(store, key), labels, count, options, error);
}

static int set_archived(const struct target *target, int archived, const ses_call_options *options,
                        ses_error *error)
{
    struct session_call call;
    struct annotation own = {.call = &call, .change = {.sets_archived = true}};
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    code = ses__take_call_options(call.store, options, &own.limits, error);
    if (archived) {
        const int64_t now_us = ses__store_now(call.store);
        own.change.archived_us = now_us > 0 ? now_us : 1;
    }
    return ses__call_end(&call, code == SES_OK ? annotate(&own, error) : code);
}

int ses_archive_set(ses_session *session, int archived, const ses_call_options *options, ses_error *error)
{
    return set_archived(ON(session), archived, options, error);
}

int ses_archive_set_by_key(ses_store *store, const ses_key *key, int archived,
                           const ses_call_options *options, ses_error *error)
{
    return set_archived(AT(store, key), archived, options, error);
}

int ses__begun_remember(ses_store *store, const ses_key *key, int64_t seq, const struct limits *limits,
                        ses_error *error)
{
    const struct session_call call = {.store = store, .key = *key, .ref = {key, NULL}};
    struct annotation own = {
        .call = &call, .limits = *limits, .change = {.sets_remembered = true, .remembered_seq = seq}};

    return annotate(&own, error);
}

/* ------------------------------------------------------------------------------------------- reading */

int64_t ses_session_remembered_seq(const ses_session *session)
{
    return session->snapshot.annotations.remembered_seq;
}

int64_t ses_session_archived_us(const ses_session *session)
{
    return session->snapshot.annotations.archived_us;
}

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
