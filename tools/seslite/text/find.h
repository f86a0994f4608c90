/* Finds pieces of texts that are to be hidden: in a page, or in stored events. */
#ifndef TEXT_FIND_H
#define TEXT_FIND_H

#include <regex.h>

#include "text/text.h"

/* In place of what is hidden. */
#define REDACTED "[redacted]"

/* Finds the next piece from the byte `from` on: 1 with its beginning and its end, or 0. The first call for a text has 0
 * there. It is that of ses_redact_options.find. */
typedef int find_piece(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end);

/* Adds the text with the pieces hidden. Returns true if there were any. */
bool text_add_hidden(struct text *text, const char *more, size_t len, find_piece *find, void *context);

/* A text, or a pattern. */
struct finder {
    const char *text; /* NULL: the pattern */
    bool ignores_case;
    regex_t pattern;
    struct text copy; /* of the text that is searched */
};

/* Begins with a text, or (NULL) an extended regular expression of POSIX. False: it is not one; `*why` says so. */
bool finder_begin(struct finder *finder, const char *text, const char *pattern, bool ignore_case,
                  struct text *why);
void finder_end(struct finder *finder);
/* A find_piece, whose context is a finder. Of a pattern, matches without bytes are passed over. */
int finder_find(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end);

#endif
