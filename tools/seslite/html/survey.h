/* What is known of a log before its transcript is written, from a first walk. This writes the state and its changes as
 * well, as * data for the script. */
#ifndef HTML_SURVEY_H
#define HTML_SURVEY_H

#include "html/calls.h"
#include "html/page.h"

enum { COMPACTIONS_MAX = 1000 /* that have bars: each event is held against each of them */, LANES = 3 };

struct covered {
    int64_t seq; /* of the event that holds the compaction */
    int64_t start_us;
    int64_t end_us;
    int lane;
    int64_t first_seq; /* of what it covers, as far as the transcript has come; 0: nothing */
    int64_t last_seq;
    int64_t count;
};

struct survey {
    int64_t first_seq; /* 0: there are no events */
    int64_t last_seq;
    int64_t count;
    int64_t first_us;
    int64_t last_us;
    int64_t errors;
    int64_t failed; /* calls whose response says so */
    bool any_gone;  /* an event was taken back, or is a rewind */
    int64_t used;   /* events that tell of tokens */
    ses_usage tokens;
    struct calls calls;
    struct covered *compactions;
    size_t compaction_count;
};

/* Walks the events that the options ask for. EXIT_OK, or it was said why not. */
int survey_take(struct survey *survey, struct page *page);
void survey_free(struct survey *survey);

/* The state after the event of that number, with what the session wrote to shared keys; ses_free. */
int state_after(struct run *run, int64_t seq, char **json, size_t *len);

/* An event that was opened: `content` is NULL if that cannot be, and `code` says why. */
ses_content *open_event(struct run *run, const ses_event *event, int *code);

#endif
