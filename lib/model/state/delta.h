/* State deltas: a JSON object of state keys, split by scope. */
#ifndef SESLITE_MODEL_STATE_DELTA_H
#define SESLITE_MODEL_STATE_DELTA_H

#include "base/common.h"
#include "base/memory.h"
#include "json/writer.h"
#include "json/reader.h"
#include "model/state/scope.h"

struct delta_op {
    enum scope scope;
    bool removes;      /* the ADK's tombstone */
    struct span name;  /* with prefix */
    struct span key;   /* without prefix; a part of `name` */
    struct span value; /* JSON text */
};

struct delta {
    struct delta_op *ops; /* in the order of the text: if a key appears twice, the last one counts */
    size_t count;
    size_t capacity;
};

/* Frees the list with that allocator. The texts of the operations do not belong to the delta. */
SESLITE_PRIVATE void ses__delta_free(struct delta *delta, const ses_allocator *allocator);
SESLITE_PRIVATE bool ses__delta_add(struct delta *delta, const ses_allocator *allocator, struct delta_op op);
/* Returns the operation of a member with that name, plain text with a NUL after it, and that value. */
SESLITE_PRIVATE struct delta_op ses__delta_op(struct span name, struct span value);

/* Sorts the operations by name, and keeps the last of each in `last`, which has room for all. Returns how
 * many these are. */
SESLITE_PRIVATE size_t ses__delta_settle(const struct delta *delta, const struct delta_op **last);

/* State changes that are given in addition to an event. They are merged into its own delta, and win. */
struct changes {
    struct arena arena;
    struct delta delta;
    const struct delta_op **by_name; /* the operation that counts for each name, which is the last */
    size_t name_count;
    struct span members; /* the stored members: `"name":value,...` */
};

SESLITE_PRIVATE void ses__changes_init(struct changes *changes, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__changes_free(struct changes *changes);
/* To be called once all changes are in `delta`, before they are used. NOMEM. */
SESLITE_PRIVATE int ses__changes_settle(struct changes *changes, ses_error *error);
/* Returns the operation that counts for the name. NULL: there is none. */
SESLITE_PRIVATE const struct delta_op *ses__changes_find(const struct changes *changes, struct span name);

/* Adds the members of a JSON object, which must live as long, as shared keys and the values that a caller has
 * seen. An append that was computed from them requires that they have not changed; an operation that removes
 * a key means that there is no such key. JSON, INVALID, LIMIT, NOMEM. */
SESLITE_PRIVATE int ses__expected_read(struct changes *seen, struct span text, ses_error *error);

/*
 * Reads the object that comes next in `reader`. Decoded keys live in the arena, the lists in its allocator.
 * `temp:` keys become operations and also edits that cut them out of the text. The changes in `extras` win
 * over the text and are not added to `delta`: members that they override are skipped and cut out, and theirs
 * are put in at the end. `extras` may be NULL, and `edits`, if the text is not kept.
 */
SESLITE_PRIVATE int ses__delta_merge(struct json_reader *reader, struct arena *arena,
                                     const struct changes *extras, struct delta *delta, struct edits *edits,
                                     ses_error *error);
/* The same for a text that is one object and nothing else, and will be nested `depth` levels deep in the
 * event. */
SESLITE_PRIVATE int ses__delta_read_text(struct span text, unsigned depth, struct arena *arena,
                                         struct delta *delta, ses_error *error);

/* Finds the state that a session began with, from the one that it ended with: adds it to the buffer as an
 * object. It is the final state's own keys that no event has touched. Both lists are settled. INVALID: the
 * events do not lead to the final state. NOMEM. */
SESLITE_PRIVATE int ses__initial_find(const struct changes *final, const struct changes *touched,
                                      struct buffer *initial, ses_error *error);

#endif
