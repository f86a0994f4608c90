/* A failure of the command itself, as the library reports its own. */
#ifndef TEXT_REFUSE_H
#define TEXT_REFUSE_H

#include "seslite.h"

/* Writes the message and returns the code. */
int refuse(ses_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
