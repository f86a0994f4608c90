/* Puts the bytes of artifacts in place of the references to them. */
#include "artifact/artifact.h"
#include "artifact/begun.h"
#include "base/error.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/event/artifacts.h"

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

/* True if the delta names that version, or a later one. An event that saves several versions names the
 * last. */
static bool names_version(struct artifact_inlining *inlining, struct span delta, struct span name,
                          int64_t version)
{
    struct artifact_delta_walk walk;
    struct json_string key;
    struct span value;
    struct span own;
    int64_t named;
    bool names = false;

    ses__artifact_delta_open(&walk, delta);
    while (!names && ses__artifact_delta_next(&walk, &key, &value, &named))
        names = named >= version && ses__json_decode(key, &inlining->arena, &own) == SES_OK &&
                ses__span_is(own, name);
    return names;
}

/* An address that the event's own delta names leads to the artifact of the session that has the event, which
 * may have another name than when the address was made. */
static int open_named(struct artifact_inlining *inlining, struct span uri, struct span delta,
                      const ses_artifact_open_options *options, ses_artifact **artifact, ses_error *error)
{
    struct artifact_uri_walk walk;
    struct span name;
    int64_t version;
    int code = SES_NOTFOUND;

    ses__artifact_uri_open(&walk, uri);
    while (code == SES_NOTFOUND && ses__artifact_uri_next(&walk, &name, &version)) {
        if (names_version(inlining, delta, name, version))
            code = ses__begun_artifact_open(inlining->store, inlining->key, name, version, options, artifact,
                                            error);
    }
    if (code != SES_NOTFOUND)
        return code;
    ses__error_clear(error);
    return ses__begun_artifact_follow(inlining->store, inlining->key, uri, options, artifact, error);
}

/* ABSENT, or another code after which the reference stays: it leads to no bytes that could replace it. */
static int open_reference(struct artifact_inlining *inlining, const struct part_data *file, struct span delta,
                          ses_artifact **artifact, ses_error *error)
{
    const ses_artifact_open_options options = {.size = sizeof options, LEFT_OF(inlining->limits)};
    struct span uri;
    int code = ses__json_decode(ses__json_string_of(file->source), &inlining->arena, &uri);

    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    if (code == SES_OK)
        code = open_named(inlining, uri, delta, &options, artifact, error);
    if (code != SES_OK)
        return code;
    const ses_artifact_info *info = ses_artifact_info_of(*artifact);
    return info->kind == SES_ARTIFACT_BYTES && info->size <= inlining->left &&
                   (uint64_t)info->size < SIZE_MAX / 4
               ? SES_OK
               : SES_ABSENT;
}

/* `*copied` bytes of the content are in `out`, or replaced by what is there. */
static int replace_reference(struct artifact_inlining *inlining, const struct part_data *file,
                             struct span content, struct span delta, struct buffer *out, size_t *copied,
                             ses_error *error)
{
    const size_t start = out->len;
    const size_t at = (size_t)(file->whole.ptr - content.ptr);
    ses_artifact *artifact = NULL;
    int code = open_reference(inlining, file, delta, &artifact, error);

    if (code == SES_OK) {
        const ses_artifact_info *info = ses_artifact_info_of(artifact);
        ses__buffer_add(out, content.ptr + *copied, at - *copied);
        ses__buffer_add_word(out, "\"inlineData\":{");
        add_word_of(out, "\"mimeType\":", file->mime_type, info->mime_type);
        add_word_of(out, "\"displayName\":", file->display_name, info->display_name);
        ses__buffer_add_word(out, "\"data\":\"");
        code = add_base64(out, artifact, error);
        ses__buffer_add_word(out, "\"}");
    }
    if (code == SES_OK) {
        *copied = at + file->whole.len;
        inlining->left -= ses_artifact_info_of(artifact)->size;
    } else {
        ses__buffer_take_back(out, start);
    }
    ses_artifact_close(artifact);
    if (code != SES_ABSENT && code != SES_NOTFOUND && code != SES_INVALID && code != SES_RANGE &&
        code != SES_UNSUPPORTED)
        return code;
    ses__error_clear(error); /* the reference stays */
    return SES_OK;
}

int ses__begun_artifacts_inline(struct artifact_inlining *inlining, struct span content, struct span event,
                                struct buffer *out, ses_error *error)
{
    struct artifact_outline outline;
    struct part_walk parts;
    struct span part;
    size_t copied = 0;
    int code = SES_OK;

    if (!ses__artifact_outline(event, &outline))
        outline.delta = (struct span){NULL, 0};
    ses__parts_open(&parts, content);
    while (code == SES_OK && ses__parts_next(&parts, &part)) {
        const struct part_data file = ses__part_file_data(part);
        if (file.source.ptr && !ses__part_inline_data(part).whole.ptr)
            code = replace_reference(inlining, &file, content, outline.delta, out, &copied, error);
    }
    if (code == SES_OK && copied > 0)
        ses__buffer_add(out, content.ptr + copied, content.len - copied);
    return code == SES_OK && out->failed ? ses__error_nomem(error) : code;
}

/* ---------------------------------------------------------------------------------------------- an event */

/* SES_UNCHANGED: nothing was put in place. */
static int inline_event(struct artifact_inlining *inlining, struct span event, struct buffer *out,
                        ses_error *error)
{
    const struct span content = ses__event_content(event);
    int code = SES_OK;

    if (!content.ptr)
        return SES_UNCHANGED;
    const size_t at = (size_t)(content.ptr - event.ptr);
    ses__buffer_add(out, event.ptr, at);
    const size_t start = out->len;
    code = ses__begun_artifacts_inline(inlining, content, event, out, error);
    if (code == SES_OK && out->len == start)
        return SES_UNCHANGED;
    ses__buffer_add(out, content.ptr + content.len, event.len - at - content.len);
    return code;
}

static int inline_event_json(const struct artifact_call *call, const char *json, size_t len,
                             const ses_artifact_inline_options *given, char **inlined, size_t *inlined_len,
                             ses_error *error)
{
    ses_store *store = call->at.store;
    ses_artifact_inline_options options;
    struct span event;
    struct buffer out;
    int code = ses__take_options(&options, sizeof options, given, "artifact inline options", error);

    if (code == SES_OK && options.bytes < 0)
        code = ses__error_set(error, SES_INVALID, "artifact inline options: bytes is negative");
    if (code == SES_OK)
        code = ses__check_span(json, len, "json", &event, error);
    if (code == SES_OK)
        code = ses__json_check_stored(event.ptr, event.len, error);
    if (code != SES_OK)
        return code;
    const struct limits limits = LIMITS_OF(store, options);
    struct artifact_inlining inlining = {.store = store,
                                         .key = &call->at.key,
                                         .limits = &limits,
                                         .left = options.bytes > 0 ? options.bytes : INT64_MAX};
    ses__arena_init(&inlining.arena, &store->allocator);
    ses__buffer_init_text(&out, &store->allocator);
    code = inline_event(&inlining, event, &out, error);
    ses__arena_free(&inlining.arena);
    if (code == SES_OK)
        return ses__buffer_give(&out, code, inlined, inlined_len, error);
    ses__buffer_free(&out);
    return code;
}

static int inline_at(const struct target *target, const char *json, size_t len,
                     const ses_artifact_inline_options *options, char **inlined, size_t *inlined_len,
                     ses_error *error)
{
    struct artifact_call call;
    int code = ses__check_output(inlined, "inlined", error);

    if (code == SES_OK)
        code = ses__artifact_begin(&call, target, NULL, error);
    return code == SES_OK ? ses__call_end(&call.at, inline_event_json(&call, json, len, options, inlined,
                                                                      inlined_len, error))
                          : code;
}

int ses_artifact_inline(ses_session *session, const char *json, size_t len,
                        const ses_artifact_inline_options *options, char **inlined, size_t *inlined_len,
                        ses_error *error)
{
    return inline_at(ON(session), json, len, options, inlined, inlined_len, error);
}

int ses_artifact_inline_by_key(ses_store *store, const ses_key *key, const char *json, size_t len,
                               const ses_artifact_inline_options *options, char **inlined,
                               size_t *inlined_len, ses_error *error)
{
    return inline_at(AT(store, key), json, len, options, inlined, inlined_len, error);
}
