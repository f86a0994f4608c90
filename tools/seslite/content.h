/* What an event says, in a line and in full. */
#ifndef CONTENT_H
#define CONTENT_H

#include "command.h"
#include "text.h"

/* One line of an event: its text, or else its calls and responses. It is not cleaned. */
void content_line(struct run *run, const ses_event *event, struct text *line);
/* Prints the event as a part of a transcript: its text, calls and responses, indented, in the width of the terminal. */
void content_print(struct run *run, const ses_event *event, bool full);
/* The code JSON if the event is not JSON, which another program may have stored; or another that is negative. */
int content_check(struct run *run, const ses_event *event);

#endif
