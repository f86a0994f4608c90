/* The artifacts that the events of a log name, for operations that change the log (named_artifacts.c), and
 * those of a rewind (artifacts.c). */
#ifndef SESLITE_SESSION_SQL_HISTORY_ARTIFACTS_H
#define SESLITE_SESSION_SQL_HISTORY_ARTIFACTS_H

#include "storage/sql/rows/artifact.h"

/* A version that an event, or the base, names. Those of the user are left out: they stay as they are. */
struct named_artifact {
    struct span name;
    int64_t version;
    int64_t seq; /* of the event */
};

struct named_artifacts {
    struct arena arena;
    struct named_artifact *items; /* in the order of the log */
    size_t count;
    size_t capacity;
};

SESLITE_PRIVATE void ses__named_artifacts_init(struct named_artifacts *named, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__named_artifacts_free(struct named_artifacts *named);
SESLITE_PRIVATE void ses__named_artifacts_reset(struct named_artifacts *named);
/* Reads the versions that the events after `seq` name. The log of a session without artifacts is not read. */
SESLITE_PRIVATE int ses__named_artifacts_read(struct named_artifacts *named, struct db *db,
                                              const struct session_row *row, const char *session, int64_t seq,
                                              ses_error *error);
/* Reads the versions that only the events after `seq` name. */
SESLITE_PRIVATE int ses__named_artifacts_read_only(struct named_artifacts *named, struct db *db,
                                                   const struct session_row *row, const char *session,
                                                   int64_t seq, ses_error *error);
/* Add one version, or those in the event's delta. */
SESLITE_PRIVATE int ses__named_artifacts_add(struct named_artifacts *named, struct named_artifact item,
                                             ses_error *error);
SESLITE_PRIVATE int ses__named_artifacts_add_event(struct named_artifacts *named,
                                                   const struct event_row *event, ses_error *error);
/* Adds the versions at the session's base. `*known` is false if the base is of a version that kept none. */
SESLITE_PRIVATE int ses__named_artifacts_add_base(struct named_artifacts *named, struct db *db,
                                                  const struct session_row *row, bool *known,
                                                  ses_error *error);
/* Writes the versions at a new base, after that of the state: those named last, if the session has
 * artifacts. */
SESLITE_PRIVATE int ses__named_artifacts_write_base(struct named_artifacts *named, struct db *db,
                                                    const struct session_row *row, const char *session,
                                                    bool known, ses_error *error);
/* Sorts them by name, and then in the order of the log. */
SESLITE_PRIVATE void ses__named_artifacts_sort(struct named_artifacts *named);
/* Removes these versions from the session, where it still has them. */
SESLITE_PRIVATE int ses__named_artifacts_remove(const struct named_artifacts *named, struct db *db,
                                                int64_t user_id, const char *session, ses_error *error);

/* The artifacts of a rewind: for each that was changed after the point, a new version that is the one of the
 * point, or a tombstone if there was none. */
struct restored_artifacts {
    struct append_artifact_rows rows; /* the first member */
    struct named_artifacts named;
    const char *session;
    struct restored_artifact *items; /* in the arena of `named` */
    size_t count;
    struct span delta; /* the JSON object that names them; without text: none */
};
SESLITE_PRIVATE void ses__restored_artifacts_init(struct restored_artifacts *restored, const char *session,
                                                  const ses_allocator *allocator);
SESLITE_PRIVATE void ses__restored_artifacts_free(struct restored_artifacts *restored);
/* Finds them, for the point before the event `first`. */
SESLITE_PRIVATE int ses__restored_artifacts_plan(struct restored_artifacts *restored, struct db *db,
                                                 const struct session_row *row, int64_t first,
                                                 ses_error *error);

#endif
