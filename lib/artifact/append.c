/* An append that saves artifacts together with its event. */
#include <string.h>

#include "artifact/attached.h"
#include "base/error.h"

static int prepare_artifacts(struct append_artifacts *base, const struct session_call *at,
                             const struct limits *limits, struct span event, struct span *text,
                             ses_error *error)
{
    ses_artifacts *artifacts = (ses_artifacts *)base;
    const ses_key *own = &artifacts->key;
    const bool is_of_session = strcmp(own->app, at->key.app) == 0 && strcmp(own->user, at->key.user) == 0 &&
                               strcmp(own->session, at->key.session) == 0;
    struct span id = {NULL, 0};
    struct artifact_outline outline;

    *text = event;
    base->rows.outrun = false;
    for (size_t i = 0; i < artifacts->count; i++)
        artifacts->items[i]->asked = false;
    ses__arena_reset(&artifacts->texts);
    if (!is_of_session)
        return ses__error_set(
            error, SES_MISUSE,
            "append options: the artifacts were opened for the session %.100s/%.100s/%.100s (app/user/session)",
            own->app, own->user, own->session);
    /* A text that is not an event stays as it is: the append says what is wrong with it. */
    if (!ses__artifact_outline(event, &outline) || !ses__attached_can_be_object(outline.actions))
        return SES_OK;
    int code = ses__attached_take_inline(artifacts, event, &outline, error);
    if (code != SES_OK || artifacts->count == 0)
        return code;
    if (!ses__attached_can_be_object(outline.delta))
        return ses__error_set(error, SES_INVALID, "the event's actions.artifactDelta must be an object");
    if (outline.id.raw.ptr && ses__json_decode(outline.id, &artifacts->texts, &id) != SES_OK)
        id.ptr = NULL; /* such an id is refused later */
    if (at->store != artifacts->store)
        return ses__error_set(error, SES_MISUSE,
                              "append options: the artifacts were opened on another store");
    code = ses__attached_find_versions(artifacts, id, limits, error);
    return code == SES_OK ? ses__attached_text(artifacts, event, &outline, text, error) : code;
}

/* True if no item before it in the list has the same name, or the same bytes. That one has to be stored
 * first. */
static bool is_first_of_kind(const ses_artifacts *artifacts, size_t index)
{
    const struct attached *item = artifacts->items[index];

    for (size_t i = 0; i < index; i++) {
        const struct attached *before = artifacts->items[i];
        if (ses__attached_is_same_name(item, before) ||
            strcmp(item->fresh.blob.hash, before->fresh.blob.hash) == 0)
            return false;
    }
    return true;
}

static void ask_for_item(const ses_artifacts *artifacts, struct attached *item, struct db *db,
                         int64_t user_id, ses_error *error)
{
    ses__attached_ask_newest(artifacts, item, db, user_id, error);
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
    const struct artifact_owner owner = ses__attached_owner(artifacts, item, user_id);
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

struct append_artifacts ses__attached_for_append(void)
{
    return (struct append_artifacts){{ask_for_artifacts, store_artifacts, false}, prepare_artifacts};
}
