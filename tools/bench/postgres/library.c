/* seslite's side. */
#include "sides.h"

#include <string.h>

static const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};

size_t side_event(char event[SIDE_EVENT_BYTES + 1], int side, int64_t number)
{
    const int len =
        snprintf(event, SIDE_EVENT_BYTES + 1,
                 "{\"id\":\"%08x-0000-7000-8000-%012" PRIx64 "\",\"timestamp\":%" PRId64
                 ".250000,\"invocationId\":\"e-1\",\"author\":\"agent\",\"actions\":{\"stateDelta\":"
                 "{\"counter\":%" PRId64 ",\"topic\":\"orders\",\"user:seen\":%" PRId64
                 "}},\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"",
                 (unsigned)side, (uint64_t)number, INT64_C(1700000000) + number / 1000, number, number);

    CHECK(len > 0 && len < SIDE_EVENT_BYTES - 5);
    memset(event + len, 'x', (size_t)(SIDE_EVENT_BYTES - 5 - len));
    memcpy(event + SIDE_EVENT_BYTES - 5, "\"}]}}", 6);
    return SIDE_EVENT_BYTES;
}

void pg_library_make(ses_store *store, const char *session, int side)
{
    const ses_key key = {"app", "user", session};
    const int64_t created = INT64_C(1700000000000000);
    const ses_create_options create = {.size = sizeof create, .created_us = &created};
    char state[1024];
    int len = snprintf(state, sizeof state, "{\"app:theme\":\"dark\",\"user:name\":\"Ada\"");

    for (int i = 2; i < GET_KEYS; i++)
        len += snprintf(state + len, sizeof state - (size_t)len, ",\"key %d\":\"its value\"", i);
    snprintf(state + len, sizeof state - (size_t)len, "}");
    CHECK(ses_create(store, &key, state, SES_NUL, &create, NULL, NULL) == SES_OK);
    for (int64_t number = 1; number <= GET_EVENTS; number++) {
        char event[SIDE_EVENT_BYTES + 1];
        const size_t event_len = side_event(event, side, number);
        CHECK(ses_append_by_key(store, &key, event, event_len, NULL, NULL, NULL) == SES_OK);
    }
}

void pg_library_open(struct library_side *library, ses_store *store, const char *session, int side,
                     bool handle)
{
    const ses_get_options get = {.size = sizeof get, .range = &none};

    *library = (struct library_side){
        .store = store, .key = {"app", "user", session}, .side = side, .number = GET_EVENTS};
    if (handle)
        CHECK(ses_get(store, &library->key, &get, &library->session, NULL) == SES_OK);
}

void pg_library_close(struct library_side *library)
{
    ses_session_close(library->session);
}

void pg_library_append(void *context, int count)
{
    struct library_side *library = context;

    for (int i = 0; i < count; i++) {
        char event[SIDE_EVENT_BYTES + 1];
        ses_error error = {0};
        const size_t len = side_event(event, library->side, ++library->number);
        const int code = library->session ? ses_append(library->session, event, len, NULL, NULL, &error)
                                          : ses_append_by_key(library->store, &library->key, event, len, NULL,
                                                              NULL, &error);
        if (code != SES_OK)
            fprintf(stderr, "bench: %s\n", error.message);
        CHECK(code == SES_OK);
    }
}

void pg_library_get(void *context, int count)
{
    const struct library_side *library = context;
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = GET_EVENTS};
    const ses_get_options get = {.size = sizeof get, .range = &newest};

    for (int i = 0; i < count; i++) {
        ses_session *session = NULL;
        CHECK(ses_get(library->store, &library->key, &get, &session, NULL) == SES_OK);
        CHECK(ses_session_event_count(session) == GET_EVENTS);
        ses_session_close(session);
    }
}
