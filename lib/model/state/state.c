#include "model/state/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "json/decimal.h"
#include "json/writer.h"

/* The entries of one scope, by their names. */
struct state_map {
    unsigned references;
    struct hash_table table;
};

/* The results of ses__state_sorted and ses__state_to_json, dropped at every change. */
struct state_view {
    struct state_entry **sorted;
    char *json;
    size_t json_len;
};

static void entry_free(const ses_allocator *allocator, void *entry)
{
    if (entry) {
        ses__memory_free(allocator, ((struct state_entry *)entry)->text);
        ses__memory_free(allocator, entry);
    }
}

static struct state_map *map_new(const ses_allocator *allocator)
{
    struct state_map *map = ses__memory_zeroed(allocator, sizeof *map);
    if (map)
        map->references = 1;
    return map;
}

static void free_entries(const ses_allocator *allocator, const struct state_map *map)
{
    struct table_entry *entry;
    size_t at = 0;

    while ((entry = ses__table_next(&map->table, &at)) != NULL)
        entry_free(allocator, entry);
}

static void map_release(const ses_allocator *allocator, struct state_map *map)
{
    if (map && --map->references == 0) {
        free_entries(allocator, map);
        ses__table_free(&map->table, allocator);
        ses__memory_free(allocator, map);
    }
}

int ses__state_init(struct state *state, const ses_allocator *allocator, struct hash_seed seed,
                    ses_error *error)
{
    bool ok;

    *state = (struct state){.allocator = allocator, .seed = seed};
    state->view = ses__memory_zeroed(allocator, sizeof *state->view);
    ok = state->view != NULL;
    for (int scope = 0; scope < SCOPE_COUNT && ok; scope++) {
        state->scopes[scope] = map_new(allocator);
        ok = state->scopes[scope] != NULL;
    }
    return ok ? SES_OK : ses__error_nomem(error);
}

static void view_forget(struct state *state)
{
    ses__memory_free(state->allocator, state->view->sorted);
    ses__memory_free(state->allocator, state->view->json);
    *state->view = (struct state_view){0};
}

void ses__state_free(struct state *state)
{
    for (int scope = 0; scope < SCOPE_COUNT; scope++)
        map_release(state->allocator, state->scopes[scope]);
    if (state->view)
        view_forget(state);
    ses__memory_free(state->allocator, state->view);
}

size_t ses__state_count(const struct state *state)
{
    size_t count = 0;
    for (int scope = 0; scope < SCOPE_COUNT; scope++)
        count += state->scopes[scope]->table.count;
    return count;
}

struct state_entry *ses__state_find(const struct state *state, struct span name)
{
    const struct hash_table *table = &state->scopes[ses__scope_of(name, NULL)]->table;
    const struct table_entry like = {ses__hash_keyed(&state->seed, name), name};

    return (struct state_entry *)ses__table_find(table, &like);
}

static int compare_names(const void *left, const void *right)
{
    const struct state_entry *a = *(struct state_entry *const *)left;
    const struct state_entry *b = *(struct state_entry *const *)right;

    if (a->scope != b->scope)
        return a->scope < b->scope ? -1 : 1;
    return ses__span_order(a->entry.key, b->entry.key);
}

struct state_entry *const *ses__state_sorted(const struct state *state)
{
    struct state_view *view = state->view;
    struct table_entry *entry;
    size_t count = 0;

    if (view->sorted)
        return view->sorted;
    view->sorted = ses__memory_new(state->allocator, ses__state_count(state) * sizeof *view->sorted);
    for (int scope = 0; view->sorted && scope < SCOPE_COUNT; scope++) {
        size_t at = 0;
        while ((entry = ses__table_next(&state->scopes[scope]->table, &at)) != NULL)
            view->sorted[count++] = (struct state_entry *)entry;
    }
    if (view->sorted)
        qsort(view->sorted, count, sizeof *view->sorted, compare_names);
    return view->sorted;
}

/* -------------------------------------------------------------------------------------------- checking */

static int check_stored_name(const struct state_entry *entry, ses_error *error)
{
    static const char advice[] = "; another program wrote it: rename or delete it with the sqlite3 program";
    struct span name = ses__state_entry_span(entry);

    if (ses__scope_of(name, NULL) != entry->scope)
        return ses__error_set(
            error, SES_CORRUPT,
            "the state of the session has a key \"%.200s\", whose prefix is that of another scope%s",
            entry->bytes, advice);
    if (ses__scope_check_name(name, NULL) != SES_OK)
        return ses__error_set(
            error, SES_CORRUPT,
            "the stored state key \"%.200s\" is not valid UTF-8, contains a NUL, or has more than %d bytes after its prefix%s",
            entry->bytes, SES_ID_MAX, advice);
    return SES_OK;
}

int ses__state_check_value(const char *name, struct span value, ses_error *error)
{
    struct json_reader reader;

    ses__json_start(&reader, value.ptr, value.len);
    reader.depth = 1; /* its depth in the merged state */
    if (ses__json_skip(&reader, NULL) && ses__json_finish(&reader))
        return SES_OK;
    return ses__error_set(
        error, SES_CORRUPT,
        "the stored value of \"%.200s\" is not JSON (at byte %zu: %s); another program wrote it: correct or delete it with the sqlite3 program",
        name, (size_t)(reader.wrong_at - reader.text), reader.wrong);
}

int ses__state_entry_check(struct state_entry *entry, ses_error *error)
{
    int code = entry->checked ? SES_OK : check_stored_name(entry, error);

    if (code == SES_OK && !entry->checked)
        code = ses__state_check_value(entry->bytes, ses__state_entry_value(entry), error);
    entry->checked = code == SES_OK;
    return code;
}

/* --------------------------------------------------------------------------------------------- showing */

int ses__state_add_members(const struct state *state, enum scope end, struct buffer *json, ses_error *error)
{
    struct state_entry *const *sorted = ses__state_sorted(state);
    const size_t total = ses__state_count(state);
    const size_t start = json->len;
    int code = sorted ? SES_OK : ses__error_nomem(error);

    for (size_t i = 0; code == SES_OK && i < total && sorted[i]->scope < end; i++) {
        code = ses__state_entry_check(sorted[i], error);
        ses__json_add_member(json, start, ses__state_entry_span(sorted[i]),
                             ses__state_entry_value(sorted[i]));
    }
    return code;
}

static int view_make_json(const struct state *state, ses_error *error)
{
    struct buffer json;

    ses__buffer_init(&json, state->allocator);
    ses__buffer_add(&json, "{", 1);
    int code = ses__state_add_members(state, SCOPE_COUNT, &json, error);
    ses__buffer_add(&json, "}", 1);
    if (code == SES_OK && json.failed)
        code = ses__error_nomem(error);
    if (code != SES_OK)
        ses__buffer_free(&json);
    state->view->json = json.data;
    state->view->json_len = json.len;
    return code;
}

int ses__state_to_json(const struct state *state, struct span *json, ses_error *error)
{
    int code = state->view->json ? SES_OK : view_make_json(state, error);
    *json = (struct span){state->view->json, state->view->json_len};
    return code;
}

int ses__state_entry_text(const struct state *state, struct state_entry *entry, ses_error *error)
{
    return entry->text ? SES_OK
                       : ses__typed_text(ses__state_entry_value(entry), entry->bytes, state->allocator,
                                         &entry->text, &entry->text_len, error);
}

/* ------------------------------------------------------------------------------------------- changing */

static struct state_entry *entry_new(const struct state *state, enum scope scope, struct span prefix,
                                     struct span key, struct span value)
{
    size_t name_len = prefix.len + key.len;
    struct state_entry *entry = ses__memory_new(state->allocator, sizeof *entry + name_len + value.len + 2);
    if (!entry)
        return NULL;
    char *bytes = entry->bytes;
    const struct span name = {bytes, name_len};
    *entry = (struct state_entry){.scope = scope, .value_len = value.len};
    memcpy(bytes, prefix.ptr, prefix.len);
    memcpy(bytes + prefix.len, key.ptr, key.len);
    bytes[name_len] = '\0';
    if (value.len)
        memcpy(bytes + name_len + 1, value.ptr, value.len);
    bytes[name_len + 1 + value.len] = '\0';
    entry->entry = (struct table_entry){ses__hash_keyed(&state->seed, name), name};
    return entry;
}

int ses__state_load_begin(struct state_loading *loading, struct state *state, enum scope scope,
                          ses_error *error)
{
    *loading = (struct state_loading){state, scope, map_new(state->allocator)};
    return loading->map ? SES_OK : ses__error_nomem(error);
}

int ses__state_load_put(struct state_loading *loading, struct span key, struct span value, ses_error *error)
{
    const struct state *state = loading->state;
    struct state_entry *entry =
        entry_new(state, loading->scope, ses__scope_prefix(loading->scope), key, value);

    if (!entry || !ses__table_reserve(&loading->map->table, state->allocator, 1)) {
        entry_free(state->allocator, entry);
        return ses__error_nomem(error);
    }
    void *older = ses__table_put(&loading->map->table, &entry->entry);
    if (!older)
        return SES_OK;
    entry_free(state->allocator, older);
    /* A damaged table may repeat rows without end. */
    return ses__error_set(error, SES_CORRUPT, "the state key \"%.*s\" appears twice", (int)key.len, key.ptr);
}

void ses__state_load_end(struct state_loading *loading, bool whole)
{
    struct state *state = loading->state;
    struct state_map *dropped = loading->map;

    if (whole) {
        dropped = state->scopes[loading->scope];
        state->scopes[loading->scope] = loading->map;
        view_forget(state);
    }
    map_release(state->allocator, dropped);
}

int ses__state_put(struct state *state, struct span name, struct span value, ses_error *error)
{
    static const struct span none = {"", 0};
    const enum scope scope = ses__scope_of(name, NULL);
    struct state_entry *entry = entry_new(state, scope, none, name, value);

    if (!entry || !ses__table_reserve(&state->scopes[scope]->table, state->allocator, 1)) {
        entry_free(state->allocator, entry);
        return ses__error_nomem(error);
    }
    entry->removes = ses__scope_is_tombstone(value);
    entry->checked = true;
    entry_free(state->allocator, ses__table_put(&state->scopes[scope]->table, &entry->entry));
    view_forget(state);
    return SES_OK;
}

void ses__state_share(struct state *state, const struct state *other, enum scope scope)
{
    other->scopes[scope]->references++;
    map_release(state->allocator, state->scopes[scope]);
    state->scopes[scope] = other->scopes[scope];
    view_forget(state);
}

void ses__state_clear(struct state *state, enum scope scope)
{
    free_entries(state->allocator, state->scopes[scope]);
    ses__table_clear(&state->scopes[scope]->table);
    view_forget(state);
}

int ses__state_stage(struct state *state, const struct delta *delta, enum scope from, enum scope to,
                     struct state_changes *changes, ses_error *error)
{
    static const struct span none = {"", 0};

    for (size_t i = 0; i < delta->count; i++) {
        const struct delta_op *op = &delta->ops[i];
        if (op->scope < from || op->scope > to)
            continue;
        if (!ses__memory_grow(state->allocator, &changes->entries, &changes->capacity, changes->count + 1,
                              sizeof *changes->entries))
            return ses__error_nomem(error);
        struct state_entry *entry =
            entry_new(state, op->scope, none, op->name, op->removes ? none : op->value);
        if (!entry)
            return ses__error_nomem(error);
        entry->removes = op->removes;
        entry->checked = true;
        changes->entries[changes->count++] = entry;
    }
    return SES_OK;
}

int ses__state_reserve(struct state *state, const struct state_changes *changes, ses_error *error)
{
    size_t more[SCOPE_COUNT] = {0};
    bool ok = true;

    for (size_t i = 0; i < changes->count; i++)
        more[changes->entries[i]->scope]++;
    for (int scope = 0; scope < SCOPE_COUNT && ok; scope++)
        ok = more[scope] == 0 ||
             ses__table_reserve(&state->scopes[scope]->table, state->allocator, more[scope]);
    return ok ? SES_OK : ses__error_nomem(error);
}

void ses__state_apply_some(struct state *state, struct state_changes *changes, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        struct state_entry *entry = changes->entries[i];
        struct hash_table *table = &state->scopes[entry->scope]->table;
        changes->entries[i] = NULL;
        if (entry->removes) {
            entry_free(state->allocator, ses__table_remove(table, &entry->entry));
            entry_free(state->allocator, entry);
        } else {
            entry_free(state->allocator, ses__table_put(table, &entry->entry));
        }
    }
    view_forget(state);
}

void ses__state_apply(struct state *state, struct state_changes *changes)
{
    ses__state_apply_some(state, changes, 0, changes->count);
    ses__state_changes_free(state, changes);
}

void ses__state_changes_free(struct state *state, struct state_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        entry_free(state->allocator, changes->entries[i]);
    ses__memory_free(state->allocator, changes->entries);
    *changes = (struct state_changes){0};
}

/* -------------------------------------------------------------------------------------- values as C types */

/* Also removes the white space around the value, because a value written by hand can have some. */
static int check_type(struct span *value, const char *name, enum json_type type, ses_error *error)
{
    *value = ses__json_trim(*value);
    enum json_type is = ses__json_type_of(*value);

    return is == type ? SES_OK
                      : ses__error_set(error, SES_TYPE, "the value of \"%.200s\" is %s, not %s", name,
                                       ses__json_type_name(is), ses__json_type_name(type));
}

int ses__typed_int64(struct span value, const char *name, int64_t *number, ses_error *error)
{
    int64_t exact = 0;
    int code = check_type(&value, name, JSON_NUMBER, error);

    if (code != SES_OK)
        return code;
    switch (ses__decimal_round(value, 0, &exact)) {
    case DECIMAL_INEXACT:
        return ses__error_set(error, SES_TYPE, "the value of \"%.200s\" is not an integer", name);
    case DECIMAL_TOO_LARGE:
        return ses__error_set(error, SES_RANGE, "the value of \"%.200s\" does not fit into 64 bits", name);
    default:
        *number = exact;
        return SES_OK;
    }
}

int ses__typed_double(struct span value, const char *name, double *number, ses_error *error)
{
    bool nomem = false;
    int code = check_type(&value, name, JSON_NUMBER, error);

    if (code != SES_OK)
        return code;
    if (ses__decimal_to_double(value, number, &nomem))
        return SES_OK;
    return nomem
               ? ses__error_nomem(error)
               : ses__error_set(error, SES_RANGE, "the value of \"%.200s\" is larger than any double", name);
}

int ses__typed_bool(struct span value, const char *name, int *flag, ses_error *error)
{
    int code = check_type(&value, name, JSON_BOOL, error);
    if (code == SES_OK)
        *flag = value.ptr[0] == 't';
    return code;
}

static int lone_surrogate(const char *name, ses_error *error)
{
    return ses__error_set(error, SES_RANGE,
                          "the value of \"%.200s\" holds a lone surrogate, which UTF-8 cannot express", name);
}

int ses__typed_text(struct span value, const char *name, const ses_allocator *allocator, char **text,
                    size_t *len, ses_error *error)
{
    int code = check_type(&value, name, JSON_STRING, error);

    if (code != SES_OK)
        return code;
    char *plain = ses__memory_new(allocator, value.len);
    if (!plain)
        return ses__error_nomem(error);
    if (!ses__json_unescape(ses__json_string_of(value), plain, len)) {
        ses__memory_free(allocator, plain);
        return lone_surrogate(name, error);
    }
    plain[*len] = '\0';
    *text = plain;
    return SES_OK;
}

int ses__typed_add_text(struct span value, const char *name, struct buffer *buffer, ses_error *error)
{
    int code = check_type(&value, name, JSON_STRING, error);

    if (code == SES_OK && !ses__json_add_text(buffer, ses__json_string_of(value)))
        code = lone_surrogate(name, error);
    return code;
}
