/* Events as other programs read them. */
#ifndef FORMATS_WRITE_EVENT_H
#define FORMATS_WRITE_EVENT_H

#include "formats/write.h"

/* Puts the bytes of artifacts in place of the references in the event `*json`. `*inlined` becomes the new
 * text, to be freed with ses_free, or NULL if it has no references. */
int write_inlined(struct writing *writing, const ses_session *session, struct span *json, char **inlined,
                  ses_error *error);
/* Returns the event `json` as google-adk's services read it, borrowed until the next call. */
struct span write_event(struct writing *writing, const ses_event *event, struct span json, struct text *room);
/* Replaces lone surrogates in a JSON text by U+FFFD. Returns false if it is nested deeper than google-adk
 * reads. */
bool write_mended(struct writing *writing, struct text *text);

#endif
