/* Rewinds the artifacts of a session. */
#include "session/sql/history/artifacts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "json/writer.h"

static struct artifact_owner artifacts_of_session(int64_t user_id, const char *session)
{
    return (struct artifact_owner){user_id, ses__span_of(session)};
}

struct restored_artifact {
    struct span name;
    int64_t then; /* the version of the point; -1: there was none */
    int64_t next; /* the version that it is saved as */
};

void ses__restored_artifacts_init(struct restored_artifacts *restored, const char *session,
                                  const ses_allocator *allocator)
{
    *restored = (struct restored_artifacts){.session = session};
    ses__named_artifacts_init(&restored->named, allocator);
}

void ses__restored_artifacts_free(struct restored_artifacts *restored)
{
    ses__named_artifacts_free(&restored->named);
}

/* The last version that the base, or events before `first`, name. Where the base does not say that, it is the
 * one before the first that later events name. */
static int64_t version_then(const struct named_artifact *items, size_t count, int64_t first, bool known)
{
    int64_t then = -1;

    for (size_t i = 0; i < count && items[i].seq < first; i++)
        then = items[i].version;
    return then < 0 && !known ? items[0].version - 1 : then;
}

static int add_restored(struct restored_artifacts *restored, struct db *db,
                        const struct artifact_owner *owner, struct restored_artifact item, ses_error *error)
{
    const int code = ses__artifact_next_version(db, owner, item.name, &item.next, error);

    restored->items[restored->count++] = item;
    return code;
}

static int write_restored(struct restored_artifacts *restored, ses_error *error)
{
    struct buffer json;

    ses__buffer_init(&json, restored->named.arena.allocator);
    ses__buffer_add_word(&json, "{");
    const size_t start = json.len;
    for (size_t i = 0; i < restored->count; i++) {
        char number[32];
        const int len = snprintf(number, sizeof number, "%" PRId64, restored->items[i].next);
        ses__json_add_member(&json, start, restored->items[i].name, (struct span){number, (size_t)len});
    }
    ses__buffer_add_word(&json, "}");
    restored->delta.ptr = json.failed ? NULL : ses__arena_text(&restored->named.arena, json.data, json.len);
    restored->delta.len = json.len;
    ses__buffer_free(&json);
    return restored->delta.ptr ? SES_OK : ses__error_nomem(error);
}

/* Stores the new versions, within the append of the event that names them. */
static int store_restored(struct append_artifact_rows *rows, struct db *db, const struct session_row *session,
                          int64_t now_us, ses_error *error);

int ses__restored_artifacts_plan(struct restored_artifacts *restored, struct db *db,
                                 const struct session_row *row, int64_t first, ses_error *error)
{
    const struct artifact_owner owner = artifacts_of_session(row->user_id, restored->session);
    struct named_artifacts *named = &restored->named;
    bool known = true;
    int code = ses__named_artifacts_read(named, db, row, restored->session, first - 1, error);

    if (code == SES_OK && named->count > 0) /* otherwise there is nothing to restore */
        code = ses__named_artifacts_read(named, db, row, restored->session, row->base_seq, error);
    restored->rows = (struct append_artifact_rows){.store = store_restored};
    restored->count = 0;
    restored->delta = (struct span){NULL, 0};
    if (code != SES_OK || named->count == 0)
        return code;
    code = ses__named_artifacts_add_base(named, db, row, &known, error);
    if (code != SES_OK)
        return code;
    restored->items = ses__arena_new(&named->arena, named->count * sizeof *restored->items);
    if (!restored->items)
        return ses__error_nomem(error);
    ses__named_artifacts_sort(named);
    for (size_t begin = 0, end = 0; begin < named->count && code == SES_OK; begin = end) {
        const struct named_artifact *items = named->items + begin;
        for (end = begin + 1;
             end < named->count && ses__span_order(named->items[end].name, items->name) == 0;)
            end++;
        const int64_t then = version_then(items, end - begin, first, known);
        if (named->items[end - 1].seq >= first && named->items[end - 1].version != then)
            code =
                add_restored(restored, db, &owner, (struct restored_artifact){items->name, then, 0}, error);
    }
    return code == SES_OK && restored->count > 0 ? write_restored(restored, error) : code;
}

static int add_tombstone(struct db *db, const struct artifact_owner *owner,
                         const struct restored_artifact *item, int64_t now_us, ses_error *error)
{
    static const char type[] = "application/octet-stream";
    struct artifact_row row = {.name = item->name,
                               .version = item->next,
                               .created_us = now_us,
                               .mime_type = {type, sizeof type - 1}};
    struct blob nothing = {.bytes = ""};
    struct sha256 hash;

    ses__sha256_init(&hash);
    ses__sha256_end(&hash, nothing.hash);
    const int code = ses__blob_take(db, owner->user_id, &nothing, now_us, &row.content_id, error);
    return code == SES_OK ? ses__artifact_add(db, owner, &row, error) : code;
}

/* The version of the point once more, with the same bytes; a tombstone if it was deleted. */
static int restore_one(struct db *db, const struct artifact_owner *owner,
                       const struct restored_artifact *item, int64_t now_us, ses_error *error)
{
    struct artifact_rows rows;
    struct artifact_row row;
    bool found = false;

    if (item->then >= 0) {
        ses__artifact_open(&rows, db, owner, item->name, item->then, error);
        found = ses__artifact_rows_next(&rows, &row) && row.version == item->then;
        if (found) {
            struct artifact_row again = row;
            again.version = item->next;
            again.created_us = now_us;
            ses__query_keep(&rows.query, ses__blob_share(db, owner->user_id, row.content_id, error));
            if (rows.query.code == SES_OK)
                ses__query_keep(&rows.query, ses__artifact_add(db, owner, &again, error));
        }
        const int code = ses__query_end(&rows.query);
        if (code != SES_OK || found)
            return code;
    }
    return add_tombstone(db, owner, item, now_us, error);
}

static int store_restored(struct append_artifact_rows *rows, struct db *db, const struct session_row *session,
                          int64_t now_us, ses_error *error)
{
    struct restored_artifacts *restored = (struct restored_artifacts *)rows;
    const struct artifact_owner owner = artifacts_of_session(session->user_id, restored->session);
    int code = SES_OK;

    for (size_t i = 0; i < restored->count && code == SES_OK; i++) {
        const struct restored_artifact *item = &restored->items[i];
        int64_t next = 0;
        code = ses__artifact_next_version(db, &owner, item->name, &next, error);
        if (code == SES_OK && next != item->next) {
            rows->outrun = true;
            return ses__error_set(error, SES_BUSY, "others kept saving the artifact \"%.*s\"; try again",
                                  (int)(item->name.len < 100 ? item->name.len : 100), item->name.ptr);
        }
        if (code == SES_OK)
            code = restore_one(db, &owner, item, now_us, error);
    }
    return code;
}
