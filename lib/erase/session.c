/* Plans the redaction of a session: reads the events, the state that they have set, and what repeats it. */
#include "erase/erase.h"

#include <stdlib.h>

#include "base/error.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/session/jobs.h"

void ses__redacting_init(struct redacting *run, struct db *db, const struct redaction *asked)
{
    *run = (struct redacting){.asked = asked, .db = db};
    ses__arena_init(&run->arena, asked->allocator);
    ses__buffer_init(&run->plain, asked->allocator);
    ses__buffer_init(&run->built, asked->allocator);
}

void ses__redacting_free(struct redacting *run)
{
    const ses_allocator *allocator = run->asked->allocator;

    ses__memory_free(allocator, run->values.items);
    ses__memory_free(allocator, run->versions.items);
    ses__memory_free(allocator, run->events.items);
    ses__memory_free(allocator, run->names.items);
    ses__memory_free(allocator, run->inputs.items);
    ses__buffer_free(&run->built);
    ses__buffer_free(&run->plain);
    ses__arena_free(&run->arena);
}

int ses__compare_seqs(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a;
    const int64_t other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static bool is_seq_selected(const struct redaction *asked, int64_t seq)
{
    return !asked->seqs ||
           bsearch(&seq, asked->seqs, asked->seq_count, sizeof *asked->seqs, ses__compare_seqs) != NULL;
}

/* ---------------------------------------------------------------------------------- the state before them */

static int plan_initial(struct redacting *run, ses_error *error)
{
    struct span initial;
    struct span after;
    int code = ses__log_initial(run->db, run->row.id, &run->arena, &initial, error);

    if (code != SES_OK || !initial.ptr)
        return code;
    code = ses__delta_redact(run, initial, 0, &after, error);
    if (code == SES_OK && after.ptr != initial.ptr)
        run->initial = after;
    run->initial_before = initial.len;
    return code;
}

/* Another session may have pruned an event of its own that has this number: its value counts as a copy only
 * if the bytes are those that were replaced in the origin. */
static bool is_value_copied(const struct redacting *run, const struct base_value *value)
{
    const struct replaced_values *values = run->origin ? run->origin->values : NULL;

    for (size_t i = 0; values && i < values->count; i++) {
        const struct base_value *other = &values->items[i].before;
        if (other->seq == value->seq && ses__span_is(other->name, value->name) &&
            ses__span_is(other->value, value->value))
            return true;
    }
    return !run->origin || run->asked->find || value->seq <= run->origin->kinship.common;
}

static int plan_base_value(void *context, const struct base_value *value, ses_error *error)
{
    struct redacting *run = context;
    struct span after;
    bool named = false;

    if (!is_seq_selected(run->asked, value->seq) || !is_value_copied(run, value))
        return SES_OK;
    int code = ses__name_look(run, value->name, &named, error);
    if (code != SES_OK || (named && ses__names_go(run)))
        return code;
    code = ses__value_redact(run, value->value, &after, error);
    if (code != SES_OK || after.ptr == value->value.ptr)
        return code;
    if (run->asked->state)
        return ses__value_keep(run, value, after, error);
    run->counts.state_left++;
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------- the events */

struct marks {
    struct mark_row *items; /* the newest first */
    size_t count;
    size_t capacity;
};

static int read_all_marks(struct redacting *run, struct marks *marks, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row row;

    ses__mark_rows_open(&rows, run->db, run->row.id, run->row.last_seq, error);
    rows.any_kind = true;
    while (ses__mark_rows_next(&rows, &row)) {
        if (LIST_GROW(run->asked->allocator, marks))
            marks->items[marks->count++] = row;
        else
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    return ses__query_end(&rows.query);
}

static int keep_redacted_event(struct redacting *run, const struct event_row *event, struct span body,
                               ses_error *error)
{
    struct redacted_events *events = &run->events;
    struct arena *arena = &run->arena;
    const char *id = ses__arena_text(arena, event->id.ptr, event->id.len);
    const char *invocation = ses__arena_text(arena, event->invocation_id.ptr, event->invocation_id.len);

    struct span before = {NULL, event->body.len};

    if (run->asked->secure)
        before.ptr = ses__arena_text(arena, event->body.ptr, event->body.len);
    if (!id || !invocation || (run->asked->secure && !before.ptr) ||
        !LIST_GROW(run->asked->allocator, events))
        return ses__error_nomem(error);
    events->items[events->count++] =
        (struct redacted_event){.row = {.seq = event->seq,
                                        .id = {id, event->id.len},
                                        .invocation_id = {invocation, event->invocation_id.len},
                                        .body = body},
                                .before = before};
    return SES_OK;
}

/* The part of the plan that an event adds besides its new body. */
struct planned_so_far {
    size_t values;
    size_t versions;
    ses_erased counts;
};

static struct planned_so_far note_plan(const struct redacting *run)
{
    return (struct planned_so_far){run->values.count, run->versions.count, run->counts};
}

static void go_back_to(struct redacting *run, const struct planned_so_far *before)
{
    run->values.count = before->values;
    run->versions.count = before->versions;
    run->counts = before->counts;
}

static bool has_matched(const struct redacting *run, const struct event_row *event, struct span after,
                        const struct planned_so_far *before)
{
    return after.ptr != event->body.ptr || run->counts.state_left != before->counts.state_left ||
           run->counts.names_left != before->counts.names_left;
}

/* Most events have nothing to replace, and so need not be compared with those of the origin. If one has, and
 * is no copy after all, its values and versions are dropped again. A rewind that repeats a replaced value
 * does so in whichever session it is. */
static int plan_redacted_event(struct redacting *run, const struct event_row *event, bool copies,
                               ses_error *error)
{
    const struct planned_so_far before = note_plan(run);
    const struct redacted_origin *origin = run->origin;
    struct span after;
    int64_t seq = event->seq;
    int code = ses__body_redact(run, event, copies, &after, error);

    if (code != SES_OK || !has_matched(run, event, after, &before))
        return code;
    if (!copies && origin && !origin->kinship.is_by_id && event->seq > origin->kinship.common)
        code = ses__original_find(run->db, origin->row->id, event, false, &seq, error);
    if (code == SES_OK && seq > 0)
        return after.ptr != event->body.ptr ? keep_redacted_event(run, event, after, error) : SES_OK;
    go_back_to(run, &before);
    return code;
}

/* In memory an event that the session has not may be one that it had, or have got an id of its own. */
static int look_at_unknown(struct redacting *run, const struct event_row *event, ses_error *error)
{
    const struct planned_so_far before = note_plan(run);
    struct span after;

    run->may_have = !run->asked->find;
    if (run->may_have)
        return SES_OK;
    const int code = ses__body_redact(run, event, false, &after, error);
    run->may_have = code == SES_OK && has_matched(run, event, after, &before);
    go_back_to(run, &before);
    return code;
}

/* All events must be there in the session of the call, but not in its copies. */
static int refuse_absent_event(const struct redacting *run, int64_t seq, ses_error *error)
{
    const struct session_row *row = &run->row;

    if (run->origin)
        return SES_OK;
    if (seq <= row->base_seq)
        return ses__error_set(
            error, SES_NOTFOUND,
            "event %lld was pruned: only the values that it has set can be there, and need SES_REDACT_STATE",
            (long long)seq);
    return ses__error_set(error, SES_NOTFOUND, "there is no event %lld: the last event is %lld",
                          (long long)seq, (long long)row->last_seq);
}

static int plan_seq(struct redacting *run, const struct marks *marks, int64_t seq, bool copies,
                    ses_error *error)
{
    const struct mark_row *mark = NULL;
    struct event_rows rows;
    struct event_row event;
    bool any = false;

    for (size_t i = 0; !copies && !mark && i < marks->count; i++)
        mark = marks->items[i].seq == seq ? &marks->items[i] : NULL;
    if (mark && !run->origin)
        return ses__error_set(
            error, SES_INVALID,
            "event %lld is a %s, which is redacted only together with all events of the session",
            (long long)seq,
            mark->kind == MARK_REWIND       ? "rewind"
            : mark->kind == MARK_COMPACTION ? "compaction"
                                            : "mark of a newer seslite");
    /* It is no copy: the event of the call is no mark, or was refused. */
    if (mark && seq > run->origin->kinship.common)
        return SES_OK;
    ses__event_rows_open(&rows, run->db, run->row.id, seq, seq, WALK_FORWARD, error);
    any = ses__event_rows_next(&rows, &event);
    if (any)
        ses__query_keep(&rows.query, plan_redacted_event(run, &event, copies, error));
    const int code = ses__event_rows_close(&rows);
    return code == SES_OK && !any ? refuse_absent_event(run, seq, error) : code;
}

static int plan_seqs(struct redacting *run, const struct marks *marks, ses_error *error)
{
    const struct redaction *asked = run->asked;
    int code = SES_OK;

    for (size_t i = 0; i < asked->seq_count && code == SES_OK; i++) {
        const int64_t seq = asked->seqs[i];
        if (seq > run->row.base_seq)
            code = plan_seq(run, marks, seq, false, error);
        else if (!asked->state)
            code = refuse_absent_event(run, seq, error);
    }
    return code;
}

/* An event that is a copy under a number of its own. */
static int plan_by_id(struct redacting *run, const struct event_row *event, ses_error *error)
{
    const struct redacted_origin *origin = run->origin;
    int64_t seq = 0;
    const int code = ses__original_find(run->db, origin->row->id, event, true, &seq, error);

    if (code != SES_OK)
        return code;
    if (seq > 0)
        return is_seq_selected(run->asked, seq) ? plan_redacted_event(run, event, false, error) : SES_OK;
    return origin->kinship.is_memory && !run->may_have ? look_at_unknown(run, event, error) : SES_OK;
}

static int plan_all_events(struct redacting *run, ses_error *error)
{
    const bool is_by_id = run->origin && run->origin->kinship.is_by_id;
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, run->db, run->row.id, run->row.base_seq + 1, run->row.last_seq, WALK_FORWARD,
                         error);
    while (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, is_by_id ? plan_by_id(run, &event, error)
                                              : plan_redacted_event(run, &event, false, error));
    return ses__event_rows_close(&rows);
}

/* ------------------------------------------------------------------------------------- what repeats them */

/* Adds the versions of the name that have the same bytes: a rewind has saved them again. */
static int add_versions(struct redacting *run, const struct artifact_owner *owner, struct span name,
                        int64_t content_id, ses_error *error)
{
    struct artifact_rows rows;
    struct artifact_row row;

    ses__artifact_versions_open(&rows, run->db, owner, name, -1, INT64_MAX, error);
    while (ses__artifact_rows_next(&rows, &row)) {
        if (row.content_id != content_id || ses__versions_have(&run->versions, name, row.version))
            continue;
        if (LIST_GROW(run->asked->allocator, &run->versions))
            run->versions.items[run->versions.count++] = (struct named_version){name, row.version};
        else
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    return ses__query_end(&rows.query);
}

static int plan_versions(struct redacting *run, ses_error *error)
{
    const struct artifact_owner owner = {run->row.user_id, ses__span_of(run->name)};
    const size_t count = run->versions.count;
    int code = SES_OK;

    for (size_t i = 0; i < count && code == SES_OK; i++) {
        const struct named_version item = run->versions.items[i];
        struct artifact_rows rows;
        struct artifact_row row = {.content_id = 0};
        ses__artifact_open(&rows, run->db, &owner, item.name, item.version, error);
        const bool found = ses__artifact_rows_next(&rows, &row) && row.version == item.version;
        const bool has_bytes = found && row.size > 0;
        code = ses__query_end(&rows.query);
        if (code == SES_OK && has_bytes)
            code = add_versions(run, &owner, item.name, row.content_id, error);
    }
    return code;
}

/* A pruned event may have been a rewind. */
static int plan_base_copy(void *context, const struct base_value *value, ses_error *error)
{
    struct redacting *run = context;
    struct span after;

    return is_seq_selected(run->asked, value->seq) ? SES_OK
                                                   : ses__value_redact_copy(run, value, &after, error);
}

/* Rewinds repeat values, and name the artifacts that they have saved again. Compactions are only counted. */
static int plan_repeated(struct redacting *run, const struct marks *marks, ses_error *error)
{
    const bool any = run->values.count > 0 || run->versions.count > 0;
    const int64_t first = run->events.count > 0 ? run->events.items[0].row.seq : INT64_MAX;
    int code = SES_OK;

    for (size_t i = 0; i < marks->count && code == SES_OK && run->asked->seqs; i++) {
        const struct mark_row *mark = &marks->items[i];
        if (mark->kind == MARK_REWIND && any && mark->seq > run->row.base_seq)
            code = plan_seq(run, marks, mark->seq, true, error);
        else if (mark->kind != MARK_REWIND && mark->seq > first) /* or of a kind that may hold copies, too */
            run->counts.compactions_left++;
    }
    return code;
}

/* A text beside the log goes as a whole, if everything does or something is found in it. It may be JSON. */
static int must_go(struct redacting *run, struct span text, bool *goes, ses_error *error)
{
    struct span after;
    int code = SES_OK;

    *goes = !run->asked->find;
    if (!*goes)
        code = ses__found_in(run, text, goes, error);
    if (code == SES_OK && !*goes && ses__json_check(text.ptr, text.len, NULL) == SES_OK) {
        code = ses__found_replace(run, text, &after, error);
        *goes = code == SES_OK && after.ptr != text.ptr;
    }
    return code;
}

static int plan_session_draft(struct redacting *run, ses_error *error)
{
    struct session_draft draft;
    struct query rows;

    ses__session_draft_ask(&rows, run->db, run->row.id, error);
    if (ses__session_draft_next(&rows, &draft))
        ses__query_keep(&rows, must_go(run, draft.body, &run->drops_draft, error));
    return ses__query_end(&rows);
}

static int plan_input(struct redacting *run, const struct inbox_row *row, ses_error *error)
{
    bool goes = false;
    int code = must_go(run, row->body, &goes, error);

    if (code == SES_OK && !goes)
        code = must_go(run, row->request, &goes, error);
    if (code != SES_OK || !goes)
        return code;
    const char *request = ses__arena_text(&run->arena, row->request.ptr, row->request.len);
    if (!request || !LIST_GROW(run->asked->allocator, &run->inputs))
        return ses__error_nomem(error);
    run->inputs.items[run->inputs.count++] = request;
    return SES_OK;
}

static int plan_inbox(struct redacting *run, ses_error *error)
{
    const struct inbox_range all = {
        .of = INBOX_OF_SESSION, .owner = run->row.id, .after = INT64_MIN, .limit = INT64_MAX};
    struct inbox_row row;
    struct query rows;

    ses__inbox_ask(&rows, run->db, &all, error);
    while (ses__inbox_next(&rows, &row))
        ses__query_keep(&rows, plan_input(run, &row, error));
    return ses__query_end(&rows);
}

int ses__redacting_plan(struct redacting *run, ses_error *error)
{
    const struct redaction *asked = run->asked;
    const bool is_by_id = run->origin && run->origin->kinship.is_by_id; /* only events are copied then */
    struct marks marks = {NULL, 0, 0};
    int code = !is_by_id && is_seq_selected(asked, 0) ? plan_initial(run, error) : SES_OK;

    if (code == SES_OK && !is_by_id && run->row.base_seq > 0)
        code = ses__base_visit(run->db, &run->row, plan_base_value, run, error);
    if (code == SES_OK)
        code = read_all_marks(run, &marks, error);
    if (code == SES_OK)
        code = asked->seqs && !is_by_id ? plan_seqs(run, &marks, error) : plan_all_events(run, error);
    if (code == SES_OK && run->versions.count > 0)
        code = plan_versions(run, error);
    if (code == SES_OK && run->values.count > 0 && run->row.base_seq > 0)
        code = ses__base_visit(run->db, &run->row, plan_base_copy, run, error);
    if (code == SES_OK)
        code = plan_repeated(run, &marks, error);
    if (code == SES_OK && asked->find)
        code = ses__names_plan(run, error);
    if (code == SES_OK && !asked->seqs && !run->is_copy)
        code = plan_session_draft(run, error);
    if (code == SES_OK && !asked->seqs && !run->is_copy)
        code = plan_inbox(run, error);
    if (code == SES_OK && run->built.failed)
        code = ses__error_nomem(error);
    ses__memory_free(asked->allocator, marks.items);
    return code;
}
