/* Artifacts, as a check looks at them: their rows, and their contents, which must have as many uses as they
 * say, and bytes of their hash. */
#include <string.h>

#include "base/error.h"
#include "base/sha256/sha256.h"
#include "base/utf8.h"
#include "model/event/artifacts.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/upkeep/check.h"

/* ------------------------------------------------------------------------------------------ contents */

enum { CHUNKS_AT_ONCE = 16 };

/* A save writes for an hour at most. Older pieces were left by a save that was killed. */
#define LEFT_OVER_US (6 * HOUR_US)

static uint64_t content_weight(const struct check *check, int64_t content_id)
{
    return ses__hash_keyed(&check->op->seed, (struct span){(const char *)&content_id, sizeof content_id});
}

/* A walk over the contents of a user: first those that have a hash, in its order, then those that are being
 * written. */
struct checked_content {
    int64_t user_id;
    /* The uses by artifacts, less the uses that contents record: 0 at the end, or some are wrong. */
    uint64_t uses_left;
    bool found; /* false: there is no other */
    int64_t id;
    int64_t size;
    int64_t uses;
    int64_t written_us;
    bool is_written; /* all of it, so that it has a hash */
    bool has_hash;   /* which can be one */
    char hash[SES_ID_MAX + 1];
    size_t hash_len;
};

static void content_fault(struct check *check, const struct checked_content *content, const char *fault)
{
    ses__check_found(check, SES_PROBLEM_ARTIFACT, 0, "content number %lld %s", (long long)content->id, fault);
}

/* Chunks from `*number` on. False: there are no more that are sound. */
static bool check_some_chunks(struct check *check, const struct checked_content *content, int64_t *number,
                              struct sha256 *hash, int *code)
{
    struct query query;
    bool sound = true;
    int count = 0;

    ses__query_open(&query, check->db, STATEMENT_CHECK_CHUNKS, &check->error,
                    VALUES(INT(content->id), INT(*number), INT(CHUNKS_AT_ONCE)));
    while (sound && ses__query_row(&query)) {
        const struct span bytes = ses__query_bytes(&query, 1);
        const int64_t left = content->size - *number * CHUNK_BYTES;
        sound = bytes.ptr && left > 0 && ses__query_int(&query, 0) == *number &&
                (int64_t)bytes.len == (left < CHUNK_BYTES ? left : CHUNK_BYTES);
        if (sound) {
            ses__sha256_add(hash, bytes.ptr, bytes.len);
            (*number)++;
            count++;
        }
    }
    *code = ses__query_end(&query);
    if (*code == SES_OK && !sound)
        ses__check_found(check, SES_PROBLEM_ARTIFACT, 0,
                         "content number %lld: chunk %lld is missing, has the wrong size, or is one too many",
                         (long long)content->id, (long long)*number);
    return *code == SES_OK && sound && count == CHUNKS_AT_ONCE;
}

static int check_bytes(struct check *check, const struct checked_content *content)
{
    const int64_t before = check->op->problems;
    char hex[SHA256_HEX + 1];
    struct sha256 hash;
    int64_t number = 0;
    int code = SES_OK;

    ses__sha256_init(&hash);
    while (check_some_chunks(check, content, &number, &hash, &code))
        ;
    if (code != SES_OK || check->op->problems > before)
        return ses__check_settle(check, code, SES_PROBLEM_ARTIFACT);
    ses__sha256_end(&hash, hex);
    if (number * CHUNK_BYTES < content->size)
        content_fault(check, content, "has fewer chunks than its size says");
    else if (content->has_hash && strcmp(hex, content->hash) != 0)
        content_fault(check, content, "has bytes that do not have its hash");
    return SES_OK;
}

static int check_content(struct check *check, struct checked_content *content)
{
    const char *const fault =
        content->id <= 0 || content->size < 0 || content->size > LARGEST_ARTIFACT
            ? "has a number or a size that cannot be"
        : !ses__timestamp_holds(content->written_us) ? "has a time that cannot be"
        : content->is_written && !content->has_hash  ? "has a hash that cannot be one"
        : content->is_written && content->uses <= 0  ? "is used by no artifact"
        : !content->is_written && content->uses != 0 ? "is used before all of it is written"
        : !content->is_written && check->op->now_us - content->written_us > LEFT_OVER_US
            ? "was left by a save that did not end: the next save of the user removes it"
            : NULL;

    content->uses_left -= (uint64_t)content->uses * content_weight(check, content->id);
    if (!fault)
        return check_bytes(check, content);
    content_fault(check, content, fault);
    return SES_OK;
}

/* Where the sum of all uses is wrong, each is counted. */
static int recount_uses(struct check *check, struct checked_content *content)
{
    int64_t count = 0;
    const int code = ses__query_number(check->db, STATEMENT_CHECK_USES, &count, &check->error,
                                       VALUES(INT(content->user_id), INT(content->id)));

    if (code == SES_OK && count != content->uses)
        ses__check_found(check, SES_PROBLEM_ARTIFACT, 0,
                         "content number %lld is used by %lld artifacts, and says that it is by %lld",
                         (long long)content->id, (long long)count, (long long)content->uses);
    return ses__check_settle(check, code, SES_PROBLEM_ARTIFACT);
}

static int read_next_content(struct check *check, struct checked_content *content)
{
    const int64_t after = content->id;
    const struct checked_content from = *content; /* for the query */
    const struct span last = {from.hash, from.hash_len};
    const struct value *next = VALUES(INT(from.user_id), INT(after));
    const struct value *next_written = VALUES(INT(from.user_id), TEXT(last));
    struct query query;

    ses__query_open(&query, check->db,
                    content->is_written ? STATEMENT_CHECK_CONTENT_AFTER : STATEMENT_CHECK_UNFINISHED_AFTER,
                    &check->error, content->is_written ? next_written : next);
    content->found = ses__query_row(&query);
    if (content->found) {
        content->id = ses__query_int(&query, 0);
        content->size = ses__query_int(&query, 2);
        content->uses = ses__query_int(&query, 3);
        content->written_us = ses__query_int(&query, 4);
        const struct span hash = ses__query_text(&query, 1);
        const bool ascends = content->is_written
                                 ? hash.ptr && hash.len <= SES_ID_MAX && ses__span_order(last, hash) < 0
                                 : !hash.ptr && content->id > after;
        if (ascends && hash.ptr) {
            memcpy(content->hash, hash.ptr, content->hash_len = hash.len);
            content->hash[hash.len] = '\0';
            content->has_hash =
                hash.len == SHA256_HEX && strspn(content->hash, "0123456789abcdef") == SHA256_HEX;
        }
        if (!ascends && query.code == SES_OK)
            query.code = ses__error_set(&check->error, SES_CORRUPT,
                                        "the contents of user number %lld are out of order",
                                        (long long)content->user_id);
    }
    const int code = ses__query_end(&query);
    if (code != SES_OK)
        content->found = false; /* the walk cannot continue */
    return ses__check_settle(check, code, SES_PROBLEM_ARTIFACT);
}

static int walk_contents(struct check *check, struct checked_content *content, bool written,
                         int (*look)(struct check *, struct checked_content *))
{
    content->is_written = written;
    content->has_hash = false;
    content->hash_len = 0;
    content->id = INT64_MIN;
    int code = read_next_content(check, content);
    while (code == SES_OK && content->found && !check->ended) {
        code = look(check, content);
        if (code == SES_OK)
            code = read_next_content(check, content);
    }
    return code;
}

static int check_contents(struct check *check, int64_t user_id, uint64_t uses)
{
    struct checked_content content = {.user_id = user_id, .uses_left = uses};
    int code = walk_contents(check, &content, true, check_content);

    if (code == SES_OK && !check->ended)
        code = walk_contents(check, &content, false, check_content);
    if (code == SES_OK && !check->ended && content.uses_left != 0)
        code = walk_contents(check, &content, true, recount_uses);
    return code;
}

/* ----------------------------------------------------------------------------------------- artifacts */

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
        walk->uses += content_weight(check, walk->row.content_id);
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
    return code == SES_OK && !check->ended ? check_contents(check, user_id, walk.uses) : code;
}
