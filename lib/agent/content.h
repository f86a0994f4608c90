/* What an event says. */
#ifndef SESLITE_AGENT_CONTENT_H
#define SESLITE_AGENT_CONTENT_H

#include "seslite_agent.h"

#include "base/common.h"
#include "base/memory.h"

struct text_list {
    ses_text *items;
    size_t count;
    size_t capacity;
};

struct function_list {
    ses_function *items;
    size_t count;
    size_t capacity;
};

struct ses_content {
    ses_allocator allocator;
    struct arena arena;
    struct span author; /* without text: none */
    ses_text json;      /* the content itself; without text: none */
    struct buffer text;
    bool has_text;
    struct text_list parts;
    struct function_list calls;
    struct function_list responses;
    bool partial;
    bool skips_summarization;
    bool runs_long;        /* longRunningToolIds names one */
    bool ends_with_result; /* the last part is a code execution result */
};

#endif
