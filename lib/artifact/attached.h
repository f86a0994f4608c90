/* A list of artifacts that are saved together with an event. */
#ifndef SESLITE_ARTIFACT_ATTACHED_H
#define SESLITE_ARTIFACT_ATTACHED_H

#include <string.h>

#include "artifact/artifact.h"
#include "session/session.h"

struct attached {
    struct artifact_call call; /* with its name */
    struct artifact_new fresh;
    int64_t version; /* -1: it has none yet */
    /* The name that 0.2.0 gave to inline data, if that was another: the retry of an event that it stored has
     * it again; and its version in that event. */
    const char *older_name;
    int64_t older_version;
    /* If `asked`, the questions to a server: the newest version, and its bytes. */
    bool asked;
    struct artifact_rows newest;
    struct query same;
};

/* An `inlineData` of a part of the event. */
struct inline_data {
    size_t start; /* the member in the event's text, from its key on */
    size_t end;
    size_t part;              /* its number, from 0 on */
    struct span data;         /* decoded, in the arena */
    struct span mime_type;    /* as JSON, in quotes; without a pointer: absent */
    struct span display_name; /* likewise */
};

struct inline_data_list {
    const ses_allocator *allocator;
    struct inline_data *items;
    size_t count;
    size_t capacity;
};

struct ses_artifacts {
    struct append_artifacts base; /* the first member */
    ses_store *store;
    struct arena arena; /* of the key */
    ses_key key;
    struct attached **items;
    size_t count;
    size_t capacity;
    size_t added;          /* of these, by the caller; the others are inline data of the event */
    int64_t offload_bytes; /* inline data with more bytes becomes an artifact; -1: none does */
    struct inline_data_list inlined;
    struct arena texts; /* of the event with its versions, and its inline data */
};

static inline bool ses__attached_is_same_name(const struct attached *item, const struct attached *other)
{
    return strcmp(item->call.name, other->call.name) == 0;
}

/* True if the value is absent, null, or an object. */
static inline bool ses__attached_can_be_object(struct span value)
{
    return !value.ptr || value.ptr[0] == '{' || value.ptr[0] == 'n';
}

/* ---- attached_versions.c: the versions that come next */

SESLITE_PRIVATE struct artifact_owner ses__attached_owner(const ses_artifacts *artifacts,
                                                          const struct attached *item, int64_t user_id);
/* In a job: asks for the newest version of the item's name. */
SESLITE_PRIVATE void ses__attached_ask_newest(const ses_artifacts *artifacts, struct attached *item,
                                              struct db *db, int64_t user_id, ses_error *error);
/* Gives each item the version that it has if the event `id` is stored, or else the next one of its name. An
 * `id` without a pointer: the event has none. */
SESLITE_PRIVATE int ses__attached_find_versions(ses_artifacts *artifacts, struct span id,
                                                const struct limits *limits, ses_error *error);

/* ---- attached_text.c: the event's text */

/* Returns in `text` the event with the versions of all items, and with references in place of inline data. It
 * lives in artifacts->texts. */
SESLITE_PRIVATE int ses__attached_text(ses_artifacts *artifacts, struct span event,
                                       const struct artifact_outline *outline, struct span *text,
                                       ses_error *error);

/* ---- attached_inline.c: inline data */

/* Adds an item for each inline data of the event that is large enough, in place of those of an earlier
 * event. */
SESLITE_PRIVATE int ses__attached_take_inline(ses_artifacts *artifacts, struct span event,
                                              const struct artifact_outline *outline, ses_error *error);
SESLITE_PRIVATE void ses__attached_drop_inline(ses_artifacts *artifacts);

/* ---- append.c: the functions that the append calls */

/* Returns what a list that is empty begins with. */
SESLITE_PRIVATE struct append_artifacts ses__attached_for_append(void);

#endif
