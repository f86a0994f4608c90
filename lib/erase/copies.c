/* Other sessions of the app that have copies of the events: forks, what they were forked from, and their forks. They have
 * the same number of origin, which links them also when the one between them is deleted. */
#include "erase/erase.h"

#include <stdlib.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* A session that may have copies. `linked`: one of the two is named as the parent of the other, which took the events up to
 * this number from there; -1: neither is, such as two forks of one session. */
struct relative {
    int64_t id;
    int64_t linked;
    bool is_child;
};

/* Sessions by their numbers, and the names of the one that the session of the call was forked from. */
struct relatives {
    struct {
        struct relative *items;
        size_t count;
        size_t capacity;
    } found;
    char parent_user[SES_ID_MAX + 1]; /* "": it is no fork */
    char parent_session[SES_ID_MAX + 1];
    int64_t parent_seq;
};

static void keep_parent_name(char *place, struct span name)
{
    memcpy(place, name.ptr, name.len);
    place[name.len] = '\0';
}

/* A session of the family: its number, and of a fork the names of its parent, and the last number that it took from there. */
static bool add_of_family(const struct redacting *run, struct relatives *relatives, struct query *query)
{
    const struct redaction *asked = run->asked;
    const int64_t id = ses__query_int(query, 0);
    const struct span user = ses__query_text(query, 1);
    const struct span session = ses__query_text(query, 2);
    const int64_t seq = ses__query_int(query, 3);
    const bool is_fork = ses__is_id(user) && ses__is_id(session); /* a check says so */
    const bool is_child = is_fork && ses__span_is(user, ses__span_of(asked->key->user)) &&
                          ses__span_is(session, ses__span_of(asked->key->session));

    if (id != run->row.id) {
        if (!LIST_GROW(asked->allocator, &relatives->found))
            return false;
        relatives->found.items[relatives->found.count++] =
            (struct relative){id, is_child ? seq : -1, is_child};
    } else if (is_fork) {
        keep_parent_name(relatives->parent_user, user);
        keep_parent_name(relatives->parent_session, session);
        relatives->parent_seq = seq;
    }
    return true;
}

/* In order of their numbers, in which two calls that redact each other's relatives do not wait for each other. */
static int compare_relatives(const void *a, const void *b)
{
    const struct relative *one = a;
    const struct relative *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static int read_family(const struct redacting *run, struct relatives *relatives, ses_error *error)
{
    struct query query;

    ses__query_open(&query, run->db, STATEMENT_FAMILY_OF, error,
                    VALUES(INT(run->row.app_id), INT(run->row.id)));
    while (ses__query_row(&query)) {
        if (!add_of_family(run, relatives, &query))
            ses__query_keep(&query, ses__error_nomem(error));
    }
    if (relatives->found.count > 0)
        qsort(relatives->found.items, relatives->found.count, sizeof *relatives->found.items,
              compare_relatives);
    return ses__query_end(&query);
}

/* Links the parent, if it is there. A session outside of the family may have got its name since. */
static int link_parent(const struct redacting *run, struct relatives *relatives, ses_error *error)
{
    const ses_key key = {run->asked->key->app, relatives->parent_user, relatives->parent_session};
    struct session_row row;
    int code = key.session[0] ? ses__session_find(run->db, &key, &row, error) : SES_NOTFOUND;

    for (size_t i = 0; code == SES_OK && i < relatives->found.count; i++) {
        if (relatives->found.items[i].id == row.id)
            relatives->found.items[i].linked = relatives->parent_seq;
    }
    return code == SES_NOTFOUND ? SES_OK : code;
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

/* Is the fork the younger one? Another session may have got the parent's name since. */
static bool is_link_sound(const struct redacting *run, const struct session_row *other,
                          const struct relative *relative)
{
    return relative->linked >= 0 && (relative->is_child ? other->created_us >= run->row.created_us
                                                        : other->created_us <= run->row.created_us);
}

/* Finds the number up to which both logs are known to be the same; -1: it is not known that they have anything in common. A
 * fork and its parent have all events in common up to the point, so the first one that neither has pruned tells. Where there
 * is none, their names do. */
static int find_common(const struct redacting *run, const struct session_row *other,
                       const struct relative *relative, int64_t *common, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    const int64_t pruned = other->base_seq > run->row.base_seq ? other->base_seq : run->row.base_seq;
    int64_t seq = 0;
    bool is_copy = false;

    ses__event_rows_open_few(&rows, run->db, other->id, pruned + 1, other->last_seq,
                             &(struct few_events){1, INT64_MAX}, WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event)) {
        seq = event.seq;
        ses__query_keep(&rows.query, ses__find_copy(run->db, run->row.id, &event, &is_copy, error));
    }
    const int code = ses__event_rows_close(&rows);
    *common = is_copy                                                             ? seq
              : relative->linked <= pruned && is_link_sound(run, other, relative) ? relative->linked
                                                                                  : -1;
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

/* `other` has the session's row, and is planned. */
static int plan_relative(struct redacting *run, struct redacting *other, bool counts, ses_error *error)
{
    int code = read_relative_name(other, error);

    if (code == SES_OK)
        code = ses__redacting_plan(other, error);
    if (code == SES_OK && counts && ses__redacting_changes(other))
        run->counts.forks_left++;
    return code == SES_OK && !counts ? ses__redacting_blank(other, error) : code;
}

static int redact_relative(struct redacting *run, const struct session_row *row, int64_t common, bool counts,
                           struct redacting **copies, ses_error *error)
{
    const struct redacted_origin origin = {&run->row, common, &run->values};
    struct redacting *other = ses__memory_new(run->asked->allocator, sizeof *other);

    if (!other)
        return ses__error_nomem(error);
    ses__redacting_init(other, run->db, run->asked);
    other->row = *row;
    other->is_copy = true;
    other->origin = &origin;
    const int code = plan_relative(run, other, counts, error);
    other->origin = NULL; /* it is planned */
    run->counts.names_left += other->counts.names_left;
    other->next = *copies;
    *copies = other;
    if (code != SES_OK || counts || !ses__redacting_changes(other)) {
        *copies = other->next;
        other->next = NULL;
        ses__copies_free(other);
    }
    return code;
}

int ses__copies_write(struct redacting *run, struct redacting *copies, ses_error *error)
{
    int code = SES_OK;

    for (struct redacting *other = copies; other && code == SES_OK; other = other->next) {
        code = ses__redacting_write(other, error);
        run->counts.sessions++;
        add_erased(&run->counts, &other->counts);
    }
    return code;
}

void ses__copies_free(struct redacting *copies)
{
    while (copies) {
        struct redacting *next = copies->next;
        const ses_allocator *allocator = copies->asked->allocator;
        ses__redacting_free(copies);
        ses__memory_free(allocator, copies);
        copies = next;
    }
}

static int look_at_relative(struct redacting *run, const struct relative *relative, bool counts,
                            struct redacting **copies, ses_error *error)
{
    struct session_row row;
    int64_t common = -1;
    int code = ses__session_by_id(run->db, relative->id, &row, error);

    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code == SES_OK && row.app_id != run->row.app_id)
        return ses__refuse_stranger(run->db, "app's session", error);
    if (code == SES_OK)
        code = find_common(run, &row, relative, &common, error);
    return code == SES_OK && common >= 0 ? redact_relative(run, &row, common, counts, copies, error) : code;
}

int ses__copies_plan(struct redacting *run, bool counts, struct redacting **copies, ses_error *error)
{
    struct relatives relatives = {.parent_seq = -1};
    int code = read_family(run, &relatives, error);

    if (code == SES_OK)
        code = link_parent(run, &relatives, error);
    for (size_t i = 0; i < relatives.found.count && code == SES_OK; i++)
        code = look_at_relative(run, &relatives.found.items[i], counts, copies, error);
    ses__memory_free(run->asked->allocator, relatives.found.items);
    return code;
}
