/* Events as rows: for the commands events and tail. */
#ifndef COMMANDS_EVENTS_H
#define COMMANDS_EVENTS_H

#include "output/json.h"
#include "output/table.h"
#include "store/rewinds.h"

struct event_rows {
    struct run *run;
    bool of_many; /* each row has the session's id, after those of user and app that run->key lacks */
    struct table table;
    struct json_rows rows;
    struct rewinds rewinds;
};

void event_rows_begin(struct event_rows *rows, struct run *run, bool of_many);
int event_rows_add(struct event_rows *rows, const ses_key *key, const ses_event *event);
/* Prints the buffered rows, so that a follower sees each event as it arrives. */
int event_rows_flush(struct event_rows *rows);
void event_rows_end(struct event_rows *rows);

#endif
