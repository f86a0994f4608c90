/* The content of an event, in one line and in full. */
#ifndef COMMANDS_CONTENT_H
#define COMMANDS_CONTENT_H

#include "command.h"
#include "store/rewinds.h"

/* Adds the content of an event (content_items.h) as one line, which is not cleaned. `rewind` is the rewind in
 * it, or NULL, also if it was not looked for. */
void content_line(struct run *run, const ses_event *event, const struct rewind *rewind, struct text *line);
/* Prints the content of an event as part of a transcript, indented and wrapped to the terminal. Calls and
 * responses are shortened unless `full`. */
void content_print(struct run *run, const ses_event *event, const struct rewind *rewind, bool full);
/* Returns SES_JSON if the event is not JSON (another program may have stored it), or another negative
 * code. */
int content_check(struct run *run, const ses_event *event);

#endif
