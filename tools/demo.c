/*
 * Stores a conversation, or shows one: tools/demo.sh runs it twice, as two processes.
 *
 *     demo write FILE       demo read FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seslite_agent.h"

static const ses_key key = {.app = "weather_agent", .user = "alice", .session = "trip-to-oslo"};

static void must(int code, const ses_error *error)
{
    if (code < 0) {
        fprintf(stderr, "demo: %s: %s\n", ses_code_name(code), error->message);
        exit(1);
    }
}

/* A conversation of two turns, as an ADK agent would store it: questions, a tool call, its answer,
 * replies. */
static const char *const conversation[] = {
    "{\"invocationId\":\"e-1\",\"author\":\"user\",\"timestamp\":1736942400.10,"
    "\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"Will I need a coat in Oslo tomorrow?\"}]}}",

    "{\"invocationId\":\"e-1\",\"author\":\"weather_agent\",\"timestamp\":1736942401.25,"
    "\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"c-1\",\"name\":\"get_forecast\","
    "\"args\":{\"city\":\"Oslo\",\"day\":\"tomorrow\"}}}]},"
    "\"actions\":{\"stateDelta\":{\"temp:tool_started\":true}}}",

    "{\"invocationId\":\"e-1\",\"author\":\"weather_agent\",\"timestamp\":1736942401.90,"
    "\"content\":{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c-1\",\"name\":\"get_"
    "forecast\","
    "\"response\":{\"low\":-7.50,\"high\":-1,\"sky\":\"snow\"}}}]},"
    "\"actions\":{\"stateDelta\":{\"last_city\":\"Oslo\",\"user:home_country\":\"NO\",\"app:forecasts_"
    "served\":1841,"
    "\"temp:raw_answer\":\"{...}\"}}}",

    "{\"invocationId\":\"e-1\",\"author\":\"weather_agent\",\"timestamp\":1736942403.00,"
    "\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Yes: snow, and down to -7.5 degrees.\"},"
    "{\"text\":\" Take the warm one.\"}]},"
    "\"actions\":{\"stateDelta\":{\"reply_count\":1}}}",

    "{\"invocationId\":\"e-2\",\"author\":\"user\",\"timestamp\":1736942460.00,"
    "\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"Thank you!\"}]}}",

    "{\"invocationId\":\"e-2\",\"author\":\"weather_agent\",\"timestamp\":1736942461.50,"
    "\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Have a good trip.\"}]},"
    "\"actions\":{\"stateDelta\":{\"reply_count\":2,\"big_number\":9007199254740993}}}",
};

static void write_conversation(ses_store *store)
{
    ses_session *session = NULL;
    ses_error error;
    const char *const before = "{\"app:units\":\"celsius\",\"user:name\":\"Alice\",\"topic\":\"travel\"}";
    const int64_t created = INT64_C(1736942399000000); /* the day of the conversation below */
    const ses_create_options options = {.size = sizeof options, .created_us = &created};

    must(ses_create(store, &key, before, SES_NUL, &options, &session, &error), &error);
    for (size_t i = 0; i < sizeof conversation / sizeof conversation[0]; i++) {
        must(ses_append(session, conversation[i], SES_NUL, NULL, NULL, &error), &error);
        if (i == 2) {
            const char *state = NULL;
            must(ses_state_json(session, &state, NULL, &error), &error);
            printf("in the middle of the first turn, the handle also shows the temp: values:\n  %s\n", state);
        }
    }
    printf("%zu events stored; the temp: values ended with their turn\n", ses_session_event_count(session));
    ses_session_close(session);
}

static void read_conversation(ses_store *store)
{
    ses_session *session = NULL;
    ses_error error;
    int64_t big = 0;

    must(ses_get(store, &key, NULL, &session, &error), &error);
    printf("session %s of %s: version %" PRId64 ", %zu events\n", ses_session_id(session),
           ses_session_user(session), ses_session_version(session), ses_session_event_count(session));
    printf("merged state:\n");
    for (size_t i = 0; i < ses_state_count(session); i++) {
        const char *name = NULL;
        const char *value = NULL;
        must(ses_state_at(session, i, &name, &value, NULL, &error), &error);
        printf("  %-22s %s\n", name, value);
    }
    must(ses_state_get_int64(session, "big_number", &big, &error), &error);
    printf("exact where a double is not: %" PRId64 "\n", big);
    printf("the third event, byte for byte except for its temp: key:\n  %s\n",
           ses_session_event(session, 2)->json);
    ses_session_close(session);
}

int main(int argc, char **argv)
{
    ses_store *store = NULL;
    ses_error error;

    if (argc != 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
        fprintf(stderr, "usage: demo write FILE | demo read FILE\n");
        return 2;
    }
    must(ses_open(argv[2], NULL, &store, &error), &error);
    if (strcmp(argv[1], "write") == 0)
        write_conversation(store);
    else
        read_conversation(store);
    ses_close(store);
    return 0;
}
