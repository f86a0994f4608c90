/* Artifacts, as a check looks at them: what their rows say, and whether each has contents. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "model/event/artifacts.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/upkeep/check.h"

enum { ARTIFACTS_AT_ONCE = 16 }; /* their metadata may be long */

/* A walk over those of a user: the last one, and where it is. */
struct artifact_walk {
    struct check *check;
    int64_t user_id;
    struct artifact_row row;
    struct span session;
    char last_session[SES_ID_MAX + 1];
    char last_name[SES_ID_MAX + 1];
    size_t session_len;
    size_t name_len;
    int64_t version;
    uint64_t uses;
};

static bool is_text_of(struct span text, size_t longest)
{
    return !text.ptr ||
           (text.len <= longest && !memchr(text.ptr, '\0', text.len) && ses__utf8_valid(text.ptr, text.len));
}

/* NULL: nothing. */
static const char *find_fault(const struct artifact_walk *walk)
{
    const struct artifact_row *row = &walk->row;
    const bool of_user = ses__artifact_is_of_user(row->name);

    return !ses__is_id(row->name)                                    ? "its name is not an id"
           : walk->session.len > 0 && !ses__is_id(walk->session)     ? "the name of its session is not an id"
           : (walk->session.len == 0) != of_user                     ? "its name contradicts whose it is"
           : row->version < 0 || row->version > MAX_ARTIFACT_VERSION ? "its version cannot be"
           : !ses__timestamp_holds(row->created_us)                  ? "its time cannot be"
           : row->kind < 0 || row->kind > INT32_MAX                  ? "its kind cannot be"
           : !is_text_of(row->mime_type, SES_ID_MAX)    ? "its MIME type is too long, or not UTF-8"
           : !is_text_of(row->display_name, SES_ID_MAX) ? "its display name is too long, or not UTF-8"
           : row->metadata.ptr && !ses__check_is_object(row->metadata) ? "its metadata is not a JSON object"
           : row->hash.len == 0                                        ? "it has no contents"
                                                                       : NULL;
}

/* The walk continues after this one. False: it is not after the last one, or nothing can be. */
static bool step_to_artifact(struct artifact_walk *walk)
{
    const struct span name = walk->row.name;
    const struct span last_session = {walk->last_session, walk->session_len};
    const struct span last_name = {walk->last_name, walk->name_len};

    if (!walk->session.ptr || !name.ptr || walk->session.len > SES_ID_MAX || name.len > SES_ID_MAX)
        return false;
    int order = ses__span_order(last_session, walk->session);
    if (order == 0)
        order = ses__span_order(last_name, name);
    if (order > 0 || (order == 0 && walk->row.version <= walk->version))
        return false;
    memcpy(walk->last_session, walk->session.ptr, walk->session_len = walk->session.len);
    memcpy(walk->last_name, name.ptr, walk->name_len = name.len);
    walk->last_session[walk->session_len] = walk->last_name[walk->name_len] = '\0';
    walk->version = walk->row.version;
    return true;
}

static int check_artifact(struct artifact_walk *walk)
{
    struct check *check = walk->check;
    const char *fault = NULL;

    if (!step_to_artifact(walk))
        return ses__error_set(&check->error, SES_CORRUPT,
                              "the artifacts of user number %lld are out of order, or a name is too long",
                              (long long)walk->user_id);
    check->about.session = walk->session_len > 0 && ses__is_id(walk->session) ? walk->last_session : NULL;
    fault = find_fault(walk);
    if (fault)
        ses__check_found(check, SES_PROBLEM_ARTIFACT, 0, "artifact \"%.200s\", version %lld: %s",
                         walk->last_name, (long long)walk->version, fault);
    else if (ses__artifact_check_kind(check->db, &walk->row, &check->error) != SES_OK)
        (void)ses__check_settle(check, SES_UNSUPPORTED, SES_PROBLEM_ARTIFACT);
    if (walk->row.hash.len > 0)
        walk->uses += ses__content_weight(check, walk->row.content_id);
    return SES_OK;
}

/* The next ones. False: there are no more, or the walk cannot go on. */
static bool check_some_artifacts(struct artifact_walk *walk, int *code)
{
    struct check *check = walk->check;
    const struct artifact_walk from = *walk; /* for the query, while the walk moves on */
    const struct span session = {from.last_session, from.session_len};
    const struct span name = {from.last_name, from.name_len};
    struct query query;
    int count = 0;

    ses__query_open(
        &query, check->db, STATEMENT_ARTIFACTS_AFTER, &check->error,
        VALUES(INT(walk->user_id), TEXT(session), TEXT(name), INT(from.version), INT(ARTIFACTS_AT_ONCE)));
    for (; !check->ended && ses__query_row(&query); count++) {
        walk->row = (struct artifact_row){.name = ses__query_text(&query, 0),
                                          .version = ses__query_int(&query, 1),
                                          .created_us = ses__query_int(&query, 2),
                                          .kind = ses__query_int(&query, 3),
                                          .mime_type = ses__query_text(&query, 4),
                                          .display_name = ses__query_text(&query, 5),
                                          .metadata = ses__query_text(&query, 6),
                                          .content_id = ses__query_int(&query, 7),
                                          .hash = ses__query_text(&query, 9)};
        walk->session = ses__query_text(&query, 10);
        if (query.code == SES_OK)
            query.code = check_artifact(walk);
    }
    *code = ses__query_end(&query);
    const bool goes_on = *code == SES_OK && count == ARTIFACTS_AT_ONCE;
    *code = ses__check_settle(check, *code, SES_PROBLEM_ARTIFACT);
    return goes_on;
}

int ses__check_artifacts(struct check *check, int64_t user_id)
{
    struct artifact_walk walk = {.check = check, .user_id = user_id, .version = INT64_MIN};
    int code = SES_OK;

    while (!check->ended && check_some_artifacts(&walk, &code))
        ;
    check->about.session = NULL;
    return code == SES_OK && !check->ended ? ses__check_contents(check, user_id, walk.uses) : code;
}
