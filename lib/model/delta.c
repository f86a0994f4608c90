#include "model/delta.h"

#include <string.h>

#include "base/error.h"

/* ---------------------------------------------------------------------------------------------- edits */

void ses__delta_free(struct delta *delta, const ses_allocator *allocator)
{
    ses__memory_free(allocator, delta->ops);
    *delta = (struct delta){0};
}

void ses__edits_free(struct edits *edits, const ses_allocator *allocator)
{
    ses__memory_free(allocator, edits->items);
    *edits = (struct edits){0};
}

bool ses__edits_add(struct edits *edits, const ses_allocator *allocator, struct edit edit)
{
    void *items = edits->items;
    bool ok = ses__memory_grow(allocator, &items, &edits->capacity, edits->count + 1, sizeof *edits->items);
    edits->items = items;
    if (ok)
        edits->items[edits->count++] = edit;
    return ok;
}

char *ses__edits_apply(const struct edits *edits, struct arena *arena, struct span text, size_t *len)
{
    size_t total = text.len;
    for (size_t i = 0; i < edits->count; i++)
        total = total - (edits->items[i].end - edits->items[i].start) + edits->items[i].text.len;

    char *out = ses__arena_new(arena, total + 1);
    if (out) {
        char *to = out;
        size_t from = 0;
        for (size_t i = 0; i < edits->count; i++) {
            const struct edit *edit = &edits->items[i];
            memcpy(to, text.ptr + from, edit->start - from);
            to += edit->start - from;
            if (edit->text.len)
                memcpy(to, edit->text.ptr, edit->text.len);
            to += edit->text.len;
            from = edit->end;
        }
        memcpy(to, text.ptr + from, text.len - from);
        out[total] = '\0';
        *len = total;
    }
    return out;
}

/* --------------------------------------------------------------------------------------------- deltas */

/* The key as plain text with a NUL: names go out as C strings. */
static int decode_name(struct arena *arena, struct json_string key, struct span *name, ses_error *error)
{
    char *plain = ses__arena_new(arena, key.raw.len + 1);
    int code = SES_OK;

    if (!plain) {
        code = ses__error_nomem(error);
    } else if (!key.escaped) {
        memcpy(plain, key.raw.ptr, key.raw.len);
        name->len = key.raw.len;
    } else if (!ses__json_unescape(key, plain, &name->len)) {
        code = ses__error_set(error, SES_INVALID,
                              "a state key holds a lone surrogate, which UTF-8 cannot express");
    }
    if (code == SES_OK) {
        plain[name->len] = '\0';
        name->ptr = plain;
        code = ses__scope_check_name(*name, error);
    }
    return code;
}

static bool delta_add(struct delta *delta, const ses_allocator *allocator, struct delta_op op)
{
    void *ops = delta->ops;
    bool ok = ses__memory_grow(allocator, &ops, &delta->capacity, delta->count + 1, sizeof *delta->ops);
    delta->ops = ops;
    if (ok)
        delta->ops[delta->count++] = op;
    return ok;
}

/*
 * Cuts runs of temp: members so that valid JSON stays: a run in front of a member that stays goes up to that
 * member's key; a run at the end goes with the comma in front of it.
 */
struct cutter {
    bool running;
    size_t run_start; /* the key of the run's first member */
    size_t kept_end;  /* behind the last member that stays; 0: none yet */
    size_t last_end;  /* behind the last member of all */
};

static bool cutter_member(struct cutter *cutter, struct edits *edits, const ses_allocator *allocator,
                          bool cut, size_t start)
{
    bool ok = true;
    if (cut && !cutter->running) {
        cutter->running = true;
        cutter->run_start = start;
    } else if (!cut && cutter->running) {
        cutter->running = false;
        ok = ses__edits_add(edits, allocator, (struct edit){cutter->run_start, start, {NULL, 0}});
    }
    return ok;
}

static bool cutter_end(const struct cutter *cutter, struct edits *edits, const ses_allocator *allocator)
{
    size_t start = cutter->kept_end ? cutter->kept_end : cutter->run_start;
    return !cutter->running ||
           ses__edits_add(edits, allocator, (struct edit){start, cutter->last_end, {NULL, 0}});
}

/* One member behind its key. */
static int read_member(struct json_reader *reader, struct arena *arena, struct delta *delta,
                       struct edits *edits, struct cutter *cutter, struct json_string key, ses_error *error)
{
    size_t key_at = (size_t)(key.raw.ptr - 1 - reader->text);
    struct delta_op op = {0};
    int code = decode_name(arena, key, &op.name, error);

    if (code != SES_OK) {
        if (error)
            error->offset = (int64_t)key_at;
    } else if (!ses__json_skip(reader, &op.value)) {
        code = ses__json_error(reader, error);
    } else {
        op.scope = ses__scope_of(op.name, &op.key);
        op.removes = ses__scope_is_tombstone(op.value);
        bool cut = op.scope == SCOPE_TEMP;
        if (!cutter_member(cutter, edits, arena->allocator, cut, key_at) ||
            !delta_add(delta, arena->allocator, op))
            code = ses__error_nomem(error);
        cutter->last_end = (size_t)(reader->at - reader->text);
        if (!cut)
            cutter->kept_end = cutter->last_end;
    }
    return code;
}

int ses__delta_read(struct json_reader *reader, struct arena *arena, struct delta *delta, struct edits *edits,
                    ses_error *error)
{
    struct cutter cutter = {0};
    struct json_string key;
    int code = ses__json_enter(reader) ? SES_OK : ses__json_error(reader, error);

    while (code == SES_OK && ses__json_member(reader, &key))
        code = read_member(reader, arena, delta, edits, &cutter, key, error);
    if (code == SES_OK && reader->wrong)
        code = ses__json_error(reader, error);
    if (code == SES_OK && !cutter_end(&cutter, edits, arena->allocator))
        code = ses__error_nomem(error);
    return code;
}
