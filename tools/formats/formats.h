/*
 * The files of other programs: what `seslite import` reads and `seslite export` writes.
 *
 * A format is one struct foreign_format. It recognizes its files and returns their content piece by piece:
 * first the shared state, then each session, and for each session its events in the order in which they were
 * appended. The file is open for reading only. Only the current piece is held in memory.
 *
 * The functions return 1 with the next piece, 0 at the end, or a negative code of the library with a message.
 * After the code of an unreadable piece (INVALID, JSON, LIMIT) the next call continues with the next piece;
 * any other code ends the import. A returned piece is valid until the next call, for that source, of the same
 * function or of one listed above it. If memory runs out the program ends (text.h).
 *
 * session_import and shared_import handle the following for all formats: strict JSON, the initial state of a
 * session, `temp:` keys, partial events, the tombstone's text, sessions that already exist.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include "base/common.h"
#include "formats/text.h"
#include "seslite_transfer.h"

/* A time that the file does not contain. */
#define FOREIGN_NO_TIME INT64_MIN

/* -------------------------------------------------------------------------------------------------- notes */

/* Facts that are not in the file, and changes made by the import: X(id, words). The report counts them by
 * kind; the JSON names a kind by its id in lower case. */
#define FOREIGN_NOTES(X)                                                                                    \
    X(INITIAL_STATE, "sessions whose events wrote state: earlier values of these keys are not in the file") \
    X(STATE_DIFFERS, "sessions whose state in the file differs from their events; the events were used")    \
    X(TOMBSTONE_TEXT, "values equal to the ADK's tombstone, written with an escape to keep them")           \
    X(PARTIAL, "partial events, left out")                                                                  \
    X(ORPHANS, "events of sessions that the file no longer has, left out")                                  \
    X(ZONE_ASSUMED, "times of events without a zone, taken as UTC; see --zone")                             \
    X(NO_TIME, "events without a time, given that of the previous event")                                   \
    X(CREATED_NOW, "sessions without a time in the file, created at the time of the import")                \
    X(TIME_CUT, "times of events cut to microseconds, as google-adk cuts them")                             \
    X(UPDATE_RAISED,                                                                                        \
      "sessions whose last update is before their creation or events, set to the latest of these")          \
    X(ROUNDED, "numbers rounded in a session's state, imported exactly as in its events")                   \
    X(SHARED_COPIES, "app:, user: and temp: keys in the state of a session, left out")                      \
    X(CONVERTED, "items of another form, kept unchanged in the event's customMetadata")

enum foreign_note_kind {
#define FOREIGN_NOTE_(id, words) FOREIGN_NOTE_##id,
    FOREIGN_NOTES(FOREIGN_NOTE_)
#undef FOREIGN_NOTE_
        FOREIGN_NOTE_COUNT
};

struct foreign_notes {
    int64_t counts[FOREIGN_NOTE_COUNT];
    struct text examples[FOREIGN_NOTE_COUNT]; /* the first of each kind */
    bool muted;                               /* events are walked twice but noted only once */
};

/* Counts one note. The format, which may be NULL, describes where; the first text of each kind is kept. */
void foreign_note(struct foreign_notes *notes, enum foreign_note_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Counts several notes at once. */
void foreign_note_many(struct foreign_notes *notes, enum foreign_note_kind kind, int64_t count);

/* ----------------------------------------------------------------------------------------------- a format */

/* The file and the options of the import. */
struct foreign_file {
    const char *path;
    struct span head;   /* the first bytes, at most 64 KiB */
    bool whole;         /* the head is the whole file */
    struct sqlite3 *db; /* of a database, in a read transaction; NULL for a text */
    int fd;             /* of a text, seekable and at its beginning; -1 for a database */
    bool zone_is_set;   /* by zone_set, for times that do not name one */
    size_t max_bytes;   /* of an event or a state */
    struct foreign_notes *notes;
};

struct foreign_shared {
    const char *app;
    const char *user;  /* NULL for keys of the app */
    struct span state; /* an object, keys without prefix */
};

struct foreign_session {
    const char *app;
    const char *user;
    const char *session;
    struct span state; /* the final state: an object of its own keys; ptr is NULL if unknown */
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us; /* FOREIGN_NO_TIME if never */
    const char *title;  /* or NULL */
    const ses_label *labels;
    size_t label_count;
    const char *parent; /* the session of which this one is a fork, by its name in the file; NULL: none */
    int64_t parent_seq; /* so many events at the beginning are the parent's */
    /* Other facts in it, such as app: and user: keys, are noted and left out. */
};

struct foreign_event {
    struct span json; /* as the ADK writes it, in either spelling, with the bytes of the file */
    const char *name; /* its name in the file, for messages, or NULL */
};

struct foreign_format {
    const char *name;        /* "adk-python-v1": for --json */
    const char *words;       /* "a database of google-adk's DatabaseSessionService" */
    const char *not_in_file; /* sentences on what the format never contains, or NULL */
    bool text;               /* otherwise a database */
    /* Returns 1 for a file of this format, 0 for any other, or a negative code if it cannot be read
     * (TOONEW). */
    int (*recognizes)(const struct foreign_file *file, ses_error *error);
    int (*open)(struct foreign_file *file, void **source, ses_error *error);
    int (*next_shared)(void *source, struct foreign_shared *shared, ses_error *error); /* or NULL */
    int (*next_session)(void *source, struct foreign_session *session, ses_error *error);
    /* Begins the events of the last session from the first one. It is called twice for each session. */
    int (*begin_events)(void *source, ses_error *error);
    int (*next_event)(void *source, struct foreign_event *event, ses_error *error);
    void (*close)(void *source);
};

/* ------------------------------------------------------------------------------------------------- a file */

enum opened_kind {
    OPENED_FOREIGN, /* a file of another program: `format` */
    OPENED_STORE,   /* a store of seslite */
    OPENED_LINES    /* JSON lines of seslite */
};

/* A file to import, recognized by its content. */
struct opened_file {
    enum opened_kind kind;
    const struct foreign_format *format;
    struct foreign_file file;
    void *source;                      /* what the format's `open` gives */
    struct foreign_database *database; /* NULL for a text */
    char *head;
    int64_t bytes; /* of the file; -1 if unknown */
};

/* Opens and recognizes the file. "-" is standard input, which can only be JSON lines. Fails with NOTASTORE if
 * the content is not recognized. */
int file_open(const char *path, bool zone_is_set, struct foreign_notes *notes, struct opened_file *opened,
              ses_error *error);
void file_close(struct opened_file *opened);
/* The number of events in a database that the format has opened; 0: it is not known. */
int64_t file_events(const struct opened_file *opened);

/* ----------------------------------------------------------------------------------------- into the store */

struct session_import {
    const struct opened_file *opened; /* a file in which the format is at this session */
    const struct foreign_session *session;
    ses_key key; /* of the imported session */
    ses_store *store;
    unsigned flags;  /* SES_LOAD_* */
    bool only_check; /* only find out whether it can be loaded */
    /* Called for each key of the state that cannot be stored, and with `skips` for each event (`key` is
     * NULL). The rest of the session is loaded without it. */
    void (*refused)(void *context, const char *key, const ses_error *error);
    bool skips;
    void *refused_context;
    void (*progress)(void *context); /* called for each event */
    void *progress_context;
};

/* Imports one session. Returns the same codes as ses_load. The error message names the event, not the
 * session. */
int session_import(const struct session_import *import, ses_load_result *result, ses_error *error);

struct shared_import {
    ses_store *store;
    struct foreign_notes *notes;
    const ses_import_options *options;
    /* Called for each key that cannot be stored. */
    void (*refused)(void *context, const struct foreign_shared *shared, const char *key,
                    const ses_error *error);
    void *context;
};

/* Imports shared state, through ses_store_import. Adds to the key counts in `report`. Fails with JSON or
 * INVALID if the state is not an object; nothing was written then. */
int shared_import(const struct shared_import *import, const struct foreign_shared *shared,
                  ses_import_report *report, ses_error *error);

/* Describes what is wrong with a name, or returns NULL if it is a valid id. */
const char *name_fault(const char *name);
/* Adds the name to use instead: as much of it as fits ("empty" for an empty one), "~", and the FNV-1a hash of
 * the whole name as eight hexadecimal digits. The same name always gets the same replacement. */
void name_fit(const char *name, struct text *fitted);

/* ---------------------------------------------------------------------------------- a folder of artifacts */

/*
 * A folder in which google-adk's FileArtifactService keeps artifacts:
 *
 *     apps/APP/users/USER/artifacts/PATH/versions/N/{FILE,metadata.json}
 *     apps/APP/users/USER/sessions/SESSION/artifacts/PATH/versions/N/{FILE,metadata.json}
 *
 * PATH is the name of the artifact, without "user:", and FILE its last part. The writer of the folder is not
 * trusted: no link in it is followed, and the names and places in metadata.json are not read.
 */

/* A version. Everything in it is valid during the visit. */
struct folder_artifact {
    const char *app;
    const char *user;
    const char *session; /* NULL: the artifact is the user's */
    const char *name;    /* without "user:" */
    int64_t version;
    int fd; /* its bytes, a regular file at its beginning */
    int64_t bytes;
    bool described;           /* there is a metadata.json; otherwise the members below are empty */
    const char *mime_type;    /* NULL: it is a text */
    const char *display_name; /* or NULL */
    struct span metadata;     /* an object; ptr is NULL if it is empty */
    int64_t created_us;       /* or FOREIGN_NO_TIME */
};

/* Calls `visit` for each version, the versions of an artifact in order. If one cannot be read, `code` and
 * `error` say why, and it has no fd. A negative code that it returns ends the walk. */
typedef int visit_folder_artifact(void *context, const struct folder_artifact *artifact, int code,
                                  const ses_error *error);

enum { FOLDER_HASH = 65 };
/* The SHA-256 of the bytes as hexadecimal digits, like the hash of an artifact in a store. */
int folder_artifact_hash(const struct folder_artifact *artifact, char hex[FOLDER_HASH], ses_error *error);
/* Fails with NOTASTORE if this is not such a folder. */
int artifact_folder_check(const char *path, ses_error *error);
/* `*links` becomes the number of links, which were left out. */
int artifact_folder_walk(const char *path, visit_folder_artifact *visit, void *context, int64_t *links,
                         ses_error *error);

#endif
