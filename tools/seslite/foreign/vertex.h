/* Events of Vertex AI Agent Engine, as its REST API has them, become events of the ADK: by the rules of google-adk. */
#ifndef FOREIGN_VERTEX_H
#define FOREIGN_VERTEX_H

#include "foreign/foreign.h"

/* Writes the event. The JSON was accepted before. INVALID: it is no event. */
int vertex_event(struct span json, struct text *event, struct foreign_notes *notes, ses_error *error);

#endif
