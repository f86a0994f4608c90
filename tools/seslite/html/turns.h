/* The tokens of each turn, drawn as bars. */
#ifndef HTML_TURNS_H
#define HTML_TURNS_H

#include "html/page/page.h"

enum { TURNS_MAX = 200 /* bars; of more turns, several share a bar */ };

/* Tokens of the turns of a bar. */
struct turn_bar {
    int64_t first_seq; /* its first event that used tokens */
    int64_t turns;
    int64_t cached;
    int64_t prompt; /* the others of the prompt */
    int64_t answer; /* candidates and thoughts */
};

struct turns {
    struct turn_bar bars[TURNS_MAX];
    size_t count;
    int64_t per_bar;        /* turns; 0: none were added */
    struct text invocation; /* of the turn under way */
};

/* Adds what an event used. The events of an invocation that follow each other are a turn. */
void turns_add(struct turns *turns, const ses_event *event, const ses_usage *usage);
/* Puts the bars, if there are at least two. */
void turns_put(struct page *page, const struct turns *turns);
void turns_free(struct turns *turns);

#endif
