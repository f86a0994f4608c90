/* What an event says, in a line and in full. */
#ifndef CONTENT_H
#define CONTENT_H

#include "command.h"
#include "text.h"

/* One line of what an event says (said.h). It is not cleaned. */
void content_line(struct run *run, const ses_event *event, struct text *line);
/* Prints what the event says as a part of a transcript, indented, in the width of the terminal. `full`: calls and responses
 * are not shortened. */
void content_print(struct run *run, const ses_event *event, bool full);
/* The code JSON if the event is not JSON, which another program may have stored; or another that is negative. */
int content_check(struct run *run, const ses_event *event);

#endif
