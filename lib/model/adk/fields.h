/* The fields of an event that google-adk knows, by class. Redaction, export and import use this one table.
 * tools/adk/fields.py makes it from google-adk's classes. Every other field belongs to the user. */
#ifndef SESLITE_MODEL_ADK_FIELDS_H
#define SESLITE_MODEL_ADK_FIELDS_H

#include "json/reader.h"

/* The kind of a value, or of each value in a list or a map. */
enum adk_kind {
    ADK_TEXT,
    ADK_NUMBER,
    ADK_BOOL,
    ADK_WORD,   /* one of an enumeration's words */
    ADK_BYTES,  /* base64 */
    ADK_JSON,   /* any value: it belongs to the user */
    ADK_OPAQUE, /* of classes that are not in the table: only a valid value as a whole is accepted */
    ADK_OBJECT  /* of the class `model` */
};

enum adk_form {
    ADK_ONE,
    ADK_LIST,
    ADK_MAP /* an object with the user's own names */
};

/* How a redaction of a whole event treats the field. */
enum adk_erasure {
    ADK_BY_KIND,   /* replaces a text, empties an object, a list or a map, and drops anything else */
    ADK_KEEP,      /* keeps it, and so does a redaction of pieces */
    ADK_WALK,      /* redacts the members of the object */
    ADK_DROP,      /* drops the field */
    ADK_CONTENT,   /* as ADK_WALK, unless the caller gives a content */
    ADK_PARTS,     /* as ADK_WALK, and a part of which nothing is left gets a text */
    ADK_ARGUMENTS, /* replaces an object that is not empty by one with the text */
    ADK_STATE,     /* a delta of state */
    ADK_ARTIFACTS  /* a delta of artifacts */
};

enum adk_field_flags {
    ADK_NULL = 1,    /* null is allowed */
    ADK_REQUIRED = 2 /* if it is removed, the class rejects the object; any other field may be left out */
};

struct adk_model;

struct adk_field {
    const char *name; /* in camelCase; NULL at the end */
    enum adk_kind kind;
    enum adk_form form;
    unsigned flags;
    enum adk_erasure erasure;
    const struct adk_model *model; /* of ADK_OBJECT, otherwise NULL */
};

struct adk_model {
    const struct adk_field *fields;
    bool ignores; /* the class ignores unknown fields; otherwise it rejects the event */
};

SESLITE_PRIVATE extern const struct adk_model *const ses__adk_event;

/* The field of this name, in camelCase or snake_case, or NULL. */
SESLITE_PRIVATE const struct adk_field *ses__adk_field_of(const struct adk_model *model,
                                                          struct json_string name);
/* The field of this name in camelCase, which the class has. */
SESLITE_PRIVATE const struct adk_field *ses__adk_field_called(const struct adk_model *model,
                                                              const char *camel);
/* True if the name is this one in either spelling. */
SESLITE_PRIVATE bool ses__adk_is_named(struct json_string name, const char *camel);
/* True if the class rejects an object without members. */
SESLITE_PRIVATE bool ses__adk_has_required(const struct adk_model *model);

#endif
