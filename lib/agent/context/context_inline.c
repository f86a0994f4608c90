/* Puts the bytes of artifacts in place of the references to them. */
#include "agent/context/context.h"
#include "artifact/begun.h"
#include "base/error.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/event/part_data.h"

/* ------------------------------------------------------------------------------------------------- bytes */

/* Reads all bytes to the end of the room that their text takes. */
static int add_base64(struct buffer *out, ses_artifact *artifact, ses_error *error)
{
    const size_t len = (size_t)ses_artifact_info_of(artifact)->size;
    const size_t text_len = ses__base64_len(len);
    size_t read = 0;

    if (!ses__buffer_reserve(out, text_len))
        return ses__error_nomem(error);
    char *text = out->data + out->len;
    char *bytes = text + (text_len - len);
    const int code = ses__begun_artifact_read(artifact, 0, bytes, len, &read, error);
    if (code == SES_OK) {
        ses__base64_encode(text, bytes, len);
        out->len += text_len;
    }
    return code;
}

/* -------------------------------------------------------------------------------------------- references */

/* Adds a word of the reference, or, if it has none, the artifact's own. */
static void add_word_of(struct buffer *out, const char *name, struct span json, const char *otherwise)
{
    if (json.ptr || otherwise)
        ses__buffer_add_word(out, name);
    if (json.ptr)
        ses__buffer_add(out, json.ptr, json.len);
    else if (otherwise)
        ses__json_add_string(out, otherwise, strlen(otherwise));
    if (json.ptr || otherwise)
        ses__buffer_add_word(out, ",");
}

static int add_inline_data(struct buffer *out, const struct part_data *file, ses_artifact *artifact,
                           ses_error *error)
{
    const ses_artifact_info *info = ses_artifact_info_of(artifact);

    ses__buffer_add_word(out, "\"inlineData\":{");
    add_word_of(out, "\"mimeType\":", file->mime_type, info->mime_type);
    add_word_of(out, "\"displayName\":", file->display_name, info->display_name);
    ses__buffer_add_word(out, "\"data\":\"");
    const int code = add_base64(out, artifact, error);
    ses__buffer_add_word(out, "\"}");
    return code;
}

/* ABSENT, or another code after which the reference stays: it leads to nothing that can be put in its place. */
static int open_reference(struct context_inlining *inlining, const struct part_data *file,
                          ses_artifact **artifact, ses_error *error)
{
    const ses_artifact_open_options options = {.size = sizeof options,
                                               .timeout_ms = ses__limits_left_ms(inlining->limits),
                                               .cancel = inlining->limits->cancel};
    struct span uri;
    int code = ses__json_decode(ses__json_string_of(file->source), &inlining->arena, &uri);

    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    if (code == SES_OK)
        code = ses__begun_artifact_open(inlining->store, inlining->key, uri, &options, artifact, error);
    if (code != SES_OK)
        return code;
    const ses_artifact_info *info = ses_artifact_info_of(*artifact);
    return info->kind == SES_ARTIFACT_BYTES && info->size <= inlining->left &&
                   (uint64_t)info->size < SIZE_MAX / 4
               ? SES_OK
               : SES_ABSENT;
}

static bool stays_reference(int code)
{
    return code == SES_ABSENT || code == SES_NOTFOUND || code == SES_INVALID || code == SES_RANGE;
}

/* `*copied` bytes of the content are in `out`, or replaced by what is there. */
static int replace_reference(struct context_inlining *inlining, const struct part_data *file,
                             struct span content, struct buffer *out, size_t *copied, ses_error *error)
{
    const size_t start = out->len;
    const size_t at = (size_t)(file->whole.ptr - content.ptr);
    ses_artifact *artifact = NULL;
    int code = open_reference(inlining, file, &artifact, error);

    if (code == SES_OK) {
        ses__buffer_add(out, content.ptr + *copied, at - *copied);
        code = add_inline_data(out, file, artifact, error);
    }
    if (code == SES_OK) {
        *copied = at + file->whole.len;
        inlining->left -= ses_artifact_info_of(artifact)->size;
    } else {
        ses__buffer_cut(out, start);
    }
    ses_artifact_close(artifact);
    if (!stays_reference(code))
        return code;
    ses__error_clear(error);
    return SES_OK;
}

int ses__context_inline(struct context_inlining *inlining, struct span content, struct buffer *out,
                        ses_error *error)
{
    struct part_walk parts;
    struct span part;
    size_t copied = 0;
    int code = SES_OK;

    ses__parts_open(&parts, content);
    while (code == SES_OK && ses__parts_next(&parts, &part)) {
        const struct part_data file = ses__part_file_data(part);
        if (file.source.ptr && !ses__part_inline_data(part).whole.ptr)
            code = replace_reference(inlining, &file, content, out, &copied, error);
    }
    if (code == SES_OK && copied > 0)
        ses__buffer_add(out, content.ptr + copied, content.len - copied);
    return code == SES_OK && out->failed ? ses__error_nomem(error) : code;
}
