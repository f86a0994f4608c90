/* The keys of an event's customMetadata that only ADK code may write, __adk_internal_*: what google-adk 2.13 does with them
 * where sessions leave it and return. A store keeps them, since an integrity stamp is one of them. */
#ifndef FOREIGN_INTERNAL_KEYS_H
#define FOREIGN_INTERNAL_KEYS_H

#include "json/string.h"
#include "text.h"

/* Adds the event without them. One that has none is added with the bytes that it has. */
void internal_keys_drop(struct text *text, struct span event);
/* The same, and marks it as one that came into its session from outside. */
void internal_keys_mark(struct text *text, struct span event);

#endif
