#include "model/usage/usage.h"

#include "base/error.h"
#include "base/utf8.h"
#include "json/decimal.h"
#include "json/object.h"

struct usage_reading {
    struct usage_sums call;
    bool found;
    struct span model;
};

static int read_usage_count(struct usage_reading *reading, enum usage_count which,
                            const struct json_found *found, ses_error *error)
{
    struct span value;
    int64_t count = -1;
    bool half = false;
    const int code = ses__json_read_value(&value, found, error);

    if (code != SES_OK)
        return code;
    const bool is_count = found->type == JSON_NUMBER &&
                          ses__decimal_truncate(value, 0, &count, &half) == DECIMAL_EXACT && count >= 0 &&
                          count <= MAX_USAGE_COUNT;
    reading->call.odd += !is_count;
    reading->call.counts[which] = is_count ? count : 0;
    return SES_OK;
}

#define READER_OF(name, which)                                                    \
    static int name(void *into, const struct json_found *found, ses_error *error) \
    {                                                                             \
        return read_usage_count(into, which, found, error);                       \
    }
READER_OF(read_prompt_count, USAGE_PROMPT)
READER_OF(read_cached_count, USAGE_CACHED)
READER_OF(read_candidates_count, USAGE_CANDIDATES)
READER_OF(read_thoughts_count, USAGE_THOUGHTS)
READER_OF(read_tool_use_count, USAGE_TOOL_USE)
READER_OF(read_total_count, USAGE_TOTAL)

static const struct json_object usage_metadata_fields = {
    "the event", "usageMetadata.",
    JSON_FIELDS(
        {"promptTokenCount", "prompt_token_count", JSON_MAY_BE_ANYTHING, read_prompt_count, NULL},
        {"cachedContentTokenCount", "cached_content_token_count", JSON_MAY_BE_ANYTHING, read_cached_count,
         NULL},
        {"candidatesTokenCount", "candidates_token_count", JSON_MAY_BE_ANYTHING, read_candidates_count, NULL},
        {"thoughtsTokenCount", "thoughts_token_count", JSON_MAY_BE_ANYTHING, read_thoughts_count, NULL},
        {"toolUsePromptTokenCount", "tool_use_prompt_token_count", JSON_MAY_BE_ANYTHING, read_tool_use_count,
         NULL},
        {"totalTokenCount", "total_token_count", JSON_MAY_BE_ANYTHING, read_total_count, NULL})};

static int read_metadata(void *into, const struct json_found *found, ses_error *error)
{
    struct usage_reading *reading = into;

    reading->found = true;
    return ses__json_take_object(found, &usage_metadata_fields, reading, error);
}

/* A name that cannot be an id is none. */
static int read_model(void *into, const struct json_found *found, ses_error *error)
{
    struct usage_reading *reading = into;
    struct span name = {NULL, 0};
    const int code = ses__json_take_name(found, found->reader->arena, &name, error);
    const bool is_id = code == SES_OK && name.len > 0 && name.len <= SES_ID_MAX &&
                       !memchr(name.ptr, '\0', name.len) && ses__utf8_valid(name.ptr, name.len);

    reading->model = is_id ? name : (struct span){"", 0};
    return code;
}

static const struct json_object usage_event_fields = {
    "the event", "",
    JSON_FIELDS({"usageMetadata", "usage_metadata", JSON_MAY_BE(JSON_OBJECT), read_metadata, NULL},
                {"modelVersion", "model_version", JSON_MAY_BE(JSON_STRING), read_model, NULL})};

int ses__usage_read(struct span body, struct arena *arena, struct usage_sums *call, struct span *model,
                    bool *found, ses_error *error)
{
    struct usage_reading reading = {.call = {.calls = 1}, .model = {"", 0}};
    struct json_reader reader;
    int code = ses__json_start_object(&reader, body, usage_event_fields.whole, error);

    reader.arena = arena;
    reader.lenient = true;
    if (code == SES_OK)
        code = ses__json_read_last(&reader, &usage_event_fields, &reading, error);
    *found = code == SES_OK && reading.found;
    if (!*found)
        return code;
    *call = reading.call;
    *model = reading.model;
    return SES_OK;
}

/* ------------------------------------------------------------------- sums by quarter of an hour and model */

void ses__usage_tally_init(struct usage_tally *tally, const ses_allocator *allocator, struct hash_seed seed)
{
    *tally = (struct usage_tally){.allocator = allocator, .seed = seed, .total = NO_USAGE};
    ses__arena_init(&tally->arena, allocator);
    ses__buffer_init(&tally->key, allocator);
}

void ses__usage_tally_free(struct usage_tally *tally)
{
    ses__table_free(&tally->parts, tally->allocator);
    ses__arena_free(&tally->arena);
    ses__buffer_free(&tally->key);
}

/* The key of a part: its quarter and its model. */
static struct table_entry key_of(struct usage_tally *tally, int64_t quarter, struct span model)
{
    struct table_entry like = {.hash = 0};

    ses__buffer_cut(&tally->key, 0);
    ses__buffer_add(&tally->key, (const char *)&quarter, sizeof quarter);
    ses__buffer_add(&tally->key, model.ptr, model.len);
    like.key = (struct span){tally->key.data, tally->key.len};
    like.hash = tally->key.failed ? 0 : ses__hash_keyed(&tally->seed, like.key);
    return like;
}

struct usage_part *ses__usage_tally_find(struct usage_tally *tally, int64_t quarter, struct span model)
{
    const struct table_entry like = key_of(tally, quarter, model);
    return tally->key.failed ? NULL : (struct usage_part *)ses__table_find(&tally->parts, &like);
}

bool ses__usage_tally_add(struct usage_tally *tally, const struct usage_sums *call, struct span model)
{
    const int64_t quarter = ses__usage_quarter(call->first_us);
    const struct table_entry like = key_of(tally, quarter, model);

    if (tally->key.failed)
        return false;
    struct usage_part *part = (struct usage_part *)ses__table_find(&tally->parts, &like);
    if (!part) {
        const char *key = ses__arena_text(&tally->arena, like.key.ptr, like.key.len);
        part = ses__arena_new(&tally->arena, sizeof *part);
        if (!key || !part || !ses__table_reserve(&tally->parts, tally->allocator, 1))
            return false;
        *part = (struct usage_part){.entry = {like.hash, {key, like.key.len}},
                                    .quarter = quarter,
                                    .model = {key + sizeof quarter, model.len},
                                    .sums = NO_USAGE};
        (void)ses__table_put(&tally->parts, &part->entry);
    }
    ses__usage_add(&part->sums, call);
    ses__usage_add(&tally->total, call);
    return true;
}
