/* The merged state a handle shows: a map for each scope. */
#ifndef SESLITE_MODEL_STATE_STATE_H
#define SESLITE_MODEL_STATE_STATE_H

#include "base/hash.h"
#include "base/table.h"
#include "model/state/delta.h"

/* A key and its value; both end in a NUL. */
struct state_entry {
    struct table_entry entry; /* by the name */
    enum scope scope;
    bool removes; /* in staged changes: removes the key */
    /* Key and value are known to be valid: they came with an event, or ses__state_entry_check accepted
     * them. */
    bool checked;
    int64_t seq; /* in a replay: the number of the event that set it */
    size_t value_len;
    char *text; /* the unescaped string, made when first asked for */
    size_t text_len;
    char bytes[]; /* name, NUL, value, NUL */
};

static inline struct span ses__state_entry_span(const struct state_entry *entry)
{
    return entry->entry.key;
}

static inline struct span ses__state_entry_value(const struct state_entry *entry)
{
    return (struct span){entry->bytes + entry->entry.key.len + 1, entry->value_len};
}

struct state_map;

struct state {
    const ses_allocator *allocator;
    struct hash_seed seed;
    struct state_map *scopes[SCOPE_COUNT]; /* app and user maps can be shared by the sessions of a list */
    struct state_view *view;               /* made on request */
};

SESLITE_PRIVATE int ses__state_init(struct state *state, const ses_allocator *allocator,
                                    struct hash_seed seed, ses_error *error);
SESLITE_PRIVATE void ses__state_free(struct state *state);
SESLITE_PRIVATE size_t ses__state_count(const struct state *state);
SESLITE_PRIVATE struct state_entry *ses__state_find(const struct state *state, struct span name);
/* NULL: out of memory. Borrowed until the state changes. */
SESLITE_PRIVATE struct state_entry *const *ses__state_sorted(const struct state *state);
/* Adds the members of the scopes before `end` to an object that was begun, in the order of ses_state_json.
 * CORRUPT; NOMEM, but the buffer reports its own failures. */
SESLITE_PRIVATE int ses__state_add_members(const struct state *state, enum scope end, struct buffer *json,
                                           ses_error *error);
/* Borrowed until the state changes. CORRUPT, NOMEM. */
SESLITE_PRIVATE int ses__state_to_json(const struct state *state, struct span *json, ses_error *error);
/*
 * To be called before the key or the value of an entry is shown, because another program may have written the
 * row. CORRUPT: the key breaks the rules of its scope, or the value is not JSON. ses__state_check_value
 * checks only a value, which need not be in an entry.
 */
SESLITE_PRIVATE int ses__state_entry_check(struct state_entry *entry, ses_error *error);
SESLITE_PRIVATE int ses__state_check_value(const char *name, struct span value, ses_error *error);
/* Gives the entry's value, which was checked, as unescaped text. The text is made once. TYPE, RANGE,
 * NOMEM. */
SESLITE_PRIVATE int ses__state_entry_text(const struct state *state, struct state_entry *entry,
                                          ses_error *error);

/*
 * Loads one scope, row by row, and replaces its old content: begin, put each key (without its prefix), and
 * end. If `whole` is false, the new keys are dropped and the state is as before. A begin that fails needs no
 * end. NOMEM; CORRUPT: a key came twice.
 */
struct state_loading {
    struct state *state;
    enum scope scope;
    struct state_map *map;
};
SESLITE_PRIVATE int ses__state_load_begin(struct state_loading *loading, struct state *state,
                                          enum scope scope, ses_error *error);
SESLITE_PRIVATE int ses__state_load_put(struct state_loading *loading, struct span key, struct span value,
                                        ses_error *error);
SESLITE_PRIVATE void ses__state_load_end(struct state_loading *loading, bool whole);

/* Sets a key, by its whole name. Unlike a delta, the tombstone is kept: as the value of an entry that
 * `removes`. NOMEM. */
SESLITE_PRIVATE int ses__state_put(struct state *state, struct span name, struct span value,
                                   ses_error *error);
/* Shares the entries of this scope with `other`, which must not change any more. */
SESLITE_PRIVATE void ses__state_share(struct state *state, const struct state *other, enum scope scope);
SESLITE_PRIVATE void ses__state_clear(struct state *state, enum scope scope);

/* Changes that are prepared first, which can run out of memory, and applied later, which cannot fail. */
struct state_changes {
    struct state_entry **entries;
    size_t count;
    size_t capacity;
};

SESLITE_PRIVATE int ses__state_stage(struct state *state, const struct delta *delta, enum scope from,
                                     enum scope to, struct state_changes *changes, ses_error *error);
/* Call this once after all ses__state_stage and before ses__state_apply. */
SESLITE_PRIVATE int ses__state_reserve(struct state *state, const struct state_changes *changes,
                                       ses_error *error);
SESLITE_PRIVATE void ses__state_apply(struct state *state, struct state_changes *changes);
/* Applies only the changes from `first` to before `end`; the rest is freed with the changes. */
SESLITE_PRIVATE void ses__state_apply_some(struct state *state, struct state_changes *changes, size_t first,
                                           size_t end);
SESLITE_PRIVATE void ses__state_changes_free(struct state *state, struct state_changes *changes);

/* ---- values, JSON text that was accepted before, as C types. `name` is the key's, for messages. */

/* All return TYPE if the value has another JSON type, and RANGE if it does not fit. */
SESLITE_PRIVATE int ses__typed_int64(struct span value, const char *name, int64_t *number, ses_error *error);
SESLITE_PRIVATE int ses__typed_double(struct span value, const char *name, double *number, ses_error *error);
SESLITE_PRIVATE int ses__typed_bool(struct span value, const char *name, int *flag, ses_error *error);
/* Gives the unescaped string, with a NUL after it. Free it with ses__memory_free. */
SESLITE_PRIVATE int ses__typed_text(struct span value, const char *name, const ses_allocator *allocator,
                                    char **text, size_t *len, ses_error *error);
/* Adds the unescaped string to the buffer, which may fail. */
SESLITE_PRIVATE int ses__typed_add_text(struct span value, const char *name, struct buffer *buffer,
                                        ses_error *error);

#endif
