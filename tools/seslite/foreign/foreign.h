/*
 * Readers of other programs' files, for `seslite import`. A format is one struct foreign_format. It
 * recognizes its files and returns their content piece by piece: first the shared state, then each session,
 * and for each session its events in the order in which they were appended. The file is open for reading
 * only. Only the current piece is held in memory.
 *
 * The functions return 1 with the next piece, 0 at the end, or a negative code of the library with a message
 * (base/error.h). After the code of an unreadable piece (INVALID, JSON, LIMIT) the next call continues with
 * the next piece; any other code ends the import. A returned piece is valid until the next call, for that
 * source, of the same function or of one listed above it. If memory runs out the program ends (text.h).
 *
 * The import handles the following for all formats: strict JSON, names that are not valid ids, the initial
 * state of a session, `temp:` keys, partial events, the tombstone's text, sessions that already exist.
 */
#ifndef FOREIGN_FOREIGN_H
#define FOREIGN_FOREIGN_H

#include <sqlite3.h>

#include "base/common.h"
#include "seslite.h"
#include "text/text.h"

/* A time that the file does not contain. */
#define FOREIGN_NO_TIME INT64_MIN

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

/* The file and the options of the import. */
struct foreign_file {
    const char *path;
    struct span head; /* the first bytes, at most 64 KiB */
    bool whole;       /* the head is the whole file */
    sqlite3 *db;      /* of a database, in a read transaction; NULL for a text */
    int fd;           /* of a text, seekable and at its beginning; -1 for a database */
    bool zone_is_set; /* by zone_set, for times that do not name one */
    size_t max_bytes; /* of an event or a state */
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

/* The table of formats, in formats.c; it ends with NULL. */
extern const struct foreign_format *const foreign_formats[];

#endif
