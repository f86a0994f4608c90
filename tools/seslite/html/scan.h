/* The tokens of a JSON text that the library has checked. Of any other text it gives something, and ends. */
#ifndef HTML_SCAN_H
#define HTML_SCAN_H

#include "text.h"

enum token {
    TOKEN_END,
    TOKEN_OPEN,  /* { or [ */
    TOKEN_CLOSE, /* } or ] */
    TOKEN_NAME,  /* of a member, with its quotes */
    TOKEN_STRING,
    TOKEN_OTHER /* a number, true, false or null */
};

enum { SCAN_LEVELS = 1024 /* more than the library takes */ };

struct scan {
    const char *at;
    const char *end;
    size_t depth;
    bool name_is_due;
    bool is_object[SCAN_LEVELS + 1]; /* by depth */
};

/* A token, or a value, where it stands in the text. */
struct piece {
    const char *text;
    size_t len;
};

void scan_begin(struct scan *scan, const char *json, size_t len);
enum token scan_next(struct scan *scan, struct piece *piece);
/* Takes a whole value. False: there is none. */
bool scan_value(struct scan *scan, struct piece *value);
/* Takes the next member of an object, from its beginning on: its name, decoded, and its value. False: there is none
 * left. */
bool scan_member(struct scan *scan, struct text *name, struct piece *value);
/* Is the name, decoded, one of the two? */
bool scan_is_named(const struct text *name, const char *camel, const char *snake);
/* Adds what a string with its quotes says. A lone surrogate becomes bytes that are no UTF-8. */
void scan_decode(struct text *text, const struct piece *string);
/* Is the value the string `text`, in exactly this spelling? */
bool piece_is(const struct piece *piece, const char *text);

#endif
