/* Reads JSON lines: cuts the text that the application's function gives into lines, and finds the members of
 * each. */
#ifndef SESLITE_SESSION_TRANSFER_LINES_H
#define SESLITE_SESSION_TRANSFER_LINES_H

#include "base/crc32.h"
#include "base/memory.h"

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
    X(TITLE, "title", TEXT)                     \
    X(LABELS, "labels", OBJECT)                 \
    X(PARENT_USER, "parent_user", TEXT)         \
    X(PARENT_SESSION, "parent_session", TEXT)   \
    X(PARENT_SEQ, "parent_seq", NUMBER)         \
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
    struct buffer in; /* the text read, of which `next` bytes are done with */
    size_t next;
    size_t looked;  /* no line ends before this byte */
    size_t longest; /* a line longer than this, and than one read, is refused */
    bool ended;
    int64_t number;     /* the number of the last line */
    struct arena arena; /* holds its texts */
    struct crc32_tables tables;
};

/* To be freed. */
SESLITE_PRIVATE void ses__lines_init(struct lines *lines, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__lines_free(struct lines *lines);
/* Reads the next line. Returns 1, or 0 at the end. Its texts live until the next call. INVALID, JSON, LIMIT,
 * NOMEM with the line's number; and the codes of `read`. */
SESLITE_PRIVATE int ses__lines_next(struct lines *lines, struct line *line, ses_error *error);
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

#endif
