#include "model/event/compaction.h"

#include "model/event/timestamp.h"

/* Reads seconds, or RFC 3339, which the ADK for Go writes. */
static int read_bound(const struct json_found *found, int64_t *time_us, bool *has, ses_error *error)
{
    struct span value;
    int code = ses__json_take_value(found, &value, error);

    if (code == SES_OK && found->type == JSON_NUMBER)
        *has = ses__timestamp_from_number(value, time_us) == NULL;
    else if (code == SES_OK)
        *has = ses__timestamp_from_text(value.ptr + 1, value.len - 2, time_us) == NULL;
    return code;
}

static int compaction_from(void *context, const struct json_found *found, ses_error *error)
{
    struct compaction *compaction = context;
    return read_bound(found, &compaction->from_us, &compaction->has_from, error);
}

static int compaction_to(void *context, const struct json_found *found, ses_error *error)
{
    struct compaction *compaction = context;
    return read_bound(found, &compaction->to_us, &compaction->has_to, error);
}

static int compaction_content(void *context, const struct json_found *found, ses_error *error)
{
    struct compaction *compaction = context;
    return ses__json_take_value(found, &compaction->content, error);
}

#define A_TIME (JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING))

static const struct json_object compaction_fields = {
    "the event",
    "actions.compaction.",
    {{"startTimestamp", "start_timestamp", A_TIME, compaction_from, NULL},
     {"endTimestamp", "end_timestamp", A_TIME, compaction_to, NULL},
     {"compactedContent", "compacted_content", JSON_MAY_BE(JSON_OBJECT), compaction_content, NULL}},
};

int ses__compaction_read(const struct json_found *found, struct compaction *compaction, ses_error *error)
{
    *compaction = (struct compaction){.has_from = false};
    return ses__json_read_object(found->reader, &compaction_fields, compaction, error);
}
