/* Artifacts, compared with plain files, and sessions whose images are artifacts with sessions that have
 * none. */
#include "bench.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "seslite_artifact.h"

enum { MEGABYTE = 1000 * 1000, IMAGES = 76, IMAGE_BYTES = 100 * 1000, EVENTS = 1000, NEWEST = 20 };

/* ------------------------------------------------------------------------------------- saving and loading */

struct bytes {
    ses_store *store;
    const char *path; /* of the file */
    unsigned char *data;
    size_t len;
    unsigned saved; /* changes the bytes, since equal bytes would be stored once */
};

static const ses_key key = {"app", "user", "session"};

static void save_artifact(void *context, int count)
{
    struct bytes *bytes = context;

    for (int i = 0; i < count; i++) {
        memcpy(bytes->data, &(unsigned){++bytes->saved}, sizeof bytes->saved);
        CHECK(ses_artifact_save_by_key(bytes->store, &key, "a", bytes->data, bytes->len, NULL, NULL, NULL) ==
              SES_OK);
    }
}

/* As durable as the artifact: the bytes are flushed, and have their name after that. */
static void save_file(void *context, int count)
{
    const struct bytes *bytes = context;
    char made[1000];

    snprintf(made, sizeof made, "%s.new", bytes->path);
    for (int i = 0; i < count; i++) {
        const int file = open(made, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        CHECK(file >= 0 && write(file, bytes->data, bytes->len) == (ssize_t)bytes->len);
        CHECK(fsync(file) == 0 && close(file) == 0 && rename(made, bytes->path) == 0);
    }
}

static void load_artifact(void *context, int count)
{
    struct bytes *bytes = context;

    for (int i = 0; i < count; i++) {
        ses_artifact *artifact = NULL;
        size_t len = 0;
        CHECK(ses_artifact_open_by_key(bytes->store, &key, "a", NULL, &artifact, NULL) == SES_OK);
        CHECK(ses_artifact_read(artifact, 0, bytes->data, bytes->len, &len, NULL) == SES_OK);
        CHECK(len == bytes->len);
        ses_artifact_close(artifact);
    }
}

static void load_file(void *context, int count)
{
    const struct bytes *bytes = context;

    for (int i = 0; i < count; i++) {
        const int file = open(bytes->path, O_RDONLY);
        CHECK(file >= 0 && read(file, bytes->data, bytes->len) == (ssize_t)bytes->len && close(file) == 0);
    }
}

static void compare_with_file(const char *saving, const char *loading, size_t len)
{
    char *path = fresh_path("bench-artifact.db");
    char *file = fresh_path("bench-artifact.bin");
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_FULL};
    struct bytes bytes = {.path = file, .data = calloc(1, len), .len = len};

    CHECK(bytes.data && ses_open(path, &options, &bytes.store, NULL) == SES_OK);
    CHECK(ses_create(bytes.store, &key, NULL, 0, NULL, NULL, NULL) == SES_OK);
    compare(&(struct comparison){.name = saving,
                                 .left = {"seslite", save_artifact, &bytes},
                                 .right = {"a file, flushed", save_file, &bytes},
                                 .rounds = 15,
                                 .count = 1,
                                 .at_least = 0.08});
    compare(&(struct comparison){.name = loading,
                                 .left = {"seslite", load_artifact, &bytes},
                                 .right = {"a file", load_file, &bytes},
                                 .rounds = 15,
                                 .count = 1,
                                 .at_least = 0.04});
    ses_close(bytes.store);
    free(bytes.data);
    free(fresh_path("bench-artifact.db"));
    free(fresh_path("bench-artifact.bin"));
    free(file);
    free(path);
}

/* ---------------------------------------------------------------------------------- a session with images */

static void get_newest(void *context, int count)
{
    const struct library *library = context;
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = NEWEST};
    const ses_get_options options = {.size = sizeof options, .range = &newest};

    for (int i = 0; i < count; i++) {
        ses_session *session = NULL;
        CHECK(ses_get(library->store, &library->key, &options, &session, NULL) == SES_OK);
        ses_session_close(session);
    }
}

/* An event with an image as a model's answer has it, in base64. */
static char *make_image_event(int number)
{
    static const char begin[] =
        "{\"content\":{\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"";
    const size_t base64 = (size_t)IMAGE_BYTES / 3 * 4;
    char *event = malloc(sizeof begin + base64 + 8);

    CHECK(event);
    memcpy(event, begin, sizeof begin - 1);
    memset(event + sizeof begin - 1, 'A' + number % 26, base64);
    event[sizeof begin - 1] = (char)('a' + number / 26);
    memcpy(event + sizeof begin - 1 + base64, "\"}}]}}", 7);
    return event;
}

/* The images are among the newest events. They become artifacts, unless they are to stay in the events. */
static void append_images(struct library *library, bool inside)
{
    for (int i = 0; i < IMAGES; i++) {
        ses_append_options options = {.size = sizeof options};
        char *event = make_image_event(i);
        CHECK(inside ||
              ses_artifacts_open(library->store, &library->key, &options.artifacts, NULL) == SES_OK);
        CHECK(inside || ses_artifacts_offload(options.artifacts, 1000, NULL) == SES_OK);
        CHECK(ses_append_by_key(library->store, &library->key, event, SES_NUL, &options, NULL, NULL) ==
              SES_OK);
        ses_artifacts_close(options.artifacts);
        free(event);
    }
}

static void compare_images(void)
{
    char *path = fresh_path("bench-artifact.db");
    struct library without;
    struct library outside;
    struct library inside;

    library_open(&without, NULL, path, false, 1);
    library_open(&outside, without.store, NULL, false, 2);
    library_open(&inside, without.store, NULL, false, 3);
    library_fill(&without, scaled(EVENTS), 0);
    library_fill(&outside, scaled(EVENTS), 0);
    append_images(&outside, false);
    append_images(&inside, true);
    compare(&(struct comparison){.name = "newest 20 of a session with 76 images",
                                 .left = {"artifacts", get_newest, &outside},
                                 .right = {"no images", get_newest, &without},
                                 .rounds = 100,
                                 .count = 20,
                                 .at_most = 1.1});
    compare(&(struct comparison){.name = "the same, images of 100 KB in the events",
                                 .left = {"artifacts", get_newest, &outside},
                                 .right = {"in the events", get_newest, &inside},
                                 .rounds = 15,
                                 .count = 1,
                                 .at_least = 20});
    library_close(&inside, false);
    library_close(&outside, false);
    library_close(&without, true);
    free(fresh_path("bench-artifact.db"));
    free(path);
}

void bench_artifact(void)
{
    compare_with_file("artifact of 1 MB, saved", "artifact of 1 MB, loaded", MEGABYTE);
    compare_with_file("artifact of 10 MB, saved", "artifact of 10 MB, loaded", 10 * MEGABYTE);
    compare_images();
}
