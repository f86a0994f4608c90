/* Identifiers as Python's str.isidentifier has them. */
#ifndef SESLITE_AGENT_IDENTIFIER_H
#define SESLITE_AGENT_IDENTIFIER_H

#include "base/common.h"

/* The bytes of the character at `text`, which is valid UTF-8, if it may begin an identifier; otherwise 0. */
SESLITE_PRIVATE size_t ses__identifier_start(const char *text);
/* The same of a character that may follow. */
SESLITE_PRIVATE size_t ses__identifier_next(const char *text);

#endif
