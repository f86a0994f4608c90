/* Walks the selection of an export: sessions with their events, and shared state. */
#ifndef EXPORT_PIECES_H
#define EXPORT_PIECES_H

#include "export/export.h"

/* The visitors return an exit code; any code other than EXIT_OK ends the walk. */
struct export_pieces {
    int (*session)(void *context, const ses_session *session, struct span own_state);
    int (*event)(void *context, const ses_session *session, const ses_event *event);
    int (*shared)(void *context, const char *app, const char *user,
                  struct span state); /* state of the app if `user` is NULL */
    void *context;
};

/* Each session is consistent: its state includes exactly the events that are visited. Returns EXIT_NOTFOUND
 * if nothing is selected. */
int export_walk(struct export *export, const struct export_pieces *pieces);

#endif
