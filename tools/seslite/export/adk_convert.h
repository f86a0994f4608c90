/* Known fields of an event, in another spelling, and without what is not known. What is a user's keeps its bytes. */
#ifndef EXPORT_ADK_CONVERT_H
#define EXPORT_ADK_CONVERT_H

#include "export/adk_fields.h"
#include "text.h"

enum adk_spelling { ADK_AS_IT_IS, ADK_CAMEL, ADK_SNAKE };

struct adk_conversion {
    enum adk_spelling spelling;
    bool without_null;          /* fields that are null are left out */
    bool without_part_metadata; /* the field partMetadata of a part is */
    int64_t part_metadata;      /* that were left out */
    int64_t unknown;            /* fields that were left out, since their class refuses them */
};

/* Adds the value, converted. Gives whether it is as it was. */
bool adk_convert(struct adk_conversion *conversion, enum adk_form form, const struct adk_model *model,
                 struct span value, struct text *text);

#endif
