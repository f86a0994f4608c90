/* Handles the keys of customMetadata that only ADK code may write, __adk_internal_*, as google-adk 2.13 does
 * when sessions leave it and return. A store keeps them, since an integrity stamp is one of them. */
#ifndef FORMATS_JSON_INTERNAL_KEYS_H
#define FORMATS_JSON_INTERNAL_KEYS_H

#include "formats/text.h"
#include "json/string.h"

/* Adds the event without them. An event that has none is added byte for byte. */
void internal_keys_drop(struct text *text, struct span event);
/* Adds the event without them, marked as restored into its session from outside. */
void internal_keys_mark(struct text *text, struct span event);

#endif
