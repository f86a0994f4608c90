/* seslite's side of the comparisons. */
#include "bench.h"

#include <string.h>

size_t make_event(char event[EVENT_BYTES + 1], int64_t number)
{
    int len =
        snprintf(event, EVENT_BYTES + 1,
                 "{\"id\":\"0193%012" PRIx64 "-7000-8000-000000000000\",\"timestamp\":%" PRId64
                 ".250000,\"invocationId\":\"e-3a796739-8780-4e33-a63e-e7a7041707e2\",\"author\":\"agent\","
                 "\"actions\":{\"stateDelta\":{\"counter\":%" PRId64
                 ",\"topic\":\"orders\",\"user:last_seen\":\"2024-01-15\"}},"
                 "\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"",
                 (uint64_t)number, INT64_C(1700000000) + number / 1000, number);
    CHECK(len > 0 && len < EVENT_BYTES - 5);
    memset(event + len, 'x', (size_t)(EVENT_BYTES - 5 - len));
    memcpy(event + EVENT_BYTES - 5, "\"}]}}", 6);
    return EVENT_BYTES;
}

/* Both programs write the same time, so that their rows can be compared. */
static int64_t library_clock(void *context)
{
    (void)context;
    return NOW_US;
}

void library_open(struct library *library, ses_store *store, const char *path, bool full, int session)
{
    const ses_open_options options = {.size = sizeof options,
                                      .synchronous = full ? SES_SYNC_FULL : SES_SYNC_NORMAL,
                                      .clock = library_clock};
    const int64_t created = NOW_US;
    const ses_create_options create = {.size = sizeof create, .created_us = &created};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};

    memset(library, 0, sizeof *library);
    snprintf(library->id, sizeof library->id, "session-%d", session);
    library->key = (ses_key){"app", "user", library->id};
    library->store = store;
    if (!store)
        CHECK(ses_open(path, &options, &library->store, NULL) == SES_OK);
    CHECK(ses_create(library->store, &library->key, "{\"app:theme\":\"dark\",\"name\":\"Ada\"}", SES_NUL,
                     &create, NULL, NULL) == SES_OK);
    CHECK(ses_get(library->store, &library->key,
                  &(ses_get_options){.size = sizeof(ses_get_options), .range = &none}, &library->session,
                  NULL) == SES_OK);
}

void library_close(struct library *library, bool close_store)
{
    ses_session_close(library->session);
    if (close_store)
        ses_close(library->store);
}

void library_append(void *context, int count)
{
    struct library *library = context;
    for (int i = 0; i < count; i++) {
        char event[EVENT_BYTES + 1];
        size_t len = make_event(event, ++library->number);
        CHECK(ses_append(library->session, event, len, NULL, NULL, NULL) == SES_OK);
    }
}

static void library_get(struct library *library, int64_t events)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = events};
    ses_session *session = NULL;
    CHECK(ses_get(library->store, &library->key,
                  &(ses_get_options){.size = sizeof(ses_get_options), .range = &newest}, &session,
                  NULL) == SES_OK);
    CHECK((int64_t)ses_session_event_count(session) == events);
    ses_session_close(session);
}

void library_get_20(void *context, int count)
{
    for (int i = 0; i < count; i++)
        library_get(context, 20);
}

void library_get_1000(void *context, int count)
{
    for (int i = 0; i < count; i++)
        library_get(context, scaled(1000));
}

static void fill_keys(struct library *library, int first, int count)
{
    char event[8192];
    int len = snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{");
    for (int i = 0; i < count; i++)
        len += snprintf(event + len, sizeof event - (size_t)len, "%s\"key number %d\":\"its value\"",
                        i ? "," : "", first + i);
    snprintf(event + len, sizeof event - (size_t)len, "}}}");
    CHECK(ses_append(library->session, event, SES_NUL, NULL, NULL, NULL) == SES_OK);
}

void library_fill(struct library *library, int64_t events, int keys)
{
    enum { BATCH = 1000 };
    static char texts[BATCH][EVENT_BYTES + 1];
    static ses_text batch[BATCH];

    for (int64_t done = 0; done < events;) {
        int64_t left = events - done;
        size_t count = left < BATCH ? (size_t)left : BATCH;
        for (size_t i = 0; i < count; i++)
            batch[i] = (ses_text){texts[i], make_event(texts[i], ++library->number)};
        CHECK(ses_append_batch(library->session, batch, count, NULL, NULL, NULL) == SES_OK);
        done += (int64_t)count;
    }
    for (int done = 0; done < keys; done += 100)
        fill_keys(library, done, 100);
}
