/* Inline data of an event as artifacts that are saved with it. */
#include <stdio.h>
#include <string.h>

#include "artifact/attached.h"
#include "base/error.h"
#include "base/memory.h"
#include "json/base64.h"

/* False: out of memory. */
static bool add_inline_item(struct inline_data_list *list, const struct part_data *part, size_t number,
                            const char *event, size_t limit, struct arena *arena)
{
    struct inline_data item = {.part = number,
                               .start = (size_t)(part->whole.ptr - event),
                               .end = (size_t)(part->whole.ptr + part->whole.len - event),
                               .mime_type = part->mime_type,
                               .display_name = part->display_name};
    const struct json_string string = ses__json_string_of(part->source);

    if (string.escaped)
        return true;
    char *out = ses__arena_new(arena, string.raw.len);
    if (!out || !LIST_GROW(list->allocator, list))
        return false;
    item.data.ptr = out;
    if (ses__base64_decode(string.raw, out, &item.data.len) && item.data.len > limit)
        list->items[list->count++] = item;
    return true;
}

/* Finds those with more than `limit` bytes. Inline data that is not valid base64 stays where it is. False:
 * out of memory. */
static bool find_inline_data(struct inline_data_list *list, struct span event, size_t limit,
                             struct arena *arena)
{
    struct part_walk parts;
    struct span part;
    bool ok = true;

    list->count = 0;
    ses__parts_open(&parts, ses__event_content(event));
    for (size_t number = 0; ok && ses__parts_next(&parts, &part); number++) {
        const struct part_data data = ses__part_inline_data(part);
        if (data.source.ptr && data.source.len / 4 * 3 > limit)
            ok = add_inline_item(list, &data, number, event.ptr, limit, arena);
    }
    return ok;
}

void ses__attached_drop_inline(ses_artifacts *artifacts)
{
    while (artifacts->count > artifacts->added)
        ses__memory_free(&artifacts->store->allocator, artifacts->items[--artifacts->count]);
    artifacts->inlined.count = 0;
}

/* A JSON string as a C text in the arena; NULL for one that cannot be one. */
static const char *c_text_of(struct span json, struct arena *arena)
{
    struct span text;

    if (!json.ptr || ses__json_decode(ses__json_string_of(json), arena, &text) != SES_OK ||
        text.len > SES_ID_MAX || memchr(text.ptr, '\0', text.len))
        return NULL;
    return ses__arena_text(arena, text.ptr, text.len);
}

/* A name of the invocation (or, without one, of the event) and a number; otherwise of the hash. */
static const char *print_name(const struct attached *item, struct span of, size_t number, struct arena *arena)
{
    char name[SES_ID_MAX + 1];

    if (of.ptr && of.len > 0 && of.len < 400 && !memchr(of.ptr, '\0', of.len))
        (void)snprintf(name, sizeof name, "artifact_%.*s_%zu", (int)of.len, of.ptr, number);
    else
        (void)snprintf(name, sizeof name, "artifact_%.16s", item->fresh.blob.hash);
    return ses__arena_text(arena, name, strlen(name));
}

/* Names them as google-adk's SaveFilesAsArtifactsPlugin does: by the display name, or by the invocation and
 * the number of the part. 0.2.0 counted only the inline data that became artifacts, and took the invocation
 * as the JSON spells it. */
static int name_inlined(struct attached *item, const struct inline_data *inlined, size_t index,
                        const struct artifact_outline *outline, struct arena *arena)
{
    const struct json_string *of = outline->invocation_id.raw.ptr ? &outline->invocation_id : &outline->id;
    const char *shown = c_text_of(inlined->display_name, arena);
    struct span plain = {NULL, 0};

    if (shown && ses__artifact_take_name(&item->call, shown, NULL) == SES_OK)
        return SES_OK;
    if (of->raw.ptr && ses__json_decode(*of, arena, &plain) != SES_OK)
        plain.ptr = NULL;
    const char *name = print_name(item, plain, inlined->part, arena);
    item->older_name = print_name(item, of->raw, index, arena);
    return name && item->older_name ? ses__artifact_take_name(&item->call, name, NULL) : SES_NOMEM;
}

static int add_inlined(ses_artifacts *artifacts, size_t index, const struct artifact_outline *outline,
                       ses_error *error)
{
    const ses_allocator *allocator = &artifacts->store->allocator;
    const struct inline_data *inlined = &artifacts->inlined.items[index];
    struct attached *item = NULL;
    struct sha256 hash;

    if (!LIST_GROW(allocator, artifacts) || !(item = ses__memory_zeroed(allocator, sizeof *item)))
        return ses__error_nomem(error);
    artifacts->items[artifacts->count++] = item;
    item->call.at = (struct session_call){.store = artifacts->store, .key = artifacts->key};
    item->fresh = (struct artifact_new){
        .allocator = allocator,
        .options = {.mime_type = c_text_of(inlined->mime_type, &artifacts->texts),
                    .display_name = c_text_of(inlined->display_name, &artifacts->texts)},
        .blob = {.size = (int64_t)inlined->data.len, .bytes = inlined->data.ptr}};
    ses__sha256_init(&hash);
    ses__sha256_add(&hash, inlined->data.ptr, inlined->data.len);
    ses__sha256_end(&hash, item->fresh.blob.hash);
    return name_inlined(item, inlined, index, outline, &artifacts->texts) == SES_OK
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "the event's invocation or id is not valid");
}

int ses__attached_take_inline(ses_artifacts *artifacts, struct span event,
                              const struct artifact_outline *outline, ses_error *error)
{
    int code = SES_OK;

    ses__attached_drop_inline(artifacts);
    if (artifacts->offload_bytes < 0 || outline->partial)
        return SES_OK;
    if (!find_inline_data(&artifacts->inlined, event, (size_t)artifacts->offload_bytes, &artifacts->texts))
        return ses__error_nomem(error);
    for (size_t i = 0; i < artifacts->inlined.count && code == SES_OK; i++)
        code = add_inlined(artifacts, i, outline, error);
    return code;
}
