#include "store/artifacts.h"

#include <stdlib.h>
#include <string.h>

#include "store/choose.h"
#include "store/walk.h"
#include "text/scan.h"

int choose_artifacts(struct run *run)
{
    const ses_key key = {run->values[OPTION_APP], run->values[OPTION_USER], run->values[OPTION_SESSION]};
    int status = EXIT_OK;

    if (key.app && key.user)
        run->key = key;
    else
        status = key.session ? choose_session(run) : choose_user(run);
    return status;
}

/* -------------------------------------------------------------------------------------------------- lists */

enum { PAGE = 1000 };

static int open_page(struct run *run, const char *name, const ses_artifact_list_options *options,
                     ses_artifact_list **list)
{
    return name ? ses_artifact_versions_by_key(run->store, &run->key, name, options, list, &run->error)
                : ses_artifact_names_by_key(run->store, &run->key, options, list, &run->error);
}

int each_artifact(struct run *run, const char *name, visit_artifact *visit, void *context)
{
    ses_artifact_list_options options = {.size = sizeof options, .limit = PAGE};
    char *after = NULL;
    int status = EXIT_OK;
    bool more = true;

    while (status == EXIT_OK && more) {
        ses_artifact_list *list = NULL;
        if (open_page(run, name, &options, &list) < 0) {
            status = fail(run);
            break;
        }
        const size_t count = ses_artifact_list_count(list);
        for (size_t i = 0; status == EXIT_OK && i < count; i++)
            status = visit(context, ses_artifact_list_at(list, i));
        more = status == EXIT_OK && ses_artifact_list_more(list) != 0;
        if (more) {
            const ses_artifact_info *last = ses_artifact_list_at(list, count - 1);
            free(after);
            after = copy_text(last->name);
            options.after = name ? NULL : after;
            options.first_version = name ? last->version + 1 : 0;
        }
        ses_artifact_list_close(list);
    }
    free(after);
    return status;
}

/* ---------------------------------------------------------------------------------------------- a version */

void artifact_json(struct json *json, const ses_artifact_info *info)
{
    static const char *const kinds[] = {
        [SES_ARTIFACT_BYTES] = "bytes", [SES_ARTIFACT_TEXT] = "text", [SES_ARTIFACT_URI] = "uri"};

    json_text(json, "name", info->name);
    json_number(json, "version", info->version);
    json_time(json, "createTime", info->created_us);
    json_number(json, "size", info->size);
    if (info->kind >= 0 && info->kind <= SES_ARTIFACT_URI)
        json_text(json, "kind", kinds[info->kind]);
    else /* of a later version */
        json_number(json, "kind", info->kind);
    json_text(json, "mimeType", info->mime_type);
    json_text(json, "displayName", info->display_name);
    if (info->metadata)
        json_raw(json, "metadata", info->metadata, info->metadata_len);
    json_text(json, "hash", info->hash);
    json_text(json, "uri", info->uri);
}

void artifact_type_words(struct text *text, const ses_artifact_info *info)
{
    text_print(text, "%s%s, %s", info->mime_type ? ", " : "", info->mime_type ? info->mime_type : "",
               counted(info->size, "byte"));
}

/* ------------------------------------------------------------------------------------------- in an event */

static int64_t version_in(const struct piece *value)
{
    struct text digits = {NULL, 0, 0};

    text_add(&digits, value->text, value->len);
    const bool is_number = strspn(digits.data, "0123456789") == value->len && value->len < 19;
    const int64_t version = is_number ? (int64_t)strtoll(digits.data, NULL, 10) : -1;
    text_free(&digits);
    return version;
}

static void visit_delta(const struct piece *delta, visit_saved *visit, void *context)
{
    struct text name = {NULL, 0, 0};
    struct piece value;
    struct scan scan;

    scan_begin(&scan, delta->text, delta->len);
    while (scan_member(&scan, &name, &value))
        visit(context, &name, version_in(&value));
    text_free(&name);
}

void each_saved_artifact(const ses_text *actions, visit_saved *visit, void *context)
{
    struct text name = {NULL, 0, 0};
    struct piece value;
    struct scan scan;

    if (!actions->text)
        return;
    scan_begin(&scan, actions->text, actions->len);
    while (scan_member(&scan, &name, &value))
        if (scan_is_named(&name, "artifactDelta", "artifact_delta") && value.text[0] == '{')
            visit_delta(&value, visit, context);
    text_free(&name);
}

/* A name that contains a NUL cannot be that of an artifact. */
ses_artifact *open_saved_artifact(struct run *run, const struct text *name, int64_t version)
{
    const ses_artifact_open_options options = {.size = sizeof options, .version = &version};
    ses_artifact *artifact = NULL;

    run->error.code = SES_NOTFOUND;
    if (version >= 0 && strlen(name->data) == name->len)
        (void)ses_artifact_open_by_key(run->store, &run->key, name->data, &options, &artifact, &run->error);
    return artifact;
}
