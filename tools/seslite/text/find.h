/* Finds pieces of texts that are to be hidden: in a page, or in stored events. */
#ifndef TEXT_FIND_H
#define TEXT_FIND_H

#include <regex.h>

#include "seslite_erase.h"

#include "text/text.h"

/* In place of what is hidden. */
#define REDACTED "[redacted]"

/* Adds the text with the pieces that are found hidden. Returns true if there were any. */
bool text_add_hidden(struct text *text, const char *more, size_t len, ses_redact_finder *find, void *context);

/* A text, or a pattern. */
struct finder {
    const char *text; /* NULL: the pattern */
    bool ignores_case;
    regex_t pattern;
    struct text copy; /* of the text that is searched */
};

/* Begins with a text, or (NULL) an extended regular expression of POSIX. False: it is not one; `*why` says
 * so. */
bool finder_begin(struct finder *finder, const char *text, const char *pattern, bool ignore_case,
                  struct text *why);
void finder_end(struct finder *finder);
/* A ses_redact_finder, whose context is a finder. Matches of a pattern without bytes are passed over. */
int finder_find(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                ses_error *error);

#endif
