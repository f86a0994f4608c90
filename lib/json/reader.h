/*
 * A strict reader of JSON text (RFC 8259) that builds no tree. It walks over the text once and finds the
 * pieces, so they can be stored with their original bytes.
 */
#ifndef SESLITE_JSON_READER_H
#define SESLITE_JSON_READER_H

#include "base/common.h"
#include "json/string.h"

enum {
    JSON_MAX_DEPTH = 1000,
    JSON_AROUND = 8 /* more levels, for a text around others that may be that deep */
};

struct json_reader {
    const char *text;
    const char *at; /* the next byte to read */
    const char *end;
    unsigned depth;     /* objects and arrays entered */
    unsigned max_depth; /* JSON_MAX_DEPTH, or up to JSON_AROUND more */
    bool fresh;         /* one was just entered, so no comma may follow */
    /* For a text that was accepted before. In objects with known fields, values of other types are skipped,
     * and if a field appears several times all are read. Skipped values are not checked. */
    bool lenient;
    bool shows;          /* texts that fields decode are shown: lone surrogates in them become U+FFFD */
    size_t others;       /* members of objects with known fields that are none of these, so far */
    struct arena *arena; /* for texts that fields decode; may be NULL if none does */
    const char *wrong;   /* the fault, a static text; NULL: none so far */
    const char *wrong_at;
};

enum json_type { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

static ALWAYS_INLINE bool ses__json_is_space(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

SESLITE_PRIVATE void ses__json_start(struct json_reader *reader, const char *text, size_t len);
/* Returns the type of the next value, from its first byte, or JSON_NONE if no value can begin with it. */
SESLITE_PRIVATE enum json_type ses__json_peek(struct json_reader *reader);
/* Give a value that was accepted before without the white space around it, and its type. */
SESLITE_PRIVATE struct span ses__json_trim(struct span value);
SESLITE_PRIVATE enum json_type ses__json_type_of(struct span value);
/* For messages: "a string". */
SESLITE_PRIVATE const char *ses__json_type_name(enum json_type type);

/* Each of these moves on and returns true, or returns false with `wrong` set. */
SESLITE_PRIVATE bool ses__json_skip(struct json_reader *reader,
                                    struct span *value); /* any value; `value` may be NULL */
SESLITE_PRIVATE bool ses__json_read_string(struct json_reader *reader, struct json_string *string);
SESLITE_PRIVATE bool ses__json_enter(
    struct json_reader *reader); /* enters the object or array that comes next */
/* Reads the next member of an object up to its value. True with its key; false at the end or with `wrong`
 * set. */
SESLITE_PRIVATE bool ses__json_member(struct json_reader *reader, struct json_string *key);
/* The same for the next element of an array. */
SESLITE_PRIVATE bool ses__json_element(struct json_reader *reader);
/* True if only white space follows. */
SESLITE_PRIVATE bool ses__json_finish(struct json_reader *reader);

/* Checks one whole value strictly: fills `error` with JSON (or LIMIT for the depth) and the offset. */
SESLITE_PRIVATE int ses__json_check(const char *text, size_t len, ses_error *error);
/* The same for a stored text, whose values may be as deep as a text of their own. */
SESLITE_PRIVATE int ses__json_check_stored(const char *text, size_t len, ses_error *error);
/* The same for a value that will be nested `depth` levels deep in another; `value` leaves out the space
 * around it. */
SESLITE_PRIVATE int ses__json_check_within(const char *text, size_t len, unsigned depth, struct span *value,
                                           ses_error *error);
/* Begins to read a text that must be an object; `what` names it. JSON, or INVALID for any other value. */
SESLITE_PRIVATE int ses__json_start_object(struct json_reader *reader, struct span text, const char *what,
                                           ses_error *error);
/* Turns `wrong` into an error. */
SESLITE_PRIVATE int ses__json_error(const struct json_reader *reader, ses_error *error);

#endif
