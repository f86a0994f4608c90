/* Events of Vertex AI Agent Engine, as its REST API has them, become events of the ADK: by the rules of google-adk. */
#ifndef FOREIGN_VERTEX_H
#define FOREIGN_VERTEX_H

#include "foreign/foreign.h"
#include "seslite.h"

/* Writes the event. The JSON was accepted before. INVALID: it is no event. */
int vertex_event(struct span json, struct text *event, struct foreign_notes *notes, ses_error *error);

/* A time of the API, cut to microseconds; FOREIGN_NO_TIME: it is none. *cut becomes whether digits were lost. */
int64_t vertex_time(struct span time, bool *cut);

/* A session, without its events. Zeroed: ready to be read. */
struct vertex_session {
    struct text names[3]; /* app, user, session */
    struct text title;
    ses_label *labels;
    size_t label_count;
    struct span state; /* within the JSON; ptr NULL: it has none */
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us;
};

/* Reads it. The JSON was accepted before. INVALID: a name is missing, or a member is of the wrong type. */
int vertex_session_read(struct vertex_session *session, struct span json, ses_error *error);
void vertex_session_free(struct vertex_session *session);

/* INVALID: it is no page; or the last one, and names a next page: what the API gave is only a part. */
int vertex_check_page(struct span page, bool last, ses_error *error);
int vertex_check_pages(struct span pages, ses_error *error);

#endif
