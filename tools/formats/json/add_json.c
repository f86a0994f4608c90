#include "formats/json/add_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"

void add_span(struct text *text, struct span json)
{
    text_add(text, json.ptr, json.len);
}

void add_string(struct text *text, struct span string)
{
    const size_t len = ses__json_write_string(NULL, string.ptr, string.len);
    char *quoted = allocate(len + 1);

    (void)ses__json_write_string(quoted, string.ptr, string.len);
    text_add(text, quoted, len);
    free(quoted);
}

void add_seconds(struct text *text, int64_t time_us)
{
    const uint64_t us = time_us < 0 ? 0 - (uint64_t)time_us : (uint64_t)time_us;

    text_print(text, "%s%" PRIu64 ".%06" PRIu64, time_us < 0 ? "-" : "", us / 1000000, us % 1000000);
}

void add_spelled_name(struct text *text, struct span name)
{
    text_puts(text, text->data[text->len - 1] == '{' ? "\"" : ",\"");
    add_span(text, name);
    text_puts(text, "\":");
}

void add_name(struct text *text, const char *name)
{
    add_spelled_name(text, (struct span){name, strlen(name)});
}

void add_spelled_member(struct text *text, struct span name, struct span value)
{
    if (!value.ptr)
        return;
    add_spelled_name(text, name);
    add_span(text, value);
}

void add_member(struct text *text, const char *name, struct span value)
{
    add_spelled_member(text, (struct span){name, strlen(name)}, value);
}

void add_text(struct text *text, const char *name, const char *string)
{
    if (!string)
        return;
    add_name(text, name);
    add_string(text, (struct span){string, strlen(string)});
}
