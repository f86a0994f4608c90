/* The members of a small object, by name. */
#ifndef FOREIGN_MEMBERS_H
#define FOREIGN_MEMBERS_H

#include "json/reader.h"
#include "seslite.h"
#include "text.h"

enum { MEMBERS_MOST = 16 };

struct members {
    struct json_string names[MEMBERS_MOST];
    struct span values[MEMBERS_MOST];
    size_t count;
    bool more; /* than there is room for */
};

/* The JSON was accepted before. What is no object has no members. */
void members_read(struct members *members, struct span json);
/* The value of this name, if it is of this type; ptr NULL: there is none. */
struct span member_of(const struct members *members, const char *name, enum json_type type);
/* The value of this name in an object of any size, if it is not null; ptr NULL: there is none. */
struct span member_in(struct span object, const char *name);
/* As member_in; INVALID: it is of another type, and would be lost. */
int member_typed(struct span object, const char *name, enum json_type type, struct span *value,
                 ses_error *error);
/* INVALID: the object has a member that is none of these, up to NULL; it would be lost. */
int members_only(struct span object, const char *const *names, ses_error *error);
/* Is it the string? */
bool member_is(const struct members *members, const char *name, const char *string);
/* The plain text of a string; false: it is none, or holds a NUL or a lone surrogate, which no name can. */
bool member_plain(struct span value, struct text *text);

#endif
