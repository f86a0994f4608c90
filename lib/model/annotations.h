/* The title and labels of a session, its place in the archive, and how much of it is remembered: their rules,
 * and those that a snapshot shows. */
#ifndef SESLITE_MODEL_ANNOTATIONS_H
#define SESLITE_MODEL_ANNOTATIONS_H

#include "base/common.h"
#include "base/memory.h"

struct annotations {
    struct arena arena; /* holds the texts */
    const char *title;  /* NULL: none */
    ses_label *labels;  /* sorted by name */
    size_t label_count;
    size_t label_capacity;
    int64_t archived_us;    /* 0: it is not archived */
    int64_t remembered_seq; /* events up to it are remembered; 0: none is */
};

SESLITE_PRIVATE void ses__annotations_init(struct annotations *own, const ses_allocator *allocator);
/* Frees them and leaves them empty. */
SESLITE_PRIVATE void ses__annotations_free(struct annotations *own);
/* Both copy the texts, and return false if out of memory. A label is added at the end. */
SESLITE_PRIVATE bool ses__annotations_put_title(struct annotations *own, struct span title);
SESLITE_PRIVATE bool ses__annotations_add_label(struct annotations *own, struct span name, struct span value);
/* Returns the label of that name, or NULL. */
SESLITE_PRIVATE const ses_label *ses__annotations_find(const struct annotations *own, const char *name);

/* The rules, both for what callers give and for stored rows. */
SESLITE_PRIVATE bool ses__is_title(struct span text);
SESLITE_PRIVATE bool ses__is_label_name(struct span text);
SESLITE_PRIVATE bool ses__is_label_value(struct span text);

/* A caller's changes of title, labels, archive and memory. */
struct annotating {
    bool sets_title;
    const char *title;       /* NULL: removes the title */
    const ses_label *labels; /* sorted by name, each name once; a value of NULL removes */
    size_t label_count;
    bool sets_archived;
    int64_t archived_us; /* 0: takes it out of the archive */
    bool sets_remembered;
    int64_t remembered_seq; /* 0: forgets it */
};

SESLITE_PRIVATE int ses__annotating_take_title(struct annotating *change, const char *title,
                                               ses_error *error);
/* Copies the list into the arena, but not the texts. With `creating`, no value may be NULL, and the number of
 * labels is checked. MISUSE, INVALID, LIMIT, NOMEM. */
SESLITE_PRIVATE int ses__annotating_take_labels(struct annotating *change, const ses_label *labels,
                                                size_t count, bool creating, struct arena *arena,
                                                ses_error *error);
/* Both. A title of NULL is none. */
SESLITE_PRIVATE int ses__annotating_take(struct annotating *change, const char *title,
                                         const ses_label *labels, size_t count, bool creating,
                                         struct arena *arena, ses_error *error);
/* LIMIT: the session would have more than SES_LABELS_MAX. */
SESLITE_PRIVATE int ses__annotating_check_count(size_t count, ses_error *error);
/* True if the change sets or removes a label of that name. */
SESLITE_PRIVATE bool ses__annotating_names(const struct annotating *change, struct span name);
/* Makes `after` what `before` becomes by the change. NOMEM. */
SESLITE_PRIVATE int ses__annotations_change(struct annotations *after, const struct annotations *before,
                                            const struct annotating *change, ses_error *error);

#endif
