#include "agent/usage.h"

#include "json/decimal.h"

static int read_count(const struct json_found *found, int64_t *count, ses_error *error)
{
    struct span value;
    int64_t number;
    bool half;
    int code = ses__json_take_value(found, &value, error);

    if (code == SES_OK && found->type == JSON_NUMBER &&
        ses__decimal_truncate(value, 0, &number, &half) == DECIMAL_EXACT && number >= 0)
        *count = number;
    return code;
}

static int read_prompt(void *context, const struct json_found *found, ses_error *error)
{
    ses_usage *usage = context;
    return read_count(found, &usage->prompt, error);
}

static int read_cached(void *context, const struct json_found *found, ses_error *error)
{
    ses_usage *usage = context;
    return read_count(found, &usage->cached, error);
}

static int read_candidates(void *context, const struct json_found *found, ses_error *error)
{
    ses_usage *usage = context;
    return read_count(found, &usage->candidates, error);
}

static int read_thoughts(void *context, const struct json_found *found, ses_error *error)
{
    ses_usage *usage = context;
    return read_count(found, &usage->thoughts, error);
}

static int read_total(void *context, const struct json_found *found, ses_error *error)
{
    ses_usage *usage = context;
    return read_count(found, &usage->total, error);
}

static const struct json_object usage_fields = {
    "the event",
    "usageMetadata.",
    {{"promptTokenCount", "prompt_token_count", JSON_MAY_BE_ANYTHING, read_prompt, NULL},
     {"cachedContentTokenCount", "cached_content_token_count", JSON_MAY_BE_ANYTHING, read_cached, NULL},
     {"candidatesTokenCount", "candidates_token_count", JSON_MAY_BE_ANYTHING, read_candidates, NULL},
     {"thoughtsTokenCount", "thoughts_token_count", JSON_MAY_BE_ANYTHING, read_thoughts, NULL},
     {"totalTokenCount", "total_token_count", JSON_MAY_BE_ANYTHING, read_total, NULL}},
};

int ses__usage_read(const struct json_found *found, ses_usage *usage, ses_error *error)
{
    *usage = (ses_usage){-1, -1, -1, -1, -1};
    return ses__json_read_object(found->reader, &usage_fields, usage, error);
}
