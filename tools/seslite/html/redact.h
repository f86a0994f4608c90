/*
 * What a page must not show: the values of some state keys.
 *
 *  - A member of such a name is hidden wherever it stands, at any depth of any JSON. Names are compared as they are
 *    decoded, and a key with a prefix (user:token) hides members of its bare name (token) too.
 *  - Each string and number that such a member holds, anywhere in the log or in the state, is a secret if it is long
 *    enough. A secret is hidden wherever else it stands, also within a longer text.
 *
 * A value that stands elsewhere in another form (in other case, encoded, in pieces) is not found.
 */
#ifndef HTML_REDACT_H
#define HTML_REDACT_H

#include "text.h"

/* Shorter strings and numbers are no secrets: "yes" would hide every yes. */
enum { SECRET_LEAST = 6 };

#define REDACTED "[redacted]"

struct secret {
    char *text;
    size_t len;
};

enum { REDACTED_KEYS_MAX = 64 };

struct redactor {
    const char *const *keys;
    size_t key_count;
    bool found[REDACTED_KEYS_MAX]; /* a member of the name of that key was collected */
    struct secret *secrets;
    size_t count;
    size_t capacity;
    bool sorted;
    unsigned char begins[8192]; /* a bit for each two bytes that a secret begins with */
};

void redactor_begin(struct redactor *redactor, const char *const *keys, size_t key_count);
/* Collects the secrets of a JSON text. All of them are to be collected before anything is hidden. */
void redactor_collect(struct redactor *redactor, const char *json, size_t len);
/* Afterwards. */
void redactor_sort(struct redactor *redactor);
/* Is the value of a member of this name hidden? */
bool redactor_hides(const struct redactor *redactor, const char *name, size_t len);
/* Adds the text with its secrets hidden. Gives whether there were any. */
bool redactor_add(const struct redactor *redactor, struct text *text, const char *more, size_t len);
void redactor_free(struct redactor *redactor);

#endif
