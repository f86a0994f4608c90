/* An encrypted store compared with one that is not, by the same library (make bench
 * SQLITE=path/sqlite3mc.c). */
#include "bench.h"

#include <string.h>

enum { ROUNDS = 41, EVENTS = 20000 };

static const unsigned char secret[SES_KEY_BYTES] = "the key of the store that is ...";
static const ses_key session = {"app", "user", "session-0"};

struct keyed {
    struct library library;
    ses_open_options options;
    char *path;
};

/* False if the SQLite that is linked cannot encrypt. */
static bool keyed_open(struct keyed *keyed, const char *name, const void *key)
{
    *keyed = (struct keyed){.options = {.size = sizeof keyed->options,
                                        .synchronous = SES_SYNC_NORMAL,
                                        .key = key,
                                        .key_len = key ? SES_KEY_BYTES : 0},
                            .path = fresh_path(name)};
    ses_store *store = NULL;
    const int code = ses_open(keyed->path, &keyed->options, &store, NULL);
    CHECK(code == SES_OK || (key && code == SES_UNSUPPORTED));
    if (code == SES_OK)
        library_open(&keyed->library, store, NULL, false, 0);
    return code == SES_OK;
}

static void append(void *context, int count)
{
    library_append(&((struct keyed *)context)->library, count);
}

/* Nothing is in memory but what the system keeps of the file. */
static void read_cold(void *context, int count)
{
    const struct keyed *keyed = context;
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 1000};

    for (int i = 0; i < count; i++) {
        ses_store *store = NULL;
        ses_session *handle = NULL;
        CHECK(ses_open(keyed->path, &keyed->options, &store, NULL) == SES_OK);
        CHECK(ses_get(store, &session, &(ses_get_options){.size = sizeof(ses_get_options), .range = &newest},
                      &handle, NULL) == SES_OK);
        ses_session_close(handle);
        ses_close(store);
    }
}

void bench_key(void)
{
    struct keyed with;
    struct keyed without;

    if (keyed_open(&with, "with-key.db", secret)) {
        CHECK(keyed_open(&without, "without-key.db", NULL));
        compare(&(struct comparison){.name = "append, with a key",
                                     .left = {"with a key", append, &with},
                                     .right = {"without", append, &without},
                                     .rounds = scaled_rounds(ROUNDS),
                                     .count = scaled(500),
                                     .at_most = 1.2});
        append(&with, scaled(EVENTS));
        append(&without, scaled(EVENTS));
        library_close(&with.library, true);
        library_close(&without.library, true);
        compare(&(struct comparison){.name = "open and read 1,000 events, with a key",
                                     .left = {"with a key", read_cold, &with},
                                     .right = {"without", read_cold, &without},
                                     .rounds = scaled_rounds(ROUNDS),
                                     .count = scaled(10),
                                     .at_most = 1.3});
        free(without.path);
    }
    free(with.path);
}
