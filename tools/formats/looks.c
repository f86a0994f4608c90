#include "formats/looks.h"

#include <string.h>

#include "json/reader.h"

enum { MEMBERS_SHOWN = 8 };

/* The names of an object's first members, up to where the text ends. */
struct look {
    struct text names;
    size_t count;
    bool lines; /* JSON lines */
    bool array;
    bool has_app;
    bool has_events;
};

static void note_name(struct look *look, struct json_string name)
{
    const struct span raw = name.raw;

    look->has_app = look->has_app || ses__span_is(raw, (struct span){"appName", 7}) ||
                    ses__span_is(raw, (struct span){"app_name", 8});
    look->has_events = look->has_events || ses__span_is(raw, (struct span){"events", 6});
    if (look->count++ >= MEMBERS_SHOWN)
        return;
    text_puts(&look->names, look->count > 1 ? ", " : "");
    text_add(&look->names, raw.ptr, raw.len);
}

static void read_object(struct look *look, struct json_reader *reader)
{
    struct json_string name;
    struct span value;

    if (ses__json_peek(reader) != JSON_OBJECT || !ses__json_enter(reader))
        return;
    while (ses__json_member(reader, &name)) {
        note_name(look, name);
        if (!ses__json_skip(reader, &value))
            return;
    }
}

static void add_members(struct text *words, const struct look *look)
{
    if (look->count > 0)
        text_print(words, " with the members %s%s", look->names.data,
                   look->count > MEMBERS_SHOWN ? ", ..." : "");
}

/* True if the first line is an object, and another follows. */
static bool is_lines(struct span head)
{
    const char *end = memchr(head.ptr, '\n', head.len);
    const size_t len = end ? (size_t)(end - head.ptr) : head.len;

    return end && len + 1 < head.len && end[1] == '{' && ses__json_check(head.ptr, len, NULL) == SES_OK;
}

/* Reads the first object of the text, or of the array that it is. */
static void look_at(struct look *look, struct span head)
{
    struct json_reader reader;

    *look = (struct look){.lines = is_lines(head), .array = head.len > 0 && head.ptr[0] == '['};
    ses__json_start(&reader, head.ptr, head.len);
    if (!look->array || (ses__json_enter(&reader) && ses__json_element(&reader)))
        read_object(look, &reader);
}

static bool is_of_sessions(const struct look *look)
{
    return look->has_app && look->has_events && (look->lines || look->array);
}

static void add_json(struct text *words, struct span head)
{
    struct look look;

    look_at(&look, head);
    if (is_of_sessions(&look)) {
        text_print(
            words,
            "it looks like sessions of an ADK, %s: write each into a file of its own, for example with "
            "jq -c '%s' FILE | split -l 1, and import these",
            look.lines ? "one a line" : "in an array", look.lines ? "." : ".[]");
    } else if (look.lines || look.array || look.count > 0) {
        text_puts(words, look.lines   ? "it looks like JSON lines of objects"
                         : look.array ? "it looks like a JSON array of objects"
                                      : "it looks like a JSON object");
        add_members(words, &look);
        text_puts(words, ", which no program listed in seslite help import writes");
    } else {
        text_puts(words, "it is not JSON, nor any other file listed in seslite help import");
    }
    text_free(&look.names);
}

bool looks_like_sessions(struct span head)
{
    struct look look;

    look_at(&look, ses__json_trim(head));
    text_free(&look.names);
    return is_of_sessions(&look);
}

/* "{" or "[" of UTF-16 without a mark. */
static bool is_wide(struct span head)
{
    const char first = head.ptr[head.ptr[0] == '\0'];
    return head.len >= 2 && (head.ptr[0] == '\0') != (head.ptr[1] == '\0') && (first == '{' || first == '[');
}

void looks_add(struct text *words, struct span head)
{
    const bool marked_wide =
        head.len >= 2 && (memcmp(head.ptr, "\xff\xfe", 2) == 0 || memcmp(head.ptr, "\xfe\xff", 2) == 0);

    if (head.len == 0)
        text_puts(words, "the file is empty");
    else if (marked_wide || is_wide(head))
        text_puts(words, "it is UTF-16: convert it with iconv -f UTF-16 -t UTF-8");
    else if (head.len >= 3 && memcmp(head.ptr, "\xef\xbb\xbf", 3) == 0)
        text_puts(
            words,
            "it begins with a byte order mark, which JSON does not allow: remove its first three bytes, "
            "for example with tail -c +4");
    else
        add_json(words, ses__json_trim(head));
}
