/* What an event says, as it stands in the transcript. */
#ifndef HTML_PARTS_H
#define HTML_PARTS_H

#include "html/survey.h"

/* Calls and responses are numbered as in the survey. */
struct parts {
    struct page *page;
    const struct survey *survey;
    size_t call; /* the number of the next one */
    size_t response;
    int status; /* EXIT_OK, or that of a response that could not be looked up */
};

void parts_put(struct parts *parts, const ses_event *event, const ses_content *content);
/* Puts a fold of JSON. `kind` is its class, `name` a text of the store; NULL: none, and the JSON is not shown in
 * short. */
void fold_put(struct page *page, const char *kind, const ses_text *name, const ses_text *json);

#endif
