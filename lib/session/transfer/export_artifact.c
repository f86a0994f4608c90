/* Artifacts as lines: one for each version, and after it those of its bytes. */
#include <string.h>

#include "json/base64.h"
#include "base/error.h"
#include "json/reader.h"
#include "seslite_artifact.h"
#include "session/transfer/export.h"

/* An import reads a session, or the versions of one name, in one transaction. Its lines have each content
 * once. */
static int begin_contents(struct export_call *call, const char *session, struct span name, ses_error *error)
{
    struct exported_contents *contents = &call->contents;
    const bool same =
        contents->begun && (call->in_session || (strcmp(contents->session, session) == 0 &&
                                                 ses__span_is(ses__span_of(contents->name), name)));
    const size_t bytes = EXPORTED_CONTENTS * sizeof *contents->hashes;

    if (!contents->hashes && !(contents->hashes = ses__memory_zeroed(call->out.allocator, bytes)))
        return ses__error_nomem(error);
    if (!same)
        memset(contents->hashes, 0, bytes);
    contents->begun = true;
    memcpy(contents->session, session, strlen(session) + 1);
    memcpy(contents->name, name.ptr, name.len);
    contents->name[name.len] = '\0';
    return SES_OK;
}

/* Three hexadecimal digits, up to EXPORTED_CONTENTS. */
static unsigned place_of(struct span hash)
{
    unsigned place = 0;

    for (int i = 0; i < 3; i++)
        place = place * 16 + (unsigned)(hash.ptr[i] <= '9' ? hash.ptr[i] - '0' : hash.ptr[i] - 'a' + 10);
    return place;
}

/* True if the content was not written yet. */
static bool note_content(struct exported_contents *contents, struct span hash)
{
    char *noted = contents->hashes[place_of(hash)];
    const bool fresh = memcmp(noted, hash.ptr, SHA256_HEX) != 0;

    memcpy(noted, hash.ptr, SHA256_HEX);
    return fresh;
}

static int put_metadata(struct export_call *call, struct span metadata, ses_error *error)
{
    ses_error wrong;

    if (!metadata.ptr)
        return SES_OK;
    if (ses__json_check(metadata.ptr, metadata.len, &wrong) !=
        SES_OK) /* another program may have written it */
        return ses__error_set(error, SES_CORRUPT, "the metadata of a stored artifact is not JSON (%s)",
                              wrong.message);
    ses__export_json(call, "metadata", "metadata_text", metadata);
    return SES_OK;
}

int ses__export_artifact(void *context, const char *session, const struct artifact_row *row, ses_error *error)
{
    struct export_call *call = context;
    int code = begin_contents(call, session, row->name, error);

    if (code != SES_OK)
        return code;
    ses__export_begin(call, "artifact");
    if (!call->in_session && session[0])
        ses__export_text(call, "session", session);
    ses__export_span(call, "name", row->name);
    ses__export_number(call, "version", row->version);
    ses__export_number(call, "created_us", row->created_us);
    if (row->kind != SES_ARTIFACT_BYTES)
        ses__export_text(call, "content", row->kind == SES_ARTIFACT_TEXT ? "text" : "uri");
    if (row->mime_type.ptr)
        ses__export_span(call, "mime_type", row->mime_type);
    if (row->display_name.ptr)
        ses__export_span(call, "display_name", row->display_name);
    ses__export_number(call, "size", row->size);
    ses__export_span(call, "hash", row->hash);
    code = put_metadata(call, row->metadata, error);
    if (code == SES_OK)
        code = ses__export_end(call, error);
    const bool fresh = code == SES_OK && note_content(&call->contents, row->hash);
    return code == SES_OK ? fresh || row->kind != SES_ARTIFACT_BYTES : code;
}

int ses__export_bytes(void *context, int64_t offset, struct span chunk, ses_error *error)
{
    struct export_call *call = context;

    ses__export_begin(call, "bytes");
    ses__export_number(call, "offset", offset);
    ses__export_name(call, "data");
    ses__buffer_add(&call->out, "\"", 1);
    if (ses__buffer_reserve(&call->out, ses__base64_len(chunk.len))) {
        ses__base64_encode(call->out.data + call->out.len, chunk.ptr, chunk.len);
        call->out.len += ses__base64_len(chunk.len);
    }
    ses__buffer_add(&call->out, "\"", 1);
    return ses__export_end(call, error);
}
