/* Own state that is to be what a log leads to: the rows that differ are found, and written. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* One row that is to be written or deleted. */
struct row_change {
    struct delta_op op;
    int64_t seq; /* of the event that had set it */
};

/* Walks over the rows and the keys that are due, both in the order of their names. */
struct restoring {
    struct db *db;
    const struct session_row *session;
    struct state_entry *const *due;
    size_t count;
    size_t next;
    struct arena arena; /* names of rows */
    struct row_change *changes;
    size_t change_count;
    size_t change_capacity;
};

static int note_change(struct restoring *it, struct row_change change, ses_error *error)
{
    if (!ses__memory_grow(it->arena.allocator, &it->changes, &it->change_capacity, it->change_count + 1,
                          sizeof *it->changes))
        return ses__error_nomem(error);
    it->changes[it->change_count++] = change;
    return SES_OK;
}

/* Notes that the next key of the replay must be written. */
static int note_due(struct restoring *it, ses_error *error)
{
    struct state_entry *entry = it->due[it->next++];
    const struct span name = ses__state_entry_span(entry);
    const struct row_change change = {
        {.scope = SCOPE_SESSION, .name = name, .key = name, .value = ses__state_entry_value(entry)},
        entry->seq};
    int code = ses__state_entry_check(entry, error);

    return code == SES_OK ? note_change(it, change, error) : code;
}

static int compare_row(struct restoring *it, struct span key, struct span value, int64_t seq,
                       ses_error *error)
{
    int code = SES_OK;
    int order = -1;

    while (code == SES_OK && it->next < it->count &&
           (order = ses__span_order(ses__state_entry_span(it->due[it->next]), key)) < 0)
        code = note_due(it, error);
    if (code != SES_OK)
        return code;
    if (it->next == it->count || order > 0) {
        const struct row_change removal = {
            {.scope = SCOPE_SESSION, .removes = true, .name = key, .key = key, .value = {"", 0}}, 0};
        return note_change(it, removal, error);
    }
    const struct state_entry *entry = it->due[it->next];
    if (entry->seq != seq || !ses__span_is(ses__state_entry_value(entry), value))
        return note_due(it, error);
    it->next++;
    return SES_OK;
}

static int compare_rows(struct restoring *it, ses_error *error)
{
    struct own_rows rows;
    struct span key;
    struct span value;
    int64_t seq;

    ses__own_rows_open(&rows, it->db, it->session->id, &it->arena, error);
    while (ses__own_rows_next(&rows, &key, &value, &seq))
        ses__query_keep(&rows.query, compare_row(it, key, value, seq, error));
    int code = ses__query_end(&rows.query);
    while (code == SES_OK && it->next < it->count)
        code = note_due(it, error);
    return code;
}

/* To be freed in any case. */
static int find_changes(struct restoring *it, struct db *db, const struct session_row *session,
                        const struct state *state, ses_error *error)
{
    *it = (struct restoring){
        .db = db, .session = session, .due = ses__state_sorted(state), .count = ses__state_count(state)};
    ses__arena_init(&it->arena, db->allocator);
    return it->due ? compare_rows(it, error) : ses__error_nomem(error);
}

static void free_changes(struct restoring *it)
{
    ses__memory_free(it->arena.allocator, it->changes);
    ses__arena_free(&it->arena);
}

int ses__session_state_restore(struct db *db, const struct session_row *session, const struct state *state,
                               ses_error *error)
{
    struct restoring it;
    int code = find_changes(&it, db, session, state, error);

    for (size_t i = 0; i < it.change_count && code == SES_OK; i++) {
        struct row_change *change = &it.changes[i];
        const struct delta one = {&change->op, 1, 1};
        code = ses__delta_store(db, &one, session, change->seq, error);
    }
    free_changes(&it);
    return code;
}

int ses__session_state_check(struct db *db, const struct session_row *session, const struct state *state,
                             ses_error *error)
{
    struct restoring it;
    int code = find_changes(&it, db, session, state, error);

    if (code == SES_OK && it.change_count > 0)
        code = ses__error_set(error, SES_CORRUPT,
                              "the own state is not what the log leads to: the key \"%.200s\" differs",
                              it.changes[0].op.name.ptr);
    free_changes(&it);
    return code;
}
