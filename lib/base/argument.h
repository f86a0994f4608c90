/* The checks of arguments that public calls share. All fill the error and return the code. */
#ifndef SESLITE_BASE_ARGUMENT_H
#define SESLITE_BASE_ARGUMENT_H

#include "base/common.h"

/* MISUSE for NULL; `what` names the argument. */
SESLITE_PRIVATE int ses__check_argument(const void *argument, const char *what, ses_error *error);
/* A text of any length: MISUSE for NULL. `len` may be SES_NUL. */
SESLITE_PRIVATE int ses__check_span(const char *text, size_t len, const char *what, struct span *span,
                                    ses_error *error);
/* MISUSE for NULL, INVALID for what breaks the rules of ids. */
SESLITE_PRIVATE int ses__check_id(const char *id, const char *what, ses_error *error);
/*
 * Copies an options struct of the caller's, which may be of an older or newer version of the header. `given`
 * NULL: all defaults. MISUSE when its size is not set, or it asks for what this version does not know.
 */
SESLITE_PRIVATE int ses__take_options(void *own, size_t own_size, const void *given, const char *what,
                                      ses_error *error);
/* MISUSE when a flag is set that is not in `known`. */
SESLITE_PRIVATE int ses__check_flags(unsigned flags, unsigned known, const char *what, ses_error *error);
/* Options that have no member yet: nothing may be set. */
SESLITE_PRIVATE int ses__check_call_options(const ses_call_options *options, ses_error *error);

#endif
