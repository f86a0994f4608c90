/* * Hides the values of some state keys in a page.
 *
 * - A member with such a name is hidden everywhere, at any depth of any JSON. Names are compared decoded, and
 * a key with a prefix (user:token) also hides members with its bare name (token). - Each string and number in
 * the value of such a member, anywhere in the log or in the state, is a secret if it is long enough. A secret
 * is hidden everywhere else too, even within a longer text.
 *
 * A value in another form (in other case, encoded, in pieces) is not found. */
#ifndef HTML_PAGE_REDACT_H
#define HTML_PAGE_REDACT_H

#include "text/find.h"

/* Shorter strings and numbers are not secrets: "yes" would hide every yes. */
enum { SECRET_MIN = 6 };

struct secret {
    char *text;
    size_t len;
};

enum { REDACTED_KEYS_MAX = 64 };

struct redactor {
    const char *const *keys;
    size_t key_count;
    bool found[REDACTED_KEYS_MAX]; /* a member with the name of that key was found */
    struct secret *secrets;
    size_t count;
    size_t capacity;
    bool sorted;
    unsigned char begins[8192]; /* a bit for each pair of bytes that a secret begins with */
};

void redactor_begin(struct redactor *redactor, const char *const *keys, size_t key_count);
/* Collects the secrets of a JSON text. All texts must be collected before anything is hidden. */
void redactor_collect(struct redactor *redactor, const char *json, size_t len);
/* Ends the collection. */
void redactor_sort(struct redactor *redactor);
/* True if the value of a member with this name is hidden. */
bool redactor_hides(const struct redactor *redactor, const char *name, size_t len);
/* Adds the text with its secrets hidden. Returns true if there were any. */
bool redactor_add(const struct redactor *redactor, struct text *text, const char *more, size_t len);
void redactor_free(struct redactor *redactor);

#endif
