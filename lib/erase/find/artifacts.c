/* Looks into artifacts: their names and what else is known of them, and their bytes. */
#include "erase/find/find.h"

#include <stdio.h>

#include "base/error.h"
#include "model/event/artifacts.h"
#include "seslite_artifact.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/session.h"

enum { CHUNK = 64 * 1024 };

static ses_finding finding_of(const struct find *find, const ses_key *key, const ses_artifact_info *info)
{
    return (ses_finding){.kind = SES_FOUND_ARTIFACT,
                         .app = find->at.app,
                         .user = key->user,
                         .session = key->session,
                         .name = info->name,
                         .version = info->version};
}

static int find_in_info(struct find *find, const ses_key *key, const ses_artifact_info *info,
                        ses_error *error)
{
    const ses_finding what = finding_of(find, key, info);
    const char *const texts[] = {info->name, info->mime_type, info->display_name};
    const size_t count = find->page->found.count;
    int code = SES_OK;

    for (size_t i = 0; i < 3 && code == SES_OK && find->page->found.count == count; i++)
        code = ses__find_in_bytes(find, &what, ses__span_of(texts[i] ? texts[i] : ""), error);
    if (code == SES_OK && find->page->found.count == count && info->metadata)
        code = ses__find_in_json(find, &what, (struct span){info->metadata, info->metadata_len}, error);
    return code;
}

/* Reads on from the place, until the page is full. Each piece overlaps with the next. */
static int find_in_chunks(struct find *find, const ses_key *key, ses_artifact *artifact, bool *done,
                          ses_error *error)
{
    const size_t count = find->page->found.count;
    ses_finding what = finding_of(find, key, ses_artifact_info_of(artifact));
    char *chunk = ses__memory_new(&find->store->allocator, CHUNK);
    size_t len = CHUNK;
    int code = chunk ? SES_OK : ses__error_nomem(error);

    what.kind = SES_FOUND_BYTES;
    for (*done = false; code == SES_OK && !*done && find->bytes_left > 0;) {
        code = ses_artifact_read(artifact, find->at.offset, chunk, CHUNK, &len, error);
        if (code == SES_OK)
            code = ses__find_in_bytes(find, &what, (struct span){chunk, len}, error);
        *done = len < CHUNK || find->page->found.count > count;
        find->at.offset += CHUNK - FIND_TEXT_MAX;
    }
    ses__memory_free(&find->store->allocator, chunk);
    return code;
}

static int find_in_one_version(struct find *find, const ses_key *key, const ses_artifact_info *info,
                               ses_error *error)
{
    const ses_artifact_open_options options = {.size = sizeof options,
                                               .flags = SES_ARTIFACT_OPEN_STORED,
                                               .version = &info->version,
                                               LEFT_OF(&find->limits)};
    ses_artifact *artifact = NULL;
    bool done = true;
    int code = find->at.offset == 0 ? find_in_info(find, key, info, error) : SES_OK;

    if (code == SES_OK && info->size > 0)
        code = ses_artifact_open_by_key(find->store, key, info->name, &options, &artifact, error);
    if (code == SES_OK && artifact)
        code = find_in_chunks(find, key, artifact, &done, error);
    ses_artifact_close(artifact);
    if (code == SES_OK && done) {
        find->at.version = info->version + 1;
        find->at.offset = 0;
    }
    return code;
}

/* One version, from the place on. `*any` is false if there is none. */
static int find_in_versions(struct find *find, const ses_key *key, bool *any, ses_error *error)
{
    struct find_place *at = &find->at;
    const ses_artifact_list_options options = {
        .size = sizeof options, .first_version = at->version, .limit = 1, LEFT_OF(&find->limits)};
    ses_artifact_list *list = NULL;
    int code = ses_artifact_versions_by_key(find->store, key, at->name, &options, &list, error);
    const ses_artifact_info *info = code == SES_OK ? ses_artifact_list_at(list, 0) : NULL;

    *any = info != NULL;
    if (info) {
        const int64_t next = info->version + 1;
        code = find_in_one_version(find, key, info, error);
        if (code == SES_NOTFOUND) { /* deleted meanwhile, or damaged */
            at->version = next;
            at->offset = 0;
        }
    }
    ses_artifact_list_close(list);
    if (code == SES_NOTFOUND)
        ses__error_clear(error);
    return code == SES_NOTFOUND ? SES_OK : code;
}

/* Moves the place on to the next name. Artifacts of the user are listed with each session, too, and passed
 * over there. */
static int next_found_artifact(struct find *find, const ses_key *key, bool *any, ses_error *error)
{
    struct find_place *at = &find->at;
    bool is_users = true;
    int code = SES_OK;

    for (*any = true; code == SES_OK && *any && is_users;) {
        const ses_artifact_list_options options = {.size = sizeof options,
                                                   .limit = 1,
                                                   .after = at->name[0] ? at->name : NULL,
                                                   LEFT_OF(&find->limits)};
        ses_artifact_list *list = NULL;
        code = ses_artifact_names_by_key(find->store, key, &options, &list, error);
        const ses_artifact_info *info = code == SES_OK ? ses_artifact_list_at(list, 0) : NULL;
        *any = info != NULL;
        is_users = info && key->session && ses__artifact_is_of_user(ses__span_of(info->name));
        (void)snprintf(at->name, sizeof at->name, "%s", info ? info->name : "");
        ses_artifact_list_close(list);
    }
    return code;
}

int ses__find_in_artifact(struct find *find, const ses_key *key, bool *any, ses_error *error)
{
    struct find_place *at = &find->at;
    int code = SES_OK;

    if (!at->reading) {
        at->version = at->offset = 0;
        code = next_found_artifact(find, key, &at->reading, error);
    }
    *any = at->reading;
    while (code == SES_OK && at->reading && !ses__find_is_full(find))
        code = find_in_versions(find, key, &at->reading, error);
    return code;
}

/* ---------------------------------------------------------------------------------- without a session */

/* `session` has no room for a NUL. */
struct loose {
    const ses_key *user;
    struct artifact_owner owner;
    char session[SES_ID_MAX];
};

static int run_next_loose(struct db *db, void *context, ses_error *error)
{
    struct loose *loose = context;
    struct user_row user;
    int code = ses__owner_find(db, loose->user->app, loose->user->user, &user, error);

    loose->owner.user_id = user.id;
    return code == SES_OK ? ses__artifact_without_session(db, &loose->owner, loose->session, error) : code;
}

int ses__find_next_loose(struct find *find, bool *any, ses_error *error)
{
    const ses_key user = {find->at.app, find->at.user, NULL};
    struct loose loose = {.user = &user, .owner = {0, ses__span_of(find->at.session)}};
    const int code =
        ses__run_within(find->store->storage, &find->limits, TO_READ, run_next_loose, &loose, error);

    *any = code == SES_OK;
    if (*any) {
        memcpy(find->at.session, loose.session, loose.owner.session.len);
        find->at.session[loose.owner.session.len] = '\0';
    }
    if (code == SES_NOTFOUND)
        ses__error_clear(error);
    return code == SES_NOTFOUND ? SES_OK : code;
}
