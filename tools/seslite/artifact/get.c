/* seslite artifact get */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "files/whole_file.h"
#include "output/progress.h"
#include "store/artifacts.h"
#include "store/choose.h"

enum { PIECE = 1 << 20 };

static int open_artifact(struct run *run, ses_artifact **artifact)
{
    const int64_t version = number_given(run, OPTION_ARTIFACT_VERSION, 0);
    const ses_artifact_open_options options = {
        .size = sizeof options, .version = given(run, OPTION_ARTIFACT_VERSION) ? &version : NULL};
    const char *name = run->arguments[0];

    return ses_artifact_open_by_key(run->store, &run->key, name, &options, artifact, &run->error) < 0
               ? fail(run)
               : EXIT_OK;
}

/* Writes to the file, or to standard output if it is NULL. */
static int write_piece(struct run *run, struct whole_file *file, const char *piece, size_t len)
{
    if (!file) {
        out_text(piece, len);
        return out_flush();
    }
    return whole_file_write(file, piece, len, &run->error) < 0 ? fail(run) : EXIT_OK;
}

/* The last read returns CORRUPT if the bytes do not have their hash. */
static int write_bytes(struct run *run, ses_artifact *artifact, struct whole_file *file)
{
    const int64_t size = ses_artifact_info_of(artifact)->size;
    char *piece = allocate(PIECE);
    int status = EXIT_OK;

    if (file)
        progress_begin("writing");
    for (int64_t offset = 0; status == EXIT_OK && offset < size;) {
        size_t len = 0;
        if (ses_artifact_read(artifact, offset, piece, PIECE, &len, &run->error) < 0)
            status = fail(run);
        else
            status = write_piece(run, file, piece, len);
        offset += (int64_t)len;
        progress_set(offset, size);
    }
    progress_end();
    free(piece);
    return status;
}

static int report(struct run *run, const ses_artifact_info *info)
{
    const char *path = run->values[OPTION_OUTPUT];
    struct text words = {NULL, 0, 0};
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_text(&json, "file", path);
        artifact_json(&json, info);
        return json_print_object(&json);
    }
    artifact_type_words(&words, info);
    note("%s: %s, version %lld%s", path, info->name, (long long)info->version, words.data);
    text_free(&words);
    return EXIT_OK;
}

static int write_file(struct run *run, ses_artifact *artifact)
{
    const char *path = run->values[OPTION_OUTPUT];
    struct whole_file file;

    if (whole_file_begin(&file, path, WHOLE_TEXT, given(run, OPTION_REPLACE), &run->error) < 0)
        return fail(run);
    const int status = write_bytes(run, artifact, &file);
    const int code = whole_file_end(&file, status == EXIT_OK ? SES_OK : SES_IO, &run->error);
    if (status != EXIT_OK)
        return status;
    return code < 0 ? fail(run) : report(run, ses_artifact_info_of(artifact));
}

int run_artifact_get(struct run *run)
{
    const char *path = run->values[OPTION_OUTPUT];
    const bool to_file = path && strcmp(path, "-") != 0;
    ses_artifact *artifact = NULL;

    if (to_file && is_of_store(run, path))
        return say_usage(run, "%s is the store itself or one of its files", path);
    if (wants_json(run) && !to_file)
        return say_usage(run, "--json reports what was written to a file: name one with -o");
    if (!path && out_is_terminal())
        return say_usage(run,
                         "the bytes would be written to the terminal: name a file with -o, or use \"-o -\"");
    int status = open_to_read(run);
    if (status == EXIT_OK)
        status = choose_artifacts(run);
    if (status == EXIT_OK)
        status = open_artifact(run, &artifact);
    if (status == EXIT_OK)
        status = to_file ? write_file(run, artifact) : write_bytes(run, artifact, NULL);
    ses_artifact_close(artifact);
    return status;
}
