/* The fields of an event that google-adk knows, by class. Everything else in an event belongs to the user. */
#ifndef EXPORT_ADK_FIELDS_H
#define EXPORT_ADK_FIELDS_H

#include "json/reader.h"

enum adk_form {
    ADK_ANY,  /* a plain value, or one that belongs to the user */
    ADK_ONE,  /* an object of a class */
    ADK_LIST, /* of these */
    ADK_MAP   /* an object of these, with the user's own names */
};

struct adk_model;

struct adk_field {
    const char *name; /* in camelCase; NULL at the end */
    enum adk_form form;
    const struct adk_model *model;
};

struct adk_model {
    const struct adk_field *fields;
    bool ignores; /* the class ignores unknown fields; otherwise it rejects the event */
};

extern const struct adk_model adk_event_model;

/* The field of this name, in camelCase or snake_case, or NULL. */
const struct adk_field *adk_field_of(const struct adk_model *model, struct json_string name);
/* True if `key` is this name in either spelling. */
bool adk_is_named(struct json_string name, const char *camel);

#endif
