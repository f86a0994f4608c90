/* Reading the objects of an event by a table of the fields that count. */
#ifndef SESLITE_AGENT_OBJECT_H
#define SESLITE_AGENT_OBJECT_H

#include "agent/agent.h"
#include "json/reader.h"

struct part {
    struct json_string text;
    bool has_text;
    bool thought;
    bool has_result; /* of code that was executed */
};

struct content_reader {
    struct json_reader json;
    ses_content *content;
    struct part part;
    ses_function function;
};

enum { MOST_FIELDS = 5 };

struct known_field {
    const char *camel;
    const char *snake; /* NULL: the same */
    enum json_type type;
    int (*read)(struct content_reader *reader, ses_error *error);
};

struct known_object {
    const char *where; /* stands in front of a field's name in messages */
    struct known_field fields[MOST_FIELDS];
};

SESLITE_PRIVATE size_t ses__content_offset(const struct content_reader *reader, const char *at);
/* The value that comes next is not of the type that is due: INVALID, with the field's name. */
SESLITE_PRIVATE int ses__content_wrong_type(const struct content_reader *reader, const char *where,
                                            const char *name, enum json_type due, ses_error *error);
SESLITE_PRIVATE int ses__content_skip(struct content_reader *reader, ses_error *error);
/* The object that comes next; what is no field of it is passed over. */
SESLITE_PRIVATE int ses__content_read_object(struct content_reader *reader, const struct known_object *object,
                                             ses_error *error);

#endif
