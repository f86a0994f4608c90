#include "model/state/delta.h"

#include <stdlib.h>

#include "base/error.h"
#include "json/writer.h"

void ses__delta_free(struct delta *delta, const ses_allocator *allocator)
{
    ses__memory_free(allocator, delta->ops);
    *delta = (struct delta){0};
}

bool ses__delta_add(struct delta *delta, const ses_allocator *allocator, struct delta_op op)
{
    if (!ses__memory_grow(allocator, &delta->ops, &delta->capacity, delta->count + 1, sizeof *delta->ops))
        return false;
    delta->ops[delta->count++] = op;
    return true;
}

struct delta_op ses__delta_op(struct span name, struct span value)
{
    struct delta_op op = {.name = name, .value = value, .removes = ses__scope_is_tombstone(value)};

    op.scope = ses__scope_of(name, &op.key);
    return op;
}

/* Sorts by name; operations on the same name stay in the given order. */
static int compare_ops(const void *left, const void *right)
{
    const struct delta_op *a = *(const struct delta_op *const *)left;
    const struct delta_op *b = *(const struct delta_op *const *)right;
    int order = ses__span_order(a->name, b->name);

    return order != 0 ? order : a < b ? -1 : a > b;
}

size_t ses__delta_settle(const struct delta *delta, const struct delta_op **last)
{
    size_t kept = 0;

    for (size_t i = 0; i < delta->count; i++)
        last[i] = &delta->ops[i];
    qsort(last, delta->count, sizeof *last, compare_ops);
    for (size_t i = 0; i < delta->count; i++) {
        if (i + 1 == delta->count || ses__span_order(last[i]->name, last[i + 1]->name) != 0)
            last[kept++] = last[i];
    }
    return kept;
}

/* -------------------------------------------------------------------------------------------- changes */

void ses__changes_init(struct changes *changes, const ses_allocator *allocator)
{
    *changes = (struct changes){.members = {"", 0}};
    ses__arena_init(&changes->arena, allocator);
}

void ses__changes_free(struct changes *changes)
{
    ses__delta_free(&changes->delta, changes->arena.allocator);
    ses__arena_free(&changes->arena);
}

const struct delta_op *ses__changes_find(const struct changes *changes, struct span name)
{
    size_t low = 0;
    size_t high = changes->name_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = ses__span_order(changes->by_name[middle]->name, name);
        if (order == 0)
            return changes->by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Prints the members that are stored. */
static bool print_members(struct changes *changes)
{
    struct buffer text;

    ses__buffer_init(&text, changes->arena.allocator);
    for (size_t i = 0; i < changes->delta.count; i++) {
        const struct delta_op *op = &changes->delta.ops[i];
        if (op->scope != SCOPE_TEMP && ses__changes_find(changes, op->name) == op)
            ses__json_add_member(&text, 0, op->name, op->value);
    }
    char *kept = text.failed ? NULL : ses__arena_text(&changes->arena, text.data, text.len);
    changes->members = (struct span){kept, text.len};
    ses__buffer_free(&text);
    return kept != NULL;
}

int ses__changes_settle(struct changes *changes, ses_error *error)
{
    if (changes->delta.count == 0)
        return SES_OK;
    changes->by_name = ses__arena_new(&changes->arena, changes->delta.count * sizeof *changes->by_name);
    if (!changes->by_name)
        return ses__error_nomem(error);
    changes->name_count = ses__delta_settle(&changes->delta, changes->by_name);
    return print_members(changes) ? SES_OK : ses__error_nomem(error);
}

/* -------------------------------------------------------------------------------------------- reading */

/* Decodes the key as plain text with a NUL, because callers get names as C strings. */
static int decode_name(struct arena *arena, struct json_string key, struct span *name, ses_error *error)
{
    int code = ses__json_decode(key, arena, name);

    if (code == SES_OK && !key.escaped) {
        name->ptr = ses__arena_text(arena, key.raw.ptr, key.raw.len);
        code = name->ptr ? SES_OK : SES_NOMEM;
    }
    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    if (code != SES_OK)
        return ses__error_set(error, SES_INVALID,
                              "a state key holds a lone surrogate, which UTF-8 cannot express");
    return ses__scope_check_name(*name, error);
}

/*
 * Cuts members out and leaves valid JSON. A run of members before one that stays is cut up to that one's key.
 * A run at the end is cut with the comma before it, unless something is put in its place.
 */
struct cutter {
    bool running;
    size_t run_start; /* the key of the run's first member */
    size_t kept_end;  /* after the last member that stays; 0: none yet */
    size_t last_end;  /* after the last member */
};

static bool cutter_member(struct cutter *cutter, struct edits *edits, const ses_allocator *allocator,
                          bool cut, size_t start)
{
    if (cut == cutter->running)
        return true;
    cutter->running = cut;
    if (!cut)
        return ses__edits_add(edits, allocator, (struct edit){cutter->run_start, start, {NULL, 0}});
    cutter->run_start = start;
    return true;
}

/* The object ends at `end`. `more` are members to add there; it may be empty. */
static bool cutter_end(const struct cutter *cutter, struct edits *edits, const ses_allocator *allocator,
                       size_t end, struct span more)
{
    static const struct span comma = {",", 1};

    if (more.len == 0) {
        size_t start = cutter->kept_end ? cutter->kept_end : cutter->run_start;
        return !cutter->running ||
               ses__edits_add(edits, allocator, (struct edit){start, cutter->last_end, {NULL, 0}});
    }
    if (cutter->running)
        return ses__edits_add(edits, allocator, (struct edit){cutter->run_start, end, more});
    return (!cutter->kept_end || ses__edits_add(edits, allocator, (struct edit){end, end, comma})) &&
           ses__edits_add(edits, allocator, (struct edit){end, end, more});
}

struct delta_reader {
    struct json_reader *json;
    struct arena *arena;
    const struct changes *extras; /* NULL: none */
    struct delta *delta;
    struct edits *edits; /* NULL: none */
    struct cutter cutter;
};

/* Reads one member, whose key was read. */
static int read_member(struct delta_reader *reader, struct json_string key, ses_error *error)
{
    struct json_reader *json = reader->json;
    struct cutter *cutter = &reader->cutter;
    const ses_allocator *allocator = reader->arena->allocator;
    size_t key_at = (size_t)(key.raw.ptr - 1 - json->text);
    struct span name;
    struct span value;
    int code = decode_name(reader->arena, key, &name, error);

    if (code != SES_OK) {
        if (error)
            error->offset = (int64_t)key_at;
        return code;
    }
    if (!ses__json_skip(json, &value))
        return ses__json_error(json, error);
    struct delta_op op = ses__delta_op(name, value);
    bool overridden = reader->extras && ses__changes_find(reader->extras, name);
    bool cut = overridden || op.scope == SCOPE_TEMP;
    if ((reader->edits && !cutter_member(cutter, reader->edits, allocator, cut, key_at)) ||
        (!overridden && !ses__delta_add(reader->delta, allocator, op)))
        return ses__error_nomem(error);
    cutter->last_end = (size_t)(json->at - json->text);
    if (!cut)
        cutter->kept_end = cutter->last_end;
    return SES_OK;
}

int ses__delta_merge(struct json_reader *json, struct arena *arena, const struct changes *extras,
                     struct delta *delta, struct edits *edits, ses_error *error)
{
    const struct span more = extras ? extras->members : (struct span){NULL, 0};
    struct delta_reader reader = {json, arena, extras, delta, edits, {0}};
    struct json_string key;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_member(json, &key))
        code = read_member(&reader, key, error);
    if (code != SES_OK || json->wrong)
        return code != SES_OK ? code : ses__json_error(json, error);
    const size_t end = (size_t)(json->at - 1 - json->text);
    return !edits || cutter_end(&reader.cutter, edits, arena->allocator, end, more) ? SES_OK
                                                                                    : ses__error_nomem(error);
}

int ses__delta_read_text(struct span text, unsigned depth, struct arena *arena, struct delta *delta,
                         ses_error *error)
{
    struct json_reader reader;
    int code = ses__json_start_object(&reader, text, "it", error);

    reader.depth = depth;
    if (code == SES_OK)
        code = ses__delta_merge(&reader, arena, NULL, delta, NULL, error);
    if (code == SES_OK && !ses__json_finish(&reader))
        code = ses__json_error(&reader, error);
    return code;
}

int ses__expected_read(struct changes *seen, struct span text, ses_error *error)
{
    int code = ses__delta_read_text(text, 0, &seen->arena, &seen->delta, error);

    for (size_t i = 0; i < seen->delta.count && code == SES_OK; i++) {
        if (!ses__scope_is_shared(seen->delta.ops[i].scope))
            code = ses__error_set(
                error, SES_INVALID,
                "the state key \"%.200s\" is not shared: only app: and user: keys can be expected",
                seen->delta.ops[i].name.ptr);
    }
    if (code != SES_OK && error) {
        ses__error_prefix(error, "append options: `expected`: ");
        error->offset = -1; /* it would be taken for an offset in the event */
    }
    return code;
}

/* -------------------------------------------------------------------------------------- the initial state */

/* Compares, ignoring white space between tokens, because an indented file has other white space in a delta
 * than in the state. */
static bool is_same_json(struct span a, struct span b)
{
    bool in_string = false;
    size_t i = 0;
    size_t j = 0;

    for (;; i++, j++) {
        while (!in_string && i < a.len && ses__json_is_space(a.ptr[i]))
            i++;
        while (!in_string && j < b.len && ses__json_is_space(b.ptr[j]))
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        if (a.ptr[i] != b.ptr[j])
            return false;
        if (in_string && a.ptr[i] == '\\' && i + 1 < a.len && j + 1 < b.len && a.ptr[i + 1] == b.ptr[j + 1]) {
            i++; /* an escaped quote does not end the string */
            j++;
        } else if (a.ptr[i] == '"') {
            in_string = !in_string;
        }
    }
}

static int contradicts(const struct delta_op *op, ses_error *error)
{
    return ses__error_set(error, SES_INVALID,
                          "it contradicts the events, which lead to another value of the key \"%.200s\"",
                          op->name.ptr);
}

/* Checks that the touched keys before `name`, or all, are removed in the end. */
static int pass_removed(const struct changes *touched, size_t *next, const struct span *name,
                        ses_error *error)
{
    for (; *next < touched->name_count; ++*next) {
        const struct delta_op *op = touched->by_name[*next];
        if (name && ses__span_order(op->name, *name) >= 0)
            break;
        if (!op->removes)
            return contradicts(op, error);
    }
    return SES_OK;
}

/* Walks both lists, which are sorted, together. */
int ses__initial_find(const struct changes *final, const struct changes *touched, struct buffer *initial,
                      ses_error *error)
{
    size_t next = 0;

    ses__buffer_add(initial, "{", 1);
    for (size_t i = 0; i < final->name_count; i++) {
        const struct delta_op *op = final->by_name[i];
        if (op->scope != SCOPE_SESSION)
            continue;
        int code = pass_removed(touched, &next, &op->name, error);
        if (code != SES_OK)
            return code;
        if (next == touched->name_count || ses__span_order(touched->by_name[next]->name, op->name) != 0)
            /* No event has set it, so a string equal to the tombstone can only be an ordinary value: it is
             * written with an escape. */
            ses__json_add_member(initial, 1, op->name, op->removes ? TOMBSTONE_AS_TEXT : op->value);
        else if (touched->by_name[next]->removes || !is_same_json(touched->by_name[next]->value, op->value))
            return contradicts(op, error);
        else
            next++;
    }
    ses__buffer_add(initial, "}", 1);
    return initial->failed ? ses__error_nomem(error) : pass_removed(touched, &next, NULL, error);
}
