/* The members of a small object, by name. */
#ifndef FORMATS_JSON_MEMBERS_H
#define FORMATS_JSON_MEMBERS_H

#include "formats/text.h"
#include "json/reader.h"
#include "seslite.h"

enum { MEMBERS_MAX = 16 };

struct members {
    struct json_string names[MEMBERS_MAX];
    struct span values[MEMBERS_MAX];
    size_t count;
    bool more; /* there are more than fit */
};

/* Begins to read the members or elements of a value that has been checked. */
void reader_begin(struct json_reader *reader, struct span json);
/* Fails with JSON or LIMIT if this is not one strict JSON text. */
int members_check(struct span json, ses_error *error);
/* Calls `visit` with the name, as it is spelled, and the value of each member, until it does not return 0.
 * Returns its last result, or -1 for anything but an object. The JSON has been checked. */
int members_visit(struct span json, int (*visit)(void *context, struct span name, struct span value),
                  void *context);
/* Lists the members. The JSON has been checked. Anything but an object has no members. */
void members_read(struct members *members, struct span json);
/* The value of this name if it has this type. Otherwise ptr is NULL. */
struct span member_of(const struct members *members, const char *name, enum json_type type);
/* The value of this name in an object of any size, if it is not null. Otherwise ptr is NULL. */
struct span member_in(struct span object, const char *name);
/* Like member_in, but fails with INVALID if the value has another type and would be lost. */
int member_typed(struct span object, const char *name, enum json_type type, struct span *value,
                 ses_error *error);
/* Fails with INVALID if the object has a member that is not in this list, which ends with NULL, and would be
 * lost. */
int members_only(struct span object, const char *const *names, ses_error *error);
/* True if the value is this string. */
bool member_is(const struct members *members, const char *name, const char *string);
/* Gives a number as a multiple of a power of ten. Returns false if the value is no number, or is not exactly
 * one with so many decimals. */
bool member_number(struct span value, int decimals, int64_t *number);
/* Decodes a string. Returns false if the value is not a string or contains a NUL or a lone surrogate, which
 * names cannot. */
bool member_plain(struct span value, struct text *text);

/* True if both values are equal. Both have been checked. Strings are compared decoded, and objects regardless
 * of the order of members. Numbers are equal if they are the same double; *rounded (may be NULL) is set if
 * they are not exactly the same number. */
bool values_same(struct span a, struct span b, bool *rounded);

#endif
