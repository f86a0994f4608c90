/* Shared by the files of this room, which are linked only into programs that use cJSON. */
#ifndef SESLITE_CJSON_TEXT_H
#define SESLITE_CJSON_TEXT_H

#include "base/common.h"
#include "seslite_cjson.h"

/* Writes the tree as text. Free it with cJSON_free. */
SESLITE_PRIVATE int ses__cjson_write(const cJSON *tree, char **text, size_t *len, ses_error *error);
/* The same for an argument, which may be NULL: MISUSE. */
SESLITE_PRIVATE int ses__cjson_take(const cJSON *tree, const char *what, char **text, size_t *len,
                                    ses_error *error);
/* Parses a text that is JSON. LIMIT if cJSON rejects it. The tree belongs to the caller. */
SESLITE_PRIVATE int ses__cjson_parse(const char *text, size_t len, cJSON **tree, ses_error *error);

#endif
