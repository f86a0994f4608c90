/* The content of an event, in one line and in full. */
#ifndef COMMANDS_CONTENT_H
#define COMMANDS_CONTENT_H

#include "command.h"
#include "text/text.h"

/* Adds the content of an event (content_items.h) as one line, which is not cleaned. */
void content_line(struct run *run, const ses_event *event, struct text *line);
/* Prints the content of an event as part of a transcript, indented and wrapped to the terminal. Calls and
 * responses are shortened unless `full`. */
void content_print(struct run *run, const ses_event *event, bool full);
/* Returns SES_JSON if the event is not JSON (another program may have stored it), or another negative
 * code. */
int content_check(struct run *run, const ses_event *event);

#endif
