/* Walks what an export is to bring: sessions with their events, and shared state. */
#ifndef EXPORT_PIECES_H
#define EXPORT_PIECES_H

#include "export/export.h"

/* What is done with each piece. They give an exit code; what is not EXIT_OK ends the walk. */
struct export_pieces {
    int (*session)(void *context, const ses_session *session, struct span own_state);
    int (*event)(void *context, const ses_session *session, const ses_event *event);
    int (*shared)(void *context, const char *app, const char *user,
                  struct span state); /* NULL user: of the app */
    void *context;
};

/* Each session is as of one moment: its events up to the last that its state knows. NOTFOUND: there is none. */
int export_walk(struct export *export, const struct export_pieces *pieces);

#endif
