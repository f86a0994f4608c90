/* Events of Vertex AI Agent Engine, as its REST API has them, become events of the ADK: by the rules of google-adk. */
#ifndef FOREIGN_VERTEX_H
#define FOREIGN_VERTEX_H

#include "foreign/foreign.h"

/* Writes the event. The JSON was accepted before. INVALID: it is no event. */
int vertex_event(struct span json, struct text *event, struct foreign_notes *notes, ses_error *error);

/* "projects/P/locations/L/reasoningEngines/APP/sessions/ID"; false: it is none. */
bool vertex_split_name(const char *name, struct text *app, struct text *session);
/* INVALID: it is no page; or the last one, and names a next page: what the API gave is only a part. */
int vertex_check_page(struct span page, bool last, ses_error *error);
int vertex_check_pages(struct span pages, ses_error *error);

#endif
