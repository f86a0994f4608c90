/* Artifacts: saves, lists, shows and deletes them, with the requests and replies of google-adk. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

/* A reply that is written piece by piece. */
struct writing {
    char *text;
    size_t len;
    FILE *out;
};

static bool writing_begin(struct writing *writing)
{
    *writing = (struct writing){.text = NULL};
    writing->out = open_memstream(&writing->text, &writing->len);
    return writing->out != NULL;
}

static enum MHD_Result writing_reply(struct writing *writing, struct request *request)
{
    if (fclose(writing->out) == 0)
        return reply_text(request, MHD_HTTP_OK, writing->text, writing->len, "application/json");
    free(writing->text);
    return MHD_NO;
}

static enum MHD_Result writing_fail(struct writing *writing, struct request *request, const ses_error *error)
{
    (void)fclose(writing->out);
    free(writing->text);
    return reply_error(request, error);
}

/* ------------------------------------------------------------------------------------------ what is asked */

/* A name can hold slashes; what comes after it says what is asked of it. */
struct asked {
    char *name;
    bool versions;       /* all of them */
    bool metadata;       /* rather than the artifact */
    const char *version; /* NULL: the newest */
    bool is_parameter;   /* the version is, and no part of the path */
};

static char *join_parts(const struct request *request, size_t first, size_t end)
{
    char *name = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&name, &len);

    if (!out)
        return NULL;
    for (size_t i = first; i < end; i++)
        fprintf(out, "%s%s", i > first ? "/" : "", request->texts[i]);
    if (fclose(out) != 0) {
        free(name);
        return NULL;
    }
    return name;
}

/* Whether the part that is so far from the end is that word, with the name before it. */
static bool is_word(const struct request *request, size_t from_end, const char *word)
{
    return request->part_count >= request->rest + from_end + 1 &&
           strcmp(request->texts[request->part_count - from_end], word) == 0;
}

static bool read_asked(struct request *request, struct asked *asked)
{
    size_t end = request->part_count;

    *asked = (struct asked){.version = request_parameter(request, "version"), .is_parameter = true};
    if (is_word(request, 3, "versions") && is_word(request, 1, "metadata")) {
        asked->metadata = true;
        asked->is_parameter = false;
        asked->version = request->texts[end - 2];
        end -= 3;
    } else if (is_word(request, 2, "versions")) {
        asked->metadata = asked->versions = is_word(request, 1, "metadata");
        asked->is_parameter = false;
        asked->version = asked->versions ? NULL : request->texts[end - 1];
        end -= 2;
    } else if (is_word(request, 1, "versions")) {
        asked->versions = true;
        end -= 1;
    }
    asked->name = join_parts(request, request->rest, end);
    return asked->name != NULL;
}

static bool read_integer(const char *text, int64_t *number)
{
    const bool is_negative = *text == '-';
    const bool ok = read_number(text + is_negative, number);

    *number = is_negative ? -*number : *number;
    return ok;
}

/* Reads the number of a version. Replies and returns false if it is not a number; NULL and "latest" are the
 * newest. */
static bool read_version(struct request *request, const struct asked *asked, const int64_t **version,
                         int64_t *number, enum MHD_Result *result)
{
    *version = NULL;
    if (!asked->version || (!asked->is_parameter && strcmp(asked->version, "latest") == 0))
        return true;
    *version = number;
    if (read_integer(asked->version, number))
        return true;
    *result = asked->is_parameter
                  ? reply_invalid(request, "int_parsing", "\"query\",\"version\"",
                                  "Input should be a valid integer, unable to parse string as an integer",
                                  (ses_text){NULL, 0})
                  : reply_detail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "Invalid version ID");
    return false;
}

/* ----------------------------------------------------------------------------------------------- showing */

static int open_artifact(struct request *request, const char *name, const int64_t *version, unsigned flags,
                         ses_artifact **artifact, ses_error *error)
{
    const ses_artifact_open_options options = {
        .size = sizeof options, .flags = flags, .version = version, .cancel = work_cancel(request->work)};

    if (version && *version < 0) {
        error->code = SES_NOTFOUND;
        return SES_NOTFOUND;
    }
    return ses_artifact_open_by_key(request->server->store, &request->key, name, &options, artifact, error);
}

/* Writes the artifact. It has at most as many bytes as a body, or else it was saved in another way. */
static int put_artifact(struct request *request, FILE *out, ses_artifact *artifact, ses_error *error)
{
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    size_t len = 0;
    char *bytes = info->size <= MAX_BODY ? malloc((size_t)info->size + 1) : NULL;

    if (!bytes) {
        error->code = info->size <= MAX_BODY ? SES_NOMEM : SES_LIMIT;
        (void)snprintf(error->message, sizeof error->message, "the artifact is too long for a reply");
        return error->code;
    }
    int code = ses_artifact_read(artifact, 0, bytes, (size_t)info->size, &len, error);
    if (code == SES_OK)
        part_write(request->server, out, info, bytes, len);
    free(bytes);
    return code;
}

static enum MHD_Result reply_artifact(struct request *request, const struct asked *asked,
                                      const int64_t *version)
{
    ses_artifact *artifact = NULL;
    struct writing writing;
    ses_error error;
    int code = open_artifact(request, asked->name, version, asked->metadata ? SES_ARTIFACT_OPEN_STORED : 0,
                             &artifact, &error);

    if (code == SES_NOTFOUND)
        return reply_detail(request, MHD_HTTP_NOT_FOUND,
                            asked->metadata ? "Artifact version not found" : "Artifact not found");
    if (code < 0)
        return reply_error(request, &error);
    if (!writing_begin(&writing)) {
        ses_artifact_close(artifact);
        return MHD_NO;
    }
    if (asked->metadata)
        part_write_version(request->server, writing.out, ses_artifact_info_of(artifact));
    else
        code = put_artifact(request, writing.out, artifact, &error);
    ses_artifact_close(artifact);
    return code < 0 ? writing_fail(&writing, request, &error) : writing_reply(&writing, request);
}

/* -------------------------------------------------------------------------------------------------- lists */

/* Writes a page, after the last one. */
static void put_page(struct request *request, FILE *out, const struct asked *asked,
                     const ses_artifact_list *list, bool is_first)
{
    for (size_t i = 0; i < ses_artifact_list_count(list); i++) {
        const ses_artifact_info *info = ses_artifact_list_at(list, i);
        fputs(is_first && i == 0 ? "" : ",", out);
        if (!asked)
            json_put(request->server, out, info->name, SES_NUL);
        else if (asked->metadata)
            part_write_version(request->server, out, info);
        else
            fprintf(out, "%lld", (long long)info->version);
    }
}

/* All versions of an artifact, or, if `asked` is NULL, all names. */
static int put_all(struct request *request, FILE *out, const struct asked *asked, ses_error *error)
{
    ses_artifact_list_options options = {
        .size = sizeof options, .limit = 1000, .cancel = work_cancel(request->work)};
    ses_store *store = request->server->store;
    ses_artifact_list *list = NULL;
    bool more;
    int code;

    do {
        ses_artifact_list *next = NULL;
        code = asked ? ses_artifact_versions_by_key(store, &request->key, asked->name, &options, &next, error)
                     : ses_artifact_names_by_key(store, &request->key, &options, &next, error);
        if (code == SES_OK)
            put_page(request, out, asked, next, !list);
        ses_artifact_list_close(list); /* its last name was where this one began */
        list = next;
        more = code == SES_OK && ses_artifact_list_more(list) && ses_artifact_list_count(list) > 0;
        if (more) {
            const ses_artifact_info *last = ses_artifact_list_at(list, ses_artifact_list_count(list) - 1);
            options.after = asked ? NULL : last->name;
            options.first_version = asked ? last->version + 1 : 0;
        }
    } while (more);
    ses_artifact_list_close(list);
    return code;
}

static enum MHD_Result reply_list(struct request *request, const struct asked *asked)
{
    struct writing writing;
    ses_error error;

    if (!writing_begin(&writing))
        return MHD_NO;
    fputc('[', writing.out);
    if (put_all(request, writing.out, asked, &error) < 0)
        return writing_fail(&writing, request, &error);
    fputc(']', writing.out);
    return writing_reply(&writing, request);
}

enum MHD_Result list_artifacts(struct request *request)
{
    return reply_list(request, NULL);
}

enum MHD_Result show_artifact(struct request *request)
{
    enum MHD_Result result = MHD_NO;
    const int64_t *version = NULL;
    int64_t number = 0;
    struct asked asked;

    if (!read_asked(request, &asked))
        return MHD_NO;
    if (asked.versions)
        result = reply_list(request, &asked);
    else if (read_version(request, &asked, &version, &number, &result))
        result = reply_artifact(request, &asked, version);
    free(asked.name);
    return result;
}

/* --------------------------------------------------------------------------------------- saving, deleting */

static enum MHD_Result save(struct request *request, const char *name, const struct part *part)
{
    const struct asked asked = {.name = (char *)(uintptr_t)name, .metadata = true};
    int64_t version = 0;
    ses_error error;

    if (ses_artifact_save_by_key(request->server->store, &request->key, name, part->bytes, part->len,
                                 &part->options, &version, &error) < 0)
        return reply_error(request, &error);
    return reply_artifact(request, &asked, &version);
}

enum MHD_Result save_artifact(struct request *request)
{
    struct field fields[] = {{.name = "filename", .kind = FIELD_STRING, .is_required = true},
                             {.name = "artifact", .kind = FIELD_MODEL, .is_required = true},
                             {.name = "customMetadata", .snake = "custom_metadata", .kind = FIELD_DICT}};
    enum MHD_Result result = MHD_NO;
    struct part part;

    if (!body_read(request, fields, 3, false, &result))
        return result;
    if (!part_read(&part, fields[1].value))
        return reply_detail(request, MHD_HTTP_BAD_REQUEST, "Not supported artifact type.");
    char *name = json_string(fields[0].value);
    part.options.metadata = fields[2].value.text;
    part.options.metadata_len = fields[2].value.len;
    part.options.cancel = work_cancel(request->work);
    if (part.len == SIZE_MAX)
        result =
            reply_invalid(request, "bytes_invalid_encoding", "\"body\",\"artifact\",\"inlineData\",\"data\"",
                          "Data should be valid base64", (ses_text){NULL, 0});
    else if (!name)
        result =
            reply_detail(request, MHD_HTTP_BAD_REQUEST, "a name cannot contain a NUL or half a character");
    else
        result = save(request, name, &part);
    free(name);
    part_free(&part);
    return result;
}

enum MHD_Result delete_artifact(struct request *request)
{
    const ses_delete_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    char *name = join_parts(request, request->rest, request->part_count);
    ses_error error;

    if (!name)
        return MHD_NO;
    const int code =
        ses_artifact_delete_by_key(request->server->store, &request->key, name, &options, NULL, &error);
    free(name);
    return code < 0 ? reply_error(request, &error) : reply_null(request);
}
