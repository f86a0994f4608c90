#include "model/event/compaction.h"

#include "model/event/timestamp.h"

/* Reads seconds, or RFC 3339, which the ADK for Go writes. */
static int read_bound(void *into, const struct json_found *found, ses_error *error)
{
    int64_t *time_us = into;
    struct span value;
    int code = ses__json_read_value(&value, found, error);

    *time_us = NO_BOUND; /* stays if the value is not a time */
    if (code == SES_OK && found->type == JSON_NUMBER)
        (void)ses__timestamp_from_number(value, time_us);
    else if (code == SES_OK)
        (void)ses__timestamp_from_text(value.ptr + 1, value.len - 2, time_us);
    return code;
}

#define A_BOUND(member) \
    JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct compaction, member), read_bound

static const struct json_object compaction_fields = {
    "the event",
    "actions.compaction.",
    JSON_FIELDS({"startTimestamp", "start_timestamp", A_BOUND(from_us), NULL},
                {"endTimestamp", "end_timestamp", A_BOUND(to_us), NULL},
                {"compactedContent", "compacted_content",
                 JSON_MAY_BE(JSON_OBJECT) | JSON_INTO(struct compaction, content), ses__json_read_value,
                 NULL}),
};

int ses__compaction_read(void *into, const struct json_found *found, ses_error *error)
{
    *(struct compaction *)into = (struct compaction){NO_BOUND, NO_BOUND, {NULL, 0}};
    return ses__json_take_object(found, &compaction_fields, into, error);
}
