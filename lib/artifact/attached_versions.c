/* The versions that the artifacts of an event will have. */
#include <stdio.h>
#include <string.h>

#include "artifact/attached.h"
#include "storage/sql/rows/event.h"

struct versioning {
    ses_artifacts *artifacts;
    struct span id; /* of the event; without a pointer: it has none */
};

/* An event names the last of several versions of one name. */
static int64_t count_later_versions(const ses_artifacts *artifacts, size_t index)
{
    int64_t count = 0;

    for (size_t i = index + 1; i < artifacts->count; i++)
        count += ses__attached_is_same_name(artifacts->items[index], artifacts->items[i]);
    return count;
}

/* The versions that a stored event names; an artifact that it does not name keeps -1. */
static void take_stored_versions(ses_artifacts *artifacts, struct span body)
{
    struct artifact_outline outline;
    struct artifact_delta_walk walk;
    struct json_string name;
    struct span value;
    int64_t version;

    if (!ses__artifact_outline(body, &outline))
        return;
    ses__artifact_delta_open(&walk, outline.delta);
    while (ses__artifact_delta_next(&walk, &name, &value, &version)) {
        for (size_t i = 0; i < artifacts->count; i++) {
            struct attached *item = artifacts->items[i];
            if (ses__json_string_is(name, item->call.name))
                item->version = version - count_later_versions(artifacts, i);
            if (item->older_name && ses__json_string_is(name, item->older_name))
                item->older_version = version;
        }
    }
}

struct artifact_owner ses__attached_owner(const ses_artifacts *artifacts, const struct attached *item,
                                          int64_t user_id)
{
    const struct span none = {"", 0};
    return (struct artifact_owner){user_id, item->call.of_user ? none : ses__span_of(artifacts->key.session)};
}

void ses__attached_ask_newest(const ses_artifacts *artifacts, struct attached *item, struct db *db,
                              int64_t user_id, ses_error *error)
{
    const struct artifact_owner owner = ses__attached_owner(artifacts, item, user_id);
    ses__artifact_newest_open(&item->newest, db, &owner, ses__span_of(item->call.name), error);
}

/* The version after the newest one, and after those of the same name that come before it in the list. */
static int find_next_version(struct db *db, const ses_artifacts *artifacts, size_t index, int64_t user_id,
                             ses_error *error)
{
    struct attached *item = artifacts->items[index];

    if (!ses__db_asks_ahead(db))
        ses__attached_ask_newest(artifacts, item, db, user_id, error);
    const int code = ses__artifact_newest_take(&item->newest, &item->version);
    for (size_t i = 0; i < index; i++)
        item->version += ses__attached_is_same_name(item, artifacts->items[i]);
    return code;
}

/* A version of a stored event counts if it has these bytes: then the append is the retry of one that was
 * stored. */
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

/* Compares the item with a stored artifact that has the name which 0.2.0 gave. */
static int check_older_name(struct db *db, const struct artifact_owner *owner, struct attached *item,
                            ses_error *error)
{
    char name[sizeof item->call.name];

    memcpy(name, item->call.name, sizeof name);
    (void)snprintf(item->call.name, sizeof item->call.name, "%s", item->older_name);
    item->version = item->older_version;
    const int code = check_stored_version(db, owner, item, error);
    if (item->version < 0)
        memcpy(item->call.name, name, sizeof name);
    return code;
}

static int find_versions(struct db *db, const ses_artifacts *artifacts, int64_t user_id, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < artifacts->count && code == SES_OK; i++) {
        struct attached *item = artifacts->items[i];
        const struct artifact_owner owner = ses__attached_owner(artifacts, item, user_id);
        if (item->version >= 0)
            code = check_stored_version(db, &owner, item, error);
        if (code == SES_OK && item->version < 0 && item->older_version >= 0)
            code = check_older_name(db, &owner, item, error);
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
    struct event_rows rows;
    struct event_row event;
    struct query query;
    int code = ses__session_ask(&query, db, &ref, &session, error);

    if (code == SES_OK && versioning->id.ptr)
        ses__event_row_open(&rows, db, session.id, versioning->id, error);
    for (size_t i = 0; i < artifacts->count; i++) {
        artifacts->items[i]->version = artifacts->items[i]->older_version = -1;
        if (ses__db_asks_ahead(db))
            ses__attached_ask_newest(artifacts, artifacts->items[i], db, 0, error);
    }
    if (code == SES_OK) {
        ses__db_ask_last(db);
        code = ses__session_take(&query, &ref, &session);
    }
    if (code == SES_OK && versioning->id.ptr) {
        rows.session_id = session.id;
        if (ses__event_rows_next(&rows, &event))
            take_stored_versions(artifacts, event.body);
        code = ses__event_rows_close(&rows);
    }
    if (code == SES_OK)
        code = find_versions(db, artifacts, session.user_id, error);
    return code == SES_NOTFOUND ? SES_OK : code; /* the append says what is missing */
}

int ses__attached_find_versions(ses_artifacts *artifacts, struct span id, const struct limits *limits,
                                ses_error *error)
{
    struct versioning versioning = {artifacts, id};

    return ses__run_within(artifacts->store->storage, limits, TO_READ_BEFORE_WRITING, run_versioning,
                           &versioning, error);
}
