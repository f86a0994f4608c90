/* How a failure is reported: a code that is returned, and a message at the place where it happened. */
#ifndef SESLITE_BASE_ERROR_H
#define SESLITE_BASE_ERROR_H

#include "base/common.h"

/* All take a NULL error. Each `error_...` below but ses__error_clear returns the code, to be returned onwards. */
SESLITE_PRIVATE void ses__error_clear(ses_error *error);
SESLITE_PRIVATE int ses__error_set(ses_error *error, int code, const char *format, ...) FORMAT_PRINTF(3, 4);
/* The same for a JSON text, with the byte offset of what was wrong. */
SESLITE_PRIVATE int ses__error_at(ses_error *error, int code, size_t offset, const char *format, ...)
    FORMAT_PRINTF(4, 5);
SESLITE_PRIVATE int ses__error_nomem(ses_error *error);
/* Puts words in front of the message that is there. */
SESLITE_PRIVATE void ses__error_prefix(ses_error *error, const char *format, ...) FORMAT_PRINTF(2, 3);

#endif
