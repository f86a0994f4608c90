/* What google-adk knows of an event: the fields of its classes, by name. Everything else in an event is a user's. */
#ifndef EXPORT_ADK_FIELDS_H
#define EXPORT_ADK_FIELDS_H

#include "json/reader.h"

enum adk_form {
    ADK_ANY,  /* a plain value, or a user's */
    ADK_ONE,  /* an object of a class */
    ADK_LIST, /* of these */
    ADK_MAP   /* of these, by names of a user */
};

struct adk_model;

struct adk_field {
    const char *name; /* in camelCase; NULL at the end */
    enum adk_form form;
    const struct adk_model *model;
};

struct adk_model {
    const struct adk_field *fields;
    bool ignores; /* fields that it does not know; else it refuses the event */
};

extern const struct adk_model adk_event_model;

/* The field of this name, in camelCase or in snake_case; NULL: there is none. */
const struct adk_field *adk_field_of(const struct adk_model *model, struct json_string name);
/* Is it this name, in either spelling? */
bool adk_is_named(struct json_string name, const char *camel);

#endif
