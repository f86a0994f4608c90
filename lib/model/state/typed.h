/* Reads a state value, JSON text that was accepted before, as a C type. `name` is the key's, for messages. */
#ifndef SESLITE_MODEL_STATE_TYPED_H
#define SESLITE_MODEL_STATE_TYPED_H

#include "base/common.h"
#include "base/memory.h"

/* All return TYPE if the value has another JSON type, and RANGE if it does not fit. */
SESLITE_PRIVATE int ses__typed_int64(struct span value, const char *name, int64_t *number, ses_error *error);
SESLITE_PRIVATE int ses__typed_double(struct span value, const char *name, double *number, ses_error *error);
SESLITE_PRIVATE int ses__typed_bool(struct span value, const char *name, int *flag, ses_error *error);
/* Gives the unescaped string, with a NUL after it. Free it with ses__memory_free. */
SESLITE_PRIVATE int ses__typed_text(struct span value, const char *name, const ses_allocator *allocator,
                                    char **text, size_t *len, ses_error *error);
/* Adds the unescaped string to the buffer, which may fail. */
SESLITE_PRIVATE int ses__typed_add_text(struct span value, const char *name, struct buffer *buffer,
                                        ses_error *error);

#endif
