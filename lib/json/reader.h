/*
 * A strict reader of JSON text (RFC 8259) that builds nothing: it walks over the text once and finds the
 * pieces, so that they can be stored with the bytes that came in.
 */
#ifndef SESLITE_JSON_READER_H
#define SESLITE_JSON_READER_H

#include "base/common.h"
#include "json/string.h"

enum {
    JSON_MAX_DEPTH = 1000,
    JSON_AROUND = 8 /* levels more, for a text that holds others which may be so deep */
};

struct json_reader {
    const char *text;
    const char *at; /* the next byte to read */
    const char *end;
    unsigned depth;     /* of the objects and arrays entered */
    unsigned max_depth; /* JSON_MAX_DEPTH, or up to JSON_AROUND more */
    bool fresh;         /* one was just entered: no comma may follow */
    /* A text that was accepted before. In objects with known fields, values of other types are passed over, and of
     * several fields of one name all are read. What is passed over is not checked. */
    bool lenient;
    const char *wrong; /* what was refused: static text; NULL: nothing so far */
    const char *wrong_at;
};

enum json_type { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

SESLITE_PRIVATE void ses__json_start(struct json_reader *reader, const char *text, size_t len);
/* The type of the next value, from its first byte; JSON_NONE if no value can begin with it. */
SESLITE_PRIVATE enum json_type ses__json_peek(struct json_reader *reader);
/* A value that was accepted before, without the white space around it; and its type. */
SESLITE_PRIVATE struct span ses__json_trim(struct span value);
SESLITE_PRIVATE enum json_type ses__json_type_of(struct span value);
/* For messages: "a string". */
SESLITE_PRIVATE const char *ses__json_type_name(enum json_type type);

/* Each of these moves on and returns true, or returns false with `wrong` set. */
SESLITE_PRIVATE bool ses__json_skip(struct json_reader *reader,
                                    struct span *value); /* any value; `value` may be NULL */
SESLITE_PRIVATE bool ses__json_read_string(struct json_reader *reader, struct json_string *string);
SESLITE_PRIVATE bool ses__json_enter(
    struct json_reader *reader); /* into the object or array that comes next */
/* The next member of an object, up to its value: true with its key; false at the end or with `wrong` set. */
SESLITE_PRIVATE bool ses__json_member(struct json_reader *reader, struct json_string *key);
/* The same for the next element of an array. */
SESLITE_PRIVATE bool ses__json_element(struct json_reader *reader);
/* Nothing may follow but white space. */
SESLITE_PRIVATE bool ses__json_finish(struct json_reader *reader);

/* One whole value, strictly: fills `error` with JSON (or LIMIT for the depth) and the offset. */
SESLITE_PRIVATE int ses__json_check(const char *text, size_t len, ses_error *error);
/* The same for a stored text, which may hold values as deep as others allow. */
SESLITE_PRIVATE int ses__json_check_stored(const char *text, size_t len, ses_error *error);
/* The same for a value that will be nested `depth` levels deep in another; `value` leaves out the space around it. */
SESLITE_PRIVATE int ses__json_check_within(const char *text, size_t len, unsigned depth, struct span *value,
                                           ses_error *error);
/* Begins to read a text that must be an object: JSON, or INVALID, when it is something else; `what` names it. */
SESLITE_PRIVATE int ses__json_start_object(struct json_reader *reader, struct span text, const char *what,
                                           ses_error *error);
/* Turns `wrong` into an error. */
SESLITE_PRIVATE int ses__json_error(const struct json_reader *reader, ses_error *error);

#endif
