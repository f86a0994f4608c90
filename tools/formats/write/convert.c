#include "formats/write/convert.h"

#include <string.h>

#include "formats/json/add_json.h"
#include "formats/json/members.h"

static void add_spelled(struct text *text, struct json_string name, const struct adk_field *field,
                        enum adk_spelling spelling)
{
    text_puts(text, text->data[text->len - 1] == '{' ? "\"" : ",\"");
    if (!field || spelling == ADK_AS_IT_IS) {
        add_span(text, name.raw);
    } else {
        for (const char *at = field->name; *at; at++) {
            const bool upper = *at >= 'A' && *at <= 'Z';
            const char lower = (char)(upper ? *at - 'A' + 'a' : *at);
            if (upper && spelling == ADK_SNAKE)
                text_puts(text, "_");
            text_add(text, spelling == ADK_SNAKE ? &lower : at, 1);
        }
    }
    text_puts(text, "\":");
}

/* True if the field is to be left out. */
static bool leaves_out(struct adk_conversion *conversion, const struct adk_model *model,
                       const struct adk_field *field, struct span value)
{
    if (!field && !model->ignores) {
        conversion->unknown++;
        return true;
    }
    if (field && ses__json_type_of(value) == JSON_NULL) {
        conversion->nulls += !(field->flags & ADK_NULL);
        return conversion->without_null || !(field->flags & ADK_NULL);
    }
    if (!field || !conversion->without_part_metadata || strcmp(field->name, "partMetadata") != 0)
        return false;
    conversion->part_metadata++;
    return true;
}

static bool convert_as(struct adk_conversion *conversion, const struct adk_field *field, enum adk_form form,
                       struct span value, struct text *text);

static bool convert_object(struct adk_conversion *conversion, const struct adk_field *of, bool is_map,
                           struct span object, struct text *text)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;
    bool same = conversion->spelling == ADK_AS_IT_IS;

    text_puts(text, "{");
    reader_begin(&reader, object);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        const struct adk_field *field = is_map ? NULL : ses__adk_field_of(of->model, name);
        if (!is_map && leaves_out(conversion, of->model, field, value)) {
            same = false;
            continue;
        }
        add_spelled(text, name, field, conversion->spelling);
        same = (is_map ? convert_as(conversion, of, ADK_ONE, value, text)
                       : adk_convert(conversion, field, value, text)) &&
               same;
    }
    text_puts(text, "}");
    return same;
}

static bool convert_list(struct adk_conversion *conversion, const struct adk_field *of, struct span list,
                         struct text *text)
{
    struct json_reader reader;
    struct span value;
    bool same = true;

    text_puts(text, "[");
    reader_begin(&reader, list);
    for (bool first = true; ses__json_element(&reader) && ses__json_skip(&reader, &value); first = false) {
        text_puts(text, first ? "" : ",");
        same = convert_as(conversion, of, ADK_ONE, value, text) && same;
    }
    text_puts(text, "]");
    return same;
}

/* The recursion is as deep as the classes are nested. */
static bool convert_as(struct adk_conversion *conversion, const struct adk_field *field, enum adk_form form,
                       struct span value, struct text *text)
{
    const enum json_type type = ses__json_type_of(value);

    if (field && field->kind == ADK_OBJECT && form == ADK_LIST && type == JSON_ARRAY)
        return convert_list(conversion, field, value, text);
    if (field && field->kind == ADK_OBJECT && form != ADK_LIST && type == JSON_OBJECT)
        return convert_object(conversion, field, form == ADK_MAP, value, text);
    add_span(text, value);
    return true;
}

bool adk_convert(struct adk_conversion *conversion, const struct adk_field *field, struct span value,
                 struct text *text)
{
    return convert_as(conversion, field, field ? field->form : ADK_ONE, value, text);
}
