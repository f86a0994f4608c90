/* Checks of arguments, shared by the public calls. All fill the error and return the code. */
#ifndef SESLITE_BASE_ARGUMENT_H
#define SESLITE_BASE_ARGUMENT_H

#include "base/common.h"

/* MISUSE for NULL; `what` names the argument. */
SESLITE_PRIVATE int ses__check_argument(const void *argument, const char *what, ses_error *error);
/* Begins a call that hands over an object or a text: clears the error, and sets the caller's pointer to NULL.
 * MISUSE if `output`, its address, is NULL. */
SESLITE_PRIVATE int ses__check_output(void *output, const char *what, ses_error *error);
/* Checks a text of any length: MISUSE for NULL. `len` may be SES_NUL. */
SESLITE_PRIVATE int ses__check_span(const char *text, size_t len, const char *what, struct span *span,
                                    ses_error *error);
/* MISUSE for NULL, INVALID for a text that is not a valid id. */
SESLITE_PRIVATE int ses__check_id(const char *id, const char *what, ses_error *error);
/*
 * Copies the caller's options struct, which may be of an older or newer version of the header. If `given` is
 * NULL, all have their defaults. MISUSE if its size is not set, or it sets members that this version does not
 * know.
 */
SESLITE_PRIVATE int ses__take_options(void *own, size_t own_size, const void *given, const char *what,
                                      ses_error *error);
/* Checks the caller's struct for an output: MISUSE if its `size` is not set. */
SESLITE_PRIVATE int ses__check_size(const void *output, const char *what, ses_error *error);
/* Fills as much of that struct as the caller's version of it has, and keeps its `size`. Members that
 * only a later version of the library knows become 0. */
SESLITE_PRIVATE void ses__give_output(void *output, const void *filled, size_t filled_size);
/* The same for options whose second member is `unsigned flags`: MISUSE if one is set that is not in
 * `known`. */
SESLITE_PRIVATE int ses__take_flagged(void *own, size_t own_size, const void *given, unsigned known,
                                      const char *what, ses_error *error);
/* MISUSE if a flag is set that is not in `known`. */
SESLITE_PRIVATE int ses__check_flags(unsigned flags, unsigned known, const char *what, ses_error *error);

#endif
