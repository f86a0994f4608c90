/* Finds the relatives of a session, and what they have of its events. */
#include "storage/sql/session/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/memories.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------------------ memory */

/* A fork that has such a name has events of its parent. */
static bool is_for_memory(const struct relative *relative)
{
    return ses__memories_is_name(relative->session) && relative->parent_seq == 0;
}

static bool is_memory_of(const struct relative *other, const struct relative *own)
{
    char name[SES_ID_MAX + 1];

    if (other->row.user_id != own->row.user_id || !is_for_memory(other))
        return false;
    ses__memories_name(NULL, own->session.ptr, name);
    return ses__span_is(other->session, ses__span_of(name));
}

/* ----------------------------------------------------------------------------------------------- reading */

static bool keep_family_name(struct arena *arena, struct query *query, int column, struct span *name)
{
    const struct span text = ses__query_text(query, column);

    *name = (struct span){text.ptr ? ses__arena_text(arena, text.ptr, text.len) : NULL, text.len};
    return name->ptr || !text.ptr;
}

static int read_relative(struct query *query, struct arena *arena, struct relative *relative)
{
    *relative = (struct relative){.row = {.id = ses__query_int(query, 0),
                                          .app_id = ses__query_int(query, 1),
                                          .user_id = ses__query_int(query, 2),
                                          .last_seq = ses__query_int(query, 3),
                                          .created_us = ses__query_int(query, 4),
                                          .base_seq = ses__query_int(query, 5)},
                                  .origin = ses__query_int(query, 6),
                                  .parent_seq = ses__query_int(query, 7)};
    if (!keep_family_name(arena, query, 8, &relative->user) ||
        !keep_family_name(arena, query, 9, &relative->session) ||
        !keep_family_name(arena, query, 10, &relative->parent_user) ||
        !keep_family_name(arena, query, 11, &relative->parent_session) ||
        !keep_family_name(arena, query, 12, &relative->child_user) ||
        !keep_family_name(arena, query, 13, &relative->child_session))
        return ses__error_nomem(query->error);
    if (query->code != SES_OK)
        return query->code;
    if (!ses__is_id(relative->parent_user) || !ses__is_id(relative->parent_session)) /* a check says so */
        relative->parent_user.ptr = NULL;
    if (!ses__is_id(relative->child_user) || !ses__is_id(relative->child_session))
        relative->child_user.ptr = NULL;
    return ses__is_id(relative->user) && ses__is_id(relative->session)
               ? ses__session_row_check(&relative->row, query->db, query->error)
               : ses__refuse_stranger(query->db, "session", query->error);
}

static int compare_relatives(const void *a, const void *b)
{
    const struct relative *one = a;
    const struct relative *other = b;
    return (one->row.id > other->row.id) - (one->row.id < other->row.id);
}

/* Takes the rows of an opened query, in order. The row of `own` is not added to the list. */
static int take_family(struct query *query, struct family *family)
{
    const ses_allocator *allocator = query->db->allocator;
    struct relative next;
    size_t count = 0;

    while (ses__query_row(query)) {
        ses__query_keep(query, read_relative(query, &family->arena, &next));
        if (query->code != SES_OK)
            continue;
        if (next.row.id == family->own.row.id)
            family->own = next;
        else if (LIST_GROW(allocator, family))
            family->items[family->count++] = next;
        else
            ses__query_keep(query, ses__error_nomem(query->error));
    }
    if (family->count > 0)
        qsort(family->items, family->count, sizeof *family->items, compare_relatives);
    for (size_t i = 0; i < family->count; i++) { /* a session with a name for memory may be linked, too */
        if (count == 0 || family->items[count - 1].row.id != family->items[i].row.id)
            family->items[count++] = family->items[i];
    }
    family->count = count;
    return ses__query_end(query);
}

static void begin_family(struct family *family, const ses_allocator *allocator)
{
    *family = (struct family){.count = 0};
    ses__arena_init(&family->arena, allocator);
}

int ses__family_read(struct db *db, const struct session_row *row, const ses_key *key, struct family *family,
                     ses_error *error)
{
    char memory[SES_ID_MAX + 1];
    struct query query;

    begin_family(family, db->allocator);
    family->own = (struct relative){
        .row = *row, .user = ses__span_of(key->user), .session = ses__span_of(key->session)};
    ses__memories_name(NULL, key->session, memory);
    ses__query_open(&query, db, STATEMENT_FAMILY_OF, error,
                    VALUES(INT(row->app_id), INT(row->id), INT(row->user_id), STRING(memory)));
    return take_family(&query, family);
}

void ses__family_free(struct family *family, const ses_allocator *allocator)
{
    ses__memory_free(allocator, family->items);
    ses__arena_free(&family->arena);
}

/* ------------------------------------------------------------------------------------------------ names */

static int compare_to_names(struct span user, struct span session, const struct relative *relative)
{
    const int order = ses__span_order(user, relative->user);

    return order != 0 ? order : ses__span_order(session, relative->session);
}

static int compare_by_name(const void *a, const void *b)
{
    const struct relative *one = *(const struct relative *const *)a;
    return compare_to_names(one->user, one->session, *(const struct relative *const *)b);
}

int ses__family_sort(struct family *family, ses_error *error)
{
    family->by_name = ses__arena_new(&family->arena, (family->count + 1) * sizeof *family->by_name);
    if (!family->by_name)
        return ses__error_nomem(error);
    for (size_t i = 0; i < family->count; i++)
        family->by_name[i] = &family->items[i];
    family->by_name[family->count] = &family->own;
    qsort(family->by_name, family->count + 1, sizeof(const struct relative *), compare_by_name);
    return SES_OK;
}

const struct relative *ses__relative_find(const struct family *family, struct span user, struct span session)
{
    size_t first = 0;
    size_t end = family->count + 1;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        const int order = compare_to_names(user, session, family->by_name[middle]);
        if (order == 0)
            return family->by_name[middle];
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- comparing */

/* Memory keeps no more of an event than its id, author, time and content. */
static bool is_copy_of(const struct event_row *own, const struct event_row *event, bool is_by_id)
{
    const bool is_same_branch = (own->branch.ptr != NULL) == (event->branch.ptr != NULL) &&
                                (!own->branch.ptr || ses__span_is(own->branch, event->branch));

    return own->time_us == event->time_us && ses__span_is(own->author, event->author) &&
           (is_by_id || (own->seq == event->seq && is_same_branch &&
                         ses__span_is(own->invocation_id, event->invocation_id)));
}

int ses__original_find(struct db *db, int64_t session_id, const struct event_row *event, bool is_by_id,
                       int64_t *seq, ses_error *error)
{
    struct event_rows rows;
    struct event_row own;

    ses__event_row_open(&rows, db, session_id, event->id, error);
    *seq = ses__event_rows_next(&rows, &own) && is_copy_of(&own, event, is_by_id) ? own.seq : 0;
    return ses__event_rows_close(&rows);
}

/* True if the fork names it as its parent. */
static bool is_fork_of(const struct relative *child, const struct relative *parent)
{
    return child->parent_user.ptr && ses__span_is(child->parent_user, parent->user) &&
           ses__span_is(child->parent_session, parent->session);
}

/* The number up to which one of the two took the events from the other; -1: neither is the other's parent,
 * such as two forks of one session. The fork is the younger one: another session may have got the parent's
 * name since. */
static int64_t find_parting_point(const struct relative *own, const struct relative *other)
{
    const bool is_own = !is_fork_of(other, own);
    const struct relative *child = is_own ? own : other;
    const struct relative *parent = is_own ? other : own;

    return is_fork_of(child, parent) && child->row.created_us >= parent->row.created_us ? child->parent_seq
                                                                                        : -1;
}

/* Both have all events in common up to the point where they part, so the first one that neither has pruned
 * tells. Where there is none, their names do. */
static int find_common(struct db *db, const struct relative *own, const struct relative *other,
                       int64_t *common, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    const int64_t pruned = other->row.base_seq > own->row.base_seq ? other->row.base_seq : own->row.base_seq;
    const int64_t point = find_parting_point(own, other);
    int64_t seq = 0;

    ses__event_rows_open_few(&rows, db, other->row.id, pruned + 1, other->row.last_seq,
                             &(struct few_events){1, INT64_MAX}, WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, ses__original_find(db, own->row.id, &event, false, &seq, error));
    *common = seq > 0 ? seq : point <= pruned ? point : -1;
    return ses__event_rows_close(&rows);
}

static bool is_child(const struct relative *relative)
{
    return relative->child_user.ptr != NULL;
}

int ses__kinship_find(struct db *db, const struct relative *own, const struct relative *other,
                      struct kinship *kinship, ses_error *error)
{
    *kinship = (struct kinship){.is_linked = own->origin > 0 && own->origin == other->origin,
                                .is_memory = is_memory_of(other, own),
                                .is_by_id = is_for_memory(own) || is_for_memory(other) ||
                                            is_child(own) != is_child(other),
                                .common = -1};
    return kinship->is_linked && !kinship->is_by_id ? find_common(db, own, other, &kinship->common, error)
                                                    : SES_OK;
}

/* ----------------------------------------------------------------------------------------------- counting */

/* Numbers of events, both included. */
struct span_of_events {
    int64_t first;
    int64_t last;
};

/* In memory an event that the session has not may be one that it had, or have got an id of its own. */
static int has_remembered(struct db *db, const struct relative *own, const struct relative *other,
                          const struct kinship *kinship, const struct span_of_events *which, bool *has,
                          ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    int64_t seq = 0;

    ses__event_rows_open(&rows, db, other->row.id, other->row.base_seq + 1, other->row.last_seq, WALK_FORWARD,
                         error);
    while (!*has && ses__event_rows_next(&rows, &event)) {
        ses__query_keep(&rows.query, ses__original_find(db, own->row.id, &event, true, &seq, error));
        *has = seq > 0 ? seq >= which->first && seq <= which->last : kinship->is_memory;
    }
    return ses__event_rows_close(&rows);
}

/* The first event is a copy if any is. */
static int has_same_numbers(struct db *db, const struct relative *own, const struct relative *other,
                            int64_t common, const struct span_of_events *which, bool *has, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    int64_t seq = 0;
    const int64_t first = which->first > other->row.base_seq ? which->first : other->row.base_seq + 1;

    ses__event_rows_open_few(&rows, db, other->row.id, first, which->last, &(struct few_events){1, INT64_MAX},
                             WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event)) {
        *has = event.seq <= common;
        if (!*has)
            ses__query_keep(&rows.query, ses__original_find(db, own->row.id, &event, false, &seq, error));
        *has = *has || seq > 0;
    }
    return ses__event_rows_close(&rows);
}

static int has_copies(struct db *db, const struct relative *own, const struct relative *other,
                      const struct span_of_events *which, bool *has, ses_error *error)
{
    struct kinship kinship;
    const int code = ses__kinship_find(db, own, other, &kinship, error);

    *has = false;
    if (code == SES_OK && kinship.is_by_id && (kinship.is_linked || kinship.is_memory))
        return has_remembered(db, own, other, &kinship, which, has, error);
    return code == SES_OK && kinship.common >= 0
               ? has_same_numbers(db, own, other, kinship.common, which, has, error)
               : code;
}

/* A deletion does not fail because others are damaged, or of a later version. */
static int end_counting(struct db *db, int code, int64_t count, ses_error *error)
{
    if (code != SES_OK && code != SES_CORRUPT && code != SES_UNSUPPORTED)
        return code;
    db->erased->forks_left = code == SES_OK ? count : -1;
    ses__error_clear(error);
    return SES_OK;
}

int ses__copies_count(struct db *db, const struct session_row *row, const ses_key *key, int64_t first,
                      int64_t last, ses_error *error)
{
    const struct span_of_events which = {first, last};
    struct family family;
    bool has = false;
    int64_t count = 0;

    if (!db->erased)
        return SES_OK;
    int code = ses__family_read(db, row, key, &family, error);
    for (size_t i = 0; i < family.count && code == SES_OK; i++) {
        code = has_copies(db, &family.own, &family.items[i], &which, &has, error);
        count += has;
    }
    ses__family_free(&family, db->allocator);
    return end_counting(db, code, count, error);
}

/* One of another user is counted once, of whichever session of the user it has copies. */
static int count_copies_of_user(struct db *db, const struct family *family, const struct user_row *user,
                                int64_t *count, ses_error *error)
{
    static const struct span_of_events all = {1, MAX_SEQ};
    int code = SES_OK;

    for (size_t i = 0; i < family->count && code == SES_OK; i++) {
        const struct relative *other = &family->items[i];
        bool has = other->row.user_id == user->id;
        for (size_t j = 0; j < family->count && !has && code == SES_OK; j++) {
            const struct relative *own = &family->items[j];
            if (own->row.user_id == user->id && own->origin == other->origin)
                code = has_copies(db, own, other, &all, &has, error);
        }
        *count += has && other->row.user_id != user->id;
    }
    return code;
}

int ses__copies_count_of_user(struct db *db, const struct user_row *user, ses_error *error)
{
    struct family family;
    struct query query;
    int64_t count = 0;

    if (!db->erased)
        return SES_OK;
    begin_family(&family, db->allocator);
    ses__query_open(&query, db, STATEMENT_FAMILIES_OF_USER, error, VALUES(INT(user->app_id), INT(user->id)));
    int code = take_family(&query, &family);
    if (code == SES_OK)
        code = count_copies_of_user(db, &family, user, &count, error);
    ses__family_free(&family, db->allocator);
    return end_counting(db, code, count, error);
}
