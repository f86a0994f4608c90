/* The content of an event: its parts, calls and responses, and the fields around them. */
#ifndef SESLITE_AGENT_CONTENT_H
#define SESLITE_AGENT_CONTENT_H

#include "seslite_agent.h"

#include "base/common.h"
#include "base/memory.h"

struct content_part {
    ses_part part;
    bool is_thought;
    bool is_result; /* of executed code */
};

struct part_list {
    ses_part *items;
    size_t count;
    size_t capacity;
};

struct function_list {
    const ses_function **items; /* in the arena */
    size_t count;
    size_t capacity;
};

struct ses_content {
    ses_allocator allocator;
    struct arena arena;
    ses_text author;    /* without text: none; so are the texts below */
    ses_text json;      /* the content itself */
    struct buffer text; /* without memory: none */
    struct part_list parts;
    struct content_part latest; /* the part being read, and then the last one */
    struct function_list calls;
    struct function_list responses;
    bool partial;
    bool skips_summarization;
    bool runs_long; /* longRunningToolIds names one */
    ses_text actions;
    ses_text state_delta;
    ses_text error_code;
    ses_text error_message;
    bool has_usage;
    ses_usage usage;
    bool compacts;
    ses_compaction compaction;
};

/* Reads the event into an empty content, which borrows from `text`. `shows` as in struct json_reader. */
SESLITE_PRIVATE int ses__content_read(ses_content *content, struct span text, bool shows, ses_error *error);
/* ses_content_open. Without `shows`, a text with a lone surrogate is RANGE: such a text is to be stored. */
SESLITE_PRIVATE int ses__content_open(ses_store *store, const char *event, size_t event_len, bool shows,
                                      ses_content **content, ses_error *error);

#endif
