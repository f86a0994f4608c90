/* The artifacts that a template names, where no callback reads them: those of the store. */
#include "agent/template_artifact.h"

#include "base/error.h"
#include "base/memory.h"
#include "seslite_artifact.h"
#include "session/handle.h"

/* No model reads more. */
#define MAX_RENDERED_BYTES (INT64_C(64) << 20)

static int read_whole(ses_artifact *artifact, const ses_allocator *allocator, char **text, size_t *len,
                      ses_error *error)
{
    const ses_artifact_info *info = ses_artifact_info_of(artifact);

    if (info->size > MAX_RENDERED_BYTES)
        return ses__error_set(error, SES_LIMIT, "it has %lld bytes, more than 64 MiB", (long long)info->size);
    *text = ses__memory_text(allocator, (size_t)info->size);
    return *text ? ses_artifact_read(artifact, 0, *text, (size_t)info->size, len, error)
                 : ses__error_nomem(error);
}

int ses__template_artifact(const ses_session *session, const char *name, char **text, size_t *len,
                           ses_error *error)
{
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    ses_store *store = ses__session_store(session);
    ses_artifact *artifact = NULL;
    int code = ses_artifact_open_by_key(store, &key, name, NULL, &artifact, error);

    if (code == SES_OK)
        code = read_whole(artifact, ses__store_allocator(store), text, len, error);
    ses_artifact_close(artifact);
    return code;
}
