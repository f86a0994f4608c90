/*
 * Reads JSON objects with known fields, by a table: each field once, in one of its spellings, with a value of
 * one of its types. Other members are skipped, or refused.
 */
#ifndef SESLITE_JSON_OBJECT_H
#define SESLITE_JSON_OBJECT_H

#include "base/common.h"
#include "json/reader.h"

/* A field that was found. The reader is at its value. */
struct json_found {
    struct json_reader *reader;
    enum json_type type;
    size_t offset; /* of the value, in bytes */
    const char *whole;
    const char *path;
    const char *name;
};

/* Reads the value, or skips it. `into` is the context, or the member of it that the field names. */
typedef int json_field_reader(void *into, const struct json_found *found, ses_error *error);

/* Bits for the types of values. */
#define JSON_MAY_BE(type) (1u << (type))
/* Names a member of the context, which is a `type`: the reader is given its address. */
#define JSON_INTO(type, member) ((unsigned)offsetof(type, member) << JSON_INTO_SHIFT)
enum { JSON_INTO_SHIFT = 8 };
/* Null does not count as absent, but has a wrong type. */
#define JSON_NOT_NULL (1u << 7)
/* Any type but null, which counts as absent. */
#define JSON_MAY_BE_ANYTHING                                                        \
    (JSON_MAY_BE(JSON_BOOL) | JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | \
     JSON_MAY_BE(JSON_ARRAY) | JSON_MAY_BE(JSON_OBJECT))

struct json_field {
    const char *name;
    const char *other; /* its other spelling; NULL: none */
    unsigned types;    /* and JSON_INTO. Null counts as absent, unless with JSON_NULL or JSON_NOT_NULL */
    json_field_reader *read;
    const char *due; /* the requirement named in messages; NULL: its type */
};

struct json_object {
    const char *whole;               /* names the whole in messages: "the event" */
    const char *path;                /* the path of its fields in it: "actions." */
    const struct json_field *fields; /* JSON_FIELDS: at most 64 */
};
/* clang-format off */
#define JSON_FIELDS(...) (const struct json_field[]){__VA_ARGS__, {.name = NULL}}
/* Comes after the fields of an object in which other members are INVALID. */
#define JSON_NO_OTHERS {NULL, NULL, 1, NULL, NULL}
/* clang-format on */

/* Reads the object that comes next in the reader. Returns JSON, LIMIT, the first code of a field's reader
 * that is not SES_OK, and, unless the reader is lenient, INVALID for a field that has a wrong type or appears
 * twice. */
SESLITE_PRIVATE int ses__json_read_object(struct json_reader *reader, const struct json_object *object,
                                          void *context, ses_error *error);
/* The same for an object after which the text must end. */
SESLITE_PRIVATE int ses__json_read_last(struct json_reader *reader, const struct json_object *object,
                                        void *context, ses_error *error);
/* Reads a text that is one such object and nothing else. */
SESLITE_PRIVATE int ses__json_read_whole(struct span text, const struct json_object *object, void *context,
                                         ses_error *error);

/* Returns INVALID with a message such as "at byte 7: the event's author must be a string". */
SESLITE_PRIVATE int ses__json_must_be(const struct json_found *found, const char *due, ses_error *error);

/* Gives the value of a field as plain text, decoded into the arena if necessary. RANGE: the text holds a lone
 * surrogate. */
SESLITE_PRIVATE int ses__json_take_text(const struct json_found *found, struct arena *arena,
                                        struct span *text, ses_error *error);
/* The same, but a text with a lone surrogate is given as it is spelled. */
SESLITE_PRIVATE int ses__json_take_name(const struct json_found *found, struct arena *arena,
                                        struct span *name, ses_error *error);
/* Reads a value that must be an object. The reader, if it is lenient, skips any other. */
SESLITE_PRIVATE int ses__json_take_object(const struct json_found *found, const struct json_object *object,
                                          void *context, ses_error *error);
/* Calls `read` for each element of an array. `name` is theirs, for messages. */
SESLITE_PRIVATE int ses__json_take_elements(const struct json_found *found, const char *name,
                                            json_field_reader *read, void *context, ses_error *error);
SESLITE_PRIVATE int ses__json_pass(const struct json_found *found, ses_error *error);
/* Returns the text of a value that was read or skipped. */
SESLITE_PRIVATE struct span ses__json_taken(const struct json_found *found);

/* Readers for fields that name a member: a struct span for the value as it is in the text; for plain text, in
 * the reader's arena if it was decoded, without NULs and lone surrogates; for the same with a NUL after it; a
 * bool; a bool that only says that the field is there. */
SESLITE_PRIVATE int ses__json_read_value(void *into, const struct json_found *found, ses_error *error);
SESLITE_PRIVATE int ses__json_read_text(void *into, const struct json_found *found, ses_error *error);
SESLITE_PRIVATE int ses__json_read_c_text(void *into, const struct json_found *found, ses_error *error);
SESLITE_PRIVATE int ses__json_read_bool(void *into, const struct json_found *found, ses_error *error);
SESLITE_PRIVATE int ses__json_note(void *into, const struct json_found *found, ses_error *error);
/* Sets the error for a text that UTF-8 cannot express. */
SESLITE_PRIVATE int ses__json_lone_surrogate(const struct json_reader *reader, struct json_string string,
                                             ses_error *error);

#endif
