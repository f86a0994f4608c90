/* Artifacts that are saved together with an event. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "artifact/artifact.h"
#include "artifact/offload.h"
#include "base/error.h"
#include "base/memory.h"
#include "json/edits.h"
#include "json/writer.h"
#include "model/event/artifact_delta.h"
#include "session/append_artifacts.h"
#include "storage/sql/rows/event.h"

struct attached {
    struct artifact_call call; /* with its name */
    struct artifact_new fresh;
    int64_t version; /* -1: it has none yet */
    /* What a server was asked for, if `asked`: its newest version, and its bytes. */
    bool asked;
    struct artifact_rows newest;
    struct query same;
};

struct ses_artifacts {
    struct append_artifacts base; /* the first member */
    ses_store *store;
    struct arena arena; /* of the key */
    ses_key key;
    struct attached **items;
    size_t count;
    size_t capacity;
    size_t added;          /* of these, by the caller; the others are inline data of the event */
    int64_t offload_bytes; /* inline data with more bytes becomes an artifact; -1: none does */
    struct inline_data_list inlined;
    struct arena texts; /* of the event with its versions, and its inline data */
};

static ses_artifacts *artifacts_of(struct append_artifacts *base)
{
    return (ses_artifacts *)base;
}

/* ------------------------------------------------------------------------------------- the next versions */

struct versioning {
    ses_artifacts *artifacts;
    struct span id; /* of the event; without a pointer: it has none */
};

/* The versions that a stored event names; an artifact that it does not name keeps -1. */
static int take_stored_versions(const struct versioning *versioning, struct span body, ses_error *error)
{
    ses_artifacts *artifacts = versioning->artifacts;
    struct artifact_outline outline;
    struct artifact_delta_walk walk;
    struct json_string name;
    struct span value;
    int64_t version;

    (void)error;
    if (!ses__artifact_outline(body, &outline))
        return SES_OK;
    ses__artifact_delta_open(&walk, outline.delta);
    while (ses__artifact_delta_next(&walk, &name, &value, &version)) {
        for (size_t i = 0; i < artifacts->count; i++) {
            if (ses__json_string_is(name, artifacts->items[i]->call.name))
                artifacts->items[i]->version = version;
        }
    }
    return SES_OK;
}

static int find_stored_versions(const struct versioning *versioning, struct event_rows *rows,
                                int64_t session_id, ses_error *error)
{
    struct event_row event;

    rows->session_id = session_id;
    if (ses__event_rows_next(rows, &event))
        ses__query_keep(&rows->query, take_stored_versions(versioning, event.body, error));
    return ses__event_rows_close(rows);
}

static bool is_same_name(const struct attached *item, const struct attached *other)
{
    return strcmp(item->call.name, other->call.name) == 0;
}

static struct artifact_owner owner_of_item(const ses_artifacts *artifacts, const struct attached *item,
                                           int64_t user_id)
{
    const struct span none = {"", 0};
    return (struct artifact_owner){user_id, item->call.of_user ? none : ses__span_of(artifacts->key.session)};
}

static void open_newest(const ses_artifacts *artifacts, struct attached *item, struct db *db, int64_t user_id,
                        ses_error *error)
{
    const struct artifact_owner owner = owner_of_item(artifacts, item, user_id);
    ses__artifact_newest_open(&item->newest, db, &owner, ses__span_of(item->call.name), error);
}

/* The version after the newest one, and after those of the same name that come before it in the list. */
static int find_next_version(struct db *db, const ses_artifacts *artifacts, size_t index, int64_t user_id,
                             ses_error *error)
{
    struct attached *item = artifacts->items[index];

    if (!ses__db_asks_ahead(db))
        open_newest(artifacts, item, db, user_id, error);
    const int code = ses__artifact_newest_take(&item->newest, &item->version);
    for (size_t i = 0; i < index; i++)
        item->version += is_same_name(item, artifacts->items[i]);
    return code;
}

/* A version of a stored event counts if it has these bytes: then the append is the retry of one that was stored. */
static int check_stored_version(struct db *db, const struct artifact_owner *owner, struct attached *item,
                                ses_error *error)
{
    struct artifact_rows rows;
    struct artifact_row row;
    bool is_it = false;

    ses__artifact_open(&rows, db, owner, ses__span_of(item->call.name), item->version, error);
    if (ses__artifact_rows_next(&rows, &row))
        is_it = row.version == item->version && memcmp(row.hash.ptr, item->fresh.blob.hash, SHA256_HEX) == 0;
    if (!is_it)
        item->version = -1;
    return ses__query_end(&rows.query);
}

static int find_versions(struct db *db, const ses_artifacts *artifacts, int64_t user_id, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < artifacts->count && code == SES_OK; i++) {
        struct attached *item = artifacts->items[i];
        const struct artifact_owner owner = owner_of_item(artifacts, item, user_id);
        if (item->version >= 0)
            code = check_stored_version(db, &owner, item, error);
        if (code == SES_OK && item->version < 0)
            code = find_next_version(db, artifacts, i, user_id, error);
    }
    return code;
}

/* Asks a server for everything at once. */
static int run_versioning(struct db *db, void *context, ses_error *error)
{
    const struct versioning *versioning = context;
    ses_artifacts *artifacts = versioning->artifacts;
    const struct session_ref ref = {.key = &artifacts->key};
    struct session_row session;
    struct event_rows event;
    struct query query;
    int code = ses__session_ask(&query, db, &ref, &session, error);

    if (code == SES_OK && versioning->id.ptr)
        ses__event_row_open(&event, db, session.id, versioning->id, error);
    for (size_t i = 0; i < artifacts->count; i++) {
        artifacts->items[i]->version = -1;
        if (ses__db_asks_ahead(db))
            open_newest(artifacts, artifacts->items[i], db, 0, error);
    }
    if (code == SES_OK) {
        ses__db_ask_last(db);
        code = ses__session_take(&query, &ref, &session);
    }
    if (code == SES_OK && versioning->id.ptr)
        code = find_stored_versions(versioning, &event, session.id, error);
    if (code == SES_OK)
        code = find_versions(db, artifacts, session.user_id, error);
    return code == SES_NOTFOUND ? SES_OK : code; /* the append says what is missing */
}

/* ----------------------------------------------------------------------------------------- the event's text */

static void add_version(struct buffer *json, const size_t start, struct span name, int64_t version)
{
    char number[32];
    const int len = snprintf(number, sizeof number, "%" PRId64, version);

    ses__json_add_member(json, start, name, (struct span){number, (size_t)len});
}

/* The last of several of one name is the one that counts. */
static bool is_last(const ses_artifacts *artifacts, size_t index)
{
    for (size_t i = index + 1; i < artifacts->count; i++) {
        if (is_same_name(artifacts->items[index], artifacts->items[i]))
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
        if (is_last(artifacts, i))
            add_version(json, start, ses__span_of(artifacts->items[i]->call.name),
                        artifacts->items[i]->version);
    }
    ses__buffer_add_word(json, "}");
}

/* Is there nothing between the braces? */
static bool is_empty_object(struct span object)
{
    for (size_t i = 1; i + 1 < object.len; i++) {
        if (!ses__json_is_space(object.ptr[i]))
            return false;
    }
    return true;
}

/* Puts the delta where the event has one, or where it belongs. `json` is the delta, after which the words of `wrapped` are
 * built. */
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

/* Is the value absent, null, or an object? */
static bool can_be_object(struct span value)
{
    return !value.ptr || value.ptr[0] == '{' || value.ptr[0] == 'n';
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

static int merge_versions(ses_artifacts *artifacts, struct span event, const struct artifact_outline *outline,
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

/* ------------------------------------------------------------------------------------------- inline data */

static void drop_inlined(ses_artifacts *artifacts)
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

/* As google-adk's SaveFilesAsArtifactsPlugin names them: by their display name, or by the invocation and the number of the
 * part among these. */
static int name_inlined(struct attached *item, const struct inline_data *inlined, size_t index,
                        const struct artifact_outline *outline, struct arena *arena)
{
    const struct span of = outline->invocation_id.ptr ? outline->invocation_id : outline->id.raw;
    const char *shown = c_text_of(inlined->display_name, arena);
    char name[SES_ID_MAX + 1];

    if (shown && ses__artifact_take_name(&item->call, shown, NULL) == SES_OK)
        return SES_OK;
    if (of.ptr && of.len > 0 && of.len < 400)
        (void)snprintf(name, sizeof name, "artifact_%.*s_%zu", (int)of.len, of.ptr, index);
    else
        (void)snprintf(name, sizeof name, "artifact_%.16s", item->fresh.blob.hash);
    return ses__artifact_take_name(&item->call, name, NULL);
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

static int take_inlined(ses_artifacts *artifacts, struct span event, const struct artifact_outline *outline,
                        ses_error *error)
{
    int code = SES_OK;

    drop_inlined(artifacts);
    if (artifacts->offload_bytes < 0 || outline->partial)
        return SES_OK;
    if (!ses__inline_data_find(&artifacts->inlined, event, (size_t)artifacts->offload_bytes,
                               &artifacts->texts))
        return ses__error_nomem(error);
    for (size_t i = 0; i < artifacts->inlined.count && code == SES_OK; i++)
        code = add_inlined(artifacts, i, outline, error);
    return code;
}

/* --------------------------------------------------------------------------------------------- the append */

static int check_artifacts_key(const ses_artifacts *artifacts, const ses_key *key, ses_error *error)
{
    const ses_key *own = &artifacts->key;
    const bool same = strcmp(own->app, key->app) == 0 && strcmp(own->user, key->user) == 0 &&
                      strcmp(own->session, key->session) == 0;

    return same
               ? SES_OK
               : ses__error_set(
                     error, SES_MISUSE,
                     "append options: the artifacts were opened for the session %.100s/%.100s/%.100s (app/user/session)",
                     own->app, own->user, own->session);
}

static int prepare_artifacts(struct append_artifacts *base, const struct session_call *at,
                             const struct limits *limits, struct span event, struct span *text,
                             ses_error *error)
{
    ses_artifacts *artifacts = artifacts_of(base);
    struct versioning versioning = {.artifacts = artifacts};
    struct artifact_outline outline;
    int code = check_artifacts_key(artifacts, &at->key, error);

    *text = event;
    base->rows.outrun = false;
    for (size_t i = 0; i < artifacts->count; i++)
        artifacts->items[i]->asked = false;
    ses__arena_reset(&artifacts->texts);
    /* A text that is not an event stays as it is: the append says what is wrong with it. */
    if (code != SES_OK || !ses__artifact_outline(event, &outline) || !can_be_object(outline.actions))
        return code;
    code = take_inlined(artifacts, event, &outline, error);
    if (code != SES_OK || artifacts->count == 0)
        return code;
    if (!can_be_object(outline.delta))
        return ses__error_set(error, SES_INVALID, "the event's actions.artifactDelta must be an object");
    if (outline.id.raw.ptr && ses__json_decode(outline.id, &artifacts->texts, &versioning.id) != SES_OK)
        versioning.id.ptr = NULL; /* such an id is refused later */
    if (at->store != artifacts->store)
        return ses__error_set(error, SES_MISUSE,
                              "append options: the artifacts were opened on another store");
    code = ses__run_within(at->store->storage, limits, TO_READ_BEFORE_WRITING, run_versioning, &versioning,
                           error);
    return code == SES_OK ? merge_versions(artifacts, event, &outline, text, error) : code;
}

/* Is there none of the same name, or with the same bytes, before it in the list? That one has to be stored first. */
static bool is_first_of_kind(const ses_artifacts *artifacts, size_t index)
{
    const struct attached *item = artifacts->items[index];

    for (size_t i = 0; i < index; i++) {
        const struct attached *before = artifacts->items[i];
        if (is_same_name(item, before) || strcmp(item->fresh.blob.hash, before->fresh.blob.hash) == 0)
            return false;
    }
    return true;
}

static void ask_for_item(const ses_artifacts *artifacts, struct attached *item, struct db *db,
                         int64_t user_id, ses_error *error)
{
    open_newest(artifacts, item, db, user_id, error);
    ses__blob_find(&item->same, db, user_id, &item->fresh.blob, error);
}

static void ask_for_artifacts(struct append_artifact_rows *rows, struct db *db, ses_error *error)
{
    const ses_artifacts *artifacts = (ses_artifacts *)rows;

    for (size_t i = 0; i < artifacts->count; i++) {
        struct attached *item = artifacts->items[i];
        item->asked = is_first_of_kind(artifacts, i);
        if (item->asked)
            ask_for_item(artifacts, item, db, 0, error);
    }
}

static int store_item(struct append_artifact_rows *rows, struct attached *item, struct db *db,
                      int64_t user_id, int64_t now_us, ses_error *error)
{
    const ses_artifacts *artifacts = (ses_artifacts *)rows;
    const struct artifact_owner owner = owner_of_item(artifacts, item, user_id);
    int64_t next = 0;

    if (!item->asked)
        ask_for_item(artifacts, item, db, user_id, error);
    item->asked = false;
    int code = ses__artifact_newest_take(&item->newest, &next);
    if (code == SES_OK && next != item->version) {
        rows->outrun = true;
        code = ses__error_set(error, SES_BUSY, "others kept saving the artifact \"%.100s\"; try again",
                              item->call.name);
    }
    ses__query_keep(&item->same, code);
    return code == SES_OK ? ses__artifact_store(&item->same, &owner, &item->fresh,
                                                ses__span_of(item->call.name), item->version, now_us)
                          : ses__query_end(&item->same);
}

static int store_artifacts(struct append_artifact_rows *rows, struct db *db,
                           const struct session_row *session, int64_t now_us, ses_error *error)
{
    const ses_artifacts *artifacts = (ses_artifacts *)rows;
    int code = SES_OK;

    for (size_t i = 0; i < artifacts->count && code == SES_OK; i++)
        code = store_item(rows, artifacts->items[i], db, session->user_id, now_us, error);
    return code;
}

/* --------------------------------------------------------------------------------------------- the object */

int ses_artifacts_open(ses_store *store, const ses_key *key, ses_artifacts **artifacts, ses_error *error)
{
    int code = ses__store_begin_giving(store, artifacts, "artifacts", error);

    if (code != SES_OK)
        return code;
    code = ses__check_key(key, error);
    if (code != SES_OK)
        return ses__store_end(store, code);
    ses_artifacts *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (!fresh)
        return ses__store_end(store, ses__error_nomem(error));
    fresh->base = (struct append_artifacts){{ask_for_artifacts, store_artifacts, false}, prepare_artifacts};
    fresh->store = store;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    ses__arena_init(&fresh->texts, &store->allocator);
    fresh->inlined.allocator = &store->allocator;
    fresh->offload_bytes = -1;
    if (ses__key_copy(key, &fresh->arena, &fresh->key)) {
        *artifacts = fresh;
    } else {
        ses_artifacts_close(fresh);
        code = ses__error_nomem(error);
    }
    return ses__store_end(store, code);
}

/* The bytes are kept until the append, however long the caller keeps theirs. */
static int keep_bytes(struct artifact_new *fresh, ses_error *error)
{
    if (fresh->buffer || !fresh->blob.bytes)
        return SES_OK;
    fresh->buffer = ses__memory_copy(fresh->allocator, fresh->blob.bytes, (size_t)fresh->blob.size);
    fresh->blob.bytes = fresh->buffer;
    return fresh->buffer ? SES_OK : ses__error_nomem(error);
}

static int keep_metadata(struct artifact_new *fresh, struct arena *arena, ses_error *error)
{
    const char **const words[] = {&fresh->options.mime_type, &fresh->options.display_name};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (*words[i] && !(*words[i] = ses__arena_text(arena, *words[i], strlen(*words[i]))))
            return ses__error_nomem(error);
    }
    if (fresh->metadata.ptr &&
        !(fresh->metadata.ptr = ses__arena_text(arena, fresh->metadata.ptr, fresh->metadata.len)))
        return ses__error_nomem(error);
    if (fresh->options.created_us) {
        int64_t *created_us = ses__arena_new(arena, sizeof *created_us);
        if (!created_us)
            return ses__error_nomem(error);
        *created_us = *fresh->options.created_us;
        fresh->options.created_us = created_us;
    }
    return SES_OK;
}

static int add_artifact(ses_artifacts *artifacts, const char *name, const void *bytes, size_t len,
                        const ses_artifact_save_options *options, ses_error *error)
{
    const ses_allocator *allocator = &artifacts->store->allocator;
    struct attached *item = NULL;

    if (!LIST_GROW(allocator, artifacts) || !(item = ses__memory_zeroed(allocator, sizeof *item)))
        return ses__error_nomem(error);
    drop_inlined(artifacts);
    item->version = -1;
    item->call.at = (struct session_call){.store = artifacts->store, .key = artifacts->key};
    item->call.at.ref.key = &item->call.at.key;
    item->fresh.allocator = allocator;
    int code = ses__artifact_take_name(&item->call, name, error);
    if (code == SES_OK)
        code = ses__artifact_upload(&item->fresh, &item->call, bytes, len, options, error);
    if (code == SES_OK)
        code = keep_bytes(&item->fresh, error);
    if (code == SES_OK)
        code = keep_metadata(&item->fresh, &artifacts->arena, error);
    if (code == SES_OK) {
        artifacts->items[artifacts->count++] = item;
        artifacts->added++;
    } else {
        ses__artifact_new_free(&item->fresh, artifacts->store);
        ses__memory_free(allocator, item);
    }
    return code;
}

int ses_artifacts_add(ses_artifacts *artifacts, const char *name, const void *bytes, size_t len,
                      const ses_artifact_save_options *options, ses_error *error)
{
    int code = ses__store_begin(artifacts ? artifacts->store : NULL, error);
    return code == SES_OK ? ses__store_end(artifacts->store, add_artifact(artifacts, name ? name : "", bytes,
                                                                          len, options, error))
                          : code;
}

int ses_artifacts_offload(ses_artifacts *artifacts, int64_t bytes, ses_error *error)
{
    int code = ses__store_begin(artifacts ? artifacts->store : NULL, error);

    if (code != SES_OK)
        return code;
    if (bytes < 0)
        code = ses__error_set(error, SES_INVALID, "the number of bytes is negative");
    else
        artifacts->offload_bytes = bytes;
    return ses__store_end(artifacts->store, code);
}

int64_t ses_artifacts_version(const ses_artifacts *artifacts, size_t index)
{
    return index < artifacts->added ? artifacts->items[index]->version : -1;
}

/* What was written to the store and no artifact has is dropped, if the store is still open. */
void ses_artifacts_close(ses_artifacts *artifacts)
{
    if (!artifacts)
        return;
    ses_store *store = artifacts->store;
    const bool begun = ses__store_begin(store, NULL) == SES_OK;
    drop_inlined(artifacts);
    for (size_t i = 0; i < artifacts->count; i++) {
        struct attached *item = artifacts->items[i];
        if (!begun)
            item->fresh.blob.written_id = 0;
        ses__artifact_new_free(&item->fresh, store);
        ses__memory_free(&store->allocator, item);
    }
    if (begun)
        (void)ses__store_end(store, SES_OK);
    ses__memory_free(&store->allocator, artifacts->inlined.items);
    ses__memory_free(&store->allocator, artifacts->items);
    ses__arena_free(&artifacts->texts);
    ses__arena_free(&artifacts->arena);
    ses__memory_free(&store->allocator, artifacts);
    ses__store_release(store);
}
