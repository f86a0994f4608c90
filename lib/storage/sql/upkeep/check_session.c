/* Sessions, as a check looks at them: the row, what other tables hold of it, and its log. */
#include "base/error.h"
#include "json/reader.h"
#include "model/event/timestamp.h"
#include "storage/sql/upkeep/check.h"
#include "storage/sql/rows/parts.h"

struct checked_session {
    struct session_row row;
    int64_t active_30s;
    int64_t changed_us;
    int64_t ahead_hour; /* INT64_MAX: none */
    int64_t app_of_user;
    bool has_expiry;
    int64_t bits; /* the tables that have rows of it */
    int64_t parent_seq;
};

/* -------------------------------------------------------------------------------------------- the row */

static void check_times(struct check *check, const struct checked_session *session)
{
    const struct session_row *row = &session->row;

    if (row->updated_us < row->created_us)
        ses__check_found(check, SES_PROBLEM_TIME, 0, "the session was updated before it was created");
    if (session->active_30s != ses__active_of(row))
        ses__check_found(check, SES_PROBLEM_TIME, 0, "active_30s does not agree with updated_us");
    if (!ses__timestamp_holds(session->changed_us))
        ses__check_found(check, SES_PROBLEM_TIME, 0, "changed_us cannot be");
    else if (ses__is_ahead(row->updated_us, session->changed_us) &&
             session->ahead_hour > ses__hour_of(session->changed_us))
        ses__check_found(check, SES_PROBLEM_TIME, 0,
                         "ahead_hour is missing or too late: the session is never idle");
    if (session->has_expiry && !ses__timestamp_holds(row->expires_us))
        ses__check_found(check, SES_PROBLEM_TIME, 0, "the time of expiry cannot be");
}

/* Checks that the session is found by its name. */
static int check_way(struct check *check, const struct checked_session *session)
{
    const ses_key key = {check->about.app, check->about.user, check->about.session};
    struct session_row found = {.id = 0};

    if (!key.app || !key.user || !key.session) {
        ses__check_found(check, SES_PROBLEM_NAME, 0,
                         "the name of session number %lld, of its user or its app is not an id",
                         (long long)session->row.id);
        return SES_OK;
    }
    if (session->app_of_user != session->row.app_id) {
        ses__check_found(check, SES_PROBLEM_REFERENCE, 0, "the session is not in the app of its user");
        return SES_OK;
    }
    int code = ses__session_find(check->db, &key, &found, &check->error);
    if (code == SES_NOTFOUND || (code == SES_OK && found.id != session->row.id)) {
        ses__check_found(check, SES_PROBLEM_INDEX, 0, "the session is not found by its name");
        code = SES_OK;
    }
    return ses__check_settle(check, code, SES_PROBLEM_INDEX);
}

/* -------------------------------------------------------------------------------------------- details */

static void check_parent(struct check *check, struct checked_session *session, struct query *query)
{
    const struct span user = ses__query_text(query, 1);
    const struct span name = ses__query_text(query, 2);
    const bool has_seq = ses__query_type(query, 3) != SQL_NULL;

    session->parent_seq = ses__query_int(query, 3);
    if (user.ptr || name.ptr || has_seq)
        session->bits |= DETAIL_PARENT;
    if ((session->bits & DETAIL_PARENT) &&
        (!ses__is_id(user) || !ses__is_id(name) || !has_seq || session->parent_seq < 0 ||
         session->parent_seq > session->row.last_seq))
        ses__check_found(check, SES_PROBLEM_PARENT, 0,
                         "the names of the parent are not ids, or its number cannot be");
}

bool ses__check_is_object(struct span json)
{
    struct json_reader reader;
    return ses__json_start_object(&reader, json, "it", NULL) == SES_OK && ses__json_skip(&reader, NULL) &&
           ses__json_finish(&reader);
}

static void check_child_of(struct check *check, struct checked_session *session, struct query *query)
{
    const struct span user = ses__query_text(query, 7);
    const struct span name = ses__query_text(query, 8);

    if (!user.ptr && !name.ptr)
        return;
    session->bits |= DETAIL_CHILD;
    if (!ses__is_id(user) || !ses__is_id(name))
        ses__check_found(check, SES_PROBLEM_PARENT, 0,
                         "the names of the session that it is a child of are not ids");
}

static int check_details(struct check *check, struct checked_session *session)
{
    struct query query;

    ses__query_open(&query, check->db, STATEMENT_CHECK_DETAILS, &check->error, VALUES(INT(session->row.id)));
    if (ses__query_row(&query)) {
        const struct span title = ses__query_text(&query, 0);
        if (title.ptr)
            session->bits |= DETAIL_TITLE;
        if (title.ptr && !ses__is_title(title))
            ses__check_found(check, SES_PROBLEM_DETAIL, 0,
                             "the title is empty, too long, or not valid UTF-8");
        check_parent(check, session, &query);
        const struct span more = ses__query_text(&query, 4);
        if (more.ptr && !ses__check_is_object(more))
            ses__check_found(check, SES_PROBLEM_DETAIL, 0, "session_details.more is not a JSON object");
        if (ses__query_type(&query, 5) != SQL_NULL && ses__query_int(&query, 5) <= 0)
            ses__check_found(check, SES_PROBLEM_PARENT, 0, "session_details.origin is not a positive number");
        if (ses__query_type(&query, 6) != SQL_NULL) {
            const int64_t archived_us = ses__query_int(&query, 6);
            session->bits |= DETAIL_ARCHIVED;
            if (archived_us <= 0 || !ses__timestamp_holds(archived_us))
                ses__check_found(check, SES_PROBLEM_DETAIL, 0,
                                 "session_details.archived_us is no time after 1970");
        }
        check_child_of(check, session, &query);
        if (ses__query_type(&query, 9) != SQL_NULL) {
            session->bits |= DETAIL_REMEMBERED;
            if (ses__query_int(&query, 9) < 1 || ses__query_int(&query, 9) > MAX_SEQ)
                ses__check_found(check, SES_PROBLEM_DETAIL, 0,
                                 "session_details.remembered_seq is no number of an event");
        }
    }
    return ses__check_settle(check, ses__query_end(&query), SES_PROBLEM_DETAIL);
}

static int check_own_labels(struct check *check, struct checked_session *session)
{
    struct query query;
    size_t count = 0;
    bool sound = true;

    ses__query_open(&query, check->db, STATEMENT_CHECK_LABELS, &check->error, VALUES(INT(session->row.id)));
    while (sound && ses__query_row(&query)) {
        sound = ses__is_label_name(ses__query_text(&query, 0)) &&
                ses__is_label_value(ses__query_text(&query, 1)) &&
                ses__query_int(&query, 2) == session->row.app_id && ++count <= SES_LABELS_MAX;
        session->bits |= DETAIL_LABELS;
    }
    int code = ses__query_end(&query);
    if (code == SES_OK && !sound)
        ses__check_found(
            check, SES_PROBLEM_LABEL, 0,
            "a label breaks the rules of labels, is filed under another app, or is one too many");
    return ses__check_settle(check, code, SES_PROBLEM_LABEL);
}

/* ------------------------------------------------------------------------------------- what is beside it */

static int check_what_is_beside(struct check *check, int64_t session_id)
{
    const struct inbox_range all = {
        .of = INBOX_OF_SESSION, .owner = session_id, .after = INT64_MIN, .limit = INT64_MAX};
    struct lease_row lease;
    struct session_draft draft;
    struct inbox_row input;
    struct query drafts;
    struct query inbox;
    int code = ses__check_settle(check, ses__lease_find(check->db, session_id, &lease, &check->error),
                                 SES_PROBLEM_LEASE);

    if (code != SES_OK)
        return code;
    ses__session_draft_ask(&drafts, check->db, session_id, &check->error);
    (void)ses__session_draft_next(&drafts, &draft);
    code = ses__check_settle(check, ses__query_end(&drafts), SES_PROBLEM_DETAIL);
    if (code != SES_OK)
        return code;
    ses__inbox_ask(&inbox, check->db, &all, &check->error);
    while (ses__inbox_next(&inbox, &input)) {
    }
    return ses__check_settle(check, ses__query_end(&inbox), SES_PROBLEM_DETAIL);
}

/* ---------------------------------------------------------------------------------------------- sessions */

/* A later version may know more bits, which this one cannot check. */
enum {
    KNOWN_DETAILS =
        DETAIL_PARENT | DETAIL_TITLE | DETAIL_LABELS | DETAIL_ARCHIVED | DETAIL_CHILD | DETAIL_REMEMBERED
};

/* Where numbers are out of bounds, the rest would only repeat it. */
static int check_session(struct check *check, struct checked_session *session)
{
    const struct session_row *row = &session->row;
    int code = ses__session_row_check(row, check->db, &check->error);

    if (code != SES_OK)
        return ses__check_settle(check, code, SES_PROBLEM_NUMBER);
    ses__check_version(check, "the session is", row->version);
    if ((row->details & DETAIL_CHILD) && (row->details & DETAIL_MEMORY))
        ses__check_found(check, SES_PROBLEM_DETAIL, 0, "the session is memory, and a child of another");
    check_times(check, session);
    code = check_way(check, session);
    if (code == SES_OK)
        code = check_details(check, session);
    if (code == SES_OK)
        code = check_own_labels(check, session);
    if (code == SES_OK && session->bits != (row->details & KNOWN_DETAILS))
        ses__check_found(
            check, SES_PROBLEM_DETAIL, 0,
            "sessions.details is %lld; other tables: parent (1), title (2), labels (4), archive (8), child (16), "
            "remembered (64): %lld",
            (long long)row->details, (long long)session->bits);
    if (code == SES_OK)
        code = check_what_is_beside(check, row->id);
    return code == SES_OK && !check->ended
               ? ses__check_log(check, row, session->bits & DETAIL_PARENT ? session->parent_seq : 0)
               : code;
}

/* The next one: its number, or 0 at the end. */
static int read_next_session(struct check *check, struct checked_session *session)
{
    const int64_t after = session->row.id;
    struct query query;

    *session = (struct checked_session){.row = {.id = 0}};
    ses__query_open(&query, check->db, STATEMENT_CHECK_SESSION_AFTER, &check->error, VALUES(INT(after)));
    if (ses__query_row(&query)) {
        ses__session_row_read(&query, &session->row);
        session->has_expiry = session->row.expires_us != INT64_MAX;
        session->active_30s = ses__query_int(&query, 11);
        session->changed_us = ses__query_int(&query, 12);
        session->ahead_hour =
            ses__query_type(&query, 13) == SQL_NULL ? INT64_MAX : ses__query_int(&query, 13);
        session->app_of_user = ses__query_int(&query, 14);
        ses__query_keep(&query, ses__check_begin(check, ses__query_text(&query, 15),
                                                 ses__query_text(&query, 16), ses__query_text(&query, 17)));
        if (query.code == SES_OK && session->row.id <= after)
            query.code = ses__error_set(&check->error, SES_CORRUPT, "the numbers of sessions do not ascend");
    }
    const int code = ses__query_end(&query);
    if (code != SES_OK)
        session->row.id = 0; /* the walk cannot continue */
    return ses__check_settle(check, code, SES_PROBLEM_PAGE);
}

/* Sessions are checked in the order of their numbers, which show the progress if they are consecutive. */
int ses__check_sessions(struct check *check)
{
    const struct check_op *op = check->op;
    const bool by_count = check->total > 0;
    struct checked_session session = {.row = {.id = INT64_MIN}};
    int code = read_next_session(check, &session);

    while (code == SES_OK && session.row.id != 0 && !check->ended) {
        code = check_session(check, &session);
        if (code == SES_OK) {
            check->done++;
            if (op->progress && op->progress(op->progress_context, by_count ? check->done : session.row.id,
                                             by_count ? check->total : check->last_session) != 0)
                code = ses__refuse_interrupted("the check", &check->error);
        }
        if (code == SES_OK)
            code = read_next_session(check, &session);
    }
    return code;
}
