/* The agent layer: a template compared with a plain copy and the lookups that it needs. */
#include "bench.h"

#include <string.h>

enum { TEMPLATE_BYTES = 1024 * 1024, PLACEHOLDERS = 10000, KEYS = 1000 };

struct rendering {
    ses_store *store;
    ses_session *session;
    char *text;
    char names[KEYS][16];
};

static void render(void *context, int count)
{
    struct rendering *it = context;
    for (int i = 0; i < count; i++) {
        char *rendered = NULL;
        CHECK(ses_render(it->session, it->text, TEMPLATE_BYTES, NULL, &rendered, NULL, NULL) == SES_OK);
        ses_free(rendered);
    }
}

static void copy(struct rendering *it)
{
    char *volatile text = malloc(TEMPLATE_BYTES);
    CHECK(text);
    memcpy(text, it->text, TEMPLATE_BYTES);
    free(text);
}

static void copy_and_look_up(void *context, int count)
{
    struct rendering *it = context;
    for (int i = 0; i < count; i++) {
        copy(it);
        for (int n = 0; n < PLACEHOLDERS; n++) {
            const char *json = NULL;
            size_t len = 0;
            CHECK(ses_state_get(it->session, it->names[n % KEYS], &json, &len, NULL) == SES_OK);
        }
    }
}

/* Prose with placeholders at regular distances. */
static void write_template(struct rendering *it)
{
    size_t stretch = TEMPLATE_BYTES / PLACEHOLDERS;

    it->text = malloc(TEMPLATE_BYTES);
    CHECK(it->text);
    for (size_t i = 0; i < TEMPLATE_BYTES; i++)
        it->text[i] = "the quick brown fox "[i % 20];
    for (size_t n = 0; n < PLACEHOLDERS; n++) {
        char placeholder[24];
        int len = snprintf(placeholder, sizeof placeholder, "{%s}", it->names[n % KEYS]);
        memcpy(it->text + n * stretch, placeholder, (size_t)len);
    }
}

static void open_rendering(struct rendering *it)
{
    const ses_key key = {"bench", "user", "templates"};
    char *state = malloc(KEYS * 48);
    size_t len = 0;

    CHECK(state);
    for (int i = 0; i < KEYS; i++) {
        snprintf(it->names[i], sizeof it->names[i], "key_%d", i);
        len += (size_t)sprintf(state + len, "%s\"%s\":\"value %d\"", i ? "," : "{", it->names[i], i);
    }
    len += (size_t)sprintf(state + len, "}");
    CHECK(ses_open(":memory:", NULL, &it->store, NULL) == SES_OK);
    CHECK(ses_create(it->store, &key, state, len, NULL, &it->session, NULL) == SES_OK);
    free(state);
    write_template(it);
}

void bench_agent(void)
{
    struct rendering it;

    open_rendering(&it);
    compare(&(struct comparison){.name = "template of 1 MiB, 10,000 placeholders",
                                 .left = {"seslite", render, &it},
                                 .right = {"copy + look-ups", copy_and_look_up, &it},
                                 .rounds = 200,
                                 .count = 1,
                                 .at_most = 3.0});
    ses_session_close(it.session);
    ses_close(it.store);
    free(it.text);
}
