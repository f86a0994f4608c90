#include "import/artifacts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"
#include "text/refuse.h"

static const int64_t max_bytes = INT64_C(64) << 30;

/* The versions that the store already had of an artifact. */
struct here_version {
    char hash[FOLDER_HASH];
    bool met; /* the folder was found to have it */
};
struct here {
    struct text name; /* of the artifact: app, user, session and name, each with a NUL after it */
    struct here_version *versions;
    size_t count;
    size_t capacity;
};

struct folder_import {
    struct run *run;
    bool writes;
    const ses_import_options *options;
    struct import_report *report;
    struct here here;
    struct text name; /* in the store */
};

static bool is_chosen(const struct run *run, const struct folder_artifact *artifact)
{
    const ses_key *key = &run->key;

    return (!key->app || strcmp(key->app, artifact->app) == 0) &&
           (!key->user || strcmp(key->user, artifact->user) == 0) &&
           (!key->session || (artifact->session && strcmp(key->session, artifact->session) == 0));
}

/* ----------------------------------------------------------------------------------- what is here already */

static void add_hash(struct here *here, const char *hash)
{
    here->versions = enlarge(here->versions, here->count, &here->capacity, sizeof *here->versions);
    struct here_version *version = &here->versions[here->count++];
    version->met = false;
    memcpy(version->hash, hash, FOLDER_HASH);
}

static int read_versions(struct folder_import *import, const ses_key *key, ses_error *error)
{
    ses_artifact_list_options options = {.size = sizeof options, .limit = 1000};
    bool more = true;
    int code = SES_OK;

    import->here.count = 0;
    while (code == SES_OK && more) {
        ses_artifact_list *list = NULL;
        code =
            ses_artifact_versions_by_key(import->run->store, key, import->name.data, &options, &list, error);
        const size_t count = ses_artifact_list_count(list);
        for (size_t i = 0; i < count; i++)
            add_hash(&import->here, ses_artifact_list_at(list, i)->hash);
        options.first_version += (int64_t)count;
        more = ses_artifact_list_more(list) != 0;
        ses_artifact_list_close(list);
    }
    return code;
}

/* Reads the versions that the store has, unless they are those of the artifact of the call before. */
static int know_versions(struct folder_import *import, const ses_key *key, ses_error *error)
{
    const char *const parts[] = {key->app, key->user, key->session ? key->session : "", import->name.data};
    struct text name = {NULL, 0, 0};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        text_add(&name, parts[i], strlen(parts[i]) + 1);
    if (import->here.name.len == name.len && memcmp(import->here.name.data, name.data, name.len) == 0) {
        text_free(&name);
        return SES_OK;
    }
    text_free(&import->here.name);
    import->here.name = name;
    return read_versions(import, key, error);
}

/* Takes a version of these bytes that the folder was not yet found to have. */
static bool is_here(struct here *here, const char *hash)
{
    for (size_t i = 0; i < here->count; i++)
        if (!here->versions[i].met && strcmp(here->versions[i].hash, hash) == 0) {
            here->versions[i].met = true;
            return true;
        }
    return false;
}

/* -------------------------------------------------------------------------------------------------- bytes */

static int read_bytes(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    const int *fd = context;
    ssize_t got = read(*fd, buffer, capacity);

    while (got < 0 && errno == EINTR)
        got = read(*fd, buffer, capacity);
    *len = got > 0 ? (size_t)got : 0;
    return got < 0 ? refuse(error, SES_IO, "cannot read its bytes: %s", strerror(errno)) : SES_OK;
}

static int save(struct folder_import *import, const ses_key *key, const struct folder_artifact *artifact,
                int64_t *version, ses_error *error)
{
    int fd = artifact->fd;
    const ses_artifact_save_options options = {
        .size = sizeof options,
        .flags = SES_ARTIFACT_WITHOUT_SESSION,
        .kind = artifact->described && !artifact->mime_type ? SES_ARTIFACT_TEXT : SES_ARTIFACT_BYTES,
        .mime_type = artifact->mime_type,
        .display_name = artifact->display_name,
        .metadata = artifact->metadata.ptr,
        .metadata_len = artifact->metadata.len,
        .read = read_bytes,
        .read_context = &fd,
        .created_us = artifact->created_us == FOREIGN_NO_TIME ? NULL : &artifact->created_us,
        .max_bytes = max_bytes};

    return ses_artifact_save_by_key(import->run->store, key, import->name.data, NULL, SES_NUL, &options,
                                    version, error);
}

/* ---------------------------------------------------------------------------------------------- a version */

/* The names come from a folder, in which anything may be called anything, and a file with holes may be of any
 * size. */
static int check_artifact(const struct folder_import *import, const ses_key *key,
                          const struct folder_artifact *artifact, ses_error *error)
{
    const struct {
        const char *what;
        const char *name;
    } names[] = {
        {"app", key->app}, {"user", key->user}, {"session", key->session}, {"artifact", import->name.data}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *fault = names[i].name ? name_fault(names[i].name) : NULL;
        if (fault)
            return refuse(error, SES_INVALID, "the name of the %s %s", names[i].what, fault);
    }
    if (artifact->session && strncmp(artifact->name, "user:", strlen("user:")) == 0)
        return refuse(error, SES_INVALID, "a name that begins with user: is that of a user's artifact");
    return artifact->bytes <= max_bytes
               ? SES_OK
               : refuse(error, SES_LIMIT, "version %lld has more than 64 GiB", (long long)artifact->version);
}

static int import_version(struct folder_import *import, const struct folder_artifact *artifact,
                          ses_error *error)
{
    const ses_import_options *options = import->options;
    struct import_report *report = import->report;
    const ses_key key = {options->app ? options->app : artifact->app,
                         options->user ? options->user : artifact->user, artifact->session};
    char hash[FOLDER_HASH];
    int64_t version = artifact->version;
    int code = check_artifact(import, &key, artifact, error);

    if (code != SES_OK || !import->writes)
        return code;
    code = know_versions(import, &key, error);
    if (code == SES_OK)
        code = folder_artifact_hash(artifact, hash, error);
    if (code != SES_OK)
        return code;
    if (is_here(&import->here, hash)) {
        report->artifacts_equal++;
        return SES_OK;
    }
    if (!given(import->run, OPTION_DRY_RUN))
        code = save(import, &key, artifact, &version, error);
    if (code == SES_OK) {
        report->artifacts++;
        report->artifacts_renumbered += version != artifact->version;
    }
    return code;
}

/* True if the code is about this version, and others may be imported. */
static bool is_its_own(int code)
{
    return code == SES_INVALID || code == SES_JSON || code == SES_LIMIT || code == SES_NOTFOUND ||
           code == SES_RANGE;
}

static int visit(void *context, const struct folder_artifact *artifact, int code, const ses_error *error)
{
    struct folder_import *import = context;
    struct import_report *report = import->report;
    const struct import_item item = {.app = artifact->app,
                                     .user = artifact->user,
                                     .session = artifact->session,
                                     .artifact = artifact->name};
    ses_error own = *error;

    if (!is_chosen(import->run, artifact))
        return SES_OK;
    report->artifacts_seen++;
    text_clear(&import->name);
    text_print(&import->name, "%s%s", artifact->session ? "" : "user:", artifact->name);
    if (code == SES_OK)
        code = import_version(import, artifact, &own);
    if (is_its_own(code)) {
        report_refused(report, &item, &own);
        code = SES_OK;
    }
    if (code != SES_OK)
        import->run->error = own;
    return code;
}

int artifacts_import(struct run *run, const char *path, bool writes, const ses_import_options *options,
                     struct import_report *report, ses_error *error)
{
    struct folder_import import = {.run = run, .writes = writes, .options = options, .report = report};
    const int code = artifact_folder_walk(path, visit, &import, &report->links, error);

    text_free(&import.name);
    text_free(&import.here.name);
    free(import.here.versions);
    return code;
}
