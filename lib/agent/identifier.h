/* Identifiers, as Python's str.isidentifier defines them. */
#ifndef SESLITE_AGENT_IDENTIFIER_H
#define SESLITE_AGENT_IDENTIFIER_H

#include "base/common.h"

/* Returns the length in bytes of the character at `text`, which is valid UTF-8, if it may begin an
 * identifier, otherwise 0. */
SESLITE_PRIVATE size_t ses__identifier_start(const char *text);
/* The same for a character that may follow. */
SESLITE_PRIVATE size_t ses__identifier_next(const char *text);

#endif
