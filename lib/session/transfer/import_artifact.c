/* Imports artifacts: those of a session with it, and those of a user one by one. */
#include <string.h>

#include "json/base64.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/object.h"
#include "model/event/timestamp.h"
#include "model/state/state.h"
#include "seslite_artifact.h"
#include "session/transfer/import.h"

/* A text, or an address, is looked at as a whole. */
enum { LONGEST_TEXT = 64 * CHUNK_BYTES };

#define USERS "user:"

/* An artifact without bytes has no lines of them. */
#define HASH_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

void ses__import_artifacts_init(struct import_artifacts *artifacts, struct import_call *call,
                                import_next_line *next_line)
{
    *artifacts = (struct import_artifacts){.call = call, .next_line = next_line, .last_version = -1};
    ses__arena_init(&artifacts->arena, &call->store->allocator);
    ses__buffer_init(&artifacts->bytes, &call->store->allocator);
}

void ses__import_artifacts_free(struct import_artifacts *artifacts)
{
    ses__arena_free(&artifacts->arena);
    ses__buffer_free(&artifacts->bytes);
}

static int refuse_artifact(const struct import_artifacts *own, const char *what, ses_error *error)
{
    (void)ses__error_set(error, SES_INVALID, "artifact \"%.100s\": %s", own->row.name.ptr, what);
    return ses__lines_refuse(&own->call->lines, error, SES_INVALID);
}

/* ---------------------------------------------------------------------------------------------- members */

/* Members that only these two kinds of lines have. Others are in the line itself. */
struct artifact_members {
    struct span name;
    struct span content;
    struct span mime_type;
    struct span display_name;
    struct span metadata;
    struct span metadata_text;
    struct span size;
    struct span hash;
    struct span offset;
    struct span data;
};

#define IN_ARTIFACT_A_TEXT(member)                                                         \
    JSON_MAY_BE(JSON_STRING) | JSON_NOT_NULL | JSON_INTO(struct artifact_members, member), \
        ses__json_read_c_text
#define IN_ARTIFACT_A_NUMBER(member)                                                       \
    JSON_MAY_BE(JSON_NUMBER) | JSON_NOT_NULL | JSON_INTO(struct artifact_members, member), \
        ses__json_read_value
#define IN_ARTIFACT_AN_OBJECT(member)                                                      \
    JSON_MAY_BE(JSON_OBJECT) | JSON_NOT_NULL | JSON_INTO(struct artifact_members, member), \
        ses__json_read_value

static const struct json_object artifact_object = {
    "the line", "",
    JSON_FIELDS(
        {"name", NULL, IN_ARTIFACT_A_TEXT(name), NULL}, {"content", NULL, IN_ARTIFACT_A_TEXT(content), NULL},
        {"mime_type", NULL, IN_ARTIFACT_A_TEXT(mime_type), NULL},
        {"display_name", NULL, IN_ARTIFACT_A_TEXT(display_name), NULL},
        {"metadata", NULL, IN_ARTIFACT_AN_OBJECT(metadata), NULL},
        {"metadata_text", NULL, IN_ARTIFACT_A_TEXT(metadata_text), NULL},
        {"size", NULL, IN_ARTIFACT_A_NUMBER(size), NULL}, {"hash", NULL, IN_ARTIFACT_A_TEXT(hash), NULL},
        {"offset", NULL, IN_ARTIFACT_A_NUMBER(offset), NULL},
        {"data", NULL, IN_ARTIFACT_A_TEXT(data), NULL})};

/* Its texts live as long as those of the line. */
static int read_members(struct import_call *call, struct artifact_members *members, ses_error *error)
{
    struct json_reader reader;
    const struct span text = call->line.text;

    memset(members, 0, sizeof *members);
    int code = ses__json_start_object(&reader, text, artifact_object.whole, error);
    reader.arena = &call->lines.arena;
    if (code == SES_OK)
        code = ses__json_read_last(&reader, &artifact_object, members, error);
    if (code != SES_OK)
        return ses__lines_refuse(&call->lines, error, code);
    const struct span all[] = {members->name,         members->content,  members->mime_type,
                               members->display_name, members->metadata, members->metadata_text,
                               members->size,         members->hash,     members->offset,
                               members->data};
    call->report.unknown += (int64_t)call->line.others;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        call->report.unknown -= all[i].ptr != NULL;
    return SES_OK;
}

/* True if the line does not have the number, or has one of 64 bits. */
static bool take_number(struct span value, const char *name, int64_t *number)
{
    return !value.ptr || ses__typed_int64(value, name, number, NULL) == SES_OK;
}

/* ------------------------------------------------------------------------------------- an artifact's line */

/* Returns the fault of an artifact's line, or NULL. An artifact of a user has a name with the prefix, and
 * that of a session does not. */
static const char *find_line_fault(const struct import_artifacts *own)
{
    const struct artifact_row *row = &own->row;
    const bool is_users = own->session && !own->session[0];
    const int order = strcmp(row->name.ptr, own->last_name);
    const struct span hash = row->hash;

    if ((strncmp(row->name.ptr, USERS, sizeof USERS - 1) == 0) != is_users)
        return "its name must begin with " USERS " if it is a user's, and only then";
    if (order < 0)
        return "it is not in the order of names";
    if (row->version < 0 || row->version > MAX_ARTIFACT_VERSION)
        return "its version is not from 0 to 2^32 - 2";
    if (order == 0 && row->version <= own->last_version)
        return "it is not in the order of versions";
    if (!ses__timestamp_holds(row->created_us))
        return "its time is outside the years 0 to 9999";
    if (row->kind < 0)
        return "its content is neither \"text\" nor \"uri\"";
    if (row->mime_type.ptr && row->mime_type.len > SES_ID_MAX)
        return "its MIME type is longer than 512 bytes";
    if (row->display_name.ptr && row->display_name.len > SES_ID_MAX)
        return "its display name is longer than 512 bytes";
    if (row->size < 0 || row->size > LARGEST_ARTIFACT)
        return "its size is missing, or not from 0 to 64 GiB";
    if (row->kind != SES_ARTIFACT_BYTES && row->size > LONGEST_TEXT)
        return "a text or an address has more than 4 MiB";
    if (!hash.ptr || hash.len != SHA256_HEX || strspn(hash.ptr, "0123456789abcdef") != SHA256_HEX)
        return "its hash is no SHA-256 in hexadecimal";
    if (row->size == 0 && memcmp(hash.ptr, HASH_OF_NOTHING, SHA256_HEX) != 0)
        return "its hash is not that of no bytes";
    return NULL;
}

static void begin_row(struct import_artifacts *own, const struct artifact_members *members)
{
    const struct line_value *line = own->call->line.of;
    const char *content = members->content.ptr;
    struct artifact_row *row = &own->row;

    ses__arena_reset(&own->arena);
    *row = (struct artifact_row){.name = members->name,
                                 .version = line[LINE_VERSION].text.ptr ? line[LINE_VERSION].number : -1,
                                 .created_us = line[LINE_CREATED].text.ptr ? line[LINE_CREATED].number
                                                                           : ses__store_now(own->call->store),
                                 .kind = !content                       ? SES_ARTIFACT_BYTES
                                         : strcmp(content, "text") == 0 ? SES_ARTIFACT_TEXT
                                         : strcmp(content, "uri") == 0  ? SES_ARTIFACT_URI
                                                                        : -1,
                                 .mime_type = members->mime_type,
                                 .display_name = members->display_name,
                                 .size = -1,
                                 .hash = members->hash};
    if (!take_number(members->size, "size", &row->size))
        row->size = -1;
}

static int check_imported_name(const struct import_call *call, const struct artifact_members *members,
                               ses_error *error)
{
    const int code = ses__check_id(members->name.ptr ? members->name.ptr : "", "artifact", error);
    return code == SES_OK ? SES_OK : ses__lines_refuse(&call->lines, error, code);
}

/* The texts of the line become those of the artifact. */
static int take_artifact_line(struct import_artifacts *own, const struct artifact_members *members,
                              ses_error *error)
{
    const struct span metadata = members->metadata_text.ptr ? members->metadata_text : members->metadata;
    struct artifact_row *row = &own->row;
    int code = check_imported_name(own->call, members, error);

    if (code != SES_OK)
        return code;
    begin_row(own, members);
    const char *fault = find_line_fault(own);
    if (fault)
        return refuse_artifact(own, fault, error);
    ses__arena_join(&own->arena, &own->call->lines.arena);
    if (metadata.ptr) {
        if (ses__json_check(metadata.ptr, metadata.len, NULL) != SES_OK ||
            ses__json_type_of(ses__json_trim(metadata)) != JSON_OBJECT)
            return refuse_artifact(own, "its metadata is not a JSON object", error);
        row->metadata = (struct span){ses__arena_text(&own->arena, metadata.ptr, metadata.len), metadata.len};
        if (!row->metadata.ptr)
            return ses__error_nomem(error);
    }
    memcpy(own->last_name, row->name.ptr, row->name.len + 1);
    own->last_version = row->version;
    own->offset = 0;
    ses__sha256_init(&own->hash);
    return SES_OK;
}

/* Reads the next line if it is of that kind, and otherwise leaves it. */
static int next_of_kind(struct import_artifacts *own, const char *kind, ses_error *error)
{
    const int code = own->next_line(own->call, error);

    own->call->pending = code == 1 && !ses__line_is(&own->call->line, kind);
    return own->call->pending ? 0 : code;
}

static int next_artifact(void *context, struct artifact_row *row, ses_error *error)
{
    struct import_artifacts *own = context;
    struct artifact_members members;
    int code = next_of_kind(own, "artifact", error);

    if (code != 1)
        return code;
    code = read_members(own->call, &members, error);
    if (code == SES_OK && own->name) {
        const char *session = ses__line_text(&own->call->line, LINE_SESSION);
        if (!members.name.ptr || strcmp(members.name.ptr, own->name) != 0 ||
            strcmp(session ? session : "", own->session) != 0) {
            own->call->pending = true; /* it is another artifact */
            return 0;
        }
    }
    if (code == SES_OK)
        code = take_artifact_line(own, &members, error);
    *row = own->row;
    return code == SES_OK ? 1 : code;
}

/* ------------------------------------------------------------------------------------------------- bytes */

static int take_bytes_line(struct import_artifacts *own, struct span *chunk, ses_error *error)
{
    const struct artifact_row *row = &own->row;
    struct buffer *bytes = &own->bytes;
    struct artifact_members members;
    int64_t offset = own->offset;
    char hex[SHA256_HEX + 1];
    int code = read_members(own->call, &members, error);

    if (code != SES_OK)
        return code;
    if (!members.data.ptr || !take_number(members.offset, "offset", &offset))
        return refuse_artifact(own, "a line of its bytes has no data, or an offset that is no integer",
                               error);
    if (offset != own->offset)
        return refuse_artifact(own, "a line of its bytes is missing, or out of order", error);
    if (row->kind == SES_ARTIFACT_BYTES || offset == 0)
        ses__buffer_cut(bytes, 0);
    if (!ses__buffer_reserve(bytes, members.data.len))
        return ses__error_nomem(error);
    chunk->ptr = bytes->data + bytes->len;
    if (!ses__base64_decode(members.data, bytes->data + bytes->len, &chunk->len))
        return refuse_artifact(own, "a line of its bytes is not base64", error);
    bytes->len += chunk->len;
    const int64_t left = row->size - own->offset;
    if ((int64_t)chunk->len > left)
        return refuse_artifact(own, "it has more bytes than its size says", error);
    if ((int64_t)chunk->len != (left < CHUNK_BYTES ? left : CHUNK_BYTES) || chunk->len == 0)
        return refuse_artifact(own, "a line of its bytes must have 65,536 of them, or be the last", error);
    ses__sha256_add(&own->hash, chunk->ptr, chunk->len);
    own->offset += (int64_t)chunk->len;
    if (own->offset < row->size)
        return SES_OK;
    ses__sha256_end(&own->hash, hex);
    if (memcmp(hex, row->hash.ptr, SHA256_HEX) != 0)
        return refuse_artifact(own, "its bytes do not have its hash: the text was changed", error);
    if (row->kind != SES_ARTIFACT_BYTES && !ses__utf8_valid(bytes->data, bytes->len))
        return refuse_artifact(own, "its text is not UTF-8", error);
    return SES_OK;
}

static int next_bytes(void *context, struct span *chunk, ses_error *error)
{
    struct import_artifacts *own = context;
    const bool has_part = own->offset > 0 || own->row.kind != SES_ARTIFACT_BYTES;
    int code = next_of_kind(own, "bytes", error);

    /* Bytes without lines of their own came before, as a whole. */
    if (code == 0 && own->offset != own->row.size && has_part)
        return refuse_artifact(own, "bytes of it are missing", error);
    if (code != 1)
        return code;
    code = take_bytes_line(own, chunk, error);
    return code == SES_OK ? 1 : code;
}

struct artifact_source ses__import_artifact_source(struct import_artifacts *artifacts)
{
    return (struct artifact_source){.next = next_artifact, .bytes = next_bytes, .context = artifacts};
}

/* ------------------------------------------------------------------------------------ those of a user */

/* Gives the next line of a kind that is known. */
static int next_of_user(struct import_call *call, ses_error *error)
{
    int code = 1;

    while (code == 1) {
        code = ses__import_next(call, error);
        if (code == 1 && ses__import_knows(&call->line))
            return 1;
    }
    return code == 0 ? ses__import_refuse(call, SES_INVALID,
                                          "the text ends after an artifact: it was cut short", error)
                     : code;
}

static void report_artifact(struct import_call *call, const struct load_artifact_op *op, int64_t line)
{
    const bool is_kept = op->outcome == SES_IMPORTED_KEY_KEPT;
    const ses_import_item item = {.app = op->app,
                                  .user = op->user,
                                  .session = op->session[0] ? op->session : NULL,
                                  .artifact = op->name,
                                  .outcome = op->outcome,
                                  .line = line};

    call->report.artifacts += op->source.stored;
    call->report.artifacts_kept += is_kept;
    if (is_kept || op->outcome == SES_IMPORTED_KEY_REPLACED)
        ses__import_report(call, &item);
}

/* The names of the artifact and its session, which the next line takes away. */
struct imported_names {
    char name[SES_ID_MAX + 1];
    char session[SES_ID_MAX + 1];
};

static int take_artifact_names(struct import_call *call, struct imported_names *names, ses_error *error)
{
    const char *session = ses__line_text(&call->line, LINE_SESSION);
    struct artifact_members members;
    int code = read_members(call, &members, error);

    if (code == SES_OK)
        code = check_imported_name(call, &members, error);
    if (code != SES_OK)
        return code;
    if (session && (code = ses__check_id(session, "session", error)) != SES_OK)
        return ses__lines_refuse(&call->lines, error, code);
    memcpy(names->name, members.name.ptr, members.name.len + 1);
    names->session[0] = '\0';
    if (session)
        memcpy(names->session, session, strlen(session) + 1);
    return SES_OK;
}

int ses__import_artifact(struct import_call *call, ses_error *error)
{
    const int64_t line = call->lines.number;
    struct import_artifacts own;
    struct imported_names names;
    int code = ses__import_write_keys(call, error);

    if (code == SES_OK && !call->keys.user)
        return ses__import_refuse(call, SES_INVALID, "an artifact comes before the user that has it", error);
    if (code == SES_OK)
        code = take_artifact_names(call, &names, error);
    if (code != SES_OK)
        return code;
    ses__import_artifacts_init(&own, call, next_of_user);
    own.name = names.name;
    own.session = names.session;
    call->pending = true;
    struct load_artifact_op op = {.limits = call->limits,
                                  .app = call->keys.app,
                                  .user = call->keys.user,
                                  .session = names.session,
                                  .name = names.name,
                                  .updates = (call->options.flags & SES_IMPORT_UPDATE) != 0,
                                  .replaces = (call->options.flags & SES_IMPORT_REPLACE_KEYS) != 0,
                                  .dry_run = (call->options.flags & SES_IMPORT_DRY_RUN) != 0,
                                  .now_us = ses__store_now(call->store),
                                  .source = ses__import_artifact_source(&own)};
    code = ses__door_load_artifact(call->store->storage, &op, error);
    if (code == SES_OK)
        report_artifact(call, &op, line);
    else if (code == SES_INVALID)
        ses__error_prefix(error, "line %lld, user %.60s/%.60s: ", (long long)line, op.app, op.user);
    ses__import_artifacts_free(&own);
    return code;
}
