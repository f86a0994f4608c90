#include "commands/content_items.h"

#include <string.h>

#include "text/scan.h"

/* ------------------------------------------------------------------------------------------------ members */

/* Finds a member of an object by its name in camelCase or snake_case. */
static bool find_member(const char *json, size_t len, const char *camel, const char *snake,
                        struct piece *value)
{
    struct text name = {NULL, 0, 0};
    struct scan scan;
    bool found = false;

    scan_begin(&scan, json, len);
    while (!found && scan_member(&scan, &name, value))
        found = strcmp(name.data, camel) == 0 || strcmp(name.data, snake) == 0;
    text_free(&name);
    return found;
}

/* Adds the text of a member between two words, or nothing if it is absent, empty or not a string. */
static bool add_member(struct text *words, const struct piece *object, const char *camel, const char *snake,
                       const char *before, const char *after)
{
    struct piece value;

    if (!find_member(object->text, object->len, camel, snake, &value) || value.text[0] != '"' ||
        value.len < 3)
        return false;
    text_puts(words, before);
    scan_decode(words, &value);
    text_puts(words, after);
    return true;
}

/* -------------------------------------------------------------------------------------------------- parts */

static void add_function(struct text *words, const char *arrow, const ses_function *function)
{
    text_puts(words, arrow);
    text_add(words, function->name.text ? function->name.text : "?",
             function->name.text ? function->name.len : 1);
    if (function->json.text) {
        text_puts(words, " ");
        text_add(words, function->json.text, function->json.len);
    }
}

/* The number of bytes that a base64 text encodes. */
static size_t decoded_bytes(const struct piece *string)
{
    size_t letters = string->len - 2;

    while (letters > 0 && string->text[letters] == '=')
        letters--;
    return letters / 4 * 3 + letters % 4 * 3 / 4;
}

static void add_inline_data(struct text *words, const struct piece *data)
{
    struct piece bytes;

    if (!add_member(words, data, "mimeType", "mime_type", "[", ""))
        text_puts(words, "[data");
    (void)add_member(words, data, "displayName", "display_name", " \"", "\"");
    if (find_member(data->text, data->len, "data", "data", &bytes) && bytes.text[0] == '"')
        text_print(words, ", %zu bytes", decoded_bytes(&bytes));
    text_puts(words, "]");
}

static void add_file_data(struct text *words, const struct piece *file)
{
    if (!add_member(words, file, "mimeType", "mime_type", "[", ""))
        text_puts(words, "[file");
    (void)add_member(words, file, "displayName", "display_name", " \"", "\"");
    (void)add_member(words, file, "fileUri", "file_uri", " at ", "");
    text_puts(words, "]");
}

static void add_code(struct text *words, const struct piece *code)
{
    text_puts(words, "code");
    (void)add_member(words, code, "language", "language", " (", ")");
    text_puts(words, ":\n");
    (void)add_member(words, code, "code", "code", "", "");
}

static void add_result(struct text *words, const struct piece *result)
{
    text_puts(words, "result");
    (void)add_member(words, result, "outcome", "outcome", " (", ")");
    text_puts(words, ":\n");
    (void)add_member(words, result, "output", "output", "", "");
}

/* Adds a part of an unknown kind: the name of its first member that does not qualify it as a thought. */
static void add_unknown(struct text *words, const ses_text *part)
{
    struct text name = {NULL, 0, 0};
    struct piece value;
    struct scan scan;

    scan_begin(&scan, part->text, part->len);
    while (scan_member(&scan, &name, &value))
        if (strncmp(name.data, "thought", strlen("thought")) != 0)
            break;
    text_print(words, "[%s: see seslite events --json]", name.len > 0 ? name.data : "empty part");
    text_free(&name);
}

static enum content_item_kind add_other_part(struct text *words, const ses_text *part)
{
    static const struct {
        const char *camel;
        const char *snake;
        enum content_item_kind kind;
        void (*add)(struct text *words, const struct piece *value);
    } parts[] = {{"inlineData", "inline_data", ITEM_OTHER, add_inline_data},
                 {"fileData", "file_data", ITEM_OTHER, add_file_data},
                 {"executableCode", "executable_code", ITEM_CODE, add_code},
                 {"codeExecutionResult", "code_execution_result", ITEM_CODE, add_result}};
    struct piece value;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (find_member(part->text, part->len, parts[i].camel, parts[i].snake, &value) &&
            value.text[0] == '{') {
            parts[i].add(words, &value);
            return parts[i].kind;
        }
    }
    add_unknown(words, part);
    return ITEM_OTHER;
}

/* ----------------------------------------------------------------------------------------------- an event */

struct item_walk {
    visit_content_item *visit;
    void *context;
    struct text text; /* joined from consecutive parts, since a model streams one text in several */
    struct text words;
};

static void emit_text(struct item_walk *walk)
{
    if (walk->text.len > 0)
        walk->visit(walk->context, ITEM_TEXT, &walk->text);
    text_clear(&walk->text);
}

static void emit_words(struct item_walk *walk, enum content_item_kind kind)
{
    emit_text(walk);
    walk->visit(walk->context, kind, &walk->words);
    text_clear(&walk->words);
}

static void emit_part(struct item_walk *walk, const ses_part *part)
{
    if (part->call) {
        add_function(&walk->words, "\xe2\x86\x92 ", part->call);
        emit_words(walk, ITEM_CALL);
    } else if (part->response) {
        add_function(&walk->words, "\xe2\x86\x90 ", part->response);
        emit_words(walk, ITEM_RESPONSE);
    } else if (!part->text.text) {
        emit_words(walk, add_other_part(&walk->words, &part->json));
    } else if (part->thought) {
        text_add(&walk->words, part->text.text, part->text.len);
        emit_words(walk, ITEM_THOUGHT);
    } else {
        text_add(&walk->text, part->text.text, part->text.len);
    }
}

static void emit_actions(struct item_walk *walk, const ses_text *json, const struct rewind *rewind)
{
    const struct piece actions = {json->text, json->len};

    if (!json->text)
        return;
    if (add_member(&walk->words, &actions, "transferToAgent", "transfer_to_agent", "transfer to ", ""))
        emit_words(walk, ITEM_OTHER);
    if (rewind)
        rewind_words(&walk->words, rewind);
    if (rewind || add_member(&walk->words, &actions, "rewindBeforeInvocationId",
                             "rewind_before_invocation_id", "rewind to before the invocation ", ""))
        emit_words(walk, ITEM_OTHER);
}

static void emit_error(struct item_walk *walk, const ses_content *content)
{
    const ses_text code = ses_content_error_code(content);
    const ses_text message = ses_content_error_message(content);

    if (code.len + message.len == 0)
        return;
    text_puts(&walk->words, "error ");
    text_add(&walk->words, code.text ? code.text : "", code.len);
    text_puts(&walk->words, code.len > 0 && message.len > 0 ? ": " : "");
    text_add(&walk->words, message.text ? message.text : "", message.len);
    emit_words(walk, ITEM_ERROR);
}

void each_content_item(const ses_content *content, const struct rewind *rewind, visit_content_item *visit,
                       void *context)
{
    struct item_walk walk = {.visit = visit, .context = context};
    const ses_text actions = ses_content_actions(content);

    for (size_t i = 0; i < ses_content_part_count(content); i++)
        emit_part(&walk, ses_content_part(content, i));
    emit_text(&walk);
    emit_actions(&walk, &actions, rewind);
    emit_error(&walk, content);
    text_free(&walk.text);
    text_free(&walk.words);
}
