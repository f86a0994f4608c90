/* JSON added to a text, member by member. A name gets a comma before it unless it is the first after a
 * brace. */
#ifndef FORMATS_JSON_ADD_JSON_H
#define FORMATS_JSON_ADD_JSON_H

#include "base/common.h"
#include "formats/text.h"

void add_span(struct text *text, struct span json);
/* Adds a string with its quotes. */
void add_string(struct text *text, struct span string);
/* Adds a time as the ADK writes it: seconds to the microsecond. */
void add_seconds(struct text *text, int64_t time_us);

/* Adds the name of a member, which consists of plain letters. */
void add_name(struct text *text, const char *name);
/* Adds a name as it is spelled in JSON, given without its quotes. */
void add_spelled_name(struct text *text, struct span name);

/* Add a member with its value. Without a value (ptr is NULL) nothing is added. */
void add_member(struct text *text, const char *name, struct span value);
void add_spelled_member(struct text *text, struct span name, struct span value);
/* The same with a string, which may be NULL. */
void add_text(struct text *text, const char *name, const char *string);

#endif
