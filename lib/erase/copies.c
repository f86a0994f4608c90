/* Other sessions of the app that have copies of the events: forks, what they were forked from, and their forks. */
#include "erase/erase.h"

#include <stdlib.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

struct fork_parent {
    const char *user;
    const char *session;
};

/* Sessions by their numbers, and those that they were forked from by their names. */
struct relatives {
    struct arena arena;
    struct {
        int64_t *items;
        size_t count;
        size_t capacity;
    } ids;
    struct {
        struct fork_parent *items;
        size_t count;
        size_t capacity;
    } parents;
};

static bool add_relative(const struct redacting *run, struct relatives *relatives, int64_t id)
{
    if (id == run->row.id)
        return true;
    if (!LIST_GROW(run->asked->allocator, &relatives->ids))
        return false;
    relatives->ids.items[relatives->ids.count++] = id;
    return true;
}

/* Most forks of a session come one after the other. */
static bool add_parent(const struct redacting *run, struct relatives *relatives, struct span user,
                       struct span session)
{
    const size_t count = relatives->parents.count;
    const struct fork_parent *last = count > 0 ? &relatives->parents.items[count - 1] : NULL;

    if (!ses__is_id(user) || !ses__is_id(session) ||
        (last && ses__span_is(user, ses__span_of(last->user)) &&
         ses__span_is(session, ses__span_of(last->session))))
        return true; /* a check says so of names that are none */
    const struct fork_parent parent = {ses__arena_text(&relatives->arena, user.ptr, user.len),
                                       ses__arena_text(&relatives->arena, session.ptr, session.len)};
    if (!parent.user || !parent.session || !LIST_GROW(run->asked->allocator, &relatives->parents))
        return false;
    relatives->parents.items[relatives->parents.count++] = parent;
    return true;
}

static int read_forks(const struct redacting *run, struct relatives *relatives, ses_error *error)
{
    struct query query;

    ses__query_open(&query, run->db, STATEMENT_FORKS_OF_APP, error, VALUES(INT(run->row.app_id)));
    while (ses__query_row(&query)) {
        if (!add_relative(run, relatives, ses__query_int(&query, 0)) ||
            !add_parent(run, relatives, ses__query_text(&query, 1), ses__query_text(&query, 2)))
            ses__query_keep(&query, ses__error_nomem(error));
    }
    return ses__query_end(&query);
}

/* Adds the numbers of the parents that are there, and sorts all of them. */
static int find_parents(const struct redacting *run, struct relatives *relatives, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < relatives->parents.count && code == SES_OK; i++) {
        const struct fork_parent *parent = &relatives->parents.items[i];
        const ses_key key = {run->asked->app, parent->user, parent->session};
        struct session_row row;
        code = ses__session_find(run->db, &key, &row, error);
        if (code == SES_OK && !add_relative(run, relatives, row.id))
            code = ses__error_nomem(error);
        if (code == SES_NOTFOUND)
            code = SES_OK;
    }
    if (code == SES_OK && relatives->ids.count > 0)
        qsort(relatives->ids.items, relatives->ids.count, sizeof *relatives->ids.items, ses__compare_seqs);
    return code;
}

static int read_relative_name(struct redacting *run, ses_error *error)
{
    struct query query;
    struct span name = {NULL, 0};

    ses__query_open(&query, run->db, STATEMENT_SESSION_CALLED, error, VALUES(INT(run->row.id)));
    if (ses__query_row(&query))
        name = ses__query_text(&query, 0);
    if (query.code == SES_OK && !ses__is_id(name))
        ses__query_keep(&query, ses__refuse_stranger(run->db, "session", error));
    if (query.code == SES_OK) {
        memcpy(run->name, name.ptr, name.len);
        run->name[name.len] = '\0';
    }
    return ses__query_end(&query);
}

/* A fork and its parent have all events in common up to the point, so the first one tells that neither has pruned. */
static int is_relative(const struct redacting *run, const struct session_row *other, bool *is,
                       ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    char id[SES_ID_MAX];
    struct span first = {id, 0};
    const int64_t pruned = other->base_seq > run->row.base_seq ? other->base_seq : run->row.base_seq;
    int64_t seq = 0;
    int64_t own = 0;

    *is = false;
    ses__event_rows_open_few(&rows, run->db, other->id, pruned + 1, other->last_seq,
                             &(struct few_events){1, INT64_MAX}, WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event)) {
        seq = event.seq;
        memcpy(id, event.id.ptr, first.len = event.id.len);
    }
    int code = ses__event_rows_close(&rows);
    if (code == SES_OK && seq > 0)
        code = ses__event_find(run->db, run->row.id, first, &own, error);
    *is = own == seq && seq > 0;
    return code;
}

static void add_erased(ses_erased *sum, const ses_erased *counts)
{
    sum->events += counts->events;
    sum->state_keys += counts->state_keys;
    sum->state_left += counts->state_left;
    sum->artifacts_left += counts->artifacts_left;
    sum->compactions_left += counts->compactions_left;
}

static int redact_relative(struct redacting *run, const struct session_row *row, bool counts,
                           ses_error *error)
{
    const struct redacted_origin origin = {&run->row, &run->values};
    struct redacting other;

    ses__redacting_init(&other, run->db, run->asked);
    other.row = *row;
    other.origin = &origin;
    int code = read_relative_name(&other, error);
    if (code == SES_OK)
        code = ses__redacting_plan(&other, error);
    const bool changes = code == SES_OK && ses__redacting_changes(&other);
    if (changes && counts)
        run->counts.forks_left++;
    if (changes && !counts) {
        code = ses__redacting_write(&other, error);
        run->counts.sessions++;
        add_erased(&run->counts, &other.counts);
    }
    ses__redacting_free(&other);
    return code;
}

static int look_at_relative(struct redacting *run, int64_t id, bool counts, ses_error *error)
{
    struct session_row row;
    bool is = false;
    int code = ses__session_by_id(run->db, id, &row, error);

    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code == SES_OK && row.app_id != run->row.app_id)
        return ses__refuse_stranger(run->db, "app's session", error);
    if (code == SES_OK)
        code = is_relative(run, &row, &is, error);
    return code == SES_OK && is ? redact_relative(run, &row, counts, error) : code;
}

int ses__copies_redact(struct redacting *run, bool counts, ses_error *error)
{
    struct relatives relatives = {.ids = {NULL, 0, 0}};
    const int64_t *ids = NULL;

    ses__arena_init(&relatives.arena, run->asked->allocator);
    int code = read_forks(run, &relatives, error);
    if (code == SES_OK)
        code = find_parents(run, &relatives, error);
    ids = relatives.ids.items;
    for (size_t i = 0; i < relatives.ids.count && code == SES_OK; i++) {
        if (i == 0 || ids[i] != ids[i - 1])
            code = look_at_relative(run, ids[i], counts, error);
    }
    ses__memory_free(run->asked->allocator, relatives.parents.items);
    ses__memory_free(run->asked->allocator, relatives.ids.items);
    ses__arena_free(&relatives.arena);
    return code;
}
