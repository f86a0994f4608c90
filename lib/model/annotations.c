#include "model/annotations.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/utf8.h"

void ses__annotations_init(struct annotations *own, const ses_allocator *allocator)
{
    *own = (struct annotations){.title = NULL};
    ses__arena_init(&own->arena, allocator);
}

void ses__annotations_free(struct annotations *own)
{
    ses__memory_free(own->arena.allocator, own->labels);
    ses__arena_free(&own->arena);
    ses__annotations_init(own, own->arena.allocator);
}

bool ses__annotations_put_title(struct annotations *own, struct span title)
{
    own->title = ses__arena_text(&own->arena, title.ptr, title.len);
    return own->title != NULL;
}

bool ses__annotations_add_label(struct annotations *own, struct span name, struct span value)
{
    if (!ses__memory_grow(own->arena.allocator, &own->labels, &own->label_capacity, own->label_count + 1,
                          sizeof *own->labels))
        return false;
    ses_label *label = &own->labels[own->label_count];
    label->name = ses__arena_text(&own->arena, name.ptr, name.len);
    label->value = ses__arena_text(&own->arena, value.ptr, value.len);
    if (!label->name || !label->value)
        return false;
    own->label_count++;
    return true;
}

static int compare_label_names(const void *name, const void *label)
{
    return strcmp(name, ((const ses_label *)label)->name);
}

const ses_label *ses__annotations_find(const struct annotations *own, const char *name)
{
    return own->label_count
               ? bsearch(name, own->labels, own->label_count, sizeof *own->labels, compare_label_names)
               : NULL;
}

/* --------------------------------------------------------------------------------------------- rules */

static bool is_text_within(struct span text, size_t min, size_t max)
{
    return text.ptr && text.len >= min && text.len <= max && !memchr(text.ptr, '\0', text.len) &&
           ses__utf8_valid(text.ptr, text.len);
}

bool ses__is_title(struct span text)
{
    return is_text_within(text, 1, SES_TITLE_MAX);
}

bool ses__is_label_name(struct span text)
{
    return is_text_within(text, 1, SES_LABEL_NAME_MAX);
}

bool ses__is_label_value(struct span text)
{
    return is_text_within(text, 0, SES_LABEL_VALUE_MAX);
}

int ses__annotating_take_title(struct annotating *change, const char *title, ses_error *error)
{
    if (title && !ses__is_title(ses__span_of(title)))
        return ses__error_set(error, SES_INVALID,
                              "the title is empty, longer than %d bytes, or not valid UTF-8", SES_TITLE_MAX);
    change->sets_title = true;
    change->title = title;
    return SES_OK;
}

static int check_label(const ses_label *label, size_t index, bool creating, ses_error *error)
{
    if (!label->name)
        return ses__error_set(error, SES_MISUSE, "label %zu: the name is NULL", index);
    if (!ses__is_label_name(ses__span_of(label->name)))
        return ses__error_set(error, SES_INVALID,
                              "label %zu: the name is empty, longer than %d bytes, or not valid UTF-8", index,
                              SES_LABEL_NAME_MAX);
    if (!label->value && creating)
        return ses__error_set(error, SES_INVALID, "label %zu, \"%s\": the value is NULL", index, label->name);
    if (label->value && !ses__is_label_value(ses__span_of(label->value)))
        return ses__error_set(error, SES_INVALID,
                              "label %zu, \"%s\": the value is longer than %d bytes, or not valid UTF-8",
                              index, label->name, SES_LABEL_VALUE_MAX);
    return SES_OK;
}

/* Sorts by name; labels of the same name stay in the given order. */
static int compare_given_labels(const void *left, const void *right)
{
    const ses_label *const *a = left;
    const ses_label *const *b = right;
    int order = strcmp((*a)->name, (*b)->name);

    return order != 0 ? order : *a < *b ? -1 : *a > *b;
}

/* Sorts the labels, and keeps the last of each name. */
static int sort_labels(struct annotating *change, const ses_label *given, size_t count, struct arena *arena,
                       ses_error *error)
{
    bool fits = count < SIZE_MAX / 4 / sizeof *given;
    const ses_label **sorted = fits ? ses__arena_new(arena, count * sizeof *sorted) : NULL;
    ses_label *labels = fits ? ses__arena_new(arena, count * sizeof *labels) : NULL;
    size_t kept = 0;

    if (!sorted || !labels)
        return ses__error_nomem(error);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &given[i];
    qsort(sorted, count, sizeof *sorted, compare_given_labels);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || strcmp(sorted[i]->name, sorted[i + 1]->name) != 0)
            labels[kept++] = *sorted[i];
    }
    change->labels = labels;
    change->label_count = kept;
    return SES_OK;
}

int ses__annotating_check_count(size_t count, ses_error *error)
{
    return count <= SES_LABELS_MAX
               ? SES_OK
               : ses__error_set(error, SES_LIMIT, "the session would have %zu labels; at most %d are allowed",
                                count, SES_LABELS_MAX);
}

int ses__annotating_take(struct annotating *change, const char *title, const ses_label *labels, size_t count,
                         bool creating, struct arena *arena, ses_error *error)
{
    int code = title ? ses__annotating_take_title(change, title, error) : SES_OK;
    return code == SES_OK ? ses__annotating_take_labels(change, labels, count, creating, arena, error) : code;
}

int ses__annotating_take_labels(struct annotating *change, const ses_label *labels, size_t count,
                                bool creating, struct arena *arena, ses_error *error)
{
    int code = count > 0 ? ses__check_argument(labels, "labels", error) : SES_OK;

    for (size_t i = 0; i < count && code == SES_OK; i++)
        code = check_label(&labels[i], i, creating, error);
    if (code == SES_OK && count > 0)
        code = sort_labels(change, labels, count, arena, error);
    return code == SES_OK && creating ? ses__annotating_check_count(change->label_count, error) : code;
}

bool ses__annotating_names(const struct annotating *change, struct span name)
{
    bool found = false;

    for (size_t i = 0; i < change->label_count && !found; i++)
        found = ses__span_is(name, ses__span_of(change->labels[i].name));
    return found;
}

int ses__annotations_change(struct annotations *after, const struct annotations *before,
                            const struct annotating *change, ses_error *error)
{
    const char *title = change->sets_title ? change->title : before->title;
    size_t old = 0;
    size_t given = 0;

    ses__annotations_free(after); /* of an earlier run */
    after->archived_us = change->sets_archived ? change->archived_us : before->archived_us;
    after->remembered_seq = change->sets_remembered ? change->remembered_seq : before->remembered_seq;
    bool ok = !title || ses__annotations_put_title(after, ses__span_of(title));
    /* Both lists are sorted by name. */
    while (ok && (old < before->label_count || given < change->label_count)) {
        const int order = given == change->label_count ? -1
                          : old == before->label_count
                              ? 1
                              : strcmp(before->labels[old].name, change->labels[given].name);
        const ses_label *label = order < 0 ? &before->labels[old] : &change->labels[given];
        old += order <= 0;
        given += order >= 0;
        ok = !label->value ||
             ses__annotations_add_label(after, ses__span_of(label->name), ses__span_of(label->value));
    }
    return ok ? SES_OK : ses__error_nomem(error);
}
