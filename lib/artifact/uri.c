/* Makes and follows addresses of artifacts, and makes the properties of a version, of which one is its
 * address. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "artifact/artifact.h"
#include "base/error.h"

static void add_prefix(struct buffer *uri, const ses_key *key, bool of_user)
{
    ses__buffer_add_word(uri, ARTIFACT_URI "apps/");
    ses__buffer_add_word(uri, key->app);
    ses__buffer_add_word(uri, "/users/");
    ses__buffer_add_word(uri, key->user);
    if (!of_user) {
        ses__buffer_add_word(uri, "/sessions/");
        ses__buffer_add_word(uri, key->session);
    }
    ses__buffer_add_word(uri, "/artifacts/");
}

char *ses__artifact_uri(struct arena *arena, const struct artifact_call *call, struct span name,
                        int64_t version)
{
    struct buffer uri;
    char number[32];
    char *text = NULL;

    ses__buffer_init(&uri, arena->allocator);
    add_prefix(&uri, &call->at.key, call->of_user);
    ses__buffer_add(&uri, name.ptr, name.len);
    (void)snprintf(number, sizeof number, "/versions/%" PRId64, version);
    ses__buffer_add_word(&uri, number);
    if (!uri.failed)
        text = ses__arena_text(arena, uri.data, uri.len);
    ses__buffer_free(&uri);
    return text;
}

/* Removes the beginning of an address that leads to the session, or to its user. */
static int pass_prefix(struct span *uri, ses_store *store, const ses_key *key, bool of_user, bool *passed,
                       ses_error *error)
{
    struct buffer prefix;

    ses__buffer_init(&prefix, ses__store_allocator(store));
    add_prefix(&prefix, key, of_user);
    const bool failed = prefix.failed;
    *passed = !failed && uri->len > prefix.len && memcmp(uri->ptr, prefix.data, prefix.len) == 0;
    if (*passed)
        *uri = (struct span){uri->ptr + prefix.len, uri->len - prefix.len};
    ses__buffer_free(&prefix);
    return failed ? ses__error_nomem(error) : SES_OK;
}

/* A fork has its own copies of what its events and artifacts refer to in the sessions that it comes from. */
static int pass_ancestor(struct span *uri, const struct artifact_call *call, const struct limits *limits,
                         bool *passed, ses_error *error)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none, LEFT_OF(limits)};
    const ses_key *key = &call->at.key;
    ses_session *child = NULL; /* has the key */
    int code = SES_OK;

    for (int depth = 0; key && code == SES_OK && !*passed && depth < SES_ARTIFACT_DEPTH; depth++) {
        ses_session *session = NULL;
        code = ses__begun_get(call->at.store, key, &options, &session, error);
        ses_session_close(child);
        child = session;
        key = session ? ses_session_parent(session, NULL) : NULL;
        if (key)
            code = pass_prefix(uri, call->at.store, key, false, passed, error);
    }
    ses_session_close(child);
    if (code != SES_NOTFOUND)
        return code;
    ses__error_clear(error);
    return SES_OK;
}

/* `limits` is NULL for an address that must not lead to an ancestor. */
static int take_uri(struct artifact_call *call, const struct limits *limits, struct span uri,
                    int64_t *version, ses_error *error)
{
    ses_store *store = call->at.store;
    const char *session = call->at.key.session;
    char name[SES_ID_MAX + 1];
    struct span rest;
    bool of_user = false;
    bool passed = false;
    int code = session ? pass_prefix(&uri, store, &call->at.key, false, &passed, error) : SES_OK;

    if (code == SES_OK && !passed) {
        code = pass_prefix(&uri, store, &call->at.key, true, &passed, error);
        of_user = passed;
    }
    if (code == SES_OK && !passed && session && limits)
        code = pass_ancestor(&uri, call, limits, &passed, error);
    if (code != SES_OK)
        return code;
    if (!passed)
        return ses__error_set(
            error, SES_INVALID,
            "the artifact refers to something that is not an artifact of the same session or user");
    if (!ses__artifact_uri_split(uri, &rest, version))
        return ses__error_set(error, SES_INVALID,
                              "the artifact refers to an address that is not of the form " ARTIFACT_URI
                              "apps/.../artifacts/NAME/versions/N");
    memcpy(name, rest.ptr, rest.len);
    name[rest.len] = '\0';
    call->at.key.session = of_user ? NULL : session;
    code = ses__artifact_take_name(call, name, error);
    call->at.key.session = session;
    return code;
}

int ses__artifact_check_uri(const struct artifact_call *call, struct span uri, ses_error *error)
{
    struct artifact_call target = *call;
    int64_t version;
    return take_uri(&target, NULL, uri, &version, error);
}

int ses__artifact_follow_uri(struct artifact_call *call, const struct limits *limits, struct span uri,
                             int64_t *version, ses_error *error)
{
    return take_uri(call, limits, uri, version, error);
}

/* ---------------------------------------------------------------------------------------------- a version */

/* NULL for an absent text. */
static const char *copy_word(struct span text, struct arena *arena, bool *copied)
{
    const char *made = text.ptr ? ses__arena_text(arena, text.ptr, text.len) : NULL;

    *copied = *copied && (made || !text.ptr);
    return made;
}

int ses__artifact_info_make(struct artifact_info *info, const struct artifact_row *row,
                            const struct artifact_call *call, struct arena *arena, ses_error *error)
{
    bool copied = true;

    info->content_id = row->content_id;
    info->shown = (ses_artifact_info){.name = copy_word(row->name, arena, &copied),
                                      .version = row->version,
                                      .created_us = row->created_us,
                                      .size = row->size,
                                      .kind = (int)row->kind,
                                      .mime_type = copy_word(row->mime_type, arena, &copied),
                                      .display_name = copy_word(row->display_name, arena, &copied),
                                      .metadata = copy_word(row->metadata, arena, &copied),
                                      .metadata_len = row->metadata.len,
                                      .hash = copy_word(row->hash, arena, &copied),
                                      .uri = ses__artifact_uri(arena, call, row->name, row->version)};
    return copied && info->shown.uri ? SES_OK : ses__error_nomem(error);
}
