/* The optional details of sessions: parent, title, labels, archive, kind, memory. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

/* -------------------------------------------------------------------------------------------- reading */

/* A walk over rows of many sessions: those of one are side by side, and come in the order of the sessions. */
struct details_walk {
    struct query *query;
    const struct described *sessions;
    size_t count;
    int64_t bits; /* of the sessions that are walked */
    int label;    /* the column of a label's name */
    int archived; /* that of the time of the archive, before the names of a child's and what is remembered */
    size_t next;  /* the first session after it */
    const struct described *now; /* whose row was read; NULL: none yet */
};

enum {
    LINKS = DETAIL_PARENT | DETAIL_CHILD,
    DETAILS_ROW = LINKS | DETAIL_TITLE | DETAIL_ARCHIVED | DETAIL_REMEMBERED
};

static int refuse_details(const struct details_walk *walk, int64_t id, const char *what)
{
    return ses__error_set(walk->query->error, SES_CORRUPT, "%s: %s of session number %lld %s",
                          walk->query->db->name, what, (long long)id,
                          "is none that a session can have, or is out of place");
}

/* The details to read for the session, of those. */
static int64_t wanted_of(const struct described *session, int64_t bits)
{
    const int64_t links = session->snapshot ? 0 : LINKS;
    return session->row->details & bits & ~links;
}

/* One that is a fork or a child must have a row. */
static int pass_session(const struct details_walk *walk, const struct described *session)
{
    if (!(wanted_of(session, walk->bits) & LINKS))
        return SES_OK;
    return ses__error_set(walk->query->error, SES_CORRUPT,
                          "%s: session number %lld has no row in session_details", walk->query->db->name,
                          (long long)session->row->id);
}

/* Finds the session of the row. */
static int walk_to(struct details_walk *walk, int64_t id, const char *what)
{
    while (walk->next < walk->count) {
        const struct described *session = &walk->sessions[walk->next++];
        if (session->row->id == id && wanted_of(session, walk->bits)) {
            walk->now = session;
            return SES_OK;
        }
        int code = pass_session(walk, session);
        if (code != SES_OK)
            return code;
    }
    return refuse_details(walk, id, what);
}

static bool is_of_type_text(struct query *query, int column)
{
    return ses__query_type(query, column) == SQL_TEXT;
}

/* The names of a session of the app, of which the user's is in that column; in the snapshot's arena. */
static int keep_link(struct details_walk *walk, int column, const ses_key **link, const char *what)
{
    struct query *query = walk->query;
    struct arena *arena = &walk->now->snapshot->arena;
    const struct span user = ses__query_text(query, column);
    const struct span name = ses__query_text(query, column + 1);

    if (query->code != SES_OK)
        return query->code;
    if (!ses__is_id(user) || !ses__is_id(name))
        return refuse_details(walk, walk->now->row->id, what);
    const ses_key names = {ses__arena_text(arena, walk->now->app, strlen(walk->now->app)),
                           ses__arena_text(arena, user.ptr, user.len),
                           ses__arena_text(arena, name.ptr, name.len)};
    ses_key *key = ses__arena_new(arena, sizeof *key);
    if (!key || !names.app || !names.user || !names.session)
        return ses__error_nomem(query->error);
    *key = names;
    *link = key;
    return SES_OK;
}

/* A parent whose number can be that of its event. */
static int keep_parent(struct details_walk *walk)
{
    struct snapshot *snapshot = walk->now->snapshot;
    const int64_t seq = ses__query_int(walk->query, 3);

    snapshot->parent_seq = seq;
    return seq >= 0 && seq <= MAX_SEQ ? keep_link(walk, 1, &snapshot->parent, "the parent")
                                      : refuse_details(walk, walk->now->row->id, "the parent");
}

/* Another program may have removed it: then there is none. */
static int keep_title(struct details_walk *walk)
{
    struct query *query = walk->query;

    if (ses__query_type(query, 4) == SQL_NULL)
        return SES_OK;
    bool is_text = is_of_type_text(query, 4);
    struct span title = ses__query_text(query, 4);
    if (query->code != SES_OK)
        return query->code;
    if (!is_text || !ses__is_title(title))
        return refuse_details(walk, walk->now->row->id, "the title");
    return ses__annotations_put_title(walk->now->annotations, title) ? SES_OK
                                                                     : ses__error_nomem(query->error);
}

/* Another program may have taken it out of the archive. */
static int keep_archived(struct details_walk *walk)
{
    struct query *query = walk->query;
    const bool is_archived = ses__query_type(query, walk->archived) != SQL_NULL;
    const int64_t archived_us = is_archived ? ses__query_int(query, walk->archived) : 0;

    if (query->code == SES_OK && is_archived && (archived_us <= 0 || !ses__timestamp_holds(archived_us)))
        return refuse_details(walk, walk->now->row->id, "the time of the archive");
    walk->now->annotations->archived_us = archived_us;
    return query->code;
}

static int keep_remembered(struct details_walk *walk)
{
    struct query *query = walk->query;
    const bool is_remembered = ses__query_type(query, walk->archived + 3) != SQL_NULL;
    const int64_t seq = is_remembered ? ses__query_int(query, walk->archived + 3) : 0;

    if (query->code == SES_OK && is_remembered && (seq < 1 || seq > MAX_SEQ))
        return refuse_details(walk, walk->now->row->id, "the number of the last event that is remembered");
    walk->now->annotations->remembered_seq = seq;
    return query->code;
}

static int take_details(struct details_walk *walk)
{
    int code = walk_to(walk, ses__query_int(walk->query, 0), "the row of session_details");

    if (code == SES_OK && (wanted_of(walk->now, DETAILS_ROW) & DETAIL_PARENT))
        code = keep_parent(walk);
    if (code == SES_OK && (wanted_of(walk->now, DETAILS_ROW) & DETAIL_TITLE))
        code = keep_title(walk);
    if (code == SES_OK && (wanted_of(walk->now, DETAILS_ROW) & DETAIL_ARCHIVED))
        code = keep_archived(walk);
    if (code == SES_OK && (wanted_of(walk->now, DETAILS_ROW) & DETAIL_CHILD))
        code = keep_link(walk, walk->archived + 1, &walk->now->snapshot->child_of,
                         "the session that it is a child of");
    if (code == SES_OK && (wanted_of(walk->now, DETAILS_ROW) & DETAIL_REMEMBERED))
        code = keep_remembered(walk);
    return code;
}

static void pass_others(struct details_walk *walk)
{
    while (walk->query->code == SES_OK && walk->next < walk->count)
        walk->query->code = pass_session(walk, &walk->sessions[walk->next++]);
}

static int take_rows(struct details_walk *walk, int (*take)(struct details_walk *walk))
{
    while (ses__query_row(walk->query))
        ses__query_keep(walk->query, take(walk));
    pass_others(walk);
    return ses__query_end(walk->query);
}

/* Labels come sorted by name, so that each comes once. */
static int take_label(struct details_walk *walk)
{
    struct query *query = walk->query;
    const int64_t id = ses__query_int(query, 0);
    int code = walk->now && walk->now->row->id == id ? SES_OK : walk_to(walk, id, "a label");

    if (code != SES_OK)
        return code;
    struct annotations *own = walk->now->annotations;
    const bool are_texts = is_of_type_text(query, walk->label) && is_of_type_text(query, walk->label + 1);
    const struct span name = ses__query_text(query, walk->label);
    const struct span value = ses__query_text(query, walk->label + 1);
    const char *last = own->label_count ? own->labels[own->label_count - 1].name : "";
    if (query->code != SES_OK)
        return query->code;
    if (!are_texts || ses__query_int(query, walk->label + 2) != walk->now->row->app_id ||
        own->label_count >= SES_LABELS_MAX || !ses__is_label_name(name) || !ses__is_label_value(value) ||
        strcmp(last, name.ptr) >= 0)
        return refuse_details(walk, walk->now->row->id, "a label");
    return ses__annotations_add_label(own, name, value) ? SES_OK : ses__error_nomem(query->error);
}

/* Frees the details that an earlier run has read. */
static void forget_details(const struct described *session)
{
    ses__annotations_free(session->annotations);
    if (session->snapshot)
        session->snapshot->parent = session->snapshot->child_of = NULL;
}

/* The numbers of the sessions that have such details. */
static struct owner_list choose_owners(const struct described_list *list, int64_t bits, int64_t *ids)
{
    struct owner_list owners = {ids, 0};

    for (size_t i = 0; i < list->count; i++) {
        if (wanted_of(&list->sessions[i], bits))
            ids[owners.count++] = list->sessions[i].row->id;
    }
    return owners;
}

void ses__details_ask(struct details_asked *asked, struct db *db, const struct described_list *list,
                      ses_error *error)
{
    *asked = (struct details_asked){.has_details = !list, .has_labels = !list};
    if (list) {
        asked->described = choose_owners(list, DETAILS_ROW, list->ids);
        asked->labelled = choose_owners(list, DETAIL_LABELS, list->ids + list->count);
        asked->has_details = asked->described.count > 0;
        asked->has_labels = asked->labelled.count > 0;
    }
    if (asked->has_details)
        ses__query_open(&asked->details, db, STATEMENT_DETAILS_OF_OWNERS, error,
                        VALUES(OWNERS(list ? &asked->described : NULL)));
    if (asked->has_labels)
        ses__query_open(&asked->labels, db, STATEMENT_LABELS_OF_OWNERS, error,
                        VALUES(OWNERS(list ? &asked->labelled : NULL)));
}

static bool is_wanted(const struct described_list *list, int64_t bits)
{
    bool wanted = false;

    for (size_t i = 0; i < list->count; i++)
        wanted = wanted || wanted_of(&list->sessions[i], bits);
    return wanted;
}

int ses__details_take(struct details_asked *asked, const struct described_list *list)
{
    struct details_walk rows = {.query = &asked->details,
                                .sessions = list->sessions,
                                .count = list->count,
                                .bits = DETAILS_ROW,
                                .archived = 5};
    struct details_walk labels = {.query = &asked->labels,
                                  .sessions = list->sessions,
                                  .count = list->count,
                                  .bits = DETAIL_LABELS,
                                  .label = 1};
    int code = SES_OK;

    for (size_t i = 0; i < list->count; i++)
        forget_details(&list->sessions[i]);
    if (asked->has_details && is_wanted(list, DETAILS_ROW))
        code = take_rows(&rows, take_details);
    if (code == SES_OK && asked->has_labels && is_wanted(list, DETAIL_LABELS))
        code = take_rows(&labels, take_label);
    return code;
}

/* ------------------------------------------------------------------------------------- of one session */

enum { ALL_DETAILS = DETAILS_ROW | DETAIL_LABELS, TITLE_COLUMN = 4, LABEL_COLUMN = 5, ARCHIVED_COLUMN = 8 };

void ses__details_of_ask(struct details_of *asked, struct db *db, const struct described *session,
                         ses_error *error)
{
    asked->any = !session || wanted_of(session, ALL_DETAILS);
    if (!asked->any)
        return;
    ses__query_open(&asked->query, db, STATEMENT_DETAILS_OF_SESSION, error,
                    VALUES(OWNER(session ? session->row->id : 0)));
}

/* The row of session_details, if there is one, comes before the labels. */
int ses__details_of_take(struct details_of *asked, const struct described *session)
{
    struct query *query = &asked->query;
    struct details_walk row = {
        .query = query, .sessions = session, .count = 1, .bits = DETAILS_ROW, .archived = ARCHIVED_COLUMN};
    struct details_walk labels = {
        .query = query, .sessions = session, .count = 1, .bits = DETAIL_LABELS, .label = LABEL_COLUMN};

    forget_details(session);
    if (!asked->any)
        return SES_OK;
    while (ses__query_row(query)) {
        const bool is_label = ses__query_type(query, LABEL_COLUMN) != SQL_NULL;
        if (wanted_of(session, is_label ? DETAIL_LABELS : DETAILS_ROW))
            ses__query_keep(query, is_label ? take_label(&labels) : take_details(&row));
    }
    pass_others(&row);
    return ses__query_end(query);
}

int ses__load_details_of(struct db *db, const struct described *session, ses_error *error)
{
    struct details_of asked;

    ses__details_of_ask(&asked, db, session, error);
    return ses__details_of_take(&asked, session);
}

/* -------------------------------------------------------------------------------------------- writing */

int ses__details_annotate(struct db *db, struct session_row *row, const struct annotating *change,
                          const struct annotated *now, ses_error *error)
{
    const bool has_title = change->sets_title ? change->title != NULL : now->has_title;
    size_t labels = now->other_labels;

    for (size_t i = 0; i < change->label_count; i++)
        labels += change->labels[i].value != NULL;
    int code = ses__annotating_check_count(labels, error);
    if (code == SES_OK && change->sets_title && (has_title || now->has_title))
        code = ses__query_do(db, STATEMENT_TITLE_SET, error, VALUES(OWNER(row->id), STRING(change->title)));
    for (size_t i = 0; i < change->label_count && code == SES_OK; i++) {
        const ses_label *label = &change->labels[i];
        code = ses__query_do(db, label->value ? STATEMENT_LABEL_SET : STATEMENT_LABEL_REMOVE, error,
                             VALUES(OWNER(row->id), STRING(label->name), STRING(label->value),
                                    INT_IF(label->value && row->app_id != 0, row->app_id)));
    }
    int64_t bits = row->details & ~(int64_t)(DETAIL_TITLE | DETAIL_LABELS);
    bits |= (has_title ? DETAIL_TITLE : 0) | (labels > 0 ? DETAIL_LABELS : 0);
    if (code != SES_OK || row->details == bits)
        return code;
    row->details = bits;
    return ses__change_one(db, STATEMENT_SESSION_DESCRIBE, "sessions", error,
                           VALUES(OWNER(row->id), INT(bits)));
}

/* A number in the row of session_details, which 0 removes, and its bit in that of the session. */
static int set_number(struct db *db, struct session_row *row, enum session_detail bit,
                      const struct statement *set, int64_t number, ses_error *error)
{
    const bool was_there = row->details & bit;
    const bool is_there = number != 0;
    int code = SES_OK;

    if (is_there || was_there)
        code = ses__query_do(db, set, error, VALUES(OWNER(row->id), INT_IF(is_there, number)));
    return code == SES_OK && is_there != was_there ? ses__session_shelve(db, row, row->details ^ bit, error)
                                                   : code;
}

int ses__session_shelve(struct db *db, struct session_row *row, int64_t details, ses_error *error)
{
    row->details = details;
    return ses__change_one(db, STATEMENT_SESSION_SHELVE, "sessions", error,
                           VALUES(OWNER(row->id), INT(details), INT(ses__active_of(row))));
}

int ses__details_make_child(struct db *db, struct session_row *row, const ses_key *child_of, ses_error *error)
{
    const int code = ses__query_do(db, STATEMENT_CHILD_OF_SET, error,
                                   VALUES(OWNER(row->id), STRING(child_of->user), STRING(child_of->session)));

    return code == SES_OK ? ses__session_shelve(db, row, row->details | DETAIL_CHILD, error) : code;
}

int ses__details_archive(struct db *db, struct session_row *row, int64_t archived_us, ses_error *error)
{
    return set_number(db, row, DETAIL_ARCHIVED, STATEMENT_ARCHIVED_SET, archived_us, error);
}

int ses__details_remember(struct db *db, struct session_row *row, int64_t seq, ses_error *error)
{
    return set_number(db, row, DETAIL_REMEMBERED, STATEMENT_REMEMBERED_SET, seq, error);
}

int ses__remembered_of(struct db *db, int64_t session_id, int64_t *seq, ses_error *error)
{
    *seq = 0;
    int code = ses__query_number(db, STATEMENT_REMEMBERED_SEQ, seq, error, VALUES(INT(session_id)));
    return code == SES_NOTFOUND ? SES_OK : code;
}

int ses__details_add(struct db *db, struct session_row *row, struct span initial,
                     const struct annotating *annotating, ses_error *error)
{
    static const struct annotated none = {.has_title = false};
    int code = SES_OK;

    if (initial.ptr)
        code = ses__query_do(db, STATEMENT_DETAILS_ADD, error, VALUES(OWNER(row->id), TEXT(initial)));
    return code == SES_OK ? ses__details_annotate(db, row, annotating, &none, error) : code;
}

int ses__origin_ensure(struct db *db, int64_t session_id, ses_error *error)
{
    uint64_t random = 0;

    if (!ses__random_bytes(&random, sizeof random))
        return ses__error_set(error, SES_IO, "the system gives no random bytes");
    return ses__query_do(db, STATEMENT_ORIGIN_SET, error,
                         VALUES(INT(session_id), INT((int64_t)(random >> 1) | 1)));
}

int ses__origin_find(struct db *db, int64_t session_id, int64_t *origin, ses_error *error)
{
    struct query query;
    const int code = ses__origin_ensure(db, session_id, error);

    if (code != SES_OK)
        return code;
    ses__query_open(&query, db, STATEMENT_DETAILS_INITIAL, error, VALUES(INT(session_id)));
    *origin = ses__query_row(&query) ? ses__query_int(&query, 1) : 0;
    return ses__query_end(&query);
}

/* ------------------------------------------------------------------ without reading titles and labels */

void ses__annotated_ask(struct query *query, struct db *db, int64_t session_id, ses_error *error)
{
    ses__query_open(query, db, STATEMENT_DETAILS_OF_SESSION, error, VALUES(OWNER(session_id)));
}

int ses__annotated_take(struct query *query, const struct annotating *change, struct annotated *now)
{
    *now = (struct annotated){.has_title = false};
    while (ses__query_row(query)) {
        if (ses__query_type(query, LABEL_COLUMN) == SQL_NULL)
            now->has_title = ses__query_type(query, TITLE_COLUMN) != SQL_NULL;
        else
            now->other_labels += !ses__annotating_names(change, ses__query_text(query, LABEL_COLUMN));
    }
    return ses__query_end(query);
}
