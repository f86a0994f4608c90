/* The artifacts of a session that its events name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/event/artifacts.h"
#include "model/event/stored_event.h"
#include "session/sql/history/artifacts.h"
#include "storage/sql/rows/event.h"

void ses__named_artifacts_init(struct named_artifacts *named, const ses_allocator *allocator)
{
    *named = (struct named_artifacts){.items = NULL};
    ses__arena_init(&named->arena, allocator);
}

void ses__named_artifacts_free(struct named_artifacts *named)
{
    ses__memory_free(named->arena.allocator, named->items);
    ses__arena_free(&named->arena);
    named->items = NULL;
    named->count = named->capacity = 0;
}

void ses__named_artifacts_reset(struct named_artifacts *named)
{
    named->count = 0;
    ses__arena_reset(&named->arena);
}

int ses__named_artifacts_add(struct named_artifacts *named, struct named_artifact item, ses_error *error)
{
    if (ses__artifact_is_of_user(item.name))
        return SES_OK;
    item.name.ptr = ses__arena_text(&named->arena, item.name.ptr, item.name.len);
    if (!item.name.ptr || !LIST_GROW(named->arena.allocator, named))
        return ses__error_nomem(error);
    named->items[named->count++] = item;
    return SES_OK;
}

/* No artifact has a name with a lone surrogate. */
static int note_artifact(struct named_artifacts *named, struct json_string key, int64_t version, int64_t seq,
                         ses_error *error)
{
    struct span name;
    const int code = ses__json_decode(key, &named->arena, &name);

    if (code == SES_RANGE)
        return SES_OK;
    return code == SES_OK
               ? ses__named_artifacts_add(named, (struct named_artifact){name, version, seq}, error)
               : ses__error_nomem(error);
}

int ses__named_artifacts_add_event(struct named_artifacts *named, const struct event_row *event,
                                   ses_error *error)
{
    struct artifact_outline outline;
    struct artifact_delta_walk walk;
    struct json_string key;
    struct span value;
    int64_t version;
    int code = SES_OK;

    if (!ses__stored_event_may_name(event) || !ses__artifact_outline(event->body, &outline))
        return SES_OK; /* of one that is not JSON a check says so */
    ses__artifact_delta_open(&walk, outline.delta);
    while (code == SES_OK && ses__artifact_delta_next(&walk, &key, &value, &version)) {
        if (version >= 0)
            code = note_artifact(named, key, version, event->seq, error);
    }
    return code;
}

/* By name, and then in the order of the log. */
static int compare_named(const void *left, const void *right)
{
    const struct named_artifact *a = left;
    const struct named_artifact *b = right;
    const int order = ses__span_order(a->name, b->name);

    return order != 0 ? order : (a->seq > b->seq) - (a->seq < b->seq);
}

void ses__named_artifacts_sort(struct named_artifacts *named)
{
    if (named->count > 1)
        qsort(named->items, named->count, sizeof *named->items, compare_named);
}

int ses__named_artifacts_read(struct named_artifacts *named, struct db *db, const struct session_row *row,
                              const char *session, int64_t seq, ses_error *error)
{
    const struct artifact_owner owner = {row->user_id, ses__span_of(session)};
    struct event_rows rows;
    struct event_row event;
    bool has = false;
    int code = ses__artifacts_any(db, &owner, &has, error);

    ses__named_artifacts_reset(named); /* of an earlier run */
    if (code != SES_OK || !has)
        return code;
    ses__event_rows_open(&rows, db, row->id, seq + 1, row->last_seq, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, ses__named_artifacts_add_event(named, &event, error));
    return ses__event_rows_close(&rows);
}

/* -------------------------------------------------------------------------------------------- the base */

struct base_reading {
    struct named_artifacts *named;
    bool known;
};

static int add_base_artifact(void *context, const struct base_value *value, ses_error *error)
{
    struct base_reading *reading = context;
    struct named_artifact item = {.seq = value->seq};

    item.name = ses__base_artifact(value, &item.version);
    reading->known = reading->known || item.name.len == 0;
    return item.name.len == 0 ? SES_OK : ses__named_artifacts_add(reading->named, item, error);
}

int ses__named_artifacts_add_base(struct named_artifacts *named, struct db *db, const struct session_row *row,
                                  bool *known, ses_error *error)
{
    struct base_reading reading = {named, row->base_seq == 0};
    const int code =
        row->base_seq == 0 ? SES_OK : ses__base_visit_artifacts(db, row, add_base_artifact, &reading, error);

    *known = reading.known;
    return code;
}

/* An item without a name stands for those that no event names. */
static int write_base_artifact(struct db *db, const struct session_row *row,
                               const struct named_artifact *item, ses_error *error)
{
    char name[sizeof BASE_ARTIFACT + SES_ID_MAX] = BASE_ARTIFACT;
    char number[32] = "null";

    if (item->name.len > SES_ID_MAX) /* no artifact has it */
        return SES_OK;
    if (item->name.len > 0)
        (void)snprintf(number, sizeof number, "%" PRId64, item->version);
    memcpy(name + sizeof BASE_ARTIFACT - 1, item->name.ptr, item->name.len);
    const struct base_value value = {
        {name, sizeof BASE_ARTIFACT - 1 + item->name.len}, ses__span_of(number), item->seq};
    return ses__base_add(db, row->id, &value, 1, error);
}

int ses__named_artifacts_write_base(struct named_artifacts *named, struct db *db,
                                    const struct session_row *row, const char *session, bool known,
                                    ses_error *error)
{
    const struct artifact_owner owner = {row->user_id, ses__span_of(session)};
    const struct named_artifact others = {.name = {"", 0}};
    bool any = false;
    int code = ses__artifacts_any(db, &owner, &any, error);

    if (code != SES_OK || !any)
        return code;
    ses__named_artifacts_sort(named);
    if (known)
        code = write_base_artifact(db, row, &others, error);
    for (size_t i = 0; i < named->count && code == SES_OK; i++) {
        const struct named_artifact *item = &named->items[i];
        const bool is_last =
            i + 1 == named->count || ses__span_order(named->items[i + 1].name, item->name) != 0;
        if (is_last)
            code = write_base_artifact(db, row, item, error);
    }
    return code;
}

/* ---------------------------------------------------------------------------- what only those events name */

/* Adds the artifacts whose addresses the event holds, whatever session they name: it may be imported. */
static int add_addresses(struct named_artifacts *named, const struct event_row *event, ses_error *error)
{
    struct json_string string;
    size_t at = 0;
    int code = SES_OK;

    while (code == SES_OK && ses__artifact_uri_find(event->body, &at, &string)) {
        struct artifact_uri_walk walk;
        struct named_artifact item = {.seq = event->seq};
        struct span uri;
        const int decoded = ses__json_decode(string, &named->arena, &uri);
        if (decoded == SES_NOMEM)
            return ses__error_nomem(error);
        ses__artifact_uri_open(&walk, decoded == SES_OK ? uri : (struct span){"", 0});
        while (code == SES_OK && ses__artifact_uri_next(&walk, &item.name, &item.version))
            code = ses__named_artifacts_add(named, item, error);
    }
    return code;
}

static int compare_versions(const void *left, const void *right)
{
    const struct named_artifact *a = left;
    const struct named_artifact *b = right;
    const int order = ses__span_order(a->name, b->name);

    return order != 0 ? order : (a->version > b->version) - (a->version < b->version);
}

/* Versions that several events name are side by side. A number of 0 marks those that stay. */
static void mark_others(struct named_artifacts *named, const struct named_artifacts *others)
{
    const struct named_artifact *end = named->items + named->count;

    for (size_t i = 0; i < others->count; i++) {
        const struct named_artifact *other = &others->items[i];
        struct named_artifact *item =
            bsearch(other, named->items, named->count, sizeof *item, compare_versions);
        if (!item || item->seq == 0)
            continue;
        while (item > named->items && compare_versions(item - 1, other) == 0)
            item--;
        for (; item < end && compare_versions(item, other) == 0; item++)
            item->seq = 0;
    }
}

static void remove_marked(struct named_artifacts *named)
{
    size_t left = 0;

    for (size_t i = 0; i < named->count; i++) {
        if (named->items[i].seq > 0)
            named->items[left++] = named->items[i];
    }
    named->count = left;
}

static int read_only_named(struct named_artifacts *named, struct named_artifacts *others, struct db *db,
                           const struct session_row *row, int64_t seq, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    bool known;
    int code = ses__named_artifacts_add_base(others, db, row, &known, error);

    mark_others(named, others);
    if (code != SES_OK)
        return code;
    ses__event_rows_open(&rows, db, row->id, row->base_seq + 1, seq, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event)) {
        if (!ses__stored_event_may_name(&event))
            continue;
        ses__named_artifacts_reset(others);
        ses__query_keep(&rows.query, ses__named_artifacts_add_event(others, &event, error));
        ses__query_keep(&rows.query, add_addresses(others, &event, error));
        mark_others(named, others);
    }
    return ses__event_rows_close(&rows);
}

int ses__named_artifacts_read_only(struct named_artifacts *named, struct db *db,
                                   const struct session_row *row, const char *session, int64_t seq,
                                   ses_error *error)
{
    struct named_artifacts others;
    int code = ses__named_artifacts_read(named, db, row, session, seq, error);

    if (code != SES_OK || named->count == 0)
        return code;
    qsort(named->items, named->count, sizeof *named->items, compare_versions);
    ses__named_artifacts_init(&others, named->arena.allocator);
    code = read_only_named(named, &others, db, row, seq, error);
    ses__named_artifacts_free(&others);
    remove_marked(named);
    return code;
}

int ses__named_artifacts_remove(const struct named_artifacts *named, struct db *db, int64_t user_id,
                                const char *session, ses_error *error)
{
    const struct artifact_owner owner = {user_id, ses__span_of(session)};
    int code = SES_OK;

    for (size_t i = 0; i < named->count && code == SES_OK; i++)
        code = ses__artifact_remove_version(db, &owner, named->items[i].name, named->items[i].version, error);
    return code;
}
