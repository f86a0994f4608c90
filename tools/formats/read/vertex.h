/* Converts events of Vertex AI Agent Engine, as its REST API returns them, to events of the ADK by the rules
 * of google-adk. */
#ifndef FORMATS_READ_VERTEX_H
#define FORMATS_READ_VERTEX_H

#include "formats/formats.h"
#include "seslite.h"

/* Writes the event. The JSON has been checked. Fails with INVALID if it is not an event. */
int vertex_event(struct span json, struct text *event, struct foreign_notes *notes, ses_error *error);

/* Parses a time of the API, cut to microseconds. Returns FOREIGN_NO_TIME if it is not a time. Sets *cut to
 * whether digits were lost. */
int64_t vertex_time(struct span time, bool *cut);

/* A session without its events. Ready to be read when zeroed. */
struct vertex_session {
    struct text names[3]; /* app, user, session */
    struct text title;
    ses_label *labels;
    size_t label_count;
    struct span state; /* within the JSON; ptr is NULL if there is none */
    int64_t created_us;
    int64_t updated_us;
    int64_t expires_us;
};

/* Reads the session. The JSON has been checked. Fails with INVALID if a name is missing or a member has the
 * wrong type. */
int vertex_session_read(struct vertex_session *session, struct span json, ses_error *error);
void vertex_session_free(struct vertex_session *session);

/* Fails with INVALID if it is not a page, or if the last page names a next one, so that the file is
 * incomplete. */
int vertex_check_page(struct span page, bool last, ses_error *error);
int vertex_check_pages(struct span pages, ses_error *error);

#endif
