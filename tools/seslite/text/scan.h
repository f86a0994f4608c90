/* A tokenizer for JSON that the library has checked. For any other text it returns arbitrary tokens, but it
 * always ends. */
#ifndef TEXT_SCAN_H
#define TEXT_SCAN_H

#include "text/text.h"

enum token {
    TOKEN_END,
    TOKEN_OPEN,  /* { or [ */
    TOKEN_CLOSE, /* } or ] */
    TOKEN_NAME,  /* of a member, with its quotes */
    TOKEN_STRING,
    TOKEN_OTHER /* a number, true, false or null */
};

enum { SCAN_LEVELS = 1024 /* more than the library accepts */ };

struct scan {
    const char *at;
    const char *end;
    size_t depth;
    bool name_is_due;
    bool is_object[SCAN_LEVELS + 1]; /* by depth */
};

/* A token or a value, within the text. */
struct piece {
    const char *text;
    size_t len;
};

void scan_begin(struct scan *scan, const char *json, size_t len);
enum token scan_next(struct scan *scan, struct piece *piece);
/* Reads a whole value. Returns false at the end. */
bool scan_value(struct scan *scan, struct piece *value);
/* Reads the next member of an object, whose text the scan began with: its decoded name and its value. Returns
 * false at the end. */
bool scan_member(struct scan *scan, struct text *name, struct piece *value);
/* True if the decoded name is one of the two. */
bool scan_is_named(const struct text *name, const char *camel, const char *snake);
/* Decodes a quoted string. A lone surrogate becomes bytes that are not valid UTF-8. */
void scan_decode(struct text *text, const struct piece *string);
/* True if the value is spelled exactly like `text`. */
bool piece_is(const struct piece *piece, const char *text);

#endif
