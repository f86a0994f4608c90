/* The things that an event says, in order: texts, calls, responses, code, files, and at the end what it does besides and its
 * error. */
#ifndef SAID_H
#define SAID_H

#include "seslite_agent.h"
#include "text.h"

enum said_kind {
    SAID_TEXT,
    SAID_THOUGHT,
    SAID_CALL,
    SAID_RESPONSE,
    SAID_CODE,  /* and what running it gave */
    SAID_OTHER, /* a file that is not shown, another kind of part, a transfer, a rewind */
    SAID_ERROR
};

/* `words` are not clean, and may have several lines. */
typedef void visit_said(void *context, enum said_kind kind, const struct text *words);
void each_said(const ses_content *content, visit_said *visit, void *context);

#endif
