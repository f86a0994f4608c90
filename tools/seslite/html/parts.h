/* The content of an event in the transcript. */
#ifndef HTML_PARTS_H
#define HTML_PARTS_H

#include "html/survey.h"

/* Calls and responses have the same numbers as in the survey. */
struct parts {
    struct page *page;
    const struct survey *survey;
    size_t call; /* the number of the next one */
    size_t response;
    int status; /* EXIT_OK, or the code of a failed lookup of a response */
};

void parts_put(struct parts *parts, const ses_event *event, const ses_content *content);
/* Puts a fold of JSON. `kind` is its class and `name` a text of the store. If `name` is NULL, the summary
 * shows neither a name nor the beginning of the JSON. */
void fold_put(struct page *page, const char *kind, const ses_text *name, const ses_text *json);

#endif
