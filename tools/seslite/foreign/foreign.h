/*
 * Files of other programs, read for `seslite import`. A format is one struct foreign_format. It tells whether a
 * file is of it, and gives what the file holds, piece by piece: first the shared state, then session by
 * session, and of each session its events, in the order in which they were appended. The file is open for
 * reading only. Nothing of it is held in memory but what is being given.
 *
 * The functions return 1 with the next piece, 0 at the end, or a negative code of the library with a message
 * (base/error.h). After the code of a piece that cannot be read (INVALID, JSON, LIMIT) the next call goes on
 * with the piece after it; any other code ends the import. What they give is borrowed until the next call of
 * the same function, or of one above it, for that source. Memory is the command's: without it the program ends
 * (text.h).
 *
 * What a source need not care about, since the import does it for all: whether texts are strict JSON, names that
 * are no ids, the state that a session began with, `temp:` keys, partial events, the tombstone's text, sessions
 * that exist.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <sqlite3.h>

#include "base/common.h"
#include "seslite.h"
#include "text.h"

/* A time that the file does not tell. */
#define FOREIGN_NO_TIME INT64_MIN

/* What the file cannot tell, or what was changed on the way: X(id, words). It is counted in the report by kind,
 * which the JSON names by its id in lower case. */
#define FOREIGN_NOTES(X)                                                                                   \
    X(INITIAL_STATE, "sessions whose events wrote state: what these keys had before is not in the file")   \
    X(STATE_DIFFERS, "sessions whose state in the file is not what their events lead to; here it is that") \
    X(TOMBSTONE_TEXT,                                                                                      \
      "values that are the text of the ADK's tombstone, written with an escape so that they stay")         \
    X(PARTIAL, "partial events, left out")                                                                 \
    X(ORPHANS, "events of sessions that the file no longer has, left out")                                 \
    X(ZONE_ASSUMED, "times of events without a zone, taken as UTC; see --zone")                            \
    X(NO_TIME, "events without a time, which have that of the event before")                               \
    X(CREATED_NOW, "sessions of which the file tells no time, created at the time of the import")          \
    X(TIME_CUT, "times of events cut to microseconds, as google-adk cuts them")                            \
    X(UPDATE_RAISED,                                                                                       \
      "sessions whose last update lies before their creation or events, raised to the latest of these")    \
    X(ROUNDED, "numbers that the state of a session has rounded, exact here as in its events")             \
    X(SHARED_COPIES, "app:, user: and temp: keys in the state of a session, left out")                     \
    X(CONVERTED, "items of another form, kept whole in the event's customMetadata")

enum foreign_note_kind {
#define FOREIGN_NOTE_(id, words) FOREIGN_NOTE_##id,
    FOREIGN_NOTES(FOREIGN_NOTE_)
#undef FOREIGN_NOTE_
        FOREIGN_NOTE_COUNT
};

struct foreign_notes {
    int64_t counts[FOREIGN_NOTE_COUNT];
    struct text examples[FOREIGN_NOTE_COUNT]; /* the first of each kind */
    bool muted;                               /* events are walked twice, and noted once */
};

/* Notes one. The words, which may be NULL, say where: kept from the first of the kind. */
void foreign_note(struct foreign_notes *notes, enum foreign_note_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* So many at once. */
void foreign_note_many(struct foreign_notes *notes, enum foreign_note_kind kind, int64_t count);

/* The file, and what was asked for. */
struct foreign_file {
    const char *path;
    struct span head;  /* the first bytes, at most 64 KiB */
    bool whole;        /* the head is the whole file */
    sqlite3 *db;       /* of a database: open in a read transaction; NULL: it is a text */
    int fd;            /* of a text: at its beginning, can be sought; -1: it is a database */
    const char *zone;  /* --zone; NULL: not given */
    size_t most_bytes; /* no event and no state is longer */
    struct foreign_notes *notes;
};

struct foreign_shared {
    const char *app;
    const char *user;  /* NULL: keys of the app */
    struct span state; /* an object, keys without prefix */
};

struct foreign_session {
    const char *app;
    const char *user;
    const char *session;
    struct span state; /* final: an object of its own keys; others are noted and left out. NULL: not known */
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us; /* FOREIGN_NO_TIME: never */
    const char *title;  /* NULL: none */
    const ses_label *labels;
    size_t label_count;
    /* What stands in it about other things is left out: app: and user: keys. */
};

struct foreign_event {
    struct span json; /* as the ADK writes it, in either spelling, with the bytes of the file */
    const char *name; /* for messages: what the file calls it, or NULL */
};

struct foreign_format {
    const char *name;   /* "adk-python-v1": for --json */
    const char *words;  /* "a database of google-adk's DatabaseSessionService" */
    const char *untold; /* what no file of the format tells, in sentences; NULL: nothing */
    bool text;          /* else a database */
    /* 1: it is; 0: it is not; negative: it is, but cannot be read (TOONEW). */
    int (*recognizes)(const struct foreign_file *file, ses_error *error);
    int (*open)(struct foreign_file *file, void **source, ses_error *error);
    int (*next_shared)(void *source, struct foreign_shared *shared, ses_error *error); /* NULL: has none */
    int (*next_session)(void *source, struct foreign_session *session, ses_error *error);
    /* Events of the session given last, from the first. It is called twice for each session. */
    int (*begin_events)(void *source, ses_error *error);
    int (*next_event)(void *source, struct foreign_event *event, ses_error *error);
    void (*close)(void *source);
};

/* The table of formats, in formats.c; NULL at the end. */
extern const struct foreign_format *const foreign_formats[];

#endif
