/* Converts the known fields of an event to the other spelling and drops unknown ones. Values that belong to
 * the user keep their bytes. */
#ifndef FORMATS_WRITE_CONVERT_H
#define FORMATS_WRITE_CONVERT_H

#include "formats/text.h"
#include "model/adk/fields.h"

enum adk_spelling { ADK_AS_IT_IS, ADK_CAMEL, ADK_SNAKE };

struct adk_conversion {
    enum adk_spelling spelling;
    bool without_null;          /* leave out fields that are null */
    bool without_part_metadata; /* leave out the field partMetadata of parts */
    int64_t part_metadata;      /* such fields left out */
    int64_t unknown;            /* fields left out because their class rejects unknown ones */
    int64_t nulls;              /* fields left out because their class rejects null in them */
};

/* Adds the converted value of a field, or of an unknown one (NULL). Returns true if the conversion changed
 * nothing. */
bool adk_convert(struct adk_conversion *conversion, const struct adk_field *field, struct span value,
                 struct text *text);

#endif
