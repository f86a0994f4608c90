/* A first walk over the log, which collects the facts needed before the transcript. It also writes the state
 * and its changes as data for the script. */
#ifndef HTML_SURVEY_H
#define HTML_SURVEY_H

#include "html/calls.h"
#include "html/page/page.h"
#include "html/turns.h"

enum { COMPACTIONS_MAX = 1000 /* with bars: each event is compared with each of them */, LANES = 3 };

struct covered {
    int64_t seq; /* of the event with the compaction */
    int64_t start_us;
    int64_t end_us;
    int lane;
    int64_t first_seq; /* of the events it covers, up to the current one; 0 if none */
    int64_t last_seq;
    int64_t count;
};

struct survey {
    int64_t first_seq; /* 0 without events */
    int64_t last_seq;
    int64_t count;
    int64_t first_us;
    int64_t last_us;
    int64_t errors;
    int64_t failed; /* calls whose response reports a failure */
    bool any_gone;  /* an event was taken back, or is a rewind */
    int64_t used;   /* events with token counts */
    ses_usage tokens;
    struct turns turns;
    struct calls calls;
    struct covered *compactions;
    size_t compaction_count;
};

/* Walks the events that the options select. Returns EXIT_OK, or prints the error. */
int survey_take(struct survey *survey, struct page *page);
void survey_free(struct survey *survey);

/* The state after that event, with the values that the session wrote to shared keys. Free it with
 * ses_free. */
int state_after(struct run *run, int64_t seq, char **json, size_t *len);

/* Opens an event. Returns NULL if it cannot be read, and sets *code. */
ses_content *open_event(struct run *run, const ses_event *event, int *code);

#endif
