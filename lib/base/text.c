/* Cuts texts. */
#include <string.h>

#include "base/utf8.h"

size_t ses_text_cut(const char *text, size_t len, size_t limit, int *was_cut)
{
    const size_t whole = len == SES_NUL ? strlen(text) : len;
    const size_t kept = ses__utf8_valid_part(text, whole < limit ? whole : limit);

    if (was_cut)
        *was_cut = kept < whole;
    return kept;
}
