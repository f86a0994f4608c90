/*
 * Rendering templates: whatever the text, it is rendered or refused with a message; what comes out is UTF-8
 * of the length it says; and a text without braces comes out as it is. The first byte chooses the options.
 */
#include "fuzz.h"

static const char STATE[] = "{\"actions\":{\"stateDelta\":{\"a\":\"X\",\"b\":\"{a}\",\"n\":1.10,\"nil\":null,"
                            "\"o\":{\"k\":[1]},\"e\":\"\\u00e9\\n\","
                            "\"app:a\":\"A\",\"user:a\":2,\"temp:a\":true,\"user:p.q\":\"dot\",\"\xc3\xa9\":"
                            "\"E\",\"_\":\"\",\"s\":\"\\ud83d\\ude00\"}}}";

static int read_artifact(void *context, const char *name, char **text, size_t *len, ses_error *error)
{
    size_t size = strlen(name);
    int code = SES_NOTFOUND;

    if (size % 3 == 0) {
        *text = ses_text_make(context, size);
        memcpy(*text, name, size);
        *len = size;
        code = SES_OK;
    } else if (size % 3 == 1) {
        snprintf(error->message, sizeof error->message, "the artifact's own message");
        code = SES_IO;
    }
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ses_store *store;
    static ses_session *session;
    char *rendered = NULL;
    size_t len = 0;
    ses_error error;

    if (!session) {
        store = fuzz_store();
        session = fuzz_session(store);
        must(ses_append(session, STATE, SES_NUL, NULL, NULL, &error) == SES_OK);
    }
    if (size > 0) {
        const char *text = (const char *)data + 1;
        const ses_render_options options = {.size = sizeof options,
                                            .flags = (data[0] & 1 ? SES_RENDER_ADK_BRACES : 0U) |
                                                     (data[0] & 4 ? SES_RENDER_ADK_SPACES : 0U),
                                            .artifacts = data[0] & 2 ? read_artifact : NULL,
                                            .artifacts_context = store};
        int code = ses_render(session, text, size - 1, &options, &rendered, &len, &error);
        must_tell(code, &error);
        must((code == SES_OK) == (rendered != NULL));
        if (code == SES_OK) {
            must(rendered[len] == '\0' && fuzz_is_utf8(rendered, len));
            if (!memchr(text, '{', size - 1))
                must(len == size - 1 && memcmp(rendered, text, len) == 0);
        }
        ses_free(rendered);
    }
    return 0;
}
