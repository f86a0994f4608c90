/* The text of an event with the versions of its artifacts. */
#include <inttypes.h>
#include <stdio.h>

#include "artifact/attached.h"
#include "base/error.h"
#include "base/memory.h"
#include "json/writer.h"

/* The last of several of one name is the one that counts. */
static bool is_last(const ses_artifacts *artifacts, size_t index)
{
    for (size_t i = index + 1; i < artifacts->count; i++) {
        if (ses__attached_is_same_name(artifacts->items[index], artifacts->items[i]))
            return false;
    }
    return true;
}

static bool is_attached(const ses_artifacts *artifacts, struct json_string name)
{
    for (size_t i = 0; i < artifacts->count; i++) {
        if (ses__json_string_is(name, artifacts->items[i]->call.name))
            return true;
    }
    return false;
}

/* The event's own members that the list does not name, as they are spelled, and then those of the list. */
static void add_delta(struct buffer *json, const ses_artifacts *artifacts, struct span own)
{
    struct artifact_delta_walk walk;
    struct json_string name;
    struct span value;
    int64_t version;

    ses__buffer_add_word(json, "{");
    const size_t start = json->len;
    ses__artifact_delta_open(&walk, own);
    while (ses__artifact_delta_next(&walk, &name, &value, &version)) {
        if (is_attached(artifacts, name))
            continue;
        ses__buffer_add_word(json, json->len > start ? ",\"" : "\"");
        ses__buffer_add(json, name.raw.ptr, name.raw.len);
        ses__buffer_add_word(json, "\":");
        ses__buffer_add(json, value.ptr, value.len);
    }
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct attached *item = artifacts->items[i];
        char number[32];
        const int len = snprintf(number, sizeof number, "%" PRId64, item->version);
        if (is_last(artifacts, i))
            ses__json_add_member(json, start, ses__span_of(item->call.name),
                                 (struct span){number, (size_t)len});
    }
    ses__buffer_add_word(json, "}");
}

/* True if there is nothing between the braces. */
static bool is_empty_object(struct span object)
{
    for (size_t i = 1; i + 1 < object.len; i++) {
        if (!ses__json_is_space(object.ptr[i]))
            return false;
    }
    return true;
}

/* Puts the delta where the event has one, or where it belongs. Builds the new text in `json`, which the edit
 * refers to. */
static struct edit place_delta(struct buffer *json, const ses_artifacts *artifacts, struct span event,
                               const struct artifact_outline *outline)
{
    const bool has_actions = outline->actions.ptr && outline->actions.ptr[0] == '{';
    struct span place = outline->delta.ptr ? outline->delta : outline->actions;
    const struct span object = has_actions ? outline->actions : outline->object;

    if (outline->delta.ptr) {
        add_delta(json, artifacts, outline->delta);
    } else {
        if (has_actions || !outline->actions.ptr) { /* before the brace that ends the object */
            place = (struct span){object.ptr + object.len - 1, 0};
            ses__buffer_add_word(json, is_empty_object(object) ? "" : ",");
        }
        if (!has_actions)
            ses__buffer_add_word(json, outline->actions.ptr ? "{" : "\"actions\":{");
        ses__buffer_add_word(json, "\"artifactDelta\":");
        add_delta(json, artifacts, outline->delta);
        ses__buffer_add_word(json, has_actions ? "" : "}");
    }
    const size_t start = (size_t)(place.ptr - event.ptr);
    return (struct edit){start, start + place.len, {json->data, json->len}};
}

/* A part refers to the artifact that its inline data has become. */
static bool add_reference(struct edits *edits, const struct inline_data *inlined, const struct attached *item,
                          struct arena *arena)
{
    const ses_allocator *allocator = arena->allocator;
    const char *uri = ses__artifact_uri(arena, &item->call, ses__span_of(item->call.name), item->version);
    struct buffer json;
    char *text = NULL;

    ses__buffer_init(&json, allocator);
    if (uri)
        ses__json_add_named(&json, "\"fileData\":{\"fileUri\":", ses__span_of(uri));
    if (inlined->mime_type.ptr) {
        ses__buffer_add_word(&json, ",\"mimeType\":");
        ses__buffer_add(&json, inlined->mime_type.ptr, inlined->mime_type.len);
    }
    if (inlined->display_name.ptr) {
        ses__buffer_add_word(&json, ",\"displayName\":");
        ses__buffer_add(&json, inlined->display_name.ptr, inlined->display_name.len);
    }
    ses__buffer_add_word(&json, "}");
    if (uri && !json.failed)
        text = ses__arena_text(arena, json.data, json.len);
    const struct edit edit = {inlined->start, inlined->end, {text, json.len}};
    ses__buffer_free(&json);
    return text && ses__edits_add(edits, allocator, edit);
}

/* Edits are in the order of the text. */
static bool add_edits(ses_artifacts *artifacts, struct edits *edits, struct edit delta)
{
    const ses_allocator *allocator = &artifacts->store->allocator;
    bool has_delta = false;
    bool added = true;

    for (size_t i = 0; i < artifacts->inlined.count && added; i++) {
        const struct inline_data *inlined = &artifacts->inlined.items[i];
        if (!has_delta && delta.start < inlined->start) {
            added = ses__edits_add(edits, allocator, delta);
            has_delta = true;
        }
        added =
            added && add_reference(edits, inlined, artifacts->items[artifacts->added + i], &artifacts->texts);
    }
    return added && (has_delta || ses__edits_add(edits, allocator, delta));
}

int ses__attached_text(ses_artifacts *artifacts, struct span event, const struct artifact_outline *outline,
                       struct span *text, ses_error *error)
{
    struct edits edits = {.items = NULL};
    struct buffer json;

    ses__buffer_init(&json, &artifacts->store->allocator);
    const struct edit delta = place_delta(&json, artifacts, event, outline);
    const bool added = !json.failed && add_edits(artifacts, &edits, delta);
    text->ptr = added ? ses__edits_apply(&edits, &artifacts->texts, event, &text->len) : NULL;
    ses__edits_free(&edits, &artifacts->store->allocator);
    ses__buffer_free(&json);
    return text->ptr ? SES_OK : ses__error_nomem(error);
}
