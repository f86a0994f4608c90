#include "model/words/event_words.h"

#include "json/reader.h"

/* ---------------------------------------------------------------------------------- the texts of an event */

struct texts {
    struct json_reader reader;
    void (*take)(struct texts *texts, struct json_string text);
};

/* The levels of an event in which a key has a fixed meaning: those of a call are in
 * content.parts[].functionCall. Its arguments are below, and may have any keys. */
enum { LEVELS_OF_CONTENT = 5 };

static bool is_one_of(struct json_string key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ses__json_string_is(key, names[i]))
            return true;
    return false;
}

static bool is_inline_data(struct json_string key)
{
    static const char *const names[] = {"inlineData", "inline_data"};
    return is_one_of(key, names, 2);
}

/* True of a member whose text nobody wrote. */
static bool is_hidden(const struct json_reader *reader, struct json_string key, bool within_inline_data)
{
    static const char *const names[] = {
        "role", "id", "mimeType", "mime_type", "thoughtSignature", "thought_signature"};

    if (within_inline_data && ses__json_string_is(key, "data"))
        return true;
    return reader->depth <= LEVELS_OF_CONTENT && is_one_of(key, names, sizeof names / sizeof names[0]);
}

/* Its depth is bounded by the reader's. */
static void visit_value(struct texts *texts, bool is_of_inline_data)
{
    struct json_reader *const reader = &texts->reader;
    struct json_string string;

    switch (ses__json_peek(reader)) {
    case JSON_STRING:
        if (ses__json_read_string(reader, &string))
            texts->take(texts, string);
        break;
    case JSON_ARRAY:
        for (const bool entered = ses__json_enter(reader); entered && ses__json_element(reader);)
            visit_value(texts, false);
        break;
    case JSON_OBJECT:
        for (const bool entered = ses__json_enter(reader); entered && ses__json_member(reader, &string);) {
            if (is_hidden(reader, string, is_of_inline_data))
                (void)ses__json_skip(reader, NULL);
            else
                visit_value(texts, is_inline_data(string));
        }
        break;
    default:
        (void)ses__json_skip(reader, NULL);
    }
}

static void visit_event(struct texts *texts, struct span body)
{
    static const char *const names[] = {"content", "errorMessage", "error_message"};
    struct json_reader *const reader = &texts->reader;
    struct json_string key;

    ses__json_start(reader, body.ptr, body.len);
    if (ses__json_peek(reader) != JSON_OBJECT || !ses__json_enter(reader))
        return;
    while (ses__json_member(reader, &key)) {
        if (is_one_of(key, names, 3))
            visit_value(texts, false);
        else
            (void)ses__json_skip(reader, NULL);
    }
}

/* ---------------------------------------------------------------------------------------------- its words */

struct words_taken {
    struct texts texts;
    struct words words;
    struct buffer plain; /* the text that is taken, if it had to be decoded */
};

static void take_words(struct texts *texts, struct json_string text)
{
    struct words_taken *const taken = (struct words_taken *)texts;

    ses__words_next_text(&taken->words);
    if (text.escaped) {
        ses__buffer_cut(&taken->plain, 0);
        ses__json_add_replaced(&taken->plain, text);
        text.raw = (struct span){taken->plain.data, taken->plain.len};
    }
    ses__words_add_text(&taken->words, text.raw);
}

void ses__event_words(struct span body, struct buffer *out)
{
    struct words_taken taken = {.texts = {.take = take_words}};

    ses__buffer_cut(out, 0);
    ses__buffer_init(&taken.plain, out->allocator);
    ses__words_begin(&taken.words, out);
    visit_event(&taken.texts, body);
    out->failed = out->failed || taken.plain.failed;
    ses__buffer_free(&taken.plain);
}

/* ---------------------------------------------------------------------------------------------- a snippet */

struct snippet_taken {
    struct texts texts;
    struct words words;
    struct buffer *out; /* the text */
    size_t place;
    size_t found; /* where in the text the words begin */
    bool is_found;
};

/* Adds one character after the other, to see with which of them the words come to that place. */
static void take_until_found(struct texts *texts, struct json_string text)
{
    struct snippet_taken *const taken = (struct snippet_taken *)texts;

    if (taken->is_found)
        return;
    ses__words_next_text(&taken->words);
    ses__buffer_cut(taken->out, 0);
    ses__json_add_replaced(taken->out, text);
    const char *const begin = taken->out->data;
    const char *const end = begin + taken->out->len;
    for (const char *at = begin; at < end && !taken->is_found; at++) {
        const char *from = at;
        while (at + 1 < end && ((unsigned char)at[1] & 0xc0) == 0x80)
            at++;
        ses__words_add_text(&taken->words, (struct span){from, (size_t)(at + 1 - from)});
        taken->is_found = taken->words.out->len > taken->place;
        taken->found = (size_t)(from - begin);
    }
}

/* Moves to the begin of a character. */
static size_t at_character(const struct buffer *text, size_t at)
{
    while (at > 0 && at < text->len && ((unsigned char)text->data[at] & 0xc0) == 0x80)
        at--;
    return at;
}

void ses__event_snippet(struct span body, size_t place, size_t most, struct buffer *words, struct buffer *out,
                        struct snippet *snippet)
{
    struct snippet_taken taken = {.texts = {.take = take_until_found}, .out = out, .place = place};

    ses__buffer_cut(words, 0);
    ses__words_begin(&taken.words, words);
    visit_event(&taken.texts, body);
    const size_t before = most / 3;
    const size_t from = at_character(out, taken.found > before ? taken.found - before : 0);
    const size_t to = at_character(out, out->len - from > most ? from + most : out->len);
    *snippet = (struct snippet){{out->data ? out->data + from : "", to - from}, taken.found - from};
}
