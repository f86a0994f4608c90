/* Identifiers, as Python's str.isidentifier defines them. */
#ifndef SESLITE_AGENT_IDENTIFIER_H
#define SESLITE_AGENT_IDENTIFIER_H

#include "base/common.h"

enum { IDENTIFIER_CONTINUES = 1, IDENTIFIER_STARTS = 2 };

/* Returns the length in bytes of the character at `text`, which is valid UTF-8, if it may do that in an
 * identifier, otherwise 0. */
SESLITE_PRIVATE size_t ses__identifier_len(const char *text, unsigned kind);

#endif
