/* The tokens of a JSON text that was accepted before, in a row: for whoever looks at its texts, and not at its structure. */
#ifndef SESLITE_JSON_TOKEN_H
#define SESLITE_JSON_TOKEN_H

#include "base/common.h"

/* Returns the string, with its quotes, or the number that begins here. An empty span: this byte begins neither. */
SESLITE_PRIVATE struct span ses__json_token_at(const char *at, const char *end);

#endif
