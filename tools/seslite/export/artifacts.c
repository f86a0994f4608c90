/* The artifacts of what is exported, as a folder of google-adk's FileArtifactService. */
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "output/out.h"
#include "output/progress.h"
#include "store/artifacts.h"
#include "store/choose.h"
#include "store/walk.h"

#define USER_PREFIX "user:"

enum { PIECE = 1 << 20 };

struct artifacts_export {
    struct export *export;
    const struct artifact_tree *tree; /* NULL: they are only counted */
    char *piece;
    ses_key chosen; /* what is exported */
    const char *app;
};

/* ---------------------------------------------------------------------------------------------- a version */

/* Returns a code. The last read is CORRUPT if the bytes do not have their hash. */
static int write_bytes(const struct artifacts_export *own, struct tree_version *version,
                       ses_artifact *artifact)
{
    ses_error *error = &own->export->run->error;
    const int64_t size = ses_artifact_info_of(artifact)->size;
    int code = SES_OK;

    for (int64_t offset = 0; code == SES_OK && offset < size;) {
        size_t len = 0;
        code = ses_artifact_read(artifact, offset, own->piece, PIECE, &len, error);
        if (code == SES_OK)
            code = tree_version_write(version, own->piece, len, error);
        offset += (int64_t)len;
    }
    return code;
}

static const char *path_of(const ses_artifact_info *info)
{
    const size_t prefix = strlen(USER_PREFIX);
    return strncmp(info->name, USER_PREFIX, prefix) == 0 ? info->name + prefix : info->name;
}

static int write_opened(const struct artifacts_export *own, const ses_artifact_info *info,
                        ses_artifact *artifact)
{
    struct run *run = own->export->run;
    struct text metadata = {NULL, 0, 0};
    struct tree_version version;
    int code = tree_version_begin(&version, own->tree, &run->key, path_of(info), info->version, &run->error);

    if (code == SES_OK) {
        tree_metadata(&own->export->writing, info, ses_artifact_info_of(artifact), &metadata);
        code = write_bytes(own, &version, artifact);
        code = tree_version_end(&version, code, &metadata, &run->error);
    }
    text_free(&metadata);
    if (code == SES_NOTFOUND) /* deleted in the meantime */
        return EXIT_OK;
    own->export->artifacts += code == SES_OK;
    progress_set(own->export->artifacts, -1);
    return code < 0 ? fail(run) : EXIT_OK;
}

/* A reference is written as what it refers to. The address of a file elsewhere has no bytes. */
static int write_version(void *context, const ses_artifact_info *info)
{
    const struct artifacts_export *own = context;
    struct run *run = own->export->run;
    const bool is_address = info->kind == SES_ARTIFACT_URI;
    const ses_artifact_open_options options = {.size = sizeof options,
                                               .flags = is_address ? 0 : SES_ARTIFACT_OPEN_STORED,
                                               .version = &info->version};
    ses_artifact *artifact = NULL;
    const int code =
        ses_artifact_open_by_key(run->store, &run->key, info->name, &options, &artifact, &run->error);
    int status = EXIT_OK;

    if (code == SES_OK && ses_artifact_info_of(artifact)->kind != SES_ARTIFACT_URI)
        status = write_opened(own, info, artifact);
    else if (code == SES_OK || (is_address && (code == SES_NOTFOUND || code == SES_INVALID)))
        write_note(&own->export->writing, WRITE_NOTE_ARTIFACT_URIS, 1);
    else if (code == SES_UNSUPPORTED)
        write_note(&own->export->writing, WRITE_NOTE_ARTIFACT_KINDS, 1);
    else if (code != SES_NOTFOUND) /* otherwise it was deleted in the meantime */
        status = fail(run);
    ses_artifact_close(artifact);
    return status;
}

/* ----------------------------------------------------------------------------------------------- the walk */

/* The list of a session has its user's artifacts, too, which are written once. */
static int give_artifact(void *context, const ses_artifact_info *info)
{
    const struct artifacts_export *own = context;
    struct run *run = own->export->run;
    const bool is_of_user = strncmp(info->name, USER_PREFIX, strlen(USER_PREFIX)) == 0;

    if (is_of_user != (run->key.session == NULL))
        return EXIT_OK;
    if (!own->tree) {
        write_note(&own->export->writing, WRITE_NOTE_ARTIFACTS, 1);
        return EXIT_OK;
    }
    const char *fault = artifact_tree_fault(own->tree, &run->key, path_of(info));
    if (!fault)
        return each_artifact(run, info->name, write_version, context);
    progress_hide();
    say("the artifact \"%s\" of %s/%s%s%s is left out: %s", info->name, run->key.app, run->key.user,
        run->key.session ? "/" : "", run->key.session ? run->key.session : "", fault);
    write_note(&own->export->writing, WRITE_NOTE_ARTIFACT_NAMES, 1);
    return EXIT_OK;
}

static int give_artifacts_of(struct artifacts_export *own, const char *app, const char *user,
                             const char *session)
{
    own->export->run->key = (ses_key){app, user, session};
    return each_artifact(own->export->run, NULL, give_artifact, own);
}

static int give_listed(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    return give_artifacts_of(context, ses_session_app(session), ses_session_user(session),
                             ses_session_id(session));
}

static int give_user(void *context, const char *user)
{
    struct artifacts_export *own = context;

    return !own->chosen.user || strcmp(own->chosen.user, user) == 0
               ? give_artifacts_of(own, own->app, user, NULL)
               : EXIT_OK;
}

static int give_app(void *context, const char *app)
{
    struct artifacts_export *own = context;

    own->app = app;
    return !own->chosen.app || strcmp(own->chosen.app, app) == 0
               ? each_name(own->export->run, app, give_user, own)
               : EXIT_OK;
}

static int give_all(struct artifacts_export *own)
{
    const struct sessions sessions = {.order = SES_ORDER_CREATED, .visit = give_listed, .context = own};
    const ses_key *chosen = &own->chosen;
    struct run *run = own->export->run;
    int status = chosen->session ? give_artifacts_of(own, chosen->app, chosen->user, chosen->session)
                                 : each_session(run, &sessions);

    return status == EXIT_OK ? each_name(run, NULL, give_app, own) : status;
}

int export_artifacts(struct export *export, struct artifact_tree *into)
{
    struct run *run = export->run;
    struct artifacts_export own = {
        .export = export, .tree = into, .piece = allocate(PIECE), .chosen = run->key};

    progress_begin("exporting artifacts");
    const int status = give_all(&own);
    progress_end();
    run->key = own.chosen;
    free(own.piece);
    return status;
}
