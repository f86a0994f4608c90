/* The work of finding what to send to a model: the log is read, compacted, and completed with calls. */
#ifndef SESLITE_AGENT_CONTEXT_CONTEXT_H
#define SESLITE_AGENT_CONTEXT_CONTEXT_H

#include "seslite_agent.h"

#include "base/limits.h"
#include "model/calls.h"
#include "model/event/stored_event.h"

#define CONTEXT_NONE SIZE_MAX

/* A live event. Texts are the event's, or in the arena. */
struct context_event {
    const ses_event *event;
    struct span content;          /* without text: none */
    struct compaction compaction; /* its content replaces the events that it compacts */
    size_t first_function;
    size_t function_count;
    bool is_there;    /* in the context itself, not only in a summary */
    bool is_recalled; /* there, although a summary covers it */
    bool begins_turn;
    bool is_chosen; /* the budget has room for it */
};

/* The calls of one id in one event, and their responses. */
struct context_exchange {
    struct call call;
    size_t event;
    size_t answer; /* the event of the latest response; CONTEXT_NONE: there is none */
    bool has_answer_there;
};

/* A function call or response that has an id. */
struct context_function {
    size_t event;
    struct span id;
    bool is_response;
    struct context_exchange *exchange; /* of the call and its responses; NULL: a response to nothing */
};

/* The position of an event, or of its summary, in the context. */
struct context_place {
    int64_t order; /* the time; in the order of the log, a number */
    size_t event;
    bool is_summary;
};

/* Everything is in the arena, except the functions. */
struct context_work {
    struct arena arena;
    struct context_event *events; /* in the order of the log */
    size_t event_count;
    size_t first_turn; /* the first event that begins a turn; if there is none, the number of events */
    struct context_function *functions;
    size_t function_count;
    size_t function_capacity;
    bool in_log_order;            /* SES_CONTEXT_LOG_ORDER */
    bool compacts;                /* there is a summary */
    struct context_place *places; /* the context */
    size_t place_count;
};

/* ---- visible.c */

/* Sets whether a model sees anything of the event, by google.adk.flows.llm_flows.context._contents. The event
 * was read before. */
SESLITE_PRIVATE int ses__event_is_visible(const ses_event *event, const struct stored_event *stored,
                                          bool *visible, ses_error *error);

/* ---- summaries.c */

/* Fills the places: summaries replace the events that they cover. False: out of memory. */
SESLITE_PRIVATE bool ses__context_compact(struct context_work *work);

/* Finds the calls that responses belong to. The seed is the store's. False: out of memory. */
SESLITE_PRIVATE bool ses__context_find_exchanges(struct context_work *work, struct hash_seed seed);

/* Adds to the places the calls that are not there, but their response is, and the responses to the other
 * calls of the same events. False: out of memory. */
SESLITE_PRIVATE bool ses__context_recall(struct context_work *work);

/* ---- budget.c */

struct context_budget {
    const ses_context_options *options;
    const struct limits *limits;
    const char *name; /* the session, for messages */
};

/* Removes from the places what is beyond the budget. */
SESLITE_PRIVATE int ses__context_fit(struct context_work *work, const struct context_budget *budget,
                                     ses_left_out *left, ses_error *error);

#endif
