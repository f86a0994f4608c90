/* Describes a text that no format recognizes. */
#ifndef FORMATS_LOOKS_H
#define FORMATS_LOOKS_H

#include "base/common.h"
#include "formats/text.h"

/* True for several sessions of an ADK, of which a format would take the first for the only one. */
bool looks_like_sessions(struct span head);
/* Adds what the beginning of a file looks like, and what to do about it if that is known. */
void looks_add(struct text *words, struct span head);

#endif
