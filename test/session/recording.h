/* Sessions that the ADK recorded: what their files say, as values and as bytes. */
#ifndef SESLITE_TEST_RECORDING_H
#define SESLITE_TEST_RECORDING_H

#include "support.h"

#include <cjson/cJSON.h>

enum { MAX_EVENTS = 64 };

struct text_span {
    const char *start;
    size_t len;
};

/* A recorded session: cJSON's view of it to look at, and where its pieces stand to take the bytes. */
struct recording {
    char *text;
    cJSON *json;
    struct text_span events[MAX_EVENTS];
    size_t event_count;
    char *initial_state; /* the keys of its state that no event sets, with their bytes */
    ses_key key;
};

/* ----------------------------------------------------------------------------- a walk over good JSON */

static inline const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static inline const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

/* Behind the value that begins at `p`. */
static inline const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
        } else {
            depth += *p == '{' || *p == '[';
            depth -= *p == '}' || *p == ']';
            p++;
        }
        assert_true(*p != '\0' || depth == 0);
    } while (depth > 0 || (*p != '\0' && !strchr(",}] \t\r\n", *p)));
    return p;
}

/* The next member of the object, at first behind its brace: moves on behind it. False at the end. */
static inline int next_member(const char **p, struct text_span *name, struct text_span *value)
{
    const char *at = *p + strspn(*p, " \t\r\n,");
    int found = *at == '"';

    if (found) {
        name->start = at;
        at = skip_string(at);
        name->len = (size_t)(at - name->start);
        at = skip_space(at);
        assert_int_equal(*at, ':');
        at = skip_space(at + 1);
        value->start = at;
        at = skip_value(at);
        value->len = (size_t)(at - value->start);
    }
    *p = at;
    return found;
}

static inline int span_is(struct text_span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.start, text, span.len) == 0;
}

static inline struct text_span member_of(const char *object, const char *quoted_name)
{
    const char *p = skip_space(object) + 1;
    struct text_span name;
    struct text_span value = {NULL, 0};

    while (next_member(&p, &name, &value)) {
        if (span_is(name, quoted_name))
            return value;
    }
    return (struct text_span){NULL, 0};
}

/* ----------------------------------------------------------------------------------------- recordings */

static inline void find_events(struct recording *recording)
{
    struct text_span events = member_of(recording->text, "\"events\"");

    assert_non_null(events.start);
    const char *p = skip_space(events.start + 1);
    while (*p != ']') {
        assert_true(recording->event_count < MAX_EVENTS);
        struct text_span *event = &recording->events[recording->event_count++];
        event->start = p;
        p = skip_value(p);
        event->len = (size_t)(p - event->start);
        p += strspn(p, " \t\r\n,");
    }
}

/* The delta of an event in either spelling; NULL when it has none. */
static inline const cJSON *delta_of(const cJSON *event)
{
    const cJSON *actions = cJSON_GetObjectItemCaseSensitive(event, "actions");
    const cJSON *delta = cJSON_GetObjectItemCaseSensitive(actions, "state_delta");
    return delta ? delta : cJSON_GetObjectItemCaseSensitive(actions, "stateDelta");
}

static inline int is_set_by_an_event(const struct recording *recording, struct text_span quoted_name)
{
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(recording->json, "events");
    const cJSON *event = NULL;
    char name[128];

    assert_true(quoted_name.len < sizeof name);
    memcpy(name, quoted_name.start + 1, quoted_name.len - 2);
    name[quoted_name.len - 2] = '\0';
    assert_null(strchr(name, '\\'));
    cJSON_ArrayForEach(event, events)
    {
        if (cJSON_HasObjectItem(delta_of(event), name))
            return 1;
    }
    return 0;
}

static inline void make_initial_state(struct recording *recording)
{
    struct text_span state = member_of(recording->text, "\"state\"");
    struct text_span name;
    struct text_span value;

    assert_non_null(state.start);
    recording->initial_state = malloc(state.len + 3);
    assert_non_null(recording->initial_state);
    char *to = stpcpy(recording->initial_state, "{");
    const char *p = state.start + 1;
    while (next_member(&p, &name, &value)) {
        if (is_set_by_an_event(recording, name))
            continue;
        if (to[-1] != '{')
            *to++ = ',';
        memcpy(to, name.start, name.len);
        to += name.len;
        *to++ = ':';
        memcpy(to, value.start, value.len);
        to += value.len;
    }
    (void)stpcpy(to, "}");
}

static inline const char *string_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    assert_non_null(text);
    return text;
}

static inline int recording_open(struct recording *recording, const char *name)
{
    size_t len = 0;

    *recording = (struct recording){.text = support_test_data(name, &len)};
    if (!recording->text)
        return 0;
    recording->json = cJSON_ParseWithLength(recording->text, len);
    assert_non_null(recording->json);
    recording->key = (ses_key){string_of(recording->json, "app_name"), string_of(recording->json, "user_id"),
                               string_of(recording->json, "id")};
    find_events(recording);
    make_initial_state(recording);
    return 1;
}

static inline void recording_close(struct recording *recording)
{
    free(recording->initial_state);
    cJSON_Delete(recording->json);
    free(recording->text);
}

static inline const cJSON *event_json(const struct recording *recording, size_t index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(recording->json, "events"), (int)index);
}

/* Six places of seconds in this century fit into a double: the nearest microsecond is the one written. */
static inline int64_t microseconds_of(double seconds)
{
    return (int64_t)(seconds * 1e6 + 0.5);
}

static inline int64_t time_of_event(const struct recording *recording, size_t index)
{
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(event_json(recording, index), "timestamp");
    assert_true(cJSON_IsNumber(time));
    return microseconds_of(time->valuedouble);
}

/* When the session was created is not recorded; before its first event, it must be. */
static inline void recording_create(const struct recording *recording, ses_store *store,
                                    ses_session **session)
{
    int64_t created_us = time_of_event(recording, 0) - 1000000;
    const ses_create_options options = {.size = sizeof options, .created_us = &created_us};
    ses_error error;

    assert_ok(
        ses_create(store, &recording->key, recording->initial_state, SES_NUL, &options, session, &error));
}

#endif
