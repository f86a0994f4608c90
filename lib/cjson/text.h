/* What the files for callers with cJSON trees share: it is linked only into programs that use them. */
#ifndef SESLITE_CJSON_TEXT_H
#define SESLITE_CJSON_TEXT_H

#include "base/common.h"
#include "seslite_cjson.h"

/* Fills the error, which may be NULL, and returns the code. */
SESLITE_PRIVATE int ses__cjson_error_set(ses_error *error, int code, const char *format, ...)
    FORMAT_PRINTF(3, 4);
/* MISUSE for NULL; `what` names the argument. */
SESLITE_PRIVATE int ses__cjson_need(const void *argument, const char *what, ses_error *error);
/* The tree as text, to be freed with cJSON_free. */
SESLITE_PRIVATE int ses__cjson_write(const cJSON *tree, char **text, size_t *len, ses_error *error);
/* The text is JSON. LIMIT when cJSON does not take it. The tree is the caller's. */
SESLITE_PRIVATE int ses__cjson_parse(const char *text, size_t len, cJSON **tree, ses_error *error);

#endif
