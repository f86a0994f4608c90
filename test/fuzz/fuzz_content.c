/*
 * Reading events: whatever the text, it is read or refused with a message, and what is borrowed lies where it
 * can be read. The output key is tried on the same text.
 */
#include "fuzz.h"

static unsigned sum;

/* Touches every byte, for the sanitizer to see. */
static void touch(const char *text, size_t len)
{
    for (size_t i = 0; text && i < len; i++)
        sum += (unsigned char)text[i];
}

static void touch_text(ses_text text)
{
    touch(text.text, text.len);
}

static void touch_function(const ses_function *function)
{
    touch(function->id.text, function->id.len);
    touch(function->name.text, function->name.len);
    touch(function->json.text, function->json.len);
    must(!function->json.text || function->json.text[0] == '{');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ses_store *store;
    ses_content *content = NULL;
    char *delta = NULL;
    ses_error error;

    if (!store)
        store = fuzz_store();
    int code = ses_content_open(store, (const char *)data, size, &content, &error);
    must_tell(code, &error);
    must((code == SES_OK) == (content != NULL));
    if (code == SES_OK) {
        size_t len = 0;
        const char *text = ses_content_text(content, &len);
        const ses_text json = ses_content_json(content);
        touch(text, len);
        touch(json.text, json.len);
        for (size_t i = 0; i < ses_content_part_count(content); i++) {
            const ses_part *part = ses_content_part(content, i);
            must(part->json.text[0] == '{' && part->json.text[part->json.len - 1] == '}');
            must(!part->text.text || fuzz_is_utf8(part->text.text, part->text.len));
            if (part->call)
                touch_function(part->call);
            if (part->response)
                touch_function(part->response);
        }
        must(!json.text || (json.text[0] == '{' && json.text[json.len - 1] == '}'));
        must(!text || (text[len] == '\0' && fuzz_is_utf8(text, len)));
        for (size_t i = 0; i < ses_content_call_count(content); i++)
            touch_function(ses_content_call(content, i));
        for (size_t i = 0; i < ses_content_response_count(content); i++)
            touch_function(ses_content_response(content, i));
        touch_text(ses_content_actions(content));
        touch_text(ses_content_state_delta(content));
        touch_text(ses_content_error_code(content));
        touch_text(ses_content_error_message(content));
        if (ses_content_usage(content))
            must(ses_content_usage(content)->total >= -1);
        if (ses_content_compaction(content))
            touch_text(ses_content_compaction(content)->content);
        int final = ses_content_is_final(content);
        code = ses_output_delta(store, (const char *)data, size, "a", "k", &delta, &len, &error);
        must_tell(code, &error);
        must(code == SES_OK ||
             code == SES_RANGE); /* a lone surrogate, which is shown as U+FFFD, is not stored so */
        must(!delta || (code == SES_OK && final && text && delta[len] == '\0'));
        ses_free(delta);
        ses_content_close(content);
    } else {
        const int output_code =
            ses_output_delta(store, (const char *)data, size, "a", "k", &delta, NULL, &error);
        must(output_code == code || output_code == SES_RANGE); /* a lone surrogate before another fault */
        must(!delta);
    }
    return 0;
}
