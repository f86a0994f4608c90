/* Events as rows: for the commands events and tail. */
#ifndef EVENTS_H
#define EVENTS_H

#include "json.h"
#include "table.h"

struct event_rows {
    struct run *run;
    bool of_user; /* with the session's id in each row */
    struct table table;
    struct json_rows rows;
};

void event_rows_begin(struct event_rows *rows, struct run *run, bool of_user);
int event_rows_add(struct event_rows *rows, const char *session, const ses_event *event);
/* Prints the rows that are held back, so that a follower sees each event when it comes. */
int event_rows_flush(struct event_rows *rows);
void event_rows_end(struct event_rows *rows);

#endif
