/* The calls of seslite_cjson.h for the agent layer, which use only public calls. */
#include "base/argument.h"
#include "cjson/text.h"

int ses_tracked_set_cjson(ses_tracked *tracked, const char *name, const cJSON *value, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = ses__cjson_take(value, "value", &text, &len, error);

    if (code == SES_OK)
        code = ses_tracked_set(tracked, name, text, len, error);
    cJSON_free(text);
    return code;
}

int ses_tracked_get_cjson(const ses_tracked *tracked, const char *name, cJSON **value, ses_error *error)
{
    const char *text = NULL;
    size_t len = 0;
    int code = ses__check_output(value, "value", error);

    if (code == SES_OK)
        code = ses_tracked_get(tracked, name, &text, &len, error);
    return code == SES_OK ? ses__cjson_parse(text, len, value, error) : code;
}

int ses_builder_content_cjson(ses_builder *builder, const cJSON *content, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = ses__cjson_take(content, "content", &text, &len, error);

    if (code == SES_OK)
        code = ses_builder_content(builder, text, len, error);
    cJSON_free(text);
    return code;
}

int ses_builder_field_cjson(ses_builder *builder, const char *field, const cJSON *value, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = ses__cjson_take(value, "value", &text, &len, error);

    if (code == SES_OK)
        code = ses_builder_field(builder, field, text, len, error);
    cJSON_free(text);
    return code;
}
