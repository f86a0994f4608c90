/* The items of an event's content, in order: texts, calls, responses, code, files, and at the end other
 * actions and the error. */
#ifndef COMMANDS_CONTENT_ITEMS_H
#define COMMANDS_CONTENT_ITEMS_H

#include "seslite_agent.h"
#include "store/rewinds.h"

enum content_item_kind {
    ITEM_TEXT,
    ITEM_THOUGHT,
    ITEM_CALL,
    ITEM_RESPONSE,
    ITEM_CODE,  /* or the result of running it */
    ITEM_OTHER, /* a file, which is not shown; another kind of part; a transfer or rewind */
    ITEM_ERROR
};

/* `words` is not cleaned and may have several lines. `rewind` is that of the event, if it is known. */
typedef void visit_content_item(void *context, enum content_item_kind kind, const struct text *words);
void each_content_item(const ses_content *content, const struct rewind *rewind, visit_content_item *visit,
                       void *context);

#endif
