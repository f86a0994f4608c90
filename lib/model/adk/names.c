/* Finds fields by their names. */
#include <string.h>

#include "model/adk/fields.h"

bool ses__adk_is_named(struct json_string name, const char *camel)
{
    char snake[64];
    size_t len = 0;

    if (ses__json_string_is(name, camel))
        return true;
    for (; *camel && len + 3 < sizeof snake; camel++) {
        const bool upper = *camel >= 'A' && *camel <= 'Z';
        if (upper)
            snake[len++] = '_';
        snake[len++] = (char)(upper ? *camel - 'A' + 'a' : *camel);
    }
    snake[len] = '\0';
    return ses__json_string_is(name, snake);
}

const struct adk_field *ses__adk_field_of(const struct adk_model *model, struct json_string name)
{
    for (const struct adk_field *field = model->fields; field->name; field++)
        if (ses__adk_is_named(name, field->name))
            return field;
    return NULL;
}

const struct adk_field *ses__adk_field_called(const struct adk_model *model, const char *camel)
{
    const struct adk_field *field = model->fields;

    while (field->name && strcmp(field->name, camel) != 0)
        field++;
    return field;
}

bool ses__adk_has_required(const struct adk_model *model)
{
    for (const struct adk_field *field = model->fields; field->name; field++)
        if (field->flags & ADK_REQUIRED)
            return true;
    return false;
}
