/* An event that is being built. */
#ifndef SESLITE_AGENT_BUILDER_H
#define SESLITE_AGENT_BUILDER_H

#include "seslite_agent.h"

#include "base/common.h"
#include "base/memory.h"

/* A field of the event or of its actions; each has a list. */
struct built_field {
    struct built_field *next;
    unsigned rank;
    size_t name_len;
    size_t value_len;
    char bytes[]; /* name, value; no NULs */
};

struct ses_builder {
    ses_allocator allocator; /* a builder may outlive its store */
    char *author;
    char *invocation;    /* NULL: none */
    struct buffer parts; /* with commas between them */
    bool only_responses;
    struct built_field *content; /* a whole content, instead of the parts; NULL: none */
    struct built_field *actions;
    struct built_field *fields;
    struct buffer json;
    char made_id[sizeof(((ses_appended *)0)->made_id)]; /* the id that an append made; "": none, or longer */
};

/* Begins a public call on a builder: clears the error; MISUSE for NULL. */
SESLITE_PRIVATE int ses__check_builder(const ses_builder *builder, ses_error *error);
/* Checks a JSON object that will be nested `depth` levels deep in the event: JSON, INVALID, LIMIT. */
SESLITE_PRIVATE int ses__check_object(const char *json, size_t len, const char *what, unsigned depth,
                                      struct span *value, ses_error *error);
SESLITE_PRIVATE int ses__check_utf8(const char *text, size_t len, const char *what, struct span *span,
                                    ses_error *error);

#endif
