/* Shared by the files of this room, which are linked only into programs that use cJSON. */
#ifndef SESLITE_CJSON_TEXT_H
#define SESLITE_CJSON_TEXT_H

#include "base/common.h"
#include "seslite_cjson.h"

/* Fills the error, which may be NULL, and returns the code. */
SESLITE_PRIVATE int ses__cjson_error_set(ses_error *error, int code, const char *format, ...)
    FORMAT_PRINTF(3, 4);
/* MISUSE for NULL; `what` names the argument. */
SESLITE_PRIVATE int ses__cjson_need(const void *argument, const char *what, ses_error *error);
/* Writes the tree as text. Free it with cJSON_free. */
SESLITE_PRIVATE int ses__cjson_write(const cJSON *tree, char **text, size_t *len, ses_error *error);
/* The same for an argument, which may be NULL: MISUSE. */
SESLITE_PRIVATE int ses__cjson_take(const cJSON *tree, const char *what, char **text, size_t *len,
                                    ses_error *error);
/* Sets the caller's pointer to a tree to NULL. MISUSE if its address is NULL. */
SESLITE_PRIVATE int ses__cjson_output(cJSON **tree, const char *what, ses_error *error);
/* Parses a text that is JSON. LIMIT if cJSON rejects it. The tree belongs to the caller. */
SESLITE_PRIVATE int ses__cjson_parse(const char *text, size_t len, cJSON **tree, ses_error *error);

#endif
