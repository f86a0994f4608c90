/* Title and labels of a session: their rules, and what a snapshot shows of them. */
#ifndef SESLITE_MODEL_ANNOTATIONS_H
#define SESLITE_MODEL_ANNOTATIONS_H

#include "base/common.h"
#include "base/memory.h"

struct annotations {
    struct arena arena; /* of the texts and the list */
    const char *title;  /* NULL: none */
    ses_label *labels;  /* sorted by name */
    size_t label_count;
    size_t label_capacity;
};

SESLITE_PRIVATE void ses__annotations_init(struct annotations *own, const ses_allocator *allocator);
/* Leaves them empty. */
SESLITE_PRIVATE void ses__annotations_free(struct annotations *own);
/* Both copy the texts; false: out of memory. A label comes after all that are there. */
SESLITE_PRIVATE bool ses__annotations_put_title(struct annotations *own, struct span title);
SESLITE_PRIVATE bool ses__annotations_add_label(struct annotations *own, struct span name, struct span value);
/* NULL: there is none of that name. */
SESLITE_PRIVATE const ses_label *ses__annotations_find(const struct annotations *own, const char *name);

/* The rules, for what callers give and what is stored. */
SESLITE_PRIVATE bool ses__is_title(struct span text);
SESLITE_PRIVATE bool ses__is_label_name(struct span text);
SESLITE_PRIVATE bool ses__is_label_value(struct span text);

/* What a caller changes of them. */
struct annotating {
    bool sets_title;
    const char *title;       /* NULL: it is removed */
    const ses_label *labels; /* sorted by name, each name once; a value of NULL removes */
    size_t label_count;
};

SESLITE_PRIVATE int ses__annotating_take_title(struct annotating *change, const char *title,
                                               ses_error *error);
/* The list is copied into the arena, the texts are not. `creating`: no value may be NULL, and there may not be too many.
 * MISUSE, INVALID, LIMIT, NOMEM. */
SESLITE_PRIVATE int ses__annotating_take_labels(struct annotating *change, const ses_label *labels,
                                                size_t count, bool creating, struct arena *arena,
                                                ses_error *error);
/* LIMIT: the session would have more than SES_LABELS_MAX. */
SESLITE_PRIVATE int ses__annotating_check_count(size_t count, ses_error *error);

#endif
