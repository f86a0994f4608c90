/* Reports a failure: the code is returned, and the message is written where the failure happened. */
#ifndef SESLITE_BASE_ERROR_H
#define SESLITE_BASE_ERROR_H

#include "base/common.h"

/* `error` may be NULL in all of them. All but ses__error_clear and ses__error_prefix return the code, so that
 * the caller can return it. */
SESLITE_PRIVATE void ses__error_clear(ses_error *error);
SESLITE_PRIVATE int ses__error_set(ses_error *error, int code, const char *format, ...) FORMAT_PRINTF(3, 4);
/* The same for a JSON text, with the byte offset of the fault. */
SESLITE_PRIVATE int ses__error_at(ses_error *error, int code, size_t offset, const char *format, ...)
    FORMAT_PRINTF(4, 5);
SESLITE_PRIVATE int ses__error_nomem(ses_error *error);
/* After a function of the application, "the function that `does`", has returned `result`: returns what the
 * call is to return. That is the result if it is 0 to `max` or a code of SES_CODES, with the message that the
 * function may have written into `own`. Any other negative number is IO, and a larger one MISUSE. */
SESLITE_PRIVATE int ses__error_called(ses_error *error, int result, int max, const ses_error *own,
                                      const char *does);
/* Puts words in front of the existing message. */
SESLITE_PRIVATE void ses__error_prefix(ses_error *error, const char *format, ...) FORMAT_PRINTF(2, 3);

#endif
