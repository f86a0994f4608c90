/* Writes the redaction of a session. */
#include "erase/erase.h"

#include "base/error.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/state.h"
#include "storage/sql/rows/words.h"

/* ----------------------------------------------------------------------------------- overwriting in place */

/* Keeps the quoted text where it is in the body, since columns of the row say where that is. */
static void keep_quoted(char *filler, struct span body, struct span text)
{
    const char *const end = body.ptr + body.len;

    for (const char *at = body.ptr; text.len > 0 && at + text.len < end; at++) {
        if (at[text.len] == '"' && memcmp(at, text.ptr, text.len) == 0)
            memcpy(filler + (at - body.ptr), at, text.len + 1);
    }
}

/* Makes a text of `len` spaces. */
static char *make_filler(struct redacting *run, size_t len)
{
    char *filler = ses__arena_new(&run->arena, len + 1);

    if (filler)
        memset(filler, ' ', len);
    return filler;
}

/* A text of the same length stays where the old one is. */
static int blank_event(struct redacting *run, const struct redacted_event *event, ses_error *error)
{
    struct event_row row = event->row;
    char *filler = make_filler(run, event->before.len);

    if (!filler)
        return ses__error_nomem(error);
    keep_quoted(filler, event->before, row.id);
    keep_quoted(filler, event->before, row.invocation_id);
    row.body = (struct span){filler, event->before.len};
    return ses__event_replace(run->db, run->row.id, &row, error);
}

/* The rows of which a value was replaced. */
struct replaced_rows {
    int64_t state;
    int64_t base;
};

/* Replaces a value where it is stored, if the event is still the one that has set it, or it was imported. */
static int replace_value(struct redacting *run, const struct base_value *before, struct span after,
                         struct replaced_rows *rows, ses_error *error)
{
    static const struct statement *const replace[] = {
        [SCOPE_APP] = STATEMENT_APP_STATE_REPLACE,
        [SCOPE_USER] = STATEMENT_USER_STATE_REPLACE,
        [SCOPE_SESSION] = STATEMENT_SESSION_STATE_REPLACE,
    };
    const struct session_row *row = &run->row;
    struct span key;
    const enum scope scope = ses__scope_of(before->name, &key);
    const int64_t owner = ses__scope_owner(scope, row);

    if (scope == SCOPE_TEMP)
        return SES_OK;
    if (ses__scope_is_shared(scope))
        ses__db_lock(run->db, scope, owner, false);
    int code = ses__query_do(
        run->db, replace[scope], error,
        VALUES(INT(owner), TEXT(key), TEXT(after), INT(row->id), INT(before->seq), TEXT(before->value)));
    if (code == SES_OK)
        rows->state += ses__db_changed(run->db);
    if (code == SES_OK && row->base_seq > 0)
        code = ses__query_do(
            run->db, STATEMENT_BASE_STATE_REPLACE, error,
            VALUES(INT(row->id), TEXT(before->name), TEXT(after), INT(before->seq), TEXT(before->value)));
    if (code == SES_OK && row->base_seq > 0)
        rows->base += ses__db_changed(run->db);
    return code;
}

/* From then on the value is the filler, if it was stored: the filler may be that of another value of the same
 * key. */
static int blank_value(struct redacting *run, struct replaced_value *value, ses_error *error)
{
    const struct span filler = {make_filler(run, value->before.value.len), value->before.value.len};
    struct replaced_rows rows = {0, 0};

    if (!filler.ptr)
        return ses__error_nomem(error);
    const int code = replace_value(run, &value->before, filler, &rows, error);
    if (rows.state + rows.base > 0)
        value->stored = filler;
    return code;
}

int ses__redacting_blank(struct redacting *run, ses_error *error)
{
    const bool blanks = run->asked->secure && run->db->traits->packs_events;
    int code = SES_OK;

    for (size_t i = 0; i < run->events.count && code == SES_OK; i++) {
        const struct redacted_event *event = &run->events.items[i];
        struct words_removal words; /* the index needs the old text while it is there */
        code = ses__words_remove_begin(&words, run->db, &run->row, event->row.seq, event->row.seq, error);
        if (code == SES_OK)
            code = ses__words_remove_end(&words, error);
        if (code == SES_OK && blanks)
            code = blank_event(run, event, error);
    }
    for (size_t i = 0; blanks && i < run->values.count && code == SES_OK; i++)
        code = blank_value(run, &run->values.items[i], error);
    if (code != SES_OK || !blanks || !run->initial.ptr)
        return code;
    const struct span filler = {make_filler(run, run->initial_before), run->initial_before};
    return filler.ptr ? ses__query_do(run->db, STATEMENT_DETAILS_REPLACE_INITIAL, error,
                                      VALUES(INT(run->row.id), TEXT(filler)))
                      : ses__error_nomem(error);
}

/* -------------------------------------------------------------------------------------------- what is new */

static int write_redacted_values(struct redacting *run, ses_error *error)
{
    struct replaced_rows rows = {0, 0};
    int code = SES_OK;

    for (size_t i = 0; i < run->values.count && code == SES_OK; i++) {
        const struct replaced_value *value = &run->values.items[i];
        const struct base_value now = {value->before.name, value->stored, value->before.seq};
        code = replace_value(run, &now, value->after, &rows, error);
    }
    run->counts.state_keys += rows.state;
    if (code == SES_OK && run->initial.ptr)
        code = ses__query_do(run->db, STATEMENT_DETAILS_REPLACE_INITIAL, error,
                             VALUES(INT(run->row.id), TEXT(run->initial)));
    return code;
}

static int remove_versions(struct redacting *run, ses_error *error)
{
    const struct artifact_owner owner = {run->row.user_id, ses__span_of(run->name)};
    int code = SES_OK;

    if (run->versions.count > 0)
        ses__db_lock(run->db, SCOPE_USER, owner.user_id, true);
    for (size_t i = 0; i < run->versions.count && code == SES_OK; i++)
        code = ses__artifact_remove_version(run->db, &owner, run->versions.items[i].name,
                                            run->versions.items[i].version, error);
    return code;
}

int ses__redacting_write(struct redacting *run, ses_error *error)
{
    const struct session_row before = run->row;
    struct session_row *row = &run->row;
    int code = SES_OK;

    for (size_t i = 0; i < run->events.count && code == SES_OK; i++) {
        const struct event_row *event = &run->events.items[i].row;
        code = ses__event_replace(run->db, row->id, event, error);
        if (code == SES_OK)
            code = ses__words_put(run->db, row, event, error);
    }
    run->counts.events = (int64_t)run->events.count;
    if (code == SES_OK)
        code = write_redacted_values(run, error);
    if (code == SES_OK)
        code = remove_versions(run, error);
    if (code == SES_OK && ses__names_go(run))
        code = ses__names_write(run, error);
    if (code == SES_OK && run->drops_draft)
        code = ses__session_draft_remove(run->db, row->id, error);
    for (size_t i = 0; i < run->inputs.count && code == SES_OK; i++)
        code = ses__inbox_remove(run->db, row->id, run->inputs.items[i], error);
    if (code != SES_OK)
        return code;
    if (row->version >= MAX_VERSION)
        return ses__error_set(error, SES_LIMIT,
                              "the session is at the last version below 2^53; fork it, or start another");
    row->version++;
    row->changed_us = run->asked->now_us;
    return ses__session_touch(run->db, &before, row, error);
}
