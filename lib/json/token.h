/* The tokens of an accepted JSON text, in a row, for callers that do not need its structure. */
#ifndef SESLITE_JSON_TOKEN_H
#define SESLITE_JSON_TOKEN_H

#include "base/common.h"

/* Returns the string, with its quotes, or the number that begins here; an empty span if neither does. */
SESLITE_PRIVATE struct span ses__json_token_at(const char *at, const char *end);

#endif
