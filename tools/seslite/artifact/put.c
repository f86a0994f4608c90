/* seslite artifact put */
#include "commands.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/progress.h"
#include "store/artifacts.h"
#include "store/choose.h"
#include "write/input.h"

static const int64_t max_bytes = INT64_C(64) << 30;

/* ------------------------------------------------------------------------------------------ what is given */

/* The type that the ending of a file's name stands for. NULL: unknown. */
static const char *type_by_name(const char *name)
{
    static const struct {
        const char *ending;
        const char *type;
    } types[] = {{"png", "image/png"},       {"jpg", "image/jpeg"},        {"jpeg", "image/jpeg"},
                 {"gif", "image/gif"},       {"webp", "image/webp"},       {"svg", "image/svg+xml"},
                 {"pdf", "application/pdf"}, {"json", "application/json"}, {"txt", "text/plain"},
                 {"md", "text/markdown"},    {"html", "text/html"},        {"csv", "text/csv"},
                 {"wav", "audio/wav"},       {"mp3", "audio/mpeg"},        {"mp4", "video/mp4"}};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(dot + 1, types[i].ending) == 0)
            return types[i].type;
    return NULL;
}

static const char *type_given(const struct run *run)
{
    const char *type = run->values[OPTION_TYPE];
    const char *file = run->arguments[1];

    if (type)
        return *type ? type : NULL;
    return type_by_name(strcmp(file, "-") == 0 ? run->arguments[0] : file);
}

/* With --anyway the names have to be complete, as in a session's id. */
static int choose(struct run *run)
{
    if (given(run, OPTION_ANYWAY) && !(given(run, OPTION_APP) && given(run, OPTION_USER)))
        return say_usage(run, "--anyway needs --app and --user");
    if (given(run, OPTION_ANYWAY))
        return EXIT_OK;
    const int status = given(run, OPTION_SESSION) ? choose_session(run) : choose_user(run);
    if (status == EXIT_NOTFOUND)
        note("With --anyway the session or user need not exist.");
    return status;
}

/* ------------------------------------------------------------------------------------------------- saving */

struct source {
    int fd;
    int error; /* errno of a read that failed; 0: none has */
    int64_t done;
    int64_t size; /* 0: unknown */
};

static int read_source(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct source *source = context;
    ssize_t got = read(source->fd, buffer, capacity);

    while (got < 0 && errno == EINTR)
        got = read(source->fd, buffer, capacity);
    (void)error;
    if (got < 0) {
        source->error = errno;
        return SES_IO;
    }
    *len = (size_t)got;
    source->done += got;
    progress_set(source->done, source->size);
    return SES_OK;
}

static int save(struct run *run, struct source *source, int64_t *version)
{
    const ses_artifact_save_options options = {
        .size = sizeof options,
        .flags = given(run, OPTION_ANYWAY) ? SES_ARTIFACT_WITHOUT_SESSION : 0,
        .mime_type = type_given(run),
        .metadata = run->values[OPTION_METADATA],
        .metadata_len = SES_NUL,
        .read = read_source,
        .read_context = source,
        .max_bytes = max_bytes};
    struct stat info;

    if (fstat(source->fd, &info) == 0 && S_ISREG(info.st_mode))
        source->size = info.st_size;
    progress_begin("saving");
    const int code = ses_artifact_save_by_key(run->store, &run->key, run->arguments[0], NULL, SES_NUL,
                                              &options, version, &run->error);
    progress_end();
    if (code < 0 && source->error != 0) {
        say("cannot read %s: %s", input_name(run->arguments[1]), strerror(source->error));
        return EXIT_FAILED;
    }
    return code < 0 ? fail(run) : EXIT_OK;
}

static int report_json(struct run *run, int64_t version)
{
    const ses_artifact_open_options options = {
        .size = sizeof options, .flags = SES_ARTIFACT_OPEN_STORED, .version = &version};
    ses_artifact *artifact = NULL;
    struct json json;

    if (ses_artifact_open_by_key(run->store, &run->key, run->arguments[0], &options, &artifact, &run->error) <
        0)
        return fail(run);
    json_begin(&json, run, '{');
    artifact_json(&json, ses_artifact_info_of(artifact));
    ses_artifact_close(artifact);
    return json_print_object(&json);
}

int run_artifact_put(struct run *run)
{
    struct source source = {.fd = -1};
    int64_t version = 0;

    if (run->argument_count < 2)
        return say_usage(run, "artifact put needs NAME FILE");
    int status = open_to_write(run);
    if (status == EXIT_OK)
        status = choose(run);
    if (status == EXIT_OK)
        status = input_open(run, run->arguments[1], &source.fd);
    if (status != EXIT_OK)
        return status;
    status = save(run, &source, &version);
    input_close(source.fd);
    if (status == EXIT_OK && wants_json(run))
        return report_json(run, version);
    if (status == EXIT_OK)
        out_print("%lld\n", (long long)version);
    return status;
}
