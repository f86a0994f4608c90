/*
 * Pickles: whatever the bytes, they become strict JSON or are refused with a message, and what was written is
 * within its bound.
 */
#include "fuzz.h"

#include "formats/pickle/pickle.h"
#include "json/reader.h"

enum { MAX_TEXT = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct span pickle = {(const char *)data, size};
    ses_allocator allocator;
    struct buffer json;
    ses_error error = {.code = 0};

    ses__memory_default(&allocator);
    ses__buffer_init(&json, &allocator);
    int code = pickle_to_json(pickle, MAX_TEXT, &json, &error);
    must_tell(code, &error);
    must(code == SES_OK || json.len == 0);
    must(json.len <= MAX_TEXT);
    if (code == SES_OK)
        must(ses__json_check(json.data, json.len, &error) == SES_OK);
    ses__buffer_free(&json);
    return 0;
}
