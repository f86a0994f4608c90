/* Opens artifacts and reads their bytes. */
#include <string.h>

#include "artifact/artifact.h"
#include "artifact/begun.h"
#include "base/error.h"
#include "base/memory.h"

struct ses_artifact {
    ses_store *store;
    struct arena arena;
    struct artifact_info info;
    int64_t user_id;
    int64_t timeout_ms;
    ses_cancel *cancel;
    int64_t hashed; /* bytes that were read in order from the first on; -1: not in order */
    struct sha256 hash;
};

/* --------------------------------------------------------------------------------------------- opening */

/* The longest address that can lead to an artifact: three ids and a name, and the words between them. The
 * statement that finds an artifact has the same number. */
enum { LONGEST_URI = 4 * SES_ID_MAX + 128 };

struct opening {
    struct artifact_call call; /* whose name and owner a reference changes */
    bool stored;
    int64_t version; /* INT64_MAX: the newest */
    struct arena *arena;
    /* out */
    int64_t user_id;
    struct artifact_info info;
    char uri[LONGEST_URI];
    size_t uri_len; /* of a reference that is to be followed; 0: none */
};

static bool is_tombstone(const struct artifact_row *row)
{
    static const char type[] = "application/octet-stream";
    return row->kind == SES_ARTIFACT_BYTES && row->size == 0 && row->mime_type.ptr &&
           row->mime_type.len == sizeof type - 1 && memcmp(row->mime_type.ptr, type, sizeof type - 1) == 0;
}

/* Takes the address that the artifact is, if it leads to another artifact. */
static int take_reference(struct opening *opening, const struct db *db, const struct artifact_row *row,
                          ses_error *error)
{
    opening->uri_len = 0;
    if (opening->stored || row->kind != SES_ARTIFACT_URI || row->size > LONGEST_URI || row->size == 0)
        return SES_OK;
    if (!row->address.ptr || (int64_t)row->address.len != row->size)
        return ses__error_set(error, SES_CORRUPT,
                              "%s: chunk 0 of content number %lld is missing, or has the wrong size",
                              db->name, (long long)row->content_id);
    if (ses__artifact_is_uri(row->address)) {
        memcpy(opening->uri, row->address.ptr, row->address.len);
        opening->uri_len = row->address.len;
    }
    return SES_OK;
}

static int take_row(struct opening *opening, struct artifact_rows *rows, ses_error *error)
{
    struct artifact_row row;
    const bool found = ses__artifact_rows_next(rows, &row);
    int code = rows->query.code;

    if (code == SES_OK && (!found || (opening->version != INT64_MAX && row.version != opening->version) ||
                           (!opening->stored && is_tombstone(&row))))
        code = ses__artifact_absent(&opening->call, error);
    if (code == SES_OK)
        code = ses__artifact_check_kind(rows->query.db, &row, error);
    if (code == SES_OK)
        code = take_reference(opening, rows->query.db, &row, error);
    if (code == SES_OK && opening->uri_len == 0)
        code = ses__artifact_info_make(&opening->info, &row, &opening->call, opening->arena, error);
    ses__query_keep(&rows->query, code);
    return ses__query_end(&rows->query);
}

static int run_opening(struct db *db, void *context, ses_error *error)
{
    struct opening *opening = context;
    struct artifact_rows rows;
    struct artifact_owner owner;
    struct query user;
    int code = ses__artifact_ask_owner(&user, db, &opening->call, &owner, error);

    ses__arena_reset(opening->arena); /* of an earlier run */
    if (code == SES_OK) {
        ses__artifact_open(&rows, db, &owner, ses__span_of(opening->call.name), opening->version, error);
        ses__db_ask_last(db);
        code = ses__artifact_take_owner(&user, &owner);
    }
    if (code == SES_NOTFOUND)
        return ses__artifact_absent(&opening->call, error);
    if (code != SES_OK)
        return code;
    opening->user_id = rows.owner.user_id = owner.user_id;
    return take_row(opening, &rows, error);
}

/* Opens the version, and those to which it refers, one after the other. */
static int run_openings(const struct limits *limits, struct opening *opening, ses_error *error)
{
    ses_store *store = opening->call.at.store;
    char name[SES_ID_MAX + 1];

    memcpy(name, opening->call.name, sizeof name);
    for (int depth = 0; depth <= SES_ARTIFACT_DEPTH; depth++) {
        int code = ses__run_within(store->storage, limits, TO_READ, run_opening, opening, error);
        if (code != SES_OK || opening->uri_len == 0)
            return code;
        code = ses__artifact_follow_uri(&opening->call, limits, (struct span){opening->uri, opening->uri_len},
                                        &opening->version, error);
        if (code != SES_OK)
            return code;
    }
    return ses__error_set(error, SES_INVALID,
                          "the artifact \"%.100s\" refers to another one through more than %d references",
                          name, SES_ARTIFACT_DEPTH);
}

static int open_artifact(const struct artifact_call *call, const ses_artifact_open_options *given,
                         ses_artifact **artifact, ses_error *error)
{
    ses_store *store = call->at.store;
    ses_artifact_open_options options;
    int code = ses__take_flagged(&options, sizeof options, given, SES_ARTIFACT_OPEN_STORED,
                                 "artifact open options", error);

    if (code == SES_OK && options.version && *options.version < 0)
        code = ses__error_set(error, SES_INVALID, "artifact open options: version is negative");
    if (code != SES_OK)
        return code;
    ses_artifact *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    *fresh = (ses_artifact){.store = store, .timeout_ms = options.timeout_ms, .cancel = options.cancel};
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    ses__sha256_init(&fresh->hash);
    const struct limits limits = LIMITS_OF(store, options);
    struct opening opening = {.call = *call,
                              .stored = (options.flags & SES_ARTIFACT_OPEN_STORED) != 0,
                              .version = options.version ? *options.version : INT64_MAX,
                              .arena = &fresh->arena};
    code = run_openings(&limits, &opening, error);
    fresh->info = opening.info;
    fresh->user_id = opening.user_id;
    if (code == SES_OK)
        *artifact = fresh;
    else
        ses_artifact_close(fresh);
    return code;
}

static int open_at(const struct target *target, const char *name, const ses_artifact_open_options *options,
                   ses_artifact **artifact, ses_error *error)
{
    struct artifact_call call;
    int code = ses__check_output(artifact, "artifact", error);

    if (code == SES_OK)
        code = ses__artifact_begin(&call, target, name ? name : "", error);
    return code == SES_OK ? ses__call_end(&call.at, open_artifact(&call, options, artifact, error)) : code;
}

int ses_artifact_open(ses_session *session, const char *name, const ses_artifact_open_options *options,
                      ses_artifact **artifact, ses_error *error)
{
    return open_at(ON(session), name, options, artifact, error);
}

int ses_artifact_open_by_key(ses_store *store, const ses_key *key, const char *name,
                             const ses_artifact_open_options *options, ses_artifact **artifact,
                             ses_error *error)
{
    return open_at(AT(store, key), name, options, artifact, error);
}

int ses__begun_artifact_open(ses_store *store, const ses_key *key, struct span name, int64_t version,
                             const ses_artifact_open_options *options, ses_artifact **artifact,
                             ses_error *error)
{
    struct artifact_call call = {.at = {.store = store, .key = *key}};
    ses_artifact_open_options of_version = *options;
    char text[SES_ID_MAX + 1];

    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    const int code = ses__artifact_take_name(&call, text, error);
    of_version.version = &version;
    return code == SES_OK ? open_artifact(&call, &of_version, artifact, error) : code;
}

int ses__begun_artifact_follow(ses_store *store, const ses_key *key, struct span uri,
                               const ses_artifact_open_options *options, ses_artifact **artifact,
                               ses_error *error)
{
    struct artifact_call call = {.at = {.store = store, .key = *key}};
    ses_artifact_open_options of_version = *options;
    const struct limits limits = LIMITS_OF(store, *options);
    int64_t version = 0;
    const int code = ses__artifact_follow_uri(&call, &limits, uri, &version, error);

    of_version.version = &version;
    return code == SES_OK ? open_artifact(&call, &of_version, artifact, error) : code;
}

const ses_artifact_info *ses_artifact_info_of(const ses_artifact *artifact)
{
    return &artifact->info.shown;
}

void ses_artifact_close(ses_artifact *artifact)
{
    if (artifact) {
        ses_store *store = artifact->store;
        ses__arena_free(&artifact->arena);
        ses__memory_free(&store->allocator, artifact);
        ses__store_release(store);
    }
}

/* --------------------------------------------------------------------------------------------- reading */

/* The most bytes that one transaction reads. */
enum { READ_BYTES = ARTIFACT_PIECE };

struct reading {
    const ses_artifact *artifact;
    int64_t offset;
    char *buffer;
    size_t len;
};

static int run_reading_bytes(struct db *db, void *context, ses_error *error)
{
    const struct reading *reading = context;
    const ses_artifact *artifact = reading->artifact;
    const struct artifact_row row = {.content_id = artifact->info.content_id,
                                     .size = artifact->info.shown.size,
                                     .hash = ses__span_of(artifact->info.shown.hash)};
    const struct blob_range range = {&row, reading->offset, reading->len};
    struct query query;

    ses__blob_open(&query, db, artifact->user_id, &range, error);
    ses__db_ask_last(db);
    const int code = ses__blob_read(&query, &range, reading->buffer);
    return code == SES_NOTFOUND
               ? ses__error_set(error, SES_NOTFOUND, "the artifact \"%.100s\" was deleted while it was open",
                                artifact->info.shown.name)
               : code;
}

/* After the last of all bytes, read in order, they must have their hash. No bytes have one, too. */
static int check_hash(ses_artifact *artifact, const struct reading *read, ses_error *error)
{
    const ses_artifact_info *info = &artifact->info.shown;
    char hash[SHA256_HEX + 1];

    if (read->offset == 0 && artifact->hashed != 0) { /* from the beginning once more */
        ses__sha256_init(&artifact->hash);
        artifact->hashed = 0;
    }
    if (artifact->hashed != read->offset) {
        artifact->hashed = -1;
        return SES_OK;
    }
    ses__sha256_add(&artifact->hash, read->buffer, read->len);
    artifact->hashed += (int64_t)read->len;
    if (artifact->hashed < info->size)
        return SES_OK;
    struct sha256 whole = artifact->hash;
    ses__sha256_end(&whole, hash);
    return strcmp(hash, info->hash) == 0
               ? SES_OK
               : ses__error_set(error, SES_CORRUPT,
                                "the bytes of the artifact \"%.100s\" do not have its hash", info->name);
}

int ses__begun_artifact_read(ses_artifact *artifact, int64_t offset, char *buffer, size_t capacity,
                             size_t *len, ses_error *error)
{
    ses_store *store = artifact->store;
    const struct limits limits = ses__limits(store, artifact->timeout_ms, artifact->cancel);
    const int64_t left = offset < artifact->info.shown.size ? artifact->info.shown.size - offset : 0;
    const size_t all = capacity < (uint64_t)left ? capacity : (size_t)left;
    const struct sha256 hash = artifact->hash;
    const int64_t hashed = artifact->hashed;
    size_t done = 0;
    int code = SES_OK;

    do {
        const size_t part = all - done < READ_BYTES ? all - done : READ_BYTES;
        struct reading reading = {artifact, offset + (int64_t)done, buffer + done, part};
        if (part > 0)
            code = ses__run_within(store->storage, &limits, TO_READ, run_reading_bytes, &reading, error);
        if (code == SES_OK)
            code = check_hash(artifact, &reading, error);
        done += part;
    } while (done < all && code == SES_OK);
    if (code == SES_OK) {
        *len = done;
    } else { /* the same read may follow */
        artifact->hash = hash;
        artifact->hashed = hashed;
    }
    return code;
}

int ses_artifact_read(ses_artifact *artifact, int64_t offset, void *buffer, size_t capacity, size_t *len,
                      ses_error *error)
{
    int code = ses__store_begin(artifact ? artifact->store : NULL, error);

    if (code != SES_OK)
        return code;
    code = ses__check_argument(buffer, "buffer", error);
    if (code == SES_OK)
        code = ses__check_argument(len, "len", error);
    if (code == SES_OK && offset < 0)
        code = ses__error_set(error, SES_INVALID, "the offset is negative");
    if (code == SES_OK)
        code = ses__begun_artifact_read(artifact, offset, buffer, capacity, len, error);
    return ses__store_end(artifact->store, code);
}
