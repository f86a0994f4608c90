/* The bytes of an artifact, on their way into the store. */
#include <inttypes.h>
#include <string.h>

#include "artifact/artifact.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "json/object.h"
#include "model/event/timestamp.h"

#define DEFAULT_MAX_BYTES (INT64_C(64) << 20)

/* ----------------------------------------------------------------------------------------- the options */

static int check_artifact_word(const char *text, const char *what, ses_error *error)
{
    return text && (strlen(text) > SES_ID_MAX || !ses__utf8_valid(text, strlen(text)))
               ? ses__error_set(error, SES_INVALID,
                                "artifact options: %s is longer than %d bytes, or not UTF-8", what,
                                SES_ID_MAX)
               : SES_OK;
}

static int take_metadata(struct artifact_new *fresh, const ses_store *store, ses_error *error)
{
    const ses_artifact_save_options *options = &fresh->options;
    int code = SES_OK;

    if (!options->metadata)
        return SES_OK;
    code =
        ses__check_text(store, options->metadata, options->metadata_len, "metadata", &fresh->metadata, error);
    if (code == SES_OK)
        code = ses__json_check(fresh->metadata.ptr, fresh->metadata.len, error);
    if (code == SES_OK && ses__json_type_of(ses__json_trim(fresh->metadata)) != JSON_OBJECT)
        code = ses__error_set(error, SES_INVALID, "it must be an object");
    if (code != SES_OK)
        ses__error_prefix(error, "artifact options: `metadata`: ");
    return code;
}

static int check_numbers(ses_artifact_save_options *options, ses_error *error)
{
    const int64_t *created_us = options->created_us;

    if (options->kind < SES_ARTIFACT_BYTES || options->kind > SES_ARTIFACT_URI)
        return ses__error_set(error, SES_MISUSE, "artifact options: kind %d is not known", options->kind);
    if (options->max_bytes < 0 || options->max_bytes > LARGEST_ARTIFACT)
        return ses__error_set(error, SES_INVALID, "artifact options: max_bytes is not between 0 and 64 GiB");
    if (created_us && (*created_us < TIMESTAMP_MIN || *created_us > TIMESTAMP_MAX))
        return ses__error_set(error, SES_INVALID,
                              "artifact options: created_us is not in the years 0 to 9999");
    if (options->max_bytes == 0)
        options->max_bytes = DEFAULT_MAX_BYTES;
    return SES_OK;
}

static int take_save_options(struct artifact_new *fresh, const ses_store *store,
                             const ses_artifact_save_options *given, ses_error *error)
{
    ses_artifact_save_options *own = &fresh->options;
    int code =
        ses__take_flagged(own, sizeof *own, given, SES_ARTIFACT_WITHOUT_SESSION, "artifact options", error);

    if (code == SES_OK)
        code = check_numbers(own, error);
    if (code == SES_OK)
        code = check_artifact_word(own->mime_type, "mime_type", error);
    if (code == SES_OK)
        code = check_artifact_word(own->display_name, "display_name", error);
    return code == SES_OK ? take_metadata(fresh, store, error) : code;
}

/* -------------------------------------------------------------------------------------------- the bytes */

/* Where they come from, and how far they were taken. */
struct source {
    struct artifact_new *fresh;
    const struct artifact_call *call;
    const char *bytes; /* NULL: they are read */
    int64_t expected;  /* -1: any number */
    int64_t taken;
    bool ended;
    struct sha256 hash;
};

static int refuse_size(const struct source *source, const char *how, ses_error *error)
{
    return ses__error_set(error, SES_INVALID,
                          "artifact \"%.100s\": there are %s bytes than the %" PRId64 " that were announced",
                          source->call->name, how, source->expected);
}

static int refuse_long(const struct source *source, ses_error *error)
{
    return ses__error_set(error, SES_LIMIT,
                          "artifact \"%.100s\": it has more than %" PRId64
                          " bytes, which is the limit (max_bytes)",
                          source->call->name, source->fresh->options.max_bytes);
}

static int ask_reader(const struct source *source, char *buffer, size_t capacity, size_t *len,
                      ses_error *error)
{
    const ses_artifact_save_options *options = &source->fresh->options;
    ses_error own;

    *len = 0;
    ses__error_clear(&own);
    const int code = options->read(options->read_context, buffer, capacity, len, &own);
    if (code != SES_OK)
        return ses__error_called(error, code, 0, &own, "reads it");
    if (*len > capacity)
        return ses__error_set(error, SES_MISUSE, "the function that reads it gave more than was asked for");
    return SES_OK;
}

/* Calls the function until the piece is full, or it has no more. */
static int read_piece(struct source *source, struct span *piece, ses_error *error)
{
    char *buffer = source->fresh->buffer;
    size_t filled = 0;
    size_t more = 0;

    while (filled < ARTIFACT_PIECE && !source->ended) {
        if (ses__limits_passed(&source->fresh->limits))
            return ses__limits_refuse(source->call->at.store->path, error);
        const int code = ask_reader(source, buffer + filled, ARTIFACT_PIECE - filled, &more, error);
        if (code != SES_OK) {
            ses__error_prefix(error, "artifact \"%.100s\": ", source->call->name);
            return code;
        }
        filled += more;
        source->ended = more == 0;
    }
    *piece = (struct span){buffer, filled};
    return SES_OK;
}

static int next_piece(struct source *source, struct span *piece, ses_error *error)
{
    int code = SES_OK;

    if (source->bytes) {
        const int64_t left = source->expected - source->taken;
        source->ended = left <= ARTIFACT_PIECE;
        *piece = (struct span){source->bytes + source->taken, source->ended ? (size_t)left : ARTIFACT_PIECE};
    } else {
        code = read_piece(source, piece, error);
    }
    if (code != SES_OK)
        return code;
    if (source->taken + (int64_t)piece->len > source->fresh->options.max_bytes)
        return refuse_long(source, error);
    if (source->expected >= 0 && source->taken + (int64_t)piece->len > source->expected)
        return refuse_size(source, "more", error);
    if (source->ended && source->expected >= 0 && source->taken + (int64_t)piece->len < source->expected)
        return refuse_size(source, "fewer", error);
    ses__sha256_add(&source->hash, piece->ptr, piece->len);
    return SES_OK;
}

/* One piece, written in a transaction of its own. */
struct writing {
    const struct artifact_call *call;
    bool anyway;
    int64_t user_id; /* 0 before the first piece */
    int64_t id;
    int64_t written;
    struct span piece;
    int64_t now_us;
    /* out */
    int64_t made_id;
};

static int run_writing(struct db *db, void *context, ses_error *error)
{
    struct writing *writing = context;
    struct artifact_owner owner = {.user_id = writing->user_id};
    int code = SES_OK;

    writing->made_id = writing->id;
    if (writing->id > 0) /* or what is being written of a user that is deleted would stay */
        ses__db_lock(db, SCOPE_USER, writing->user_id, false);
    if (writing->id == 0)
        code = ses__artifact_make_owner(db, writing->call, writing->anyway, &owner, error);
    if (code == SES_OK && writing->id == 0)
        code = ses__contents_sweep(db, owner.user_id, writing->now_us, error);
    if (code == SES_OK)
        code = ses__blob_write(db, owner.user_id, &writing->made_id, writing->written, writing->piece,
                               writing->now_us, error);
    writing->user_id = owner.user_id;
    return code;
}

/* Writes the pieces, of which this is the first, and all are more than one. */
static int write_pieces(struct source *source, struct span piece, ses_error *error)
{
    struct artifact_new *fresh = source->fresh;
    ses_store *store = source->call->at.store;
    struct writing writing = {.call = source->call,
                              .anyway = (fresh->options.flags & SES_ARTIFACT_WITHOUT_SESSION) != 0};
    int code = SES_OK;

    while (code == SES_OK && piece.len > 0) {
        writing.piece = piece;
        writing.now_us = ses__store_now(store);
        code = ses__run_within(store->storage, &fresh->limits, TO_WRITE(piece.len), run_writing, &writing,
                               error);
        if (code == SES_UNKNOWN) { /* of the piece; the artifact is certainly not stored */
            ses__error_prefix(error, "artifact \"%.100s\": it is not saved: ", source->call->name);
            if (error)
                error->code = SES_IO;
            code = SES_IO;
        }
        if (code != SES_OK)
            return code;
        writing.id = fresh->blob.written_id = writing.made_id;
        fresh->user_id = writing.user_id;
        writing.written += (int64_t)piece.len;
        source->taken = writing.written;
        piece.len = 0;
        if (!source->ended)
            code = next_piece(source, &piece, error);
    }
    return code;
}

static int take_bytes(struct source *source, ses_error *error)
{
    struct artifact_new *fresh = source->fresh;
    struct span piece;
    int code = SES_OK;

    ses__sha256_init(&source->hash);
    if (!source->bytes && !(fresh->buffer = ses__memory_new(fresh->allocator, ARTIFACT_PIECE)))
        return ses__error_nomem(error);
    code = next_piece(source, &piece, error);
    if (code != SES_OK)
        return code;
    fresh->blob.size = (int64_t)piece.len;
    fresh->blob.bytes = piece.ptr;
    if (!source->ended) {
        code = write_pieces(source, piece, error);
        fresh->blob.size = source->taken;
        fresh->blob.bytes = NULL;
    }
    ses__sha256_end(&source->hash, fresh->blob.hash);
    return code;
}

/* A text or an address is short enough to be looked at as a whole. */
static int check_kind(const struct artifact_new *fresh, const struct artifact_call *call, ses_error *error)
{
    const struct span text = {fresh->blob.bytes, (size_t)fresh->blob.size};

    if (fresh->options.kind == SES_ARTIFACT_BYTES)
        return SES_OK;
    if (!text.ptr)
        return ses__error_set(error, SES_LIMIT,
                              "artifact \"%.100s\": a text or an address has more than 4 MiB", call->name);
    if (!ses__utf8_valid(text.ptr, text.len))
        return ses__error_set(error, SES_INVALID, "artifact \"%.100s\": the text is not UTF-8", call->name);
    if (fresh->options.kind == SES_ARTIFACT_URI && ses__artifact_is_uri(text))
        return ses__artifact_check_uri(call, text, error);
    return SES_OK;
}

static int check_artifact_source(struct source *source, const void *bytes, size_t len, ses_error *error)
{
    const ses_artifact_save_options *options = &source->fresh->options;
    const uint64_t bytes_given = len; /* of which a size_t may be too small to exceed the largest artifact */

    if (!bytes == !options->read && (len > 0 || options->read))
        return ses__error_set(error, SES_MISUSE,
                              "an artifact has either bytes or a function that reads them");
    source->bytes = options->read ? NULL : bytes ? bytes : "";
    source->expected = len == SES_NUL                   ? -1
                       : bytes_given > LARGEST_ARTIFACT ? LARGEST_ARTIFACT + 1
                                                        : (int64_t)bytes_given;
    if (len == SES_NUL && bytes)
        source->expected = (int64_t)strlen(bytes);
    return source->expected > options->max_bytes ? refuse_long(source, error) : SES_OK;
}

int ses__artifact_upload(struct artifact_new *fresh, const struct artifact_call *call, const void *bytes,
                         size_t len, const ses_artifact_save_options *options, ses_error *error)
{
    ses_store *store = call->at.store;
    struct source source = {.fresh = fresh, .call = call};

    *fresh = (struct artifact_new){.allocator = &store->allocator};
    int code = take_save_options(fresh, store, options, error);
    if (code == SES_OK)
        code = check_artifact_source(&source, bytes, len, error);
    if (code != SES_OK)
        return code;
    fresh->limits = LIMITS_OF(store, fresh->options);
    code = take_bytes(&source, error);
    return code == SES_OK ? check_kind(fresh, call, error) : code;
}

/* ------------------------------------------------------------------------------------------- the end */

static int run_dropping(struct db *db, void *context, ses_error *error)
{
    const struct artifact_new *fresh = context;
    return ses__blob_drop(db, fresh->user_id, fresh->blob.written_id, error);
}

void ses__artifact_new_free(struct artifact_new *fresh, ses_store *store)
{
    ses__memory_free(fresh->allocator, fresh->buffer);
    fresh->buffer = NULL;
    if (fresh->blob.written_id > 0) /* if it fails, a later save sweeps it */
        (void)ses__run(store->storage, TO_WRITE(0), run_dropping, fresh, NULL);
    fresh->blob.written_id = 0;
}

int ses__artifact_store(struct query *same, const struct artifact_owner *owner,
                        const struct artifact_new *fresh, struct span name, int64_t version, int64_t now_us)
{
    const ses_artifact_save_options *options = &fresh->options;
    struct db *db = same->db;
    ses_error *error = same->error;
    struct artifact_row row = {.name = name,
                               .version = version,
                               .created_us = options->created_us ? *options->created_us : now_us,
                               .kind = options->kind,
                               .mime_type = ses__span_of(options->mime_type),
                               .display_name = ses__span_of(options->display_name),
                               .metadata = fresh->metadata};
    const int code = ses__blob_take_found(same, owner->user_id, &fresh->blob, now_us, &row.content_id);
    return code == SES_OK ? ses__artifact_add(db, owner, &row, error) : code;
}

int ses__artifact_store_next(struct db *db, const struct artifact_owner *owner,
                             const struct artifact_new *fresh, struct span name, int64_t now_us,
                             int64_t *version, ses_error *error)
{
    struct artifact_rows newest;
    struct query same;

    ses__artifact_newest_open(&newest, db, owner, name, error);
    ses__blob_find(&same, db, owner->user_id, &fresh->blob, error);
    const int code = ses__artifact_newest_take(&newest, version);
    return code == SES_OK ? ses__artifact_store(&same, owner, fresh, name, *version, now_us) : code;
}
