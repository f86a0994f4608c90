/* Shared by the parts of an import, and by the calls that load a session. */
#ifndef SESLITE_SESSION_TRANSFER_IMPORT_H
#define SESLITE_SESSION_TRANSFER_IMPORT_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/sha256/sha256.h"
#include "model/state/delta.h"
#include "session/store.h"

enum { LINES_FORMAT = 2 }; /* the highest that is read */

/* The fields of lines: their names and types. Fields that a kind of line does not have are skipped in it. */
#define LINE_FIELD_TABLE(X)                     \
    X(KIND, "kind", TEXT)                       \
    X(SEQ, "seq", NUMBER)                       \
    X(BODY, "body", OBJECT)                     \
    X(BODY_TEXT, "body_text", TEXT)             \
    X(UPDATED, "updated_us", NUMBER)            \
    X(KEY, "key", TEXT)                         \
    X(VALUE, "value", VALUE)                    \
    X(VALUE_TEXT, "value_text", TEXT)           \
    X(APP, "app", TEXT)                         \
    X(USER, "user", TEXT)                       \
    X(SESSION, "session", TEXT)                 \
    X(CREATED, "created_us", NUMBER)            \
    X(VERSION, "version", NUMBER)               \
    X(LAST_SEQ, "last_seq", NUMBER)             \
    X(EXPIRES, "expires_us", NUMBER)            \
    X(ARCHIVED, "archived_us", NUMBER)          \
    X(REMEMBERED, "remembered_seq", NUMBER)     \
    X(TITLE, "title", TEXT)                     \
    X(LABELS, "labels", OBJECT)                 \
    X(PARENT_USER, "parent_user", TEXT)         \
    X(PARENT_SESSION, "parent_session", TEXT)   \
    X(PARENT_SEQ, "parent_seq", NUMBER)         \
    X(CHILD_USER, "child_user", TEXT)           \
    X(CHILD_SESSION, "child_session", TEXT)     \
    X(SESSION_KIND, "session_kind", TEXT)       \
    X(ORIGIN, "origin", NUMBER)                 \
    X(BASE_SEQ, "base_seq", NUMBER)             \
    X(INITIAL, "initial_state", OBJECT)         \
    X(INITIAL_TEXT, "initial_state_text", TEXT) \
    X(EVENTS, "events", NUMBER)                 \
    X(SESSIONS, "sessions", NUMBER)             \
    X(CRC, "crc", NUMBER)                       \
    X(FORMAT, "format", NUMBER)

#define LINE_FIELD(field, name, type) LINE_##field,
enum line_field { LINE_FIELD_TABLE(LINE_FIELD) LINE_FIELDS };
#undef LINE_FIELD

struct line_value {
    struct span text; /* plain text with a NUL after it, or JSON; without text: the line does not have it */
    int64_t number;
};

struct line {
    struct span text; /* with the LF at its end, if it has one */
    size_t others;    /* members that are not in the table */
    struct line_value of[LINE_FIELDS];
};

struct lines {
    int (*read)(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error);
    void *context;
    struct buffer in; /* the text read, of which `next` bytes are processed */
    size_t next;
    size_t looked;  /* no line ends before this byte */
    size_t longest; /* a line longer than this, and than one read, is refused */
    bool ended;
    int64_t number;     /* the number of the last line */
    struct arena arena; /* holds its texts */
    struct crc32_tables tables;
};

/* ---- import_line.c */

/* To be freed. */
SESLITE_PRIVATE void ses__lines_init(struct lines *lines, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__lines_free(struct lines *lines);
/* Puts the number of the last line before the message. Returns the code. */
SESLITE_PRIVATE int ses__lines_refuse(const struct lines *lines, ses_error *error, int code);

static inline bool ses__line_has(const struct line *line, enum line_field field)
{
    return line->of[field].text.ptr != NULL;
}
/* True if the line is of that kind. */
SESLITE_PRIVATE bool ses__line_is(const struct line *line, const char *kind);
/* Returns the text, or NULL. */
static inline const char *ses__line_text(const struct line *line, enum line_field field)
{
    return line->of[field].text.ptr;
}
/* Returns JSON that is a value of one field, or a text in the other. */
SESLITE_PRIVATE struct span ses__line_json(const struct line *line, enum line_field field,
                                           enum line_field as_text);

/* The app or user whose lines are being read, and its shared keys that are not written yet. */
struct import_keys {
    bool has_owner;
    bool is_written;  /* the owner itself exists */
    const char *user; /* NULL: the keys are the app's */
    char app[SES_ID_MAX + 1];
    char user_name[SES_ID_MAX + 1];
    struct arena arena;
    struct delta delta;
    size_t bytes;
    int64_t line; /* the line of the first key */
};

/* One call. */
struct import_call {
    ses_store *store;
    ses_import_options options;
    struct limits limits;
    struct lines lines;
    struct line line;     /* the last line read */
    bool pending;         /* it is to be read once more */
    bool in_session;      /* between a session's line and its end */
    bool stopped;         /* the caller has ended the import */
    bool broken;          /* the file cannot be read any further */
    uint32_t crc;         /* sums the lines outside sessions, and the sessions' last lines */
    uint32_t session_crc; /* sums the other lines of the session */
    int64_t sessions;     /* sessions begun */
    int64_t events;       /* events of all of them */
    ses_import_report report;
    struct import_keys keys;
};

/* import_line.c: reads the next line. Returns 1, 0 at the end, or a code. Its texts live until the next
 * call. */
SESLITE_PRIVATE int ses__import_next(struct import_call *call, ses_error *error);
/* True if the line is of a kind that this version knows. */
SESLITE_PRIVATE bool ses__import_knows(const struct line *line);
/* Sets an error with the number of the last line, and returns its code. */
SESLITE_PRIVATE int ses__import_refuse(struct import_call *call, int code, const char *what,
                                       ses_error *error);
/* Notifies the caller, who may end the import: the next line is then not read. */
SESLITE_PRIVATE void ses__import_report(struct import_call *call, const ses_import_item *item);

/* import_session.c: imports the session whose line was read, up to its end. */
SESLITE_PRIVATE int ses__import_session(struct import_call *call, ses_error *error);

/* import_keys.c: read the line of an app or user, or of one of its keys; and write the keys read. */
SESLITE_PRIVATE int ses__import_owner(struct import_call *call, ses_error *error);
SESLITE_PRIVATE int ses__import_key(struct import_call *call, ses_error *error);
SESLITE_PRIVATE int ses__import_write_keys(struct import_call *call, ses_error *error);

/* Gives the next line: 1, 0 at the end of what may have lines of artifacts, or a code. */
typedef int import_next_line(struct import_call *call, ses_error *error);

/* import_artifact.c: lines of artifacts. */
struct import_artifacts {
    struct import_call *call;
    import_next_line *next_line;
    const char *name;    /* the versions of one artifact, which is a user's, ... */
    const char *session; /* ... or with this name of a session that does not exist; NULL: all of a session */
    struct arena arena;  /* of the texts of the last one */
    struct artifact_row row; /* the last one */
    char last_name[SES_ID_MAX + 1];
    int64_t last_version; /* of that name */
    int64_t offset;       /* bytes of it that were given */
    struct sha256 hash;   /* of those */
    struct buffer bytes;  /* the last of them; of a text all */
};
SESLITE_PRIVATE void ses__import_artifacts_init(struct import_artifacts *artifacts, struct import_call *call,
                                                import_next_line *next_line);
SESLITE_PRIVATE void ses__import_artifacts_free(struct import_artifacts *artifacts);
/* The lines as a source, which keeps the pointer. */
SESLITE_PRIVATE struct artifact_source ses__import_artifact_source(struct import_artifacts *artifacts);
/* Imports the versions of a user's artifact, whose first line was read. */
SESLITE_PRIVATE int ses__import_artifact(struct import_call *call, ses_error *error);

/* load.c: works like ses_load, within a call that has begun. Its limits are those, not the ones of the
 * options. Without `artifacts` those that the session has are not compared. */
SESLITE_PRIVATE int ses__load_session(ses_store *store, const ses_key *key, const ses_loaded *loaded,
                                      struct artifact_source *artifacts, const ses_load_options *options,
                                      const struct limits *limits, ses_load_result *result, ses_error *error);

#endif
