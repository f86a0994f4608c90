/* Artifacts. See calls.h. */
#include "calls.h"

#include <seslite_artifact.h>

/* Slots 0 to 10. */
static void put_info(const ses_artifact_info *info)
{
    js_out[0] = js_slot(info->name);
    js_out[1] = info->version;
    js_out[2] = info->created_us;
    js_out[3] = info->size;
    js_out[4] = info->kind;
    js_out[5] = js_slot(info->mime_type);
    js_out[6] = js_slot(info->display_name);
    js_out[7] = js_slot(info->metadata);
    js_out[8] = (int64_t)info->metadata_len;
    js_out[9] = js_slot(info->hash);
    js_out[10] = js_slot(info->uri);
}

/* Options: kind, MIME type, display name, metadata and its length. */
EXPORT(artifact_save)
int js_artifact_save(ses_store *store, const char *app, const char *user, const char *id, const char *name,
                     const void *bytes, size_t len, const int64_t *slots)
{
    const ses_key key = {app, user, id};
    const ses_artifact_save_options options = {.size = sizeof options,
                                               .kind = (ses_artifact_kind)slots[0],
                                               .mime_type = (const char *)(uintptr_t)slots[1],
                                               .display_name = (const char *)(uintptr_t)slots[2],
                                               .metadata = (const char *)(uintptr_t)slots[3],
                                               .metadata_len = (size_t)slots[4]};
    return ses_artifact_save_by_key(store, &key, name, bytes, len, &options, &js_out[0], &js_failure);
}

/* Option: the version, as an optional number. */
EXPORT(artifact_open)
int js_artifact_open(ses_store *store, const char *app, const char *user, const char *id, const char *name,
                     const int64_t *slots)
{
    const ses_key key = {app, user, id};
    const ses_artifact_open_options options = {.size = sizeof options, .version = js_optional(slots)};
    ses_artifact *artifact = NULL;
    const int code = ses_artifact_open_by_key(store, &key, name, &options, &artifact, &js_failure);

    js_out[0] = js_slot(artifact);
    return code;
}

EXPORT(artifact_info) void js_artifact_info(const ses_artifact *artifact)
{
    put_info(ses_artifact_info_of(artifact));
}

EXPORT(artifact_read)
int js_artifact_read(ses_artifact *artifact, int64_t offset, void *buffer, size_t capacity)
{
    size_t len = 0;
    const int code = ses_artifact_read(artifact, offset, buffer, capacity, &len, &js_failure);

    js_out[0] = (int64_t)len;
    return code;
}

EXPORT(artifact_close) void js_artifact_close(ses_artifact *artifact)
{
    ses_artifact_close(artifact);
}

static int put_list(int code, const ses_artifact_list *list)
{
    js_out[0] = js_slot(list);
    js_out[1] = list ? (int64_t)ses_artifact_list_count(list) : 0;
    js_out[2] = list ? ses_artifact_list_more(list) : 0;
    return code;
}

EXPORT(artifact_names)
int js_artifact_names(ses_store *store, const char *app, const char *user, const char *id, const char *after)
{
    const ses_key key = {app, user, id};
    const ses_artifact_list_options options = {.size = sizeof options, .after = after};
    ses_artifact_list *list = NULL;
    const int code = ses_artifact_names_by_key(store, &key, &options, &list, &js_failure);
    return put_list(code, list);
}

EXPORT(artifact_versions)
int js_artifact_versions(ses_store *store, const char *app, const char *user, const char *id,
                         const char *name, int64_t first)
{
    const ses_key key = {app, user, id};
    const ses_artifact_list_options options = {.size = sizeof options, .first_version = first};
    ses_artifact_list *list = NULL;
    const int code = ses_artifact_versions_by_key(store, &key, name, &options, &list, &js_failure);
    return put_list(code, list);
}

EXPORT(artifact_list_at) void js_artifact_list_at(const ses_artifact_list *list, size_t index)
{
    put_info(ses_artifact_list_at(list, index));
}

EXPORT(artifact_list_close) void js_artifact_list_close(ses_artifact_list *list)
{
    ses_artifact_list_close(list);
}

/* Slot 0 is 0 if the event stays as it is. */
EXPORT(artifact_inline)
int js_artifact_inline(ses_store *store, const char *app, const char *user, const char *id, const char *event,
                       size_t len, int64_t bytes)
{
    const ses_key key = {app, user, id};
    const ses_artifact_inline_options options = {.size = sizeof options, .bytes = bytes};
    char *inlined = NULL;
    size_t inlined_len = 0;
    const int code =
        ses_artifact_inline_by_key(store, &key, event, len, &options, &inlined, &inlined_len, &js_failure);
    return js_put_text(code, inlined, inlined_len);
}

EXPORT(artifact_delete)
int js_artifact_delete(ses_store *store, const char *app, const char *user, const char *id, const char *name,
                       int flags)
{
    const ses_key key = {app, user, id};
    const ses_delete_options options = {.size = sizeof options, .flags = (unsigned)flags};
    return ses_artifact_delete_by_key(store, &key, name, &options, &js_out[0], &js_failure);
}
