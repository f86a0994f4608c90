/*
 * JSON objects with known fields, read by a table: each field once, in one of its spellings, with a value of a type
 * that it may have. Members that are no fields are passed over.
 */
#ifndef SESLITE_JSON_OBJECT_H
#define SESLITE_JSON_OBJECT_H

#include "base/common.h"
#include "json/reader.h"

/* A field that was found; its value comes next in the reader. */
struct json_found {
    struct json_reader *reader;
    enum json_type type;
    size_t offset; /* of the value, in bytes */
    const char *whole;
    const char *path;
    const char *name;
};

/* Reads the value, or passes over it. */
typedef int json_field_reader(void *context, const struct json_found *found, ses_error *error);

/* Bits for the types of values. */
#define JSON_MAY_BE(type) (1u << (type))
/* But null, which counts as absent. */
#define JSON_MAY_BE_ANYTHING                                                        \
    (JSON_MAY_BE(JSON_BOOL) | JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | \
     JSON_MAY_BE(JSON_ARRAY) | JSON_MAY_BE(JSON_OBJECT))

struct json_field {
    const char *name;
    const char *other; /* spelling; NULL: there is none */
    unsigned types;    /* with JSON_NULL: null is read as well; else it counts as absent */
    json_field_reader *read;
    const char *due; /* what messages say that it must be; NULL: its type */
};

enum { JSON_MAX_FIELDS = 12 };

struct json_object {
    const char *whole; /* for messages: what it is a part of, "the event" */
    const char *path;  /* of its fields in there: "actions." */
    struct json_field fields[JSON_MAX_FIELDS];
};

/* The object that comes next in the reader. JSON, LIMIT; and unless the reader is lenient, INVALID for a field of another type and for one that appears
 * twice; and what the fields' readers return, which is not SES_OK. */
SESLITE_PRIVATE int ses__json_read_object(struct json_reader *reader, const struct json_object *object,
                                          void *context, ses_error *error);
/* A text that is one such object and nothing else. */
SESLITE_PRIVATE int ses__json_read_whole(struct span text, const struct json_object *object, void *context,
                                         ses_error *error);

/* INVALID: "at byte 7: the event's author must be a string". */
SESLITE_PRIVATE int ses__json_must_be(const struct json_found *found, const char *due, ses_error *error);

/* The value of a field: as it is in the text, as a boolean, or as plain text, decoded into the arena if necessary. */
SESLITE_PRIVATE int ses__json_take_value(const struct json_found *found, struct span *value,
                                         ses_error *error);
SESLITE_PRIVATE int ses__json_take_bool(const struct json_found *found, bool *flag, ses_error *error);
/* RANGE: it holds a lone surrogate. */
SESLITE_PRIVATE int ses__json_take_text(const struct json_found *found, struct arena *arena,
                                        struct span *text, ses_error *error);
/* The error of a text that UTF-8 cannot express. */
SESLITE_PRIVATE int ses__json_lone_surrogate(const struct json_reader *reader, struct json_string string,
                                             ses_error *error);

#endif
