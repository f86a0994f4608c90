/* Converts the known fields of an event to the other spelling and drops unknown ones. Values that belong to
 * the user keep their bytes. */
#ifndef EXPORT_ADK_CONVERT_H
#define EXPORT_ADK_CONVERT_H

#include "export/adk_fields.h"
#include "text/text.h"

enum adk_spelling { ADK_AS_IT_IS, ADK_CAMEL, ADK_SNAKE };

struct adk_conversion {
    enum adk_spelling spelling;
    bool without_null;          /* leave out fields that are null */
    bool without_part_metadata; /* leave out the field partMetadata of parts */
    int64_t part_metadata;      /* such fields left out */
    int64_t unknown;            /* fields left out because their class rejects unknown ones */
};

/* Adds the converted value. Returns true if the conversion changed nothing. */
bool adk_convert(struct adk_conversion *conversion, enum adk_form form, const struct adk_model *model,
                 struct span value, struct text *text);

#endif
