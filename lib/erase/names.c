/* Names in which something is found: of state keys, of a title and labels, and ids. */
#include "erase/erase.h"

#include "base/error.h"
#include "model/annotations.h"
#include "storage/sql/rows/state.h"

int ses__name_look(struct redacting *run, struct span name, bool *found, ses_error *error)
{
    struct found_names *names = &run->names;
    const int code = ses__found_in(run, name, found, error);

    if (code != SES_OK || !*found)
        return code;
    for (size_t i = 0; i < names->count; i++) {
        if (ses__span_is(names->items[i], name))
            return SES_OK;
    }
    const struct span kept = {ses__arena_text(&run->arena, name.ptr, name.len), name.len};
    if (!kept.ptr || !LIST_GROW(run->asked->allocator, names))
        return ses__error_nomem(error);
    names->items[names->count++] = kept;
    return SES_OK;
}

static void count_name(struct redacting *run)
{
    if (ses__names_go(run))
        run->counts.names++;
    else
        run->counts.names_left++;
}

/* ----------------------------------------------------------------------------------- title, labels, ids */

static int look_into_labels(struct redacting *run, const struct annotations *now, ses_error *error)
{
    struct annotating *change = &run->names.annotating;
    const size_t count = now->label_count;
    ses_label *labels = ses__arena_new(&run->arena, (count + 1) * sizeof *labels);
    int code = labels ? SES_OK : ses__error_nomem(error);

    change->labels = labels;
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        const ses_label *label = &now->labels[i];
        bool in_name = false;
        bool in_value = false;
        code = ses__found_in(run, ses__span_of(label->name), &in_name, error);
        if (code == SES_OK)
            code = ses__found_in(run, ses__span_of(label->value), &in_value, error);
        if (code != SES_OK || (!in_name && !in_value))
            continue;
        labels[change->label_count++] =
            (ses_label){ses__arena_text(&run->arena, label->name, strlen(label->name)), NULL};
        if (!labels[change->label_count - 1].name)
            code = ses__error_nomem(error);
        count_name(run);
    }
    run->names.annotated =
        (struct annotated){.has_title = now->title != NULL, .other_labels = count - change->label_count};
    return code;
}

static int look_into_ids(struct redacting *run, const ses_key *parent, ses_error *error)
{
    const ses_key *key = run->asked->key;
    const char *const ids[] = {run->name, run->is_copy ? NULL : key->user, run->is_copy ? NULL : key->app,
                               parent ? parent->user : NULL, parent ? parent->session : NULL};
    int code = SES_OK;

    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && code == SES_OK; i++) {
        bool found = false;
        code = ids[i] ? ses__found_in(run, ses__span_of(ids[i]), &found, error) : SES_OK;
        run->counts.names_left += found;
    }
    return code;
}

int ses__names_plan(struct redacting *run, ses_error *error)
{
    bool *const sets_title = &run->names.annotating.sets_title;
    struct snapshot details;
    int code = ses__snapshot_init(&details, run->asked->allocator, (struct hash_seed){{0, 0}}, error);

    for (size_t i = 0; i < run->names.count; i++)
        count_name(run);
    if (code == SES_OK)
        code = ses__load_details_of(
            run->db, &(struct described){&run->row, run->asked->key->app, &details, &details.annotations},
            error);
    if (code == SES_OK && details.annotations.title)
        code = ses__found_in(run, ses__span_of(details.annotations.title), sets_title, error);
    if (code == SES_OK && *sets_title)
        count_name(run);
    if (code == SES_OK)
        code = look_into_labels(run, &details.annotations, error);
    if (code == SES_OK)
        code = look_into_ids(run, details.parent, error);
    ses__snapshot_free(&details);
    return code;
}

/* --------------------------------------------------------------------------------------------- removing */

/* A shared key that another session has set since stays in the state. */
static int remove_name(struct redacting *run, struct span name, ses_error *error)
{
    static const struct statement *const remove[] = {
        [SCOPE_APP] = STATEMENT_APP_STATE_REMOVE_OWN,
        [SCOPE_USER] = STATEMENT_USER_STATE_REMOVE_OWN,
        [SCOPE_SESSION] = STATEMENT_SESSION_STATE_REMOVE,
    };
    struct span key;
    const enum scope scope = ses__scope_of(name, &key);
    const int64_t owner = ses__scope_owner(scope, &run->row);
    int code;

    if (scope == SCOPE_TEMP) /* none is stored */
        return SES_OK;
    if (ses__scope_is_shared(scope))
        ses__db_lock(run->db, scope, owner, false);
    code =
        scope == SCOPE_SESSION
            ? ses__query_do(run->db, remove[scope], error, VALUES(INT(owner), TEXT(key)))
            : ses__query_do(run->db, remove[scope], error, VALUES(INT(owner), TEXT(key), INT(run->row.id)));
    if (code == SES_OK)
        run->counts.state_keys += ses__db_changed(run->db);
    return code == SES_OK && run->row.base_seq > 0
               ? ses__query_do(run->db, STATEMENT_BASE_STATE_REMOVE, error,
                               VALUES(INT(run->row.id), TEXT(name)))
               : code;
}

int ses__names_write(struct redacting *run, ses_error *error)
{
    const struct found_names *names = &run->names;
    int code = SES_OK;

    for (size_t i = 0; i < names->count && code == SES_OK; i++)
        code = remove_name(run, names->items[i], error);
    if (code == SES_OK && (names->annotating.sets_title || names->annotating.label_count > 0))
        code = ses__details_annotate(run->db, &run->row, &names->annotating, &names->annotated, error);
    return code;
}
