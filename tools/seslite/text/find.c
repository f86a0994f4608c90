#include "text/find.h"

#include <string.h>
#include <strings.h>

bool text_add_hidden(struct text *text, const char *more, size_t len, ses_redact_finder *find, void *context)
{
    size_t from = 0;
    size_t begin = 0;
    size_t end = 0;

    while (from < len && find(context, more, len, from, &begin, &end, NULL) > 0) {
        text_add(text, more + from, begin - from);
        text_puts(text, REDACTED);
        from = end;
    }
    text_add(text, more + from, len - from);
    return end > 0;
}

bool finder_begin(struct finder *finder, const char *text, const char *pattern, bool ignore_case,
                  struct text *why)
{
    char message[200];

    *finder = (struct finder){.text = text, .ignores_case = ignore_case};
    if (text)
        return true;
    const int code = regcomp(&finder->pattern, pattern, REG_EXTENDED | (ignore_case ? REG_ICASE : 0));
    if (code == 0)
        return true;
    (void)regerror(code, &finder->pattern, message, sizeof message);
    text_puts(why, message);
    return false;
}

void finder_end(struct finder *finder)
{
    if (!finder->text)
        regfree(&finder->pattern);
    text_free(&finder->copy);
}

static int find_fixed(const struct finder *finder, const char *text, size_t len, size_t from, size_t *begin,
                      size_t *end)
{
    const size_t wanted = strlen(finder->text);

    for (size_t at = from; at + wanted <= len; at++) {
        const bool found = finder->ignores_case ? strncasecmp(text + at, finder->text, wanted) == 0
                                                : memcmp(text + at, finder->text, wanted) == 0;
        if (found) {
            *begin = at;
            *end = at + wanted;
            return 1;
        }
    }
    return 0;
}

/* A pattern is matched against a C string, so a NUL in the text becomes another control character. */
static void copy_from(struct finder *finder, const char *text, size_t len)
{
    text_clear(&finder->copy);
    text_add(&finder->copy, text, len);
    for (size_t i = 0; i < len; i++) {
        if (finder->copy.data[i] == '\0')
            finder->copy.data[i] = '\1';
    }
}

/* Matches the copy from the byte `from` on. Where the length can be given, regexec does not measure the rest
 * of the text for each match. */
static bool match_pattern(const struct finder *finder, size_t from, size_t *begin, size_t *end)
{
    const int flags = from > 0 ? REG_NOTBOL : 0;
#ifdef REG_STARTEND
    regmatch_t match = {.rm_so = (regoff_t)from, .rm_eo = (regoff_t)finder->copy.len};
    const size_t start = 0;
    const int code = regexec(&finder->pattern, finder->copy.data, 1, &match, flags | REG_STARTEND);
#else
    regmatch_t match;
    const size_t start = from;
    const int code = regexec(&finder->pattern, finder->copy.data + from, 1, &match, flags);
#endif

    if (code != 0)
        return false;
    *begin = start + (size_t)match.rm_so;
    *end = start + (size_t)match.rm_eo;
    return true;
}

static int find_pattern(struct finder *finder, const char *text, size_t len, size_t from, size_t *begin,
                        size_t *end)
{
    if (from == 0) /* once for a text: it may have as many matches as bytes */
        copy_from(finder, text, len);
    while (from < len && match_pattern(finder, from, begin, end)) {
        if (*end > *begin)
            return 1;
        from = *end + 1;
    }
    return 0;
}

int finder_find(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                ses_error *error)
{
    struct finder *finder = context;
    (void)error;

    return finder->text ? find_fixed(finder, text, len, from, begin, end)
                        : find_pattern(finder, text, len, from, begin, end);
}
