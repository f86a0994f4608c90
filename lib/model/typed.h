/* A state value, JSON text that was accepted before, as a C type. `name` is the key's, for the message. */
#ifndef SESLITE_MODEL_TYPED_H
#define SESLITE_MODEL_TYPED_H

#include "base/common.h"
#include "base/memory.h"

/* All: TYPE when the value is of another JSON type, RANGE when it does not fit. */
SESLITE_PRIVATE int ses__typed_int64(struct span value, const char *name, int64_t *number, ses_error *error);
SESLITE_PRIVATE int ses__typed_double(struct span value, const char *name, double *number, ses_error *error);
SESLITE_PRIVATE int ses__typed_bool(struct span value, const char *name, int *flag, ses_error *error);
/* A string unescaped, with a NUL after it, to be freed by ses__memory_free. */
SESLITE_PRIVATE int ses__typed_text(struct span value, const char *name, const ses_allocator *allocator,
                                    char **text, size_t *len, ses_error *error);
/* Adds it to the buffer, which may fail. */
SESLITE_PRIVATE int ses__typed_add_text(struct span value, const char *name, struct buffer *buffer,
                                        ses_error *error);

#endif
