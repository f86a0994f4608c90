#include "write/pairs.h"

#include <string.h>

#include "output/json.h"

/* A builder of events is the public way to check JSON. */
static int check_value(struct run *run, const char *value)
{
    ses_builder *builder = NULL;
    int code = ses_builder_open(run->store, "user", NULL, &builder, &run->error);

    if (code >= 0)
        code = ses_builder_field(builder, "value", value, SES_NUL, &run->error);
    ses_builder_close(builder);
    return code;
}

static int add_pair(struct run *run, enum option_id option, const char *pair, struct json *json)
{
    const char *value = strchr(pair, '=') + 1; /* the parser has found it */
    struct text key = {NULL, 0, 0};
    const int code = check_value(run, value);

    text_add(&key, pair, (size_t)(value - pair) - 1);
    if (code >= 0)
        json_member_raw(json, key.data, value, strlen(value));
    else
        say("--%s %s: %s", option_table[option].name, pair, run->error.message);
    if (code == SES_JSON)
        note("The value is JSON, so a text has quotes of its own: --%s '%s=\"...\"'",
             option_table[option].name, key.data);
    text_free(&key);
    return exit_code_of(code);
}

int pairs_given(struct run *run, enum option_id option, struct text *object)
{
    struct json json;
    int status = EXIT_OK;

    if (!given(run, option))
        return EXIT_OK;
    json_begin(&json, run, '{');
    for (size_t i = 0; status == EXIT_OK && i < run->repeated_count; i++)
        if (run->repeated_option[i] == option)
            status = add_pair(run, option, run->repeated[i], &json);
    json_close(&json, '}');
    if (status == EXIT_OK && json.code < 0)
        status = fail(run);
    if (status == EXIT_OK)
        text_add(object, json.text.data, json.text.len);
    text_free(&json.text);
    return status;
}
